"""The end of each row of a batch: its limit, a stop string, an end token, or an answer that continues without end."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from tabcontam.models.hf.model_tokenizer import PromptTokens
from tabcontam.reading.wrapping import THOUGHT_END, THOUGHT_START

TAG = 16  # the most tokens of </thinking>


class RowEnds:
    """A stopping criterion of transformers that ends each row separately and stores its length.

    `start` is the index in a call's ids at which answers begin, and `allowances` the tokens for thinking of each row.
    `live` are the rows of the current call. If `leaving`, the call stops once half of its rows have ended, and `leave`
    removes the ended rows.
    """

    def __init__(
        self,
        rows: Sequence[PromptTokens],
        *,
        start: int,
        allowances: Sequence[int],
        eos: Collection[int],
        decode: Callable[[Sequence[int]], str],
        stopping: Callable[[], bool],
        leaving: bool = False,
    ) -> None:
        self.start = start
        self.lengths = [0] * len(rows)
        self.live = list(range(len(rows)))
        self._leaving = leaving
        self._rows = rows
        self._allowances = allowances
        self._ends = eos
        self._decode = decode
        self._stopping = stopping
        self._done = [False] * len(rows)
        self._answer_from: list[int | None] = [None] * len(rows)  # where thinking has ended
        # Every byte of a stop string may be a token, and its first token may begin with earlier text.
        self._tails = [max((len(mark.encode()) for mark in row.stop), default=0) + 4 for row in rows]

    def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
        """Return which rows have ended, as a tensor."""
        import torch

        stopping = self._stopping()
        for number, ids in zip(self.live, input_ids[:, self.start :].tolist(), strict=True):
            if not self._done[number]:
                self.lengths[number] = len(ids)
                self._done[number] = stopping or self.ended(number, ids)
        done = [self._done[number] for number in self.live]
        parting = self._leaving and 2 * sum(done) >= len(done)
        return torch.tensor([parting or each for each in done], device=input_ids.device)

    @property
    def remaining(self) -> int:
        """The most tokens that any unfinished answer may still have."""
        most = [self._rows[number].max_tokens + self._allowances[number] - self.lengths[number] for number in self.live]
        return max(most)

    def leave(self) -> list[int]:
        """Remove the rows that have ended from `live`. Return the former indices in `live` of the remaining rows."""
        places = [place for place, number in enumerate(self.live) if not self._done[number]]
        self.live = [self.live[place] for place in places]
        return places

    def ended(self, number: int, ids: Sequence[int]) -> bool:
        """Return whether a row ends with the last of these answer tokens. It must be called after every token."""
        often = 8  # tokens between two checks of whether an answer continues without end
        row = self._rows[number]
        if ids[-1] in self._ends:
            return True
        if row.stop:
            tail = self._decode(ids[-self._tails[number] :])
            if any(mark in tail for mark in row.stop):
                return True
        return self._at_limit(number, row, ids) or (len(ids) % often == 0 and self._goes_on(number, row, ids))

    def _goes_on(self, number: int, row: PromptTokens, ids: Sequence[int]) -> bool:
        """Return whether the answer after the thinking continues without end."""
        begin = self._answer_from[number]
        if row.goes_on is None or (begin is None and self._thinks(row, ids)):
            return False
        return row.goes_on(self._decode(ids[begin or 0 :]))

    def _at_limit(self, number: int, row: PromptTokens, ids: Sequence[int]) -> bool:
        if row.thinks:
            self._note_thought(number, ids)
        if len(ids) >= row.max_tokens + self._allowances[number]:
            return True
        if len(ids) - (self._answer_from[number] or 0) < row.max_tokens:
            return False
        return self._answer_from[number] is not None or not self._thinks(row, ids)

    def _note_thought(self, number: int, ids: Sequence[int]) -> None:
        """Note where thinking has ended. Blanks after it do not belong to the answer either."""
        begin = self._answer_from[number]
        if begin is None:
            ended = bool(THOUGHT_END.search(self._decode(ids[-TAG:])))
        else:
            ended = len(ids) == begin + 1 and not self._decode(ids[begin:]).strip()
        if ended:
            self._answer_from[number] = len(ids)

    def _thinks(self, row: PromptTokens, ids: Sequence[int]) -> bool:
        return row.thinks and (row.opened or bool(THOUGHT_START.match(self._decode(ids[:TAG]))))
