"""Exact facts about a column over all rows of a file, computed in one pass and in bounded memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from tabcontam.tables.large.chunks import Chunk, Ints, Words, chunk_of
from tabcontam.tables.table_contents import MARKS, is_number
from tabcontam.tables.thresholds import MOST_STORED_VALUES

SLOTS = 16  # bits of a hash that are the index of a value in the table
_WIDE = ("\u0085", "\u00a0", "\u1680", "\u2000", "\u2040", "\u3000")  # blanks, by their first two bytes


@dataclass
class ColumnFacts:
    """The facts about a column after the rows read so far.

    `counts` has the frequency of each value, in order of first appearance; it becomes None once there are many values.
    From then on, `odd` has the values that are not numbers; it becomes None, too, once there are many of them. From
    then on, `marks` has the values that may mark a missing value.
    """

    place: int
    counts: dict[str | None, int] | None = field(default_factory=dict)
    odd: set[str] | None = field(default_factory=set)
    marks: set[str] = field(default_factory=set)
    _hashes: Words = field(default_factory=lambda: np.empty(0, dtype=np.uint64))  # of the counted values, in order
    _table: Ints = field(default_factory=lambda: np.zeros(1 << SLOTS, dtype=np.int64))

    def add(self, chunk: Chunk) -> None:
        """Update the facts with these rows."""
        if self.counts is not None:
            self._count(chunk, self.counts)
        else:
            self._look(chunk)

    def _count(self, chunk: Chunk, counts: dict[str | None, int]) -> None:
        hashes = chunk.hashes(self.place)
        new = np.arange(len(hashes))
        if len(self._hashes):
            found = self._table[hashes >> np.uint64(64 - SLOTS)]
            new = np.flatnonzero(self._hashes[found] != hashes)
            times = np.bincount(np.delete(found, new) if len(new) else found, minlength=len(self._hashes))
            for value, more in zip(list(counts), times.tolist(), strict=True):
                counts[value] += more
        if not len(new):
            return
        values, first, times = np.unique(hashes[new], return_index=True, return_counts=True)
        # even if half of the values are known and in the slot of another value
        if len(values) + len(self._hashes) > 2 * MOST_STORED_VALUES:
            self._give_up(chunk, counts)
            return
        for number in np.argsort(first, kind="stable").tolist():
            value = chunk.cell(self.place, int(new[first[number]]))
            if value not in counts:
                self._hashes = np.append(self._hashes, values[number])
                self._table[int(values[number]) >> (64 - SLOTS)] = len(self._hashes) - 1
            counts[value] = counts.get(value, 0) + int(times[number])
        if len(counts) > MOST_STORED_VALUES:
            self._give_up(chunk, counts)

    def _give_up(self, chunk: Chunk, counts: Collection[str | None]) -> None:
        """Stop counting values; from the rows so far and this chunk, store the values that are not numbers."""
        self.counts = None
        self._see({value for value in counts if value is not None and not is_number(value)})
        self._look(chunk)

    def _see(self, values: Collection[str]) -> None:
        if self.odd is None:
            return
        self.odd |= set(values)
        if len(self.odd) > MOST_STORED_VALUES:
            self.marks |= {value for value in self.odd if value in MARKS or not value.strip()}
            self.odd = None

    def _look(self, chunk: Chunk) -> None:
        """Look for values that are not numbers; if there are many, look only for marks of missing values."""
        if self.odd is None:
            self._mark(chunk)
            return
        others = np.flatnonzero(~chunk.plain_numbers(self.place) & (chunk.lengths[self.place] >= 0))
        if not len(others):
            return
        _, first = np.unique(chunk.hashes(self.place)[others], return_index=True)
        values = [chunk.cell(self.place, int(row)) for row in others[first]]
        self._see({value for value in values if value is not None and not is_number(value)})
        if self.odd is None:
            self._mark(chunk)

    def _mark(self, chunk: Chunk) -> None:
        """Look only for marks of missing values."""
        words, lengths = chunk.first_bytes(self.place), chunk.lengths[self.place]
        blank = (words & np.uint64(0xFF)) <= np.uint64(ord(" "))
        for wide in _BLANKS:
            blank |= (words & np.uint64(0xFFFF)) == wide
        may = blank | (_IS_MARK[words % np.uint64(len(_IS_MARK))] & (lengths <= _LONGEST_MARK))
        rows = np.flatnonzero(may & (lengths >= 0))
        if len(rows):
            _, first = np.unique(chunk.hashes(self.place)[rows], return_index=True)
            values = (chunk.cell(self.place, int(row)) for row in rows[first])
            self.marks |= {value for value in values if value is not None and (value in MARKS or not value.strip())}

    def missing(self) -> set[str]:
        """Return the usual marks of a missing value that occur, as `missing_marks` would for all cells."""
        if self.odd is None:
            return self.marks
        values = self.odd if self.counts is None else {value for value in self.counts if value is not None}
        marks = {value for value in values if value in MARKS or not value.strip()}
        others = [value for value in values - marks - {"-"} if not is_number(value)]
        several = self.counts is None or len(values) > 1
        return marks | ({"-"} if "-" in values and several and not others else set())

    def values(self, missing: Collection[str]) -> tuple[str, ...] | None:
        """Return the values except `missing`, most frequent first, then by first appearance; None if there are many."""
        if self.counts is None:
            return None
        ranked = sorted(self.counts, key=lambda value: -self.counts[value])  # type: ignore[index]
        return tuple(value for value in ranked if value is not None and value not in missing)

    def is_numeric(self, missing: Collection[str]) -> bool:
        """Return whether the values except `missing` are finite numbers, and there is at least one."""
        if self.counts is not None:
            values = self.values(missing) or ()
            return bool(values) and all(map(is_number, values))
        return self.odd is not None and self.odd <= set(missing)


def enumerated(sizes: Sequence[int | None], rows: int) -> bool:
    """Return whether `rows` rows can have all combinations of feature values; `sizes`: number of values by feature."""
    combinations = 1
    for size in sizes:
        if size is None:
            return False
        combinations *= size
    return sum(size is not None and size > 1 for size in sizes) > 1 and combinations <= rows


_LONGEST_MARK = max(map(len, MARKS))
_BLANKS = [np.uint64(int.from_bytes(blank.encode()[:2], "little")) for blank in _WIDE]
_IS_MARK = np.zeros(4099, dtype=bool)
_IS_MARK[chunk_of([(mark,) for mark in sorted(MARKS)], 1).first_bytes(0) % np.uint64(len(_IS_MARK))] = True
