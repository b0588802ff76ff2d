"""Bounds on every server's answer: its unpacked size, and the time of the whole request.

A client's own timeouts only limit the silence between bytes: a server that sends a byte now and then would be read for
ever. A compressed answer of a few kB can unpack to gigabytes.
"""

import asyncio
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

LONGER = 1.2  # longest time of a whole request, as a multiple of the longest silence
MOST = 16 << 20  # bytes of an answer, packed or not: log-probabilities of long texts have 2 MB


class UnboundedError(Exception):
    """The error for an answer that is too large or takes too long. A second try would not help."""


Bounds = tuple[int, float | None, Callable[[bytes], bool] | None]
_BOUNDS: ContextVar[Bounds] = ContextVar("bounds", default=(MOST, None, None))


@contextmanager
def set_answer_bounds(
    most: int = MOST, seconds: float | None = None, enough: Callable[[bytes], bool] | None = None
) -> Iterator[None]:
    """Limit the answers to requests sent in this context to `most` bytes, and to `seconds` each.

    None: as the client's own timeouts allow. `enough` gets the answer in pieces; the rest is not read once it is True.
    """
    before = _BOUNDS.set((most, seconds, enough))
    try:
        yield
    finally:
        _BOUNDS.reset(before)


def httpx_of(client: type) -> Any:
    """Return the library of a client class: httpx, or its successor, which has the same names."""
    kind = next(kind for kind in client.__mro__ if kind.__name__ == "AsyncClient")
    return import_module(kind.__module__.partition(".")[0])


def bounded(client: Any) -> Any:
    """Return a subclass of a client class that raises `UnboundedError` for an endless answer."""
    return type("Bounded", (_BoundedClient, client), {})


class _BoundedClient:
    """A mixin for a client class, with a `send` that has bounds. A proxy of the environment is still used."""

    async def send(self, request: Any, *, stream: bool = False, **others: Any) -> Any:
        """Return the answer, read to its end even if a stream is wanted."""
        silence = 300.0  # seconds, if the client has no timeout
        (most, seconds, enough), clock = _BOUNDS.get(), asyncio.timeout(None)
        seconds = seconds or LONGER * (request.extensions.get("timeout", {}).get("read") or silence)

        async def started(event: str, about: object) -> None:
            if event.endswith("send_request_headers.started"):  # before that the request waits for a free connection
                clock.reschedule(asyncio.get_running_loop().time() + seconds)

        request.extensions["trace"] = started
        request.headers["Accept-Encoding"] = "gzip"
        httpx = httpx_of(type(self))
        try:
            async with clock:
                response = await super().send(request, stream=True, **others)  # type: ignore[misc]
                try:
                    content = await _content(response, httpx.DecodingError, most, enough)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise UnboundedError(f"the answer has no end after {seconds:g} s") from None
        about = {"headers": response.headers, "extensions": response.extensions, "request": request}
        return httpx.Response(response.status_code, content=content, **about)


async def _content(
    response: Any, undecodable: type[Exception], most: int, enough: Callable[[bytes], bool] | None
) -> bytes:
    """Return the unpacked body of an answer, up to where `enough` is True."""
    piece_bytes = 1 << 20  # bytes that are unpacked at once
    packed = response.headers.pop("Content-Encoding", "identity").strip().lower()
    if packed not in ("identity", "gzip"):
        raise undecodable(f"the answer is packed as {packed[:40]!r}, which no request asks for")
    unpacker = zlib.decompressobj(31) if packed == "gzip" else None
    came, content = 0, bytearray()
    async for part in response.stream:
        came += len(part)
        while part:
            try:
                piece = unpacker.decompress(part, piece_bytes) if unpacker else part
            except zlib.error as error:
                raise undecodable(str(error)) from None
            content += piece
            if max(came, len(content)) > most:
                raise UnboundedError(f"the answer is longer than {most >> 20} MiB")
            if enough is not None and enough(piece):
                return bytes(content)
            # Bytes after the end of the packed data are dropped.
            part = unpacker.unconsumed_tail if unpacker and piece and not unpacker.eof else b""
    return bytes(content)
