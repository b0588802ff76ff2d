"""A server on loopback that speaks OpenAI's protocol, well or badly, for the tests of what asks it.

    with LoopbackServer(lambda body: "42") as server:
        ...  # server.url, server.requests

`answer` gets the request's body and gives the text, or a `Response` for everything else a server can do. Run as a
script, `python -m tests.loopback --port N`, it is the server of `tests.loopback_quick`.
"""

import argparse
import asyncio
import json
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self

from tests.loopback_quick import Settings, serve

COMPLETIONS = ("/chat/completions", "/completions")


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


def error(status: int, message: str, headers: Mapping[str, str] | None = None, **fields: object) -> Response:
    """An error in OpenAI's shape; `fields` are its code, param and type."""
    body = {"error": {"message": message, "type": "invalid_request_error", **fields}}
    return Response(body, status, headers or {})


def reply(content: object, finish: str = "stop", tokens: int = 3, reasoning: int = 0, **message: object) -> Response:
    """A chat reply; `message` holds further fields of the message, such as a refusal."""
    return Response(
        {
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content, **message},
                    "finish_reason": finish,
                }
            ],
            "usage": {
                "completion_tokens": tokens + reasoning,
                "completion_tokens_details": {"reasoning_tokens": reasoning},
            },
        }
    )


def completion(text: object, finish: str = "stop", tokens: int = 3) -> Response:
    """A reply in completion form."""
    choice = {"index": 0, "text": text, "finish_reason": finish}
    return Response({"object": "text_completion", "choices": [choice], "usage": {"completion_tokens": tokens}})


Answer = Callable[[dict[str, Any]], str | Response]


class LoopbackServer:
    """A context manager: the server listens inside it, and its threads have ended after it.

    `models` are names or whole entries of the list of models; None means that there is no such list. `models_response`
    is sent in its place. `paths` are the forms that exist.
    """

    def __init__(
        self,
        answer: Answer = lambda body: "fine",
        models: Sequence[str | Mapping[str, Any]] | None = ("model",),
        models_response: Response | None = None,
        paths: Sequence[str] = COMPLETIONS,
        port: int = 0,
    ) -> None:
        self.answer = answer
        self.models = models
        self.models_response = models_response
        self.paths = paths
        self.requests: list[Received] = []
        self.closing = Event()
        self.concurrent = 0
        self.most_concurrent = 0
        self._lock = Lock()
        self._server = _Server(self, port)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The bodies of the queries, without the question for the list of models."""
        return [request.body for request in self.requests if request.method == "POST"]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
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

    def _response(self, received: Received) -> Response:
        path = received.path.removeprefix("/v1")
        if received.method == "GET" and path == "/models" and (self.models is not None or self.models_response):
            return self.models_response or self._listing()
        if received.method == "POST" and path in self.paths:
            answer = self.answer(received.body)
            if isinstance(answer, Response):
                return answer
            return reply(answer) if path == "/chat/completions" else completion(answer)
        return Response({"detail": "Not Found"}, 404)

    def _listing(self) -> Response:
        entries = [{"id": model} if isinstance(model, str) else dict(model) for model in self.models or ()]
        return Response({"object": "list", "data": [{"object": "model", **entry} for entry in entries]})


class _Server(ThreadingHTTPServer):
    """The socket. Its connections are kept, so that closing it ends the threads that wait on them."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, owner: LoopbackServer, port: int) -> None:
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
            return
        content = response.content()
        self.send_response(response.status)
        for name, value in {"Content-Type": "application/json", **response.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if response.cut else content)
        if response.cut:
            self._break()

    def _break(self) -> None:
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  http.server's name
        """Silent: the requests are taken down."""


def main() -> None:
    """Serve in a process of its own until interrupted, quickly, and with as many faults as are asked for."""
    parser = argparse.ArgumentParser(description="A server on loopback that speaks OpenAI's protocol.")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    parser.add_argument("--model", action="append", help="a name for the list of models (repeatable)")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before an answer")
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; 0 sets no limit")
    parser.add_argument("--burst", type=float, default=1.0, help="requests at once, within the limit")
    parser.add_argument("--retry-after", type=float, default=1.0, help="seconds that a 429 asks for")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests that meet a fault")
    parser.add_argument("--seed", type=int, default=0, help="for the faults")
    given = vars(parser.parse_args())
    port, models = given.pop("port"), tuple(given.pop("model") or ["model"])
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(Settings(models=models, **given), port, ready=partial(print, flush=True)))


if __name__ == "__main__":
    main()
