"""Predictions from the most similar row: a row that differs in a cell or two may be a changed copy, as in a log.

Rows are compared in small tables only: the sample of a large table seldom has both a row and its copy.
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
    """Return the number of shown cells in which two rows differ, for all pairs of `rows` rows."""
    found = np.zeros((rows, rows), dtype=np.uint8)
    for one in shown[: OWN - 1]:
        found += differing(one)
    np.fill_diagonal(found, OWN)
    return found


def differing(one: Column) -> Counts:
    """Return a matrix for all pairs of rows: 1 if their cells differ, otherwise 0."""
    return np.asarray(np.not_equal(one.codes[:, None], one.codes[None, :]).astype(np.uint8))


def alike(differ: Counts | None, wanted: Ints) -> Bools:
    """Return a mask of the rows that are like the wanted rows: if each wanted row is unique, all unique rows.

    A row is unique if every other row differs in a shown cell. In all other cases, and if `differ` is None, the mask
    has all rows.
    """
    if differ is None:
        return np.ones(1, dtype=np.bool_)
    alone, every = np.asarray(differ.min(axis=1) > 0), np.ones(len(differ), dtype=np.bool_)
    return alone if alone[wanted].all() and alone.sum() >= LEAST_LIKE_ROWS else every


def most_similar_row(target: Column, differ: Counts, like: Bools, predicted: Ints) -> LawPredictions:
    """Return for each predicted row the value of the row that differs in the fewest shown cells.

    The value's probability is the share of hits among rows marked in `like` with as many differing cells.
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
    """Return how often the most similar row has the right value, by the number of cells in which it differs."""
    rows = np.bincount(count, minlength=MOST_DIFFERING_CELLS + 1)
    hits = np.bincount(count, right, MOST_DIFFERING_CELLS + 1)
    return np.asarray((hits + GROUP_PRIOR_ROWS * right.mean()) / (rows + GROUP_PRIOR_ROWS), dtype=np.float64)
