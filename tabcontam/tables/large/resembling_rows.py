"""Rows of a file that resemble a sampled row: they show which of its cells follow from its other cells.

A sampled row can be asked about only if no other row has the same shown cells and a different hidden cell. So rows are
collected that have the first cells of a sampled row, or all its cells except one. They show in which columns rows that
are otherwise equal differ. For each sampled row, mostly one or two such rows are enough, and never more than the number
of columns. Rows are searched for by hash and then compared cell by cell, since different cells may have equal hashes.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tabcontam.tables.large.chunks import Bools, Chunk, Ints, Words
from tabcontam.tables.large.hashes import Sieve, salted
from tabcontam.tables.table_contents import Rows


class ResemblingGroups:
    """Groups of rows with equal cells in the columns `shown`; each group contains a sampled row."""

    def __init__(self, shown: Sequence[int], keys: Words, cells: Words) -> None:
        columns = len(cells)
        self.shown = frozenset(shown)
        self.keys, self.first, groups = np.unique(keys, return_index=True, return_inverse=True)
        self._sieve = Sieve(self.keys)
        sizes = np.bincount(groups, minlength=len(self.keys))
        self.met = sizes > 1
        self.alike = np.ones((columns, len(self.keys)), dtype=bool)
        self.alike[sorted(self.shown)] = False
        for column in set(range(columns)) - self.shown:
            differs = cells[column] != cells[column][self.first][groups]
            self.alike[column][groups[differs]] = False
        self._cells = cells  # cells of all sampled rows; all groups share this array
        self._tidy()

    def _tidy(self) -> None:
        self.needy = ~self.met | self.alike.any(axis=0)
        self._open = np.flatnonzero(self.alike.any(axis=1)).tolist()
        self.done = not self.needy.any()

    def among(self, keys: Words) -> Ints:
        """Return the places of the rows that belong to a group."""
        return self._sieve.among(keys)[0]

    def informative(self, rows: Ints, keys: Words, cells: Words) -> Iterator[tuple[int, int]]:
        """Yield each row that shows something new about its group, and the group's number."""
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
        """Record one more row of a group; `cells` are its hashes."""
        self.met[group] = True
        self.alike[:, group] &= self._cells[:, self.first[group]] == cells


class ResemblingRowSearch:
    """A search, in one pass over the file, for rows that resemble sampled ones; `cells` are from `salted_cells`."""

    def __init__(self, rows: Rows, cells: Words) -> None:
        self._rows, columns = rows, len(cells)
        sums = np.cumsum(cells, axis=0, dtype=np.uint64)
        every = range(columns)
        self._beginnings = [ResemblingGroups(range(size), sums[size - 1], cells) for size in range(1, columns + 1)]
        self._others = [
            ResemblingGroups([place for place in every if place != column], sums[-1] - cells[column], cells)
            for column in every[:-1]  # the first cells, up to each column
        ]
        self.found: dict[int, tuple[str | None, ...]] = {}

    def add(self, chunk: Chunk, cells: Words, first: int, kept: Bools) -> None:
        """Search these rows. `first` is the place in the file of the first one; `kept` marks the sampled rows."""
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

    def _take(self, kind: ResemblingGroups, chunk: Chunk, first: int, rows: Ints, keys: Words, cells: Words) -> None:
        for row, group in kind.informative(rows, keys, cells):
            (own,) = chunk.texts([row])
            like = self._rows[int(kind.first[group])]
            if all(own[column] == like[column] for column in kind.shown):
                kind.take(group, cells[:, row])
                self.found[first + row] = own


def salted_cells(chunk: Chunk) -> Words:
    """Return the hash of each cell, mixed with its column number. A row's hash can then be the sum of these hashes."""
    found = np.empty(chunk.starts.shape, dtype=np.uint64)
    for column in range(len(found)):
        found[column] = salted(chunk.hashes(column), column)
    return found


def in_order(found: Iterable[tuple[int, tuple[str | None, ...]]]) -> Rows:
    """Return the found rows, sorted by their places in the file."""
    return tuple(row for _, row in sorted(found))
