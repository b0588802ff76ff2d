"""Predictions from the most similar row: one that differs in a cell or two may be a changed copy, as in a log.

Rows are compared in small tables only. In a large one the rows that a baseline is fitted on seldom hold both a row and
its copy.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.coded_columns import MISSING, Bools, Column, Floats, Ints
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.thresholds import GROUP_PRIOR_ROWS, LEAST_LIKE_ROWS, MOST_DIFFERING_CELLS

Counts = NDArray[np.uint8]
OWN = 255  # more cells than any other row may differ in: a row is not compared with itself


def apart(shown: Sequence[Column], rows: int) -> Counts:
    """Return the number of shown cells in which each two of `rows` rows differ."""
    found = np.zeros((rows, rows), dtype=np.uint8)
    for one in shown[: OWN - 1]:
        found += differing(one)
    np.fill_diagonal(found, OWN)
    return found


def differing(one: Column) -> Counts:
    """Return whether each two rows differ in a cell, as 0 or 1."""
    return np.asarray(np.not_equal(one.codes[:, None], one.codes[None, :]).astype(np.uint8))


def alike(differ: Counts | None, wanted: Ints) -> Bools:
    """Return which rows are like the wanted ones: if each of those differs from every other row, the rows that do so.

    Otherwise all rows are alike. They are, too, in a table without counts of differing cells.
    """
    if differ is None:
        return np.ones(1, dtype=np.bool_)
    alone, every = np.asarray(differ.min(axis=1) > 0), np.ones(len(differ), dtype=np.bool_)
    return alone if alone[wanted].all() and alone.sum() >= LEAST_LIKE_ROWS else every


def twin(target: Column, differ: Counts, like: Bools, predicted: Ints) -> LawPredictions:
    """Return the value of the row that differs in the fewest shown cells from each predicted one.

    Its probability is the share of rows, among those marked in `like`, whose most similar row differs in as many cells
    and has the right value.
    """
    found = differ.argmin(axis=1)
    count = np.minimum(differ[np.arange(len(found)), found], MOST_DIFFERING_CELLS)
    right = target.codes[found] == target.codes
    shares = _shares(count[like], right[like])
    values = [
        {key: share} if (key := target.keys[row]) != MISSING else {}
        for row, share in zip(found[predicted].tolist(), shares[count[predicted]].tolist(), strict=True)
    ]
    return LawPredictions.of(values)


def _shares(count: Counts, right: Bools) -> Floats:
    """Return how often the most similar row's value is right, by number of differing cells."""
    rows = np.bincount(count, minlength=MOST_DIFFERING_CELLS + 1)
    hits = np.bincount(count, right, MOST_DIFFERING_CELLS + 1)
    return np.asarray((hits + GROUP_PRIOR_ROWS * right.mean()) / (rows + GROUP_PRIOR_ROWS), dtype=np.float64)
