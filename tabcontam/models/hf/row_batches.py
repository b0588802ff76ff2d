"""Batches of waiting requests: a batch has prompts with a common beginning, or of similar length."""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tabcontam.models.hf.loading import out_of_memory, release


class TokenSequence(Protocol):
    """A waiting text as token ids."""

    @property
    def ids(self) -> tuple[int, ...]:
        """The token ids."""
        ...


Row = TypeVar("Row", bound=TokenSequence)
Got = TypeVar("Got")


@dataclass(frozen=True, eq=False)
class _QueuedRow(Generic[Row, Got]):
    row: Row
    reply: "asyncio.Future[Got]"


class Batcher(Generic[Row, Got]):
    """A queue of rows for a function that answers several at once, on a thread for this model only.

    `cost` is the work of a batch per prompt token. The next batch is the cheapest one that contains the row that has
    waited longest. All rows of a batch have the same `band` (class of answer limits).
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Row]], list[Got]],
        thread: Executor,
        size: int,
        cost: Callable[[Sequence[Row]], float],
        band: Callable[[Row], Hashable] = lambda row: None,
    ) -> None:
        self._answer = answer
        self._thread = thread
        self._size = size
        self._cost = cost
        self._band = band
        self._waiting: list[_QueuedRow[Row, Got]] = []
        self._worker: asyncio.Task[None] | None = None

    async def ask(self, row: Row) -> Got:
        """Return the reply to a row. Raises any error of its batch."""
        reply: asyncio.Future[Got] = asyncio.get_running_loop().create_future()
        self._waiting.append(_QueuedRow(row, reply))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await reply

    async def close(self) -> None:
        """Wait for the current batch. Rows that still wait are not answered."""
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
        """Wait until a full batch of requests waits, or no more requests come."""
        quiet = 0.002  # seconds without a new request until a smaller batch starts
        seen = -1
        while seen < len(self._waiting) < self._size:
            seen = len(self._waiting)
            await asyncio.sleep(quiet)

    def _next(self) -> list[_QueuedRow[Row, Got]]:
        """Return the next batch, which contains the row that has waited longest."""
        self._waiting = [waiting for waiting in self._waiting if not waiting.reply.done()]  # some were cancelled
        if not self._waiting:
            return []
        oldest = self._waiting[0]
        alike = [waiting for waiting in self._waiting if self._band(waiting.row) == self._band(oldest.row)]
        batch = self._cheapest(oldest, alike)
        self._waiting = [waiting for waiting in self._waiting if waiting not in batch]
        return batch

    # start: tokens; prompts that share so many have a common beginning
    def _cheapest(
        self, oldest: _QueuedRow[Row, Got], alike: Sequence[_QueuedRow[Row, Got]], *, start: int = 32
    ) -> list[_QueuedRow[Row, Got]]:
        """Return the cheapest batch of `oldest` and rows of similar length, with or without the same beginning."""

        def distance(waiting: _QueuedRow[Row, Got]) -> int:
            return abs(len(waiting.row.ids) - len(oldest.row.ids))

        nearest = sorted(alike, key=distance)[: self._size]  # a stable sort: `oldest` is first
        similar = [waiting for waiting in alike if waiting.row.ids[:start] == oldest.row.ids[:start]]
        similar = sorted(similar, key=distance)[: self._size]
        choices = [group[:count] for group in (nearest, similar) for count in range(1, len(group) + 1)]
        return min(choices, key=lambda batch: (self._cost([waiting.row for waiting in batch]), -len(batch)))

    async def _answered(self, batch: Sequence[_QueuedRow[Row, Got]]) -> None:
        try:
            rows = [waiting.row for waiting in batch]
            replies = await asyncio.get_running_loop().run_in_executor(self._thread, self._answer, rows)
        except Exception as error:
            for waiting in batch:
                if not waiting.reply.done():
                    waiting.reply.set_exception(error)
            return
        for waiting, reply in zip(batch, replies, strict=True):
            if not waiting.reply.done():
                waiting.reply.set_result(reply)


class BatchSplitter(Generic[Row, Got]):
    """A function that answers several rows at once, or fewer at a time if memory is not enough.

    `too_large` returns the result for a row that alone needs too much memory. At most `most` rows are answered at once;
    0 means no limit until memory is not enough.
    """

    def __init__(
        self, answer: Callable[[Sequence[Row]], list[Got]], too_large: Callable[[Row], Got], most: int = 0
    ) -> None:
        self._answer = answer
        self._too_large = too_large
        self._most = most

    def __call__(self, rows: Sequence[Row]) -> list[Got]:
        """Return the result for each row."""
        if self._most and len(rows) > self._most:
            parts = [rows[first : first + self._most] for first in range(0, len(rows), self._most)]
            return [got for part in parts for got in self(part)]
        try:
            return self._answer(rows)
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
        release()  # after the exception, which refers to the tensors of its frames
        if len(rows) == 1:
            return [self._too_large(rows[0])]
        self._most = len(rows) // 2
        return self(rows)
