"""Rows looked for in a block of text, all of them at once.

What is quick only leaves out what cannot be: a row of which a value is nowhere in the block; then places of its rarest
value that have not all others near them. What is left is decided by `cells.spans`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from tabcontam.subjects.corpora.blocks import Block
from tabcontam.subjects.corpora.cells import Place, Row, spans, winners
from tabcontam.subjects.corpora.tokens import Known, tokens
from tabcontam.subjects.corpora.words import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tabcontam.subjects.corpora.tokens import Numbers

EVERYWHERE = 1 << 60  # how often nothing stands in a text


class Rows:
    """Rows that are looked for, each under a number of the caller's."""

    def __init__(self, rows: Mapping[int, Row]) -> None:
        import numpy as np

        self._rows = {number: row for number, row in rows.items() if any(text.keys for text in row.texts)}
        self._numbers = list(self._rows)
        every = chain.from_iterable((*row.texts, *row.beside) for row in self._rows.values())
        values = [value for value in dict.fromkeys(every) if value.keys]
        self._value = {value: place for place, value in enumerate(values)}
        keys = list(dict.fromkeys(key for value in values for key in value.keys))
        hashes = tokens(b" ".join(keys)).hashes
        self._known = Known(hashes)
        of_key = dict(zip(keys, self._known.places(hashes).tolist(), strict=True)) if keys else {}
        self._words = _Lists([[of_key[key] for key in value.keys] for value in values])
        # A value that is nowhere and everywhere, so that no list is empty.
        self._beside = _Lists([[*map(self._value.__getitem__, set(row.beside)), len(values)] for row in self._listed])
        self._texts = _Lists([[self._value[text] for text in set(row.texts) if text.keys] for row in self._listed])
        self._lacking = np.array([row.lacking for row in self._listed], np.int64)

    @property
    def _listed(self) -> Iterable[Row]:
        return self._rows.values()

    def find(self, block: Block, over: frozenset[int] = frozenset()) -> Iterator[tuple[int, int, list[Place]]]:
        """For each row and each piece of the block that has it, both by number, its places. A row that is `over` is
        not looked for.
        """
        import numpy as np

        if not self._rows:
            return
        at, which = self._known.among(block.tokens.hashes)
        often = np.bincount(which, minlength=len(self._known))
        rarest = np.append(self._words.least(often), EVERYWHERE)
        absent = self._beside.sums(rarest == 0)
        there = (absent <= self._lacking) & (self._texts.sums(rarest > 0) > 0)
        stands: _Stands | None = None
        for place in np.flatnonzero(there).tolist():
            number = self._numbers[place]
            if number in over:
                continue
            stands = stands or _Stands(block, at, which, often)
            yield from self._of_row(number, place, stands, rarest, int(absent[place]))

    def _of_row(
        self, number: int, place: int, stands: "_Stands", rarest: "Numbers", absent: int
    ) -> Iterator[tuple[int, int, list[Place]]]:
        row = self._rows[number]
        near = self._near(row, place, stands, rarest, absent)
        found: dict[int, list[Place]] = {}
        texts = [text for text, own in enumerate(row.texts) if own.keys and rarest[self._value[own]]]
        for piece, first, last in near:
            begin, end = stands.bytes(first, last)
            clean = stands.block.clean
            found.setdefault(piece, []).extend(spans(clean, words(clean, begin, end), row, texts))
        for piece, places in found.items():
            if won := winners(places):
                yield number, piece, won

    def _near(
        self, row: Row, place: int, stands: "_Stands", rarest: "Numbers", absent: int
    ) -> list[tuple[int, int, int]]:
        """Runs of words in which the row may stand: the piece, the first word and the last."""
        import numpy as np

        free = row.lacking - absent
        beside = sorted((int(rarest[value]), value) for value in self._beside[place] if rarest[value])[:-1]
        texts = [value for value in self._texts[place] if rarest[value]]
        # One of the rarest must be there even if as many as may lack are: or the text, which never lacks.
        by_texts, by_rarest = sum(int(rarest[value]) for value in texts), sum(count for count, _ in beside[: free + 1])
        text_is_rarest = len(beside) <= free or by_texts <= by_rarest
        anchors = texts if text_is_rarest else [value for _, value in beside[: free + 1]]
        at = _merged([self._at(value, stands) for value in anchors])
        low, high = stands.reach(at, row)
        left = np.full(len(at), free)
        own = _merged([self._at(value, stands) for value in texts])
        for where in (own, *(self._at(value, stands) for _, value in beside)):
            near = np.searchsorted(where, low) < np.searchsorted(where, high, "right")
            left -= ~near if where is not own else np.where(near, 0, EVERYWHERE)
            kept = left >= 0
            if not kept.all():
                at, low, high, left = at[kept], low[kept], high[kept], left[kept]
            if not len(at):
                return []
        return stands.joined(low, high)

    def _at(self, value: int, stands: "_Stands") -> "Numbers":
        """Where a value may stand: the places of its rarest word."""
        return stands.of(min(self._words[value], key=stands.often.__getitem__))


def _merged(places: Sequence["Numbers"]) -> "Numbers":
    """Places in order, from lists that are in order."""
    import numpy as np

    return places[0] if len(places) == 1 else np.sort(np.concatenate(places))


class _Lists:
    """Lists of numbers, none empty, in one array."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        import numpy as np

        self._lists = lists
        self._all = np.fromiter(chain.from_iterable(lists), np.int64)
        self._begins = np.cumsum([0, *map(len, lists)])[:-1]

    def __getitem__(self, place: int) -> Sequence[int]:
        return self._lists[place]

    def least(self, values: "Numbers") -> "Numbers":
        """For each list the least of the values at its places."""
        import numpy as np

        return np.minimum.reduceat(values[self._all], self._begins)

    def sums(self, values: "NDArray[np.bool_]") -> "Numbers":
        """For each list how many of the values at its places are true."""
        import numpy as np

        return np.add.reduceat(values[self._all].astype(np.int64), self._begins)


@dataclass(eq=False)
class _Stands:
    """Where the words that are looked for stand in a block: `which` of them at which place of all its words."""

    block: Block
    at: "Numbers"
    which: "Numbers"
    often: "Numbers"

    @cached_property
    def _sorted(self) -> "tuple[Numbers, Numbers]":
        import numpy as np

        return self.at[np.argsort(self.which, kind="stable")], np.append(0, np.cumsum(self.often))

    def of(self, word: int) -> "Numbers":
        """The places of a word, in order."""
        at, begins = self._sorted
        return at[begins[word] : begins[word + 1]]

    def reach(self, at: "Numbers", row: Row) -> "tuple[Numbers, Numbers]":
        """The first and the last word that a span of the row with each of these words can have."""
        import numpy as np

        tokens, bounds = self.block.tokens, self.block.first_words
        low, high = at - row.most_words, at + row.most_words
        numbers, most = tokens.numbers, row.most_numbers + 1
        if len(numbers) > most:
            place = np.searchsorted(numbers, at)
            first, last = place - most, place + most
            low = np.where(first >= 0, np.maximum(low, numbers[np.maximum(first, 0)]), low)
            high = np.where(last < len(numbers), np.minimum(high, numbers[np.minimum(last, len(numbers) - 1)]), high)
        piece = np.searchsorted(bounds, at, "right") - 1
        return np.maximum(low, bounds[piece]), np.minimum(high, bounds[piece + 1] - 1)

    def joined(self, low: "Numbers", high: "Numbers") -> list[tuple[int, int, int]]:
        """Runs of words put together where they overlap, each with the piece that it is in."""
        import numpy as np

        order = np.argsort(low, kind="stable")
        low, high = low[order], np.maximum.accumulate(high[order])
        piece = np.searchsorted(self.block.first_words, low, "right") - 1
        new = np.append(True, (low[1:] > high[:-1]) | (piece[1:] != piece[:-1]))
        begins = np.flatnonzero(new)
        ends = np.append(begins[1:], len(low)) - 1
        return list(zip(piece[begins].tolist(), low[begins].tolist(), high[ends].tolist(), strict=True))

    def bytes(self, first: int, last: int) -> tuple[int, int]:
        """From which byte to which these words go, with what stands before the first."""
        tokens = self.block.tokens
        return int(tokens.begins[first]), int(tokens.ends[last])
