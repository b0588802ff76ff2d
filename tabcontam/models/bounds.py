"""Bounds on every server's answer: its unpacked size, and the time of the whole request.

`bounded` makes a subclass of a client of httpx, or of httpx's successor, that raises an error for an answer without
end. All SDKs used here send through such a client. A client's own timeouts only limit the silence between bytes: a
server that sends a byte now and then would be read for ever. A compressed answer of a few kB can unpack to gigabytes.
"""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

LONGER = 1.2  # longest time of a whole request, as a multiple of the longest silence


class UnboundedError(Exception):
    """The error for an answer that is too large or takes too long. A second try would not help."""


# The most bytes of an answer, packed or not (log-probabilities of long texts have 2 MB), and the most seconds;
# None: as the client's own timeouts allow.
_BOUNDS: ContextVar[tuple[int, float | None]] = ContextVar("bounds", default=(16 << 20, None))

# Gets the answer in pieces, and returns True once no more is needed.
_ENOUGH: ContextVar[Callable[[bytes], bool] | None] = ContextVar("enough", default=None)


@contextmanager
def end_answer_when(enough: Callable[[bytes], bool] | None) -> Iterator[None]:
    """Stop reading answers to requests of this context once `enough` returns True; with None, read all of them."""
    before = _ENOUGH.set(enough)
    try:
        yield
    finally:
        _ENOUGH.reset(before)


@contextmanager
def set_answer_bounds(most: int, seconds: float | None = None) -> Iterator[None]:
    """Limit the answers to requests sent in this context to `most` bytes, and to `seconds` each."""
    before = _BOUNDS.set((most, seconds))
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
        silence = 300.0  # seconds, if the client has no timeout
        (most, seconds), clock = _BOUNDS.get(), asyncio.timeout(None)
        seconds = seconds or LONGER * (request.extensions.get("timeout", {}).get("read") or silence)

        async def started(event: str, about: object) -> None:
            if event.endswith("send_request_headers.started"):  # before that the request waits for a free connection
                clock.reschedule(asyncio.get_running_loop().time() + seconds)

        request.extensions["trace"] = started
        request.headers["Accept-Encoding"] = "gzip"
        try:
            async with clock:
                response = await super().send(request, stream=True, **others)  # type: ignore[misc]
        except TimeoutError:
            raise UnboundedError(f"no complete answer within {seconds:g} s") from None
        until = clock.when() or asyncio.get_running_loop().time() + seconds
        packed = response.headers.pop("Content-Encoding", "identity").strip().lower()
        response.stream = _body(httpx_of(type(self)), response.stream, packed, most, until, seconds)
        if not stream:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response


def _body(httpx: Any, stream: Any, packed: str, most: int, until: float, seconds: float) -> Any:
    """Return the unpacked body of an answer, as a stream of the kind that the library uses."""
    enough = _ENOUGH.get()

    async def raw() -> AsyncGenerator[bytes]:
        size, parts = 0, aiter(stream)
        while True:
            try:
                async with asyncio.timeout_at(until):
                    part = await anext(parts, None)
            except TimeoutError:
                raise UnboundedError(f"the answer has no end after {seconds:g} s") from None
            if part is None:
                return
            size += len(part)
            _check(size, most)
            yield part

    class Body(httpx.AsyncByteStream):  # type: ignore[misc]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            if packed not in ("identity", "gzip"):
                raise httpx.DecodingError(f"the answer is packed as {packed[:40]!r}, which no request asks for")
            size, unpacker = 0, zlib.decompressobj(31) if packed == "gzip" else None
            async with aclosing(raw()) as parts:
                async for part in parts:
                    try:
                        for piece in (part,) if unpacker is None else _unpacked(unpacker, part):
                            size += len(piece)
                            _check(size, most)
                            yield piece
                            if enough is not None and enough(piece):
                                return
                    except zlib.error as error:
                        raise httpx.DecodingError(str(error)) from None

        async def aclose(self) -> None:
            await stream.aclose()

    return Body()


def _unpacked(unpacker: Any, part: bytes) -> Iterator[bytes]:
    """Yield the unpacked content of a part of a stream. Bytes after the end of the packed data are dropped."""
    piece_bytes = 1 << 20  # bytes that are unpacked at once
    while part and not unpacker.eof and (piece := unpacker.decompress(part, piece_bytes)):
        yield piece
        part = unpacker.unconsumed_tail


def _check(size: int, most: int) -> None:
    if size > most:
        raise UnboundedError(f"the answer is longer than {most >> 20} MiB")
