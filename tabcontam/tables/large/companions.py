"""The rows of a file without which it would not be seen what follows from the cells of a kept row, and what does not.

A kept row can be asked about only if no other row of the file is like it in what is shown and differs in what is asked.
So of the rows that are like a kept one in its first cells, or in all cells but one, as many are taken as it needs to
see in which columns such rows differ: with the kept ones at most one more than there are columns, and mostly one or
two. They are found by hashes, and then compared cell by cell, so that two hashes that are the same by chance never
matter.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tabcontam.tables.cells import Rows
from tabcontam.tables.large.chunks import Bools, Chunk, Ints, Words
from tabcontam.tables.large.hashes import Sieve, salted


class Kind:
    """The rows that share the cells of some columns, for each kept row: one group of those that are alike there."""

    def __init__(self, shown: Sequence[int], keys: Words, cells: Words) -> None:
        columns = len(cells)
        self.shown = frozenset(shown)
        self.keys, self.first, groups = np.unique(keys, return_index=True, return_inverse=True)
        self._sieve = Sieve(self.keys)
        sizes = np.bincount(groups, minlength=len(self.keys))
        self.met = sizes > 1
        self.alike = np.ones((columns, len(self.keys)), dtype=bool)
        for column in range(columns):
            if column in self.shown:
                self.alike[column] = False
            else:
                differs = cells[column] != cells[column][self.first][groups]
                self.alike[column][groups[differs]] = False
        self._cells = cells  # of all kept rows: every kind looks into the same ones
        self._tidy()

    def _tidy(self) -> None:
        self.needy = ~self.met | self.alike.any(axis=0)
        self._open = np.flatnonzero(self.alike.any(axis=1)).tolist()
        self.done = not self.needy.any()

    def among(self, keys: Words) -> Ints:
        """Which of these rows belong to a group, by their places."""
        return self._sieve.among(keys)[0]

    def telling(self, rows: Ints, keys: Words, cells: Words) -> Iterator[tuple[int, int]]:
        """Of rows that belong to groups one after the other that tells something new, with its group's number."""
        groups = np.searchsorted(self.keys, keys[rows])
        left = np.flatnonzero(self.needy[groups])
        rows, groups = rows[left], groups[left]
        while len(rows):
            new = ~self.met[groups]
            for column in self._open:
                new |= self.alike[column][groups] & (cells[column][rows] != self._cells[column][self.first[groups]])
            rows, groups = rows[new], groups[new]
            _, first = np.unique(groups, return_index=True)
            for place in first.tolist():
                yield int(rows[place]), int(groups[place])
            rest: Bools = np.ones(len(rows), dtype=bool)
            rest[first] = False
            rows, groups = rows[rest], groups[rest]
            self._tidy()

    def take(self, group: int, cells: Words) -> None:
        """Note that a group has this row, too."""
        self.met[group] = True
        self.alike[:, group] &= self._cells[:, self.first[group]] == cells


class Companions:
    """Finds the companions of the kept rows while the rows of the file go by; `cells` are hashes, `salted_cells`."""

    def __init__(self, rows: Rows, cells: Words) -> None:
        self._rows, columns = rows, len(cells)
        sums = np.cumsum(cells, axis=0, dtype=np.uint64)
        every = range(columns)
        self._beginnings = [Kind(range(size), sums[size - 1], cells) for size in range(1, columns + 1)]
        others = [[place for place in every if place != column] for column in every[:-1]]  # the last is a beginning
        self._others = [
            Kind(shown, sums[-1] - cells[column], cells) for column, shown in zip(every, others, strict=False)
        ]
        self.found: dict[int, tuple[str | None, ...]] = {}

    def add(self, chunk: Chunk, cells: Words, first: int, kept: Bools) -> None:
        """Look at these rows, the first of which has this place in the file, and some of which are the `kept` ones."""
        sums = np.zeros(chunk.rows, dtype=np.uint64)
        rows: Ints | None = None
        for column, kind in enumerate(self._beginnings):
            sums = sums + cells[column]
            rows = kind.among(sums) if rows is None else rows[kind.among(sums[rows])]
            if not kind.done and len(rows):
                self._take(kind, chunk, first, rows[~kept[rows]], sums, cells)
        for column, kind in enumerate(self._others):
            if not kind.done:
                keys = sums - cells[column]
                found = kind.among(keys)
                self._take(kind, chunk, first, found[~kept[found]], keys, cells)

    def _take(self, kind: Kind, chunk: Chunk, first: int, rows: Ints, keys: Words, cells: Words) -> None:
        for row, group in kind.telling(rows, keys, cells):
            (own,) = chunk.texts([row])
            like = self._rows[int(kind.first[group])]
            if all(own[column] == like[column] for column in kind.shown):
                kind.take(group, cells[:, row])
                self.found[first + row] = own


def salted_cells(chunk: Chunk) -> Words:
    """The hash of each cell, another one for the same cell in another column, so that they can be added up."""
    found = np.empty(chunk.starts.shape, dtype=np.uint64)
    for column in range(len(found)):
        found[column] = salted(chunk.hashes(column), column)
    return found


def in_order(found: Iterable[tuple[int, tuple[str | None, ...]]]) -> Rows:
    """The rows that were found, by their places, in the order of the file."""
    return tuple(row for _, row in sorted(found))
