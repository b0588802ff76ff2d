"""The statistics of the calibrated rules: exact tails, intervals, power, and what holds over a whole grid.

A cell of a row test is a Bernoulli trial with the guesser's chance of the value that was answered; it is worth its bits
where it is right. Tables of them are given as parallel sequences.
"""

from collections.abc import Sequence
from math import log2

import numpy as np
from scipy import stats

UNIT = 8  # bits are counted in eighths, so that the distribution of their sum is exact
TARGET = 0.95  # the power that a detectable share is stated for


def units(chance: float) -> int:
    """The bits of a cell in eighths, rounded."""
    return round(-log2(chance) * UNIT)


def weighted_tail(weights: Sequence[int], chances: Sequence[float], observed: int) -> float:
    """P(sum of weights of the successes >= observed) of independent trials of unequal chance, exactly."""
    distribution = np.zeros(sum(weights) + 1)
    distribution[0] = 1.0
    for weight, chance in zip(weights, chances, strict=True):
        moved = np.zeros_like(distribution)
        moved[weight:] = distribution[: len(distribution) - weight]
        distribution = distribution * (1 - chance) + moved * chance
    return float(min(1.0, distribution[max(observed, 0) :].sum()))


def poisson_binomial_tail(chances: Sequence[float], hits: int) -> float:
    """P(successes >= hits) of independent trials of unequal chance, exactly."""
    return weighted_tail([1] * len(chances), chances, hits)


def hypergeometric_tail(hits: int, drawn: int, marked: int, total: int) -> float:
    """P(at least `hits` of the `marked` among `drawn` of `total`): Fisher's exact test, one-sided."""
    return float(stats.hypergeom.sf(hits - 1, total, marked, drawn))


def clopper_pearson(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a binomial share."""
    interval = stats.binomtest(hits, trials).proportion_ci(confidence, method="exact")
    return float(interval.low), float(interval.high)


def share_interval(chances: Sequence[float], hits: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of the share of trials that were known, where the others succeed by their chances."""
    raise NotImplementedError


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The q-value of each p-value: the smallest false discovery rate at which it is a discovery."""
    if not p_values:
        return []
    return [float(q) for q in stats.false_discovery_control(p_values, method="bh")]


def any_dependence(p_values: Sequence[float]) -> float:
    """One p-value for several of any dependence: Bonferroni's."""
    return min(1.0, len(p_values) * min(p_values))
