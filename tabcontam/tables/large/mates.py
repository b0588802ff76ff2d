"""The rows of a file that tell of a kept row what a sample alone would not: those that share a telling cell with it.

Where a code stands for a city, who has the file knows the city of every code, and so does who knows the world. Of a
file with more codes than the sample has rows, the sample shows hardly any code twice, so that whoever learns from it
alone would take that knowledge for memory of the row. So for each kept row a few more rows are taken that have the same
code. Which columns tell others is seen in the sample itself, by the pairs of its rows that share a cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tabcontam.tables.cells import Rows, is_number
from tabcontam.tables.large.chunks import Bools, Chunk, Ints, Words

Floats = NDArray[np.float64]

EACH = 5  # rows that are taken for a value, of which a kept row has one
ENOUGH = 5  # rows of the sample that have a value: then they show themselves what follows from it
MOST = 30_000  # rows that are taken in all
PAIRS = 2000  # of rows that share a cell, by which a column is judged
LEVEL = 1e-6  # of the test whether rows that share a cell are more alike in another one than others are
NEAR = 0.1  # of all ranks: as near as this two numbers are alike, too


@dataclass(frozen=True, eq=False)
class _Wanted:
    """The values of a telling column of which more rows are wanted, by their hashes, and how many are still missing."""

    column: int
    hashes: Words
    missing: Ints

    def more(self, cells: Words, kept: Bools) -> Ints:
        """Rows that have such values, by their places, no more of each than are missing, and none of the kept ones."""
        found = np.minimum(np.searchsorted(self.hashes, cells), len(self.hashes) - 1)
        fitting = (self.hashes[found] == cells) & (self.missing[found] > 0) & ~kept
        rows = np.flatnonzero(fitting)
        rows = rows[np.argsort(found[rows], kind="stable")]
        values = found[rows]
        new = np.arange(len(values)) - np.searchsorted(values, values) < self.missing[values]
        np.subtract.at(self.missing, values[new], 1)
        return np.asarray(rows[new])


class Mates:
    """Finds the mates of the kept rows while the rows of the file go by; `cells` are hashes, `salted`."""

    def __init__(self, rows: Rows, cells: Words) -> None:
        few = telling(rows, cells)
        values = sum(map(len, few.values()))
        each = min(EACH, max(1, MOST // max(1, values)))
        self._wanted = [_Wanted(column, hashes, np.full(len(hashes), each)) for column, hashes in few.items()]
        self.found: dict[int, tuple[str | None, ...]] = {}

    def add(self, chunk: Chunk, cells: Words, first: int, kept: Bools) -> None:
        """Look at these rows, the first of which has this place in the file, and some of which are the `kept` ones."""
        if not self._wanted or len(self.found) >= MOST:
            return
        taken = np.zeros(chunk.rows, dtype=bool)
        for one in self._wanted:
            taken[one.more(cells[one.column], kept)] = True
        places = np.flatnonzero(taken)[: MOST - len(self.found)].tolist()
        self.found |= dict(zip([first + place for place in places], chunk.texts(places), strict=True))


def telling(rows: Rows, cells: Words) -> dict[int, Words]:
    """The columns that tell something of another one, and of which a sample shows values too rarely, with these values.

    `cells` has a line for each column with the hash of each cell. Two rows that share a cell of such a column agree in
    another column, or lie near each other in it, more often than any two rows do (a binomial test at 1e-6).
    """
    columns = range(len(cells))
    likenesses = [_Likeness.of([row[column] for row in rows], cells[column]) for column in columns]
    found = {}
    for column in columns:
        few = _few(cells[column])
        if not len(few):
            continue
        pairs = _sharing(cells[column])
        if any(likenesses[place].is_more(*pairs) for place in columns if place != column):
            found[column] = few
    return found


@dataclass(frozen=True, eq=False)
class _Likeness:
    """How often two rows are alike in a column: their cells are equal, or near each other, if they are numbers."""

    cells: Words
    ranks: Floats | None
    equal: float
    near: float

    @classmethod
    def of(cls, values: Sequence[str | None], cells: Words) -> "_Likeness":
        """That of any two rows, as pairs drawn by chance show it."""
        ranks = None
        if all(map(is_number, filter(None, values))):
            numbers = np.array([float(value) if value else np.nan for value in values])
            ranks = stats.rankdata(numbers, nan_policy="omit") / len(numbers)
        first, second = np.random.default_rng(0).integers(0, len(cells), (2, 4 * PAIRS))
        first, second = first[first != second], second[first != second]
        near = float((np.abs(ranks[first] - ranks[second]) <= NEAR).mean()) if ranks is not None else 1.0
        return cls(cells, ranks, float(((cells[first] == cells[second]).sum() + 1) / (len(first) + 1)), near)

    def is_more(self, first: Ints, second: Ints) -> bool:
        """Whether these pairs of rows are alike more often."""
        if not len(first):
            return False
        counts = [(int((self.cells[first] == self.cells[second]).sum()), self.equal)]
        if self.ranks is not None:
            counts.append((int((np.abs(self.ranks[first] - self.ranks[second]) <= NEAR).sum()), self.near))
        return any(stats.binom.sf(count - 1, len(first), chance) < LEVEL for count, chance in counts)


def _few(cells: Words) -> Words:
    """The values that fewer rows have than would show what follows from them, in order."""
    values, times = np.unique(cells, return_counts=True)
    return np.asarray(values[times < ENOUGH])


def _sharing(cells: Words) -> tuple[Ints, Ints]:
    """Pairs of rows that share a cell, no more than it takes to judge by them, wherever in the file the rows stand."""
    order = np.random.default_rng(2).permutation(len(cells))
    order = order[np.argsort(cells[order], kind="stable")]
    pairs = np.flatnonzero(cells[order][1:] == cells[order][:-1])
    if len(pairs) > PAIRS:
        pairs = np.random.default_rng(1).choice(pairs, PAIRS, replace=False)
    return order[pairs], order[pairs + 1]
