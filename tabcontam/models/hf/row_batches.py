"""Batches of waiting requests, with a common beginning or of similar length, and the end of each row of a batch."""

import asyncio
from collections.abc import Callable, Collection, Hashable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from tabcontam.models.hf.loading import out_of_memory, release
from tabcontam.models.hf.model_tokenizer import PromptTokens, TokenIds
from tabcontam.reading.wrapping import THOUGHT_END, THOUGHT_START

Row = TypeVar("Row", bound=TokenIds)
Got = TypeVar("Got")


@dataclass(frozen=True, eq=False)
class _QueuedRow(Generic[Row, Got]):
    row: Row
    reply: "asyncio.Future[Got]"


@dataclass(eq=False)
class Batcher(Generic[Row, Got]):
    """A queue of rows for a function that answers several at once, on a thread for this model only."""

    answer: Callable[[Sequence[Row]], list[Got]]
    thread: Executor
    size: int
    cost: Callable[[Sequence[Row]], float]  # the work per token; the cheapest batch with the oldest row is the next
    band: Callable[[Row], Hashable] = lambda row: None  # equal in a batch
    _waiting: list[_QueuedRow[Row, Got]] = field(default_factory=list)
    _worker: "asyncio.Task[None] | None" = None

    async def ask(self, row: Row) -> Got:
        """Return the reply to a row. Raises any error of its batch."""
        reply: asyncio.Future[Got] = asyncio.get_running_loop().create_future()
        self._waiting.append(_QueuedRow(row, reply))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await reply

    async def close(self) -> None:
        for waiting in self._waiting:
            waiting.reply.cancel()
        if self._worker is not None and not self._worker.done():
            await asyncio.gather(self._worker, return_exceptions=True)

    async def _work(self) -> None:
        quiet = 0.002  # seconds without a new request until a smaller batch starts
        while self._waiting:
            seen = -1
            while seen < len(self._waiting) < self.size:
                seen = len(self._waiting)
                await asyncio.sleep(quiet)
            self._waiting = [waiting for waiting in self._waiting if not waiting.reply.done()]  # some were cancelled
            if self._waiting:
                oldest = self._waiting[0]
                alike = [waiting for waiting in self._waiting if self.band(waiting.row) == self.band(oldest.row)]
                batch = self._cheapest(oldest, alike)
                self._waiting = [waiting for waiting in self._waiting if waiting not in batch]
                await self._answered(batch)

    # start: tokens; prompts that share so many have a common beginning
    def _cheapest(
        self, oldest: _QueuedRow[Row, Got], alike: Sequence[_QueuedRow[Row, Got]], *, start: int = 32
    ) -> list[_QueuedRow[Row, Got]]:
        def distance(waiting: _QueuedRow[Row, Got]) -> int:
            return abs(len(waiting.row.ids) - len(oldest.row.ids))

        nearest = sorted(alike, key=distance)[: self.size]  # a stable sort: `oldest` is first
        similar = [waiting for waiting in alike if waiting.row.ids[:start] == oldest.row.ids[:start]]
        similar = sorted(similar, key=distance)[: self.size]
        choices = [group[:count] for group in (nearest, similar) for count in range(1, len(group) + 1)]
        return min(choices, key=lambda batch: (self.cost([waiting.row for waiting in batch]), -len(batch)))

    async def _answered(self, batch: Sequence[_QueuedRow[Row, Got]]) -> None:
        try:
            rows = [waiting.row for waiting in batch]
            replies = await asyncio.get_running_loop().run_in_executor(self.thread, self.answer, rows)
        except Exception as error:
            for waiting in batch:
                if not waiting.reply.done():
                    waiting.reply.set_exception(error)
            return
        for waiting, reply in zip(batch, replies, strict=True):
            if not waiting.reply.done():
                waiting.reply.set_result(reply)


@dataclass(eq=False)
class BatchSplitter(Generic[Row, Got]):
    """A function that answers at most `most` rows at once (0: any number), or fewer if memory is not enough."""

    answer: Callable[[Sequence[Row]], list[Got]]
    too_large: Callable[[Row], Got]  # the result for a row that alone needs too much memory
    most: int = 0

    def __call__(self, rows: Sequence[Row]) -> list[Got]:
        if self.most and len(rows) > self.most:
            parts = [rows[first : first + self.most] for first in range(0, len(rows), self.most)]
            return [got for part in parts for got in self(part)]
        try:
            return self.answer(rows)
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
        release()  # after the exception, which refers to the tensors of its frames
        if len(rows) == 1:
            return [self.too_large(rows[0])]
        self.most = len(rows) // 2
        return self(rows)


TAG = 16  # the most tokens of </thinking>


@dataclass(eq=False)
class RowEnds:
    """A stopping criterion of transformers that ends each row separately and stores its length."""

    rows: Sequence[PromptTokens]
    start: int  # the index at which answers begin
    allowances: Sequence[int]  # tokens for the thinking of each row
    eos: Collection[int]
    decode: Callable[[Sequence[int]], str]
    stopping: Callable[[], bool] = lambda: False
    leaving: bool = False  # True if the call stops once half of its rows have ended, which `leave` then removes

    def __post_init__(self) -> None:
        self.lengths = [0] * len(self.rows)
        self.live = list(range(len(self.rows)))  # the rows of the current call
        self._done = [False] * len(self.rows)
        self._answer_from: list[int | None] = [None] * len(self.rows)  # where thinking has ended
        # Every byte of a stop string may be a token, and its first token may begin with earlier text.
        self._tails = [max((len(mark.encode()) for mark in row.stop), default=0) + 4 for row in self.rows]

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        import torch

        stopping = self.stopping()
        for number, ids in zip(self.live, input_ids[:, self.start :].tolist(), strict=True):
            if not self._done[number]:
                self.lengths[number] = len(ids)
                self._done[number] = stopping or self.ended(number, ids)
        done = [self._done[number] for number in self.live]
        parting = self.leaving and 2 * sum(done) >= len(done)
        return torch.tensor([parting or each for each in done], device=input_ids.device)

    @property
    def remaining(self) -> int:
        """The most tokens that any unfinished answer may still have."""
        most = [self.rows[number].max_tokens + self.allowances[number] - self.lengths[number] for number in self.live]
        return max(most)

    def leave(self) -> list[int]:
        """Remove the rows that have ended from `live`. Return the former indices in `live` of the remaining rows."""
        places = [place for place, number in enumerate(self.live) if not self._done[number]]
        self.live = [self.live[place] for place in places]
        return places

    def ended(self, number: int, ids: Sequence[int]) -> bool:
        """Return whether a row ends with the last of these answer tokens. It must be called after every token."""
        often = 8  # tokens between two checks of whether an answer continues without end
        row = self.rows[number]
        if ids[-1] in self.eos:
            return True
        if row.stop:
            tail = self.decode(ids[-self._tails[number] :])
            if any(mark in tail for mark in row.stop):
                return True
        if self._at_limit(number, row, ids):
            return True
        begin = self._answer_from[number]
        if row.goes_on is None or len(ids) % often or (begin is None and self._thinks(row, ids)):
            return False
        return row.goes_on(self.decode(ids[begin or 0 :]))

    def _at_limit(self, number: int, row: PromptTokens, ids: Sequence[int]) -> bool:
        if row.thinks:
            self._note_thought(number, ids)
        if len(ids) >= row.max_tokens + self.allowances[number]:
            return True
        if len(ids) - (self._answer_from[number] or 0) < row.max_tokens:
            return False
        return self._answer_from[number] is not None or not self._thinks(row, ids)

    def _note_thought(self, number: int, ids: Sequence[int]) -> None:
        """Note where thinking has ended. Blanks after it do not belong to the answer either."""
        begin = self._answer_from[number]
        if begin is None:
            ended = bool(THOUGHT_END.search(self.decode(ids[-TAG:])))
        else:
            ended = len(ids) == begin + 1 and not self.decode(ids[begin:]).strip()
        if ended:
            self._answer_from[number] = len(ids)

    def _thinks(self, row: PromptTokens, ids: Sequence[int]) -> bool:
        return row.thinks and (row.opened or bool(THOUGHT_START.match(self.decode(ids[:TAG]))))
