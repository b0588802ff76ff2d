"""Batches of waiting requests: prompts that begin alike go together, and short ones with short ones."""

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
        """The tokens."""
        ...


Row = TypeVar("Row", bound=TokenSequence)
Got = TypeVar("Got")


@dataclass(frozen=True, eq=False)
class _QueuedRow(Generic[Row, Got]):
    row: Row
    reply: "asyncio.Future[Got]"


class Batcher(Generic[Row, Got]):
    """A queue before a function that answers several rows at once, on a thread that computes for this model alone.

    `cost` is the work of a batch for each token that is asked about; among all batches that hold the row that has
    waited longest, the cheapest is answered next. Rows of different `bands` are never in one batch.
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
        """Return the reply to a row. Raises what the batch raised."""
        reply: asyncio.Future[Got] = asyncio.get_running_loop().create_future()
        self._waiting.append(_QueuedRow(row, reply))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await reply

    async def close(self) -> None:
        """Wait for the batch under way; the rows that wait after it are not asked."""
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
        quiet = 0.002  # seconds without a new request, after which a batch that is not full starts
        seen = -1
        while seen < len(self._waiting) < self._size:
            seen = len(self._waiting)
            await asyncio.sleep(quiet)

    def _next(self) -> list[_QueuedRow[Row, Got]]:
        """Return the batch that holds the row that has waited longest."""
        self._waiting = [waiting for waiting in self._waiting if not waiting.reply.done()]  # some were given up
        if not self._waiting:
            return []
        oldest = self._waiting[0]
        alike = [waiting for waiting in self._waiting if self._band(waiting.row) == self._band(oldest.row)]
        batch = self._cheapest(oldest, alike)
        self._waiting = [waiting for waiting in self._waiting if waiting not in batch]
        return batch

    # start: tokens by which prompts that begin alike are found
    def _cheapest(
        self, oldest: _QueuedRow[Row, Got], alike: Sequence[_QueuedRow[Row, Got]], *, start: int = 32
    ) -> list[_QueuedRow[Row, Got]]:
        """Return the cheapest batch of the oldest and the nearest in length, of all or of those that begin alike."""

        def distance(waiting: _QueuedRow[Row, Got]) -> int:
            return abs(len(waiting.row.ids) - len(oldest.row.ids))

        nearest = sorted(alike, key=distance)[: self._size]  # stable: the oldest first
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
    """A function that answers several rows at once, and fewer at a time if memory does not hold them all.

    `too_large` returns the result for a row that memory does not hold even alone. At most `most` rows are answered at a
    time; 0 sets no limit until one is found.
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
        release()  # only here: the exception, and with it the tensors of its frames, is gone
        if len(rows) == 1:
            return [self._too_large(rows[0])]
        self._most = len(rows) // 2
        return self(rows)
