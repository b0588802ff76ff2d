"""A server that sends its answer byte by byte is left in time."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException

import pytest

from tabcontam.tables import timed_connections
from tabcontam.tables.timed_connections import limit_time, opener

HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n"


@contextmanager
def dripping(first: bytes, then: bytes) -> Iterator[int]:
    """A server that sends the first bytes at once and then some now and then, for ever; its port."""
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.sendall(first)
                    while not ended.wait(0.02):
                        connection.sendall(then)
                except OSError:
                    continue

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            ended.set()
    thread.join(5)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "then"), [(b"", b"a"), (HEADERS, b"a"), (HEADERS + b"X-A: ", b"a")])
def test_headers_without_end_are_left_in_time(monkeypatch: pytest.MonkeyPatch, first: bytes, then: bytes) -> None:
    monkeypatch.setattr(timed_connections, "HEADER_SECONDS", 0.3)
    began = time.monotonic()
    with dripping(first, then) as port, pytest.raises((OSError, HTTPException)):
        opener().open(f"http://127.0.0.1:{port}/table.csv", timeout=5)
    assert time.monotonic() - began < 4


def test_a_body_without_end_is_left_in_time() -> None:
    began = time.monotonic()
    with dripping(HEADERS + b"Content-Length: 100000\r\n\r\n", b"a") as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/")
        with pytest.raises((OSError, HTTPException)), limit_time(connection, 0.3):
            connection.getresponse().read()
        connection.close()
    assert time.monotonic() - began < 4


def test_what_ends_in_time_is_whole() -> None:
    whole = HEADERS + b"Content-Length: 4\r\n\r\n1,2\n"
    with dripping(whole, b"") as port, opener().open(f"http://127.0.0.1:{port}/table.csv", timeout=5) as response:
        assert response.read() == b"1,2\n"
