"""HTTP connections with a limit on the whole time. A usual timeout only limits the silence between two bytes."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from urllib.request import BaseHandler, HTTPHandler, HTTPSHandler, OpenerDirector, Request, build_opener

HEADER_SECONDS = 60.0


@contextmanager
def limit_time(connection: HTTPConnection, seconds: float) -> Iterator[None]:
    """Close a connection after `seconds`, even if bytes are still arriving. Raises `TimeoutError`."""
    cut, open_socket = threading.Event(), connection.sock

    def end() -> None:
        cut.set()
        with suppress(OSError):
            open_socket.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if cut.is_set():  # the received part looks like a complete answer
        raise TimeoutError(f"no whole answer in {seconds:g} s")


class _TimedConnection(HTTPConnection):
    def getresponse(self) -> HTTPResponse:
        with limit_time(self, HEADER_SECONDS):
            return super().getresponse()


class _TimedEncryptedConnection(_TimedConnection, HTTPSConnection):
    """An encrypted connection with the time limit of `_TimedConnection`."""


class _TimedHTTPHandler(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_TimedConnection, req)


class _TimedHTTPSHandler(HTTPSHandler):
    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_TimedEncryptedConnection, req)


def opener(*handlers: type[BaseHandler]) -> OpenerDirector:
    """Return urllib's opener with these handlers; if a response does not begin in time, it raises `TimeoutError`."""
    return build_opener(_TimedHTTPHandler, _TimedHTTPSHandler, *handlers)
