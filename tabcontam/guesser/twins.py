"""What the most similar row has: one that differs in a cell or two may be a copy that was changed, as in a log.

Rows are compared where a table is small. In a large one few of the rows that a guesser is fitted on have their twin
among them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tabcontam.guesser.columns import MISSING, Bools, Column, Floats, Ints
from tabcontam.guesser.laws.base import Follows

Counts = NDArray[np.uint8]
OWN = 255  # more cells than any other row may differ in: a row is not compared with itself
MOST = 8  # differing cells that are told apart
FEWEST = 40  # rows that tell how much each predictor counts
PRIOR = 2.0  # rows that all counts of differing cells together count for beside those of one


def apart(shown: Sequence[Column], rows: int) -> Counts:
    """In how many of the shown cells each two of so many rows differ."""
    found = np.zeros((rows, rows), dtype=np.uint8)
    for one in shown[: OWN - 1]:
        found += differing(one)
    np.fill_diagonal(found, OWN)
    return found


def differing(one: Column) -> Counts:
    """Whether each two rows differ in a cell, as 0 or 1."""
    found: Counts = np.not_equal(one.codes[:, None], one.codes[None, :]).astype(np.uint8)
    return found


def alike(differ: Counts | None, wanted: Ints) -> Bools:
    """The rows that are like the wanted ones: where those differ from all others in a shown cell, all that do.

    Whether a row has a twin in the shown cells is not known of all tables: without counts, all rows are.
    """
    if differ is None:
        return np.ones(1, dtype=np.bool_)
    alone, every = np.asarray(differ.min(axis=1) > 0), np.ones(len(differ), dtype=np.bool_)
    return alone if alone[wanted].all() and alone.sum() >= FEWEST else every


def twin(target: Column, differ: Counts, like: Bools, predicted: Ints) -> Follows:
    """The value of the row that differs in the fewest shown cells from each predicted one.

    How likely it is, is counted among all rows, by how many cells differ; among those that are `like` the rows in
    question.
    """
    found = differ.argmin(axis=1)
    count = np.minimum(differ[np.arange(len(found)), found], MOST)
    right = target.codes[found] == target.codes
    shares = _shares(count[like], right[like])
    values = [
        {key: share} if (key := target.keys[row]) != MISSING else {}
        for row, share in zip(found[predicted].tolist(), shares[count[predicted]].tolist(), strict=True)
    ]
    return Follows.of(values)


def _shares(count: Counts, right: Bools) -> Floats:
    """How often the most similar row's value is right, by how many cells differ."""
    rows = np.bincount(count, minlength=MOST + 1)
    hits = np.bincount(count, right, MOST + 1)
    return np.asarray((hits + PRIOR * right.mean()) / (rows + PRIOR), dtype=np.float64)
