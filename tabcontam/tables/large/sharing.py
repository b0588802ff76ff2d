"""Whether rows that share something are more alike than others: what is compared, and how sure it has to be."""

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tabcontam.tables.large.chunks import Ints, Words

Floats = NDArray[np.float64]

PAIRS = 2000  # of rows that share a value, by which is judged what it tells
LEVEL = 1e-6  # of the test whether rows that share a value are more alike than others


def at_most(hits: int, count: int) -> float:
    """How often such pairs are alike, with two standard errors more."""
    share = (hits + 1) / (count + 2)
    return float(min(1.0, share + 2 * np.sqrt(share * (1 - share) / (count + 2))))


def beats(hits: int, count: int, chance: float) -> bool:
    """Whether so many hits are more than chance explains."""
    return hits > chance * count and bool(stats.binom.sf(hits - 1, count, chance) < LEVEL)


def as_far_apart(first: Ints, second: Ints, rows: Ints, hashes: Words) -> tuple[Ints, Ints]:
    """Pairs of these rows that stand as far apart as the given pairs do, and share nothing: neighbours may be alike."""
    rng = np.random.default_rng(0)
    pairs, begin = rng.integers(len(first), size=4 * PAIRS), rng.integers(len(rows), size=4 * PAIRS)
    apart = np.searchsorted(rows, second) - np.searchsorted(rows, first)
    one, other = rows[begin], rows[(begin + apart[pairs]) % len(rows)]
    different = hashes[one] != hashes[other]
    return one[different], other[different]
