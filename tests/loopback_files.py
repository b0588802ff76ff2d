"""A server on loopback that has files at paths, well or badly, for the tests of what fetches tables.

with FileServer({"/my.csv": b"a,b\\n1,2\\n"}) as server:
    ...  # server.url, server.requests
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Page:
    """What stands at a path; `cut` ends it before the length that it states."""

    content: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int = 0


class FileServer:
    """A context manager: the server listens inside it. Each path and the headers that it was asked with are kept."""

    def __init__(self, pages: Mapping[str, bytes | Page]) -> None:
        self.pages = dict(pages)
        self.requests: list[tuple[str, Mapping[str, str]]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [path for path, _ in self.requests]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        files = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                files.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                found = files.pages.get(self.path, Page(b"nothing here", 404))
                page = found if isinstance(found, Page) else Page(found)
                self.send_response(page.status)
                for name, value in page.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(page.content)))
                self.end_headers()
                self.wfile.write(page.content[: len(page.content) - page.cut])

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (so it is called there)
                """Nothing is printed."""

        return Handler
