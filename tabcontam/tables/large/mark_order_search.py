"""A search for the rows next to each sampled row in a shuffled file, by the digits of a column such as a date."""

from collections.abc import Sequence

import numpy as np

from tabcontam.tables.large.adjoining_rows import AdjoiningRows, Row
from tabcontam.tables.large.chunks import Bools, Chunk, Ints, Words
from tabcontam.tables.large.hashes import Sieve
from tabcontam.tables.large.pair_tests import kinds_of
from tabcontam.tables.thresholds import LONGEST_MARKED_CELL, MOST_MARK_DIGITS

NO_MARK = -1  # the mark of a cell without digits


def marks_of(chunk: Chunk, column: int) -> Ints:
    """Return each cell's digits as one number, its mark. Marks order whole numbers, and dates with the year first."""
    starts, lengths = chunk.starts[column], chunk.lengths[column]
    found, count = np.zeros(len(starts), dtype=np.int64), np.zeros(len(starts), dtype=np.int64)
    for offset in range(min(LONGEST_MARKED_CELL, int(lengths.max(initial=0)))):
        digits = chunk.content[np.minimum(starts + offset, len(chunk.content) - 1)].astype(np.int64) - ord("0")
        is_digit = (digits >= 0) & (digits <= 9) & (offset < lengths) & (count < MOST_MARK_DIGITS)
        found = np.where(is_digit, 10 * found + digits, found)
        count += is_digit
    return np.where((count > 0) & (lengths <= LONGEST_MARKED_CELL), found, NO_MARK)


class MarkOrderSearch:
    """A search for the rows with marks just below and above the mark of each sampled row, among rows of its kind."""

    def __init__(self, by: int | None, order: int, informative: Sequence[int], cells: Words, rows: Chunk) -> None:
        self.by, self.order, self.informative = by, order, tuple(informative)
        values, kinds = np.unique(kinds_of(cells, by), return_inverse=True)
        self._sieve, marks = Sieve(values), marks_of(rows, order)
        self._marks = np.unique(marks)
        self._kept = np.lexsort((marks, kinds))  # the sampled rows by kind and mark
        self._kind = kinds[self._kept]
        self._keys = self._key(self._kind, marks[self._kept])
        self._rows: list[list[Row | None]] = [[None] * len(kinds), [None] * len(kinds)]  # before and behind
        most = np.iinfo(np.int64).max
        self._best = [np.full(len(kinds), NO_MARK, dtype=np.int64), np.full(len(kinds), most, dtype=np.int64)]
        same = np.flatnonzero(self._kind[1:] == self._kind[:-1])
        self._take(0, same + 1, marks[self._kept][same], rows, self._kept[same])
        self._take(1, same, marks[self._kept][same + 1], rows, self._kept[same + 1])

    def add(self, chunk: Chunk, cells: Words, kept: Bools) -> None:
        """Read these rows; `kept` marks the sampled ones."""
        rows, kinds = self._sieve.among(kinds_of(cells, self.by))
        marks = marks_of(chunk, self.order)[rows]
        others = ~kept[rows] & (marks != NO_MARK)
        rows, kinds, marks = rows[others], kinds[others], marks[others]
        places = np.searchsorted(self._keys, self._key(kinds, marks))  # the first sampled row that is not before it
        order = np.lexsort((marks, places))
        rows, kinds, marks, places = rows[order], kinds[order], marks[order], places[order]
        inside = np.minimum(places, len(self._kind) - 1)
        own = np.flatnonzero((places < len(self._kind)) & (self._kind[inside] == kinds))
        last = own[np.append(places[own][1:] != places[own][:-1], True)[: len(own)]]
        self._take(0, places[last], marks[last], chunk, rows[last])
        own = np.flatnonzero((places > 0) & (self._kind[np.maximum(places, 1) - 1] == kinds))
        first = own[np.append(True, places[own][1:] != places[own][:-1])[: len(own)]]
        self._take(1, places[first] - 1, marks[first], chunk, rows[first])

    def found(self, columns: Sequence[str]) -> AdjoiningRows:
        """Return the adjoining rows, after all rows were added."""
        by = None if self.by is None else columns[self.by]
        before, after = map(tuple, self._rows)
        return AdjoiningRows(by, columns[self.order], tuple(columns[one] for one in self.informative), before, after)

    def _take(self, side: int, places: Ints, marks: Ints, chunk: Chunk, rows: Ints) -> None:
        """Store each row that is nearer to its sampled row, on this side, than the row stored so far."""
        best = self._best[side]
        nearer = marks > best[places] if side == 0 else marks < best[places]
        best[places[nearer]] = marks[nearer]
        texts = chunk.texts(rows[nearer].tolist())
        for place, text in zip(self._kept[places[nearer]].tolist(), texts, strict=True):
            self._rows[side][place] = text

    def _key(self, kinds: Ints, marks: Ints) -> Ints:
        return np.asarray(kinds * (len(self._marks) + 1) + np.searchsorted(self._marks, marks))
