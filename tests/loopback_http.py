"""What all servers on loopback share: a server of HTTP that does well or badly whatever a server can do.

What a protocol has of its own is a subclass of `Loopback`, such as `tests.loopback.LoopbackServer`.
"""

import json
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Response:
    """What the server sends: a body in JSON, or raw bytes; late, cut off or never."""

    body: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    latency: float = 0.0
    cut: bool = False  # the connection breaks in the middle of the body
    hang: bool = False  # nothing comes until the server is closed
    pause: float | None = None  # seconds between the events of a stream, which are sent one by one

    def content(self) -> bytes:
        """The body's bytes."""
        return json.dumps(self.body).encode() if self.raw is None else self.raw


@dataclass(frozen=True)
class Received:
    """One request as it came; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    raw: bytes = b""  # of a body that is no JSON, as the file of a batch


Answer = Callable[[dict[str, Any]], str | Response]
Entry = str | Mapping[str, Any]
USUAL: Sequence[Entry] = ("what is usual",)  # stands for the models that a protocol has where a test names none


class Loopback:
    """A context manager: the server listens inside it, and its threads have ended after it.

    `models` are entries of the list of models; `models_response` is sent in place of what is said of any model. A
    protocol says what is at a path: where it tells of models, where it answers, and what it says elsewhere.
    """

    usual: ClassVar[Sequence[Entry]] = ()  # the models that it has where a test names none
    below = ""  # what is at the end of the address that a client is given

    def __init__(
        self,
        answer: Answer = lambda body: "fine",
        models: Sequence[Entry] | None = USUAL,
        models_response: Response | None = None,
        port: int = 0,
    ) -> None:
        self.answer = answer
        self.models = self.usual if models is USUAL else models
        self.models_response = models_response
        self.requests: list[Received] = []
        self.closing = Event()
        self.concurrent = 0
        self.most_concurrent = 0
        self.left: list[int] = []  # how many events each client had been sent that hung up on a stream
        self._lock = Lock()
        self._server = _Server(self, port)
        self._thread = Thread(target=self._serve)

    @property
    def root(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """The address to give to a client."""
        return f"{self.root}{self.below}"

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The bodies of the queries, without the question for the list of models."""
        return [request.body for request in self.requests if request.method == "POST"]

    @property
    def live(self) -> list[dict[str, Any]]:
        """The bodies of the queries that were asked outside batches."""
        return [request.body for request in self.requests if request.method == "POST" and self.answers(request.path)]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.closing.set()
        socket.create_connection(("127.0.0.1", self._server.server_port)).close()  # the thread waits for one
        self._thread.join()
        self._server.close_connections()
        self._server.server_close()

    def respond(self, received: Received) -> Response:
        """Take down the request and find the response to it."""
        with self._lock:
            self.requests.append(received)
            self.concurrent += 1
            self.most_concurrent = max(self.most_concurrent, self.concurrent)
        try:
            response = self._response(received)
            if response.latency:
                time.sleep(response.latency)
            return response
        finally:
            with self._lock:
                self.concurrent -= 1

    def answers(self, path: str) -> bool:
        """Whether queries are asked at this path."""
        raise NotImplementedError

    def written(self, text: str, path: str) -> Response:
        """A text as a reply."""
        raise NotImplementedError

    def lists(self, path: str) -> bool:
        """Whether something is said of models at this path."""
        return True

    def told(self, path: str) -> Response:
        """What is said of models at this path."""
        raise NotImplementedError

    def nothing(self, path: str) -> Response:
        """The error for a path where nothing is."""
        raise NotImplementedError

    def answered(self, body: dict[str, Any], path: str) -> Response:
        """The response to a query."""
        answer = self.answer(body)
        return answer if isinstance(answer, Response) else self.written(answer, path)

    def _response(self, received: Received) -> Response:
        path = urlsplit(received.path).path
        if received.method == "GET":
            return (self.lists(path) and self.models_response) or self.told(path)
        return self.answered(received.body, path) if self.answers(path) else self.nothing(path)

    def _serve(self) -> None:
        while not self.closing.is_set():
            self._server.handle_request()


class _Server(ThreadingHTTPServer):
    """The socket. Its connections are kept, so that closing it ends the threads that wait on them."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, owner: Loopback, port: int) -> None:
        self.owner = owner
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End those that a client has left open."""
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # its thread was quicker

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if not content or self.headers["Content-Type"] != "application/json":
            return self._answer({}, content)
        return self._answer(json.loads(content))

    def _answer(self, body: dict[str, Any], raw: bytes = b"") -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = self.server.owner.respond(Received(self.command, self.path, headers, body, raw))
        if response.hang:
            self.server.owner.closing.wait()
            self.close_connection = True
            return None
        content = response.content()
        self.send_response(response.status)
        for name, value in {"Content-Type": "application/json", **response.headers}.items():
            self.send_header(name, value)
        if response.pause is not None:
            return self._stream(content, response.pause)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if response.cut else content)
        if response.cut:
            self._break()
        return None

    def _stream(self, content: bytes, pause: float) -> None:
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        *events, _ = content.split(b"\n\n")
        for number, event in enumerate(events):
            try:
                self.wfile.write(b"%x\r\n%b\n\n\r\n" % (len(event) + 2, event))
            except OSError:
                self.server.owner.left.append(number)
                self.close_connection = True
                return
            time.sleep(pause)
        self.wfile.write(b"0\r\n\r\n")

    def _break(self) -> None:
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  http.server's name
        """Silent: the requests are taken down."""
