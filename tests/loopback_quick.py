"""A server on loopback that is quick and of bad manners, for tests of faults and of speed.

It speaks as much of OpenAI's protocol as `tests.loopback`, whose script it is, to hundreds of connections at a time.
Latency, limit and faults are settings. What it answers, and which fault a request meets, follows from the request's
body and the seed alone, so that two runs can be compared however their requests were ordered.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any

FAULTS = ("429", "500", "cut JSON", "dropped")
FORMS = {"/v1/chat/completions": "chat.completion", "/v1/completions": "text_completion"}
REASONS = {200: "OK", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}
BACKLOG = 1024


@dataclass(frozen=True)
class Settings:
    """Seconds before an answer; requests a second and at once, without a limit where `rate` is 0; the seconds that a
    429 asks for; the share of requests that meet a fault."""

    latency: float = 0.0
    rate: float = 0.0
    burst: float = 1.0
    retry_after: float = 1.0
    faults: float = 0.0
    seed: int = 0
    models: tuple[str, ...] = ("model",)


@dataclass
class Counts:
    """What was asked and what became of it; `dropped` and `cut JSON` stand beside the statuses."""

    requests: int = 0
    by_status: Counter[str] = field(default_factory=Counter)
    bodies: Counter[bytes] = field(default_factory=Counter)  # so often asked
    answers: Counter[bytes] = field(default_factory=Counter)  # so often answered
    open: int = 0
    most_open: int = 0

    def as_json(self) -> dict[str, Any]:
        """`duplicates` are answers to a body that had been answered before."""
        answered = self.answers.total()
        return {
            "requests": self.requests,
            "answered": answered,
            "by_status": dict(sorted(self.by_status.items())),
            "duplicates": answered - len(self.answers),
            "most_at_once": self.most_open,
        }


class Bucket:
    """A limit of requests a second, with so many at once."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._at = now

    def take(self, now: float) -> bool:
        """Whether one more request is within the limit."""
        if not self._rate:
            return True
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def chosen_line(body: dict[str, Any]) -> str:
    """The answer: one line of what was asked, by the hash of all of it."""
    messages = body.get("messages", [{"content": body.get("prompt")}])
    asked = "\n".join(str(message["content"]) for message in messages)
    lines = [line for line in asked.splitlines() if line.strip()] or [""]
    return lines[int.from_bytes(sha256(asked.encode()).digest()[:8]) % len(lines)]


def answer(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """A reply in the form that was asked for."""
    text = chosen_line(body)
    said = {"message": {"role": "assistant", "content": text}} if "messages" in body else {"text": text}
    usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": len(text) // 4 + 1}
    return {"object": FORMS[path], "choices": [{"index": 0, **said, "finish_reason": "stop"}], "usage": usage}


class Server:
    """Everything that its connections share. Made inside a running loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.counts = Counts()
        self.loop = asyncio.get_running_loop()
        self._bucket = Bucket(settings.rate, settings.burst, self.loop.time())

    async def listen(self, port: int) -> asyncio.Server:
        """Accept connections on loopback."""
        return await self.loop.create_server(lambda: _Connection(self), "127.0.0.1", port, backlog=BACKLOG)

    def respond(self, method: str, path: str, raw: bytes, send: Callable[[bytes | None], None]) -> None:
        """Find the response and hand it to `send`, in time; None stands for a connection that breaks."""
        if method == "GET" and path == "/counts":
            return send(_response(200, self.counts.as_json()))
        if method == "GET" and path == "/v1/models":
            data = [{"id": model, "object": "model"} for model in self.settings.models]
            return send(_response(200, {"object": "list", "data": data}))
        if method != "POST" or path not in FORMS:
            return send(_response(404, {"detail": "Not Found"}))
        return self._take(path, raw, send)

    def _take(self, path: str, raw: bytes, send: Callable[[bytes | None], None]) -> None:
        counts, digest = self.counts, sha256(raw).digest()
        counts.requests += 1
        if not self._bucket.take(self.loop.time()):
            counts.by_status["429"] += 1
            return send(self._limited())
        counts.bodies[digest] += 1
        fault = self._fault(digest, counts.bodies[digest])
        counts.open += 1
        counts.most_open = max(counts.most_open, counts.open)

        def finish() -> None:
            counts.open -= 1
            counts.by_status[fault or "200"] += 1
            counts.answers[digest] += not fault
            send(self._made(fault, path, raw))

        if self.settings.latency:
            self.loop.call_later(self.settings.latency, finish)
        else:
            finish()
        return None

    def _fault(self, digest: bytes, turn: int) -> str | None:
        """What goes wrong with this body at its n-th turn."""
        if not self.settings.faults:
            return None
        rng = Random(f"{self.settings.seed} {digest.hex()} {turn}")
        return rng.choice(FAULTS) if rng.random() < self.settings.faults else None

    def _made(self, fault: str | None, path: str, raw: bytes) -> bytes | None:
        if fault == "dropped":
            return None
        if fault == "429":
            return self._limited()
        if fault == "500":
            return _response(500, {"error": {"message": "the engine broke", "type": "server_error"}})
        content = json.dumps(answer(path, json.loads(raw))).encode()
        return _framed(200, content[: len(content) // 2] if fault else content)

    def _limited(self) -> bytes:
        error = {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}
        return _response(429, {"error": error}, f"Retry-After: {self.settings.retry_after:g}\r\n")


def _response(status: int, body: object, headers: str = "") -> bytes:
    return _framed(status, json.dumps(body).encode(), headers)


def _framed(status: int, content: bytes, headers: str = "") -> bytes:
    head = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\n{headers}"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


class _Connection(asyncio.Protocol):
    """One connection, kept alive. asyncio itself sets TCP_NODELAY."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = b""
        self._busy = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def _next(self) -> None:
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if self._busy or not found:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self._busy, self._buffer = True, rest[length:]
        method, path, _ = first.split(" ", 2)
        self._server.respond(method, path, rest[:length], self._send)

    def _send(self, response: bytes | None) -> None:
        self._busy = False
        if self._transport is None or self._transport.is_closing():
            return  # the client went away
        if response is None:
            self._transport.abort()
            return
        self._transport.write(response)
        if self._buffer:
            self._next()


async def serve(settings: Settings, port: int, ready: Callable[[str], None]) -> None:
    """Serve until cancelled; `ready` is told the address."""
    server = await Server(settings).listen(port)
    ready(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    async with server:
        await server.serve_forever()
