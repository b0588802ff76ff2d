"""Tests of whether pairs of rows, such as neighbours, are alike more often than chance explains."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tabcontam.tables.large.chunks import Bools, Ints, Words
from tabcontam.tables.table_contents import Rows, is_number
from tabcontam.tables.thresholds import MOST_TESTED_PAIRS, PAIR_TEST_LEVEL

Floats = NDArray[np.float64]


def known_cells(rows: Rows, missing: Collection[str]) -> tuple[list[list[str | None]], Bools]:
    """Return the cells of each column, None where missing, and an array that is True where a cell is not missing."""
    known = [[None if cell in missing else cell for cell in column] for column in zip(*rows, strict=True)]
    return known, np.array([[cell is not None for cell in column] for column in known])


def numbers_of(known: Sequence[Sequence[str | None]]) -> dict[int, Floats]:
    """Return the numbers of each column that has only numbers; a missing one is NaN."""
    return {
        column: np.array([float(cell) if cell else np.nan for cell in cells])
        for column, cells in enumerate(known)
        if any(cell is not None for cell in cells) and all(map(is_number, filter(None, cells)))
    }


def alike(cells: Words, there: Bools, first: Ints, second: Ints) -> tuple[int, int]:
    """Return how many pairs have equal cells in a column, and how many pairs have no missing cell there."""
    both = there[first] & there[second]
    return int((both & (cells[first] == cells[second])).sum()), int(both.sum())


def kinds_of(cells: Words, by: int | None) -> Words:
    """Return the kind of each row: its cell in the column `by`. If `by` is None, all rows are of one kind."""
    return np.zeros(cells.shape[1], dtype=np.uint64) if by is None else cells[by]


def at_most(hits: int, count: int) -> float:
    """Return an upper limit of the share of alike pairs (`hits` of `count`): the share plus two standard errors."""
    share = (hits + 1) / (count + 2)
    return float(min(1.0, share + 2 * np.sqrt(share * (1 - share) / (count + 2))))


def beats(hits: int, count: int, chance: float) -> bool:
    """Return whether `hits` of `count` pairs are significantly more than the share `chance`."""
    return hits > chance * count and bool(stats.binom.sf(hits - 1, count, chance) < PAIR_TEST_LEVEL)


def as_far_apart(first: Ints, second: Ints, rows: Ints, hashes: Words) -> tuple[Ints, Ints]:
    """Return pairs of `rows` with different hashes. They are as far apart in `rows` as the pairs `first`, `second`."""
    rng = np.random.default_rng(0)
    pairs, begin = (rng.integers(len(of), size=4 * MOST_TESTED_PAIRS) for of in (first, rows))
    apart = np.searchsorted(rows, second) - np.searchsorted(rows, first)
    one, other = rows[begin], rows[(begin + apart[pairs]) % len(rows)]
    different = hashes[one] != hashes[other]
    return one[different], other[different]
