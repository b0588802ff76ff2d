"""Correlations of two measures over LLMs or tables, with intervals and permutation p-values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabcontam.statistics.thresholds import CORRELATION_ORDERS, LEAST_CORRELATED_PAIRS, SMALLEST_GAP_TO_ONE


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's coefficient of two measures, in [-1, 1], with a 95% interval and a two-sided p-value."""

    value: float
    interval: tuple[float, float]
    p_value: float


def spearman(first: Sequence[float], second: Sequence[float]) -> RankCorrelation | None:
    """Return Spearman's rank correlation of paired values; None for fewer than 4 pairs or a constant measure.

    The p-value counts all orders of up to 8 values; for more values, it counts 50 000 random orders. The interval is
    Fisher's transform with the variance of Bonett and Wright (2000), which is rough for few values. The transform
    of 1 or -1 is infinite: then one limit is 1 or -1, the other is that of a coefficient half a step nearer to 0.
    """
    from scipy import special

    if len(first) < LEAST_CORRELATED_PAIRS or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    from scipy.stats import rankdata

    value, p_value = _coefficient(*(rankdata(values).astype(np.float64) for values in (first, second)))
    pairs = len(first)
    most = 1 - 6 / (pairs * (pairs**2 - 1))  # half a step of Spearman's coefficient below 1
    inner = min(most, max(-most, value))
    error = float(special.ndtri(0.975)) * ((1 + inner**2 / 2) / (pairs - 3)) ** 0.5
    low, high = np.tanh([np.arctanh(inner) - error, np.arctanh(inner) + error]).tolist()
    interval = (-1.0 if value <= -most else low), (1.0 if value >= most else high)
    return RankCorrelation(value, interval, p_value)


@dataclass(frozen=True)
class PearsonCorrelation:
    """Pearson's coefficient of two measures, in [-1, 1], with a 95% interval and a two-sided p-value.

    The interval is None if all points lie on one line.
    """

    value: float
    interval: tuple[float, float] | None
    p_value: float


def pearson(first: Sequence[float], second: Sequence[float]) -> PearsonCorrelation | None:
    """Return Pearson's correlation of paired values; None for fewer than 4 pairs or a constant measure.

    The interval is Fisher's transform, which is rough for few values. The p-value counts all orders of up to 8 values;
    for more values, it counts 50 000 random orders. It assumes no distribution.
    """
    from scipy import special

    if len(first) < LEAST_CORRELATED_PAIRS or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    value, p_value = _coefficient(np.array(first, np.float64), np.array(second, np.float64))
    if 1 - abs(value) < SMALLEST_GAP_TO_ONE:
        return PearsonCorrelation(value, None, p_value)
    error = float(special.ndtri(0.975)) / (len(first) - 3) ** 0.5
    low, high = np.tanh([np.arctanh(value) - error, np.arctanh(value) + error]).tolist()
    return PearsonCorrelation(value, (low, high), p_value)


def _coefficient(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    """Return the correlation of two series, and its two-sided p-value over the orders of the first series."""
    from scipy.stats import permutation_test

    sides = [values - values.mean() for values in (first, second)]
    scale = float(np.sqrt((sides[0] ** 2).sum() * (sides[1] ** 2).sum()))

    def coefficient(order: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return np.asarray((order * sides[1]).sum(axis=axis) / scale)

    found = permutation_test(
        sides[:1], coefficient, permutation_type="pairings", n_resamples=CORRELATION_ORDERS, random_state=0
    )
    return min(1.0, max(-1.0, float(found.statistic))), float(found.pvalue)
