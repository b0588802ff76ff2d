"""Permutation tests within groups and within pairs, and Fisher's combination of several p-values."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from tabcontam.statistics.thresholds import MOST_LISTED_PAIRS, PERMUTATION_DRAWS, SAME_SUM

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class MatchedResult:
    """The result of a test of whether rows' own values have larger chances than values of other rows of their group."""

    rows: int
    observed: float  # mean over rows of the chance of the row's own value
    expected: float  # mean of `observed` over all ways to exchange values within the groups
    p_value: float
    likeliest: int  # rows whose own value has the largest chance
    expected_likeliest: float


def permute_within_groups(groups: Sequence[tuple[Floats, Ints]], seed: int) -> MatchedResult:
    """Return the exact permutation test of whether rows' own values have larger chances than values of other rows.

    A group is a matrix of log-likelihoods, rows by distinct values, and the index of each row's own value. Constants
    for each row and each value cancel: each value's mean over all rows is subtracted, then each row is turned into
    chances. The p-value is the share of draws with a sum of chances at least as large as observed. The observed order
    is among the draws, so it is never below 1 / 10,000.
    """
    rng = np.random.default_rng(seed)
    drawn, rows, observed, expected, likeliest, expected_likeliest = np.zeros(PERMUTATION_DRAWS), 0, 0.0, 0.0, 0, 0.0
    for values, own in groups:
        chances = _chances(values)
        first = chances >= chances.max(axis=1, keepdims=True) - SAME_SUM
        each = np.arange(len(own))
        observed += float(chances[each, own].sum())
        expected += float(chances[:, own].mean(axis=1).sum())
        likeliest += int(first[each, own].sum())
        expected_likeliest += float(first[:, own].mean(axis=1).sum())
        rows += len(own)
        exchanged = own[np.argsort(rng.random((PERMUTATION_DRAWS, len(own))), axis=1)]
        drawn += chances[each, exchanged].sum(axis=1)
    p_value = (1 + int((drawn >= observed - SAME_SUM * max(1.0, observed)).sum())) / (PERMUTATION_DRAWS + 1)
    many = max(1, rows)
    return MatchedResult(rows, observed / many, expected / many, p_value, likeliest, expected_likeliest)


def _chances(values: Floats) -> Floats:
    off = values - values.mean(axis=1, keepdims=True)
    off = off - off.mean(axis=0, keepdims=True)
    shares = np.exp(off - off.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def sign_flipped(differences: Sequence[float], seed: int = 0) -> float:
    """Return P(sum >= observed sum) if each difference is equally likely to have either sign: a paired permutation
    test. All sign flips are counted for up to 20 differences other than 0: the p-value is exact. For more, 10,000 ways
    are drawn, with the observed one among them. Differences of 0 are left out. The p-value is 1 if all are 0.
    """
    sizes = np.asarray([each for each in differences if abs(each) > SAME_SUM], float)
    if not len(sizes):
        return 1.0
    least = float(sizes.sum()) - SAME_SUM * float(np.abs(sizes).sum())
    if len(sizes) <= MOST_LISTED_PAIRS:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
        return float((sums >= least).mean())
    rng = np.random.default_rng(seed)
    drawn = rng.choice((-1.0, 1.0), (PERMUTATION_DRAWS, len(sizes))) @ sizes
    return (1 + int((drawn >= least).sum())) / (PERMUTATION_DRAWS + 1)


def fisher(p_values: Sequence[float]) -> float:
    """Return one p-value for several independent p-values, from their product (Fisher 1932); 1 if there are none.

    The result is exact for uniform p-values, and too large for p-values that have few possible values.
    """
    if not p_values:
        return 1.0
    less = -sum(map(log, p_values))
    term = total = float(np.exp(-less))
    for number in range(1, len(p_values)):
        term *= less / number
        total += term
    return min(1.0, total)
