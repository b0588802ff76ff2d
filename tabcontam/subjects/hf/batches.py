"""Requests that wait are answered together: prompts that begin alike side by side, short ones with short ones."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tabcontam.evidence.base import Reply
from tabcontam.subjects.hf.text import Row

QUIET = 0.002  # seconds without a new request, after which a batch that is not full starts
START = 32  # tokens by which prompts that begin alike are found
STEP = 40  # tokens of a prompt that are computed in the time of one more token of one answer


@dataclass(frozen=True, eq=False)
class _Waiting:
    row: Row
    reply: "asyncio.Future[Reply]"


class Batcher:
    """A queue before a function that answers several rows at once, on a thread of its own."""

    def __init__(self, answer: Callable[[Sequence[Row]], list[Reply]], size: int) -> None:
        self._answer = answer
        self._size = size
        self._waiting: list[_Waiting] = []
        self._worker: asyncio.Task[None] | None = None

    async def ask(self, row: Row) -> Reply:
        """The reply to a row. Raises what the batch raised."""
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(row, reply))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await reply

    async def close(self) -> None:
        """Wait for the batch under way; what waits behind it is not asked."""
        for waiting in self._waiting:
            waiting.reply.cancel()
        if self._worker is not None and not self._worker.done():
            await asyncio.gather(self._worker, return_exceptions=True)

    async def _work(self) -> None:
        while self._waiting:
            await self._gathered()
            batch = self._next()
            if batch:
                await self._answered(batch)

    async def _gathered(self) -> None:
        """Wait while more requests come in, until there is a batch of them."""
        seen = -1
        while seen < len(self._waiting) < self._size:
            seen = len(self._waiting)
            await asyncio.sleep(QUIET)

    def _next(self) -> list[_Waiting]:
        """The batch that holds whoever has waited longest."""
        self._waiting = [waiting for waiting in self._waiting if not waiting.reply.done()]  # some were given up
        if not self._waiting:
            return []
        oldest = self._waiting[0]
        alike = [waiting for waiting in self._waiting if _band(waiting.row) == _band(oldest.row)]
        batch = self._cheapest(oldest, alike)
        self._waiting = [waiting for waiting in self._waiting if waiting not in batch]
        return batch

    def _cheapest(self, oldest: _Waiting, alike: Sequence[_Waiting]) -> list[_Waiting]:
        """The oldest with those nearest to it in length, of all or of those that begin like it: what costs least."""

        def distance(waiting: _Waiting) -> int:
            return abs(len(waiting.row.ids) - len(oldest.row.ids))

        nearest = sorted(alike, key=distance)[: self._size]  # stable: the oldest first
        kin = [waiting for waiting in alike if waiting.row.ids[:START] == oldest.row.ids[:START]]
        kin = sorted(kin, key=distance)[: self._size]
        choices = [group[:count] for group in (nearest, kin) for count in range(1, len(group) + 1)]
        return min(choices, key=lambda batch: (_cost([waiting.row for waiting in batch]), -len(batch)))

    async def _answered(self, batch: Sequence[_Waiting]) -> None:
        try:
            replies = await asyncio.to_thread(self._answer, [waiting.row for waiting in batch])
        except Exception as error:
            for waiting in batch:
                if not waiting.reply.done():
                    waiting.reply.set_exception(error)
            return
        for waiting, reply in zip(batch, replies, strict=True):
            if not waiting.reply.done():
                waiting.reply.set_result(reply)


def _cost(rows: Sequence[Row]) -> float:
    """Tokens that are computed for each token of a prompt: padding and steps come on top, what is shared comes off."""
    longest = max(len(row.ids) for row in rows)
    head = shared(rows) if len(rows) > 1 else 0
    steps = max(row.max_tokens for row in rows)
    computed = head + len(rows) * (longest - head) + STEP * steps
    return computed / sum(len(row.ids) for row in rows)


def shared(rows: Sequence[Row]) -> int:
    """How many tokens all rows begin with, short of the whole of any."""
    first, last = min(row.ids for row in rows), max(row.ids for row in rows)  # all others lie between them
    most = min(len(row.ids) for row in rows) - 1
    return next((place for place in range(most) if first[place] != last[place]), most)


def _band(row: Row) -> int:
    """Limits within a factor of eight: a row that has ended is computed on until the last of its batch has."""
    return row.max_tokens.bit_length() // 3
