"""The difference of the means of two samples of answers, with an interval and a p-value for above 0."""

from collections.abc import Sequence

import numpy as np

from tabcontam.statistics.auc import Floats
from tabcontam.statistics.paired_gains import MeanGain
from tabcontam.statistics.thresholds import ADDED_SPREAD, PERMUTATION_DRAWS, SAME_SUM


def mean_difference(own: Sequence[float], others: Sequence[float], seed: int = 0) -> MeanGain:
    """Return by how much the mean of the `own` values exceeds the mean of the `others`.

    Each value is from -1 to 1: right (0 or 1) minus its expectation. The interval is Welch's. Two values are added to
    each sample, 0.5 above and 0.5 below the mean of all values: so the interval has a width even if all are equal. For
    values of 0 and 1 with a mean of a half it is the interval of Agresti and Caffo 2000 ("Simple and effective
    confidence intervals for proportions and differences of proportions", section 3), with Student's quantile. The
    p-value is one-sided: the share of 10,000 random choices of the own values with a difference at least as large, the
    observed one among them. Raises `ValueError` if a sample is empty.
    """
    from scipy import special

    if not own or not others:
        raise ValueError("a sample is empty")
    first, second = np.asarray(own, dtype=np.float64), np.asarray(others, dtype=np.float64)
    both = np.concatenate([first, second])
    centre = float(both.mean())
    widened = [np.concatenate([one, (centre - ADDED_SPREAD, centre + ADDED_SPREAD)]) for one in (first, second)]
    squares = [float(one.var(ddof=1)) / len(one) for one in widened]
    freedom = sum(squares) ** 2 / sum(square**2 / (len(one) - 1) for square, one in zip(squares, widened, strict=True))
    middle = float(widened[0].mean() - widened[1].mean())
    reach = float(special.stdtrit(freedom, 0.975)) * sum(squares) ** 0.5
    interval = max(-1.0, middle - reach), min(1.0, middle + reach)
    return MeanGain(float(first.mean() - second.mean()), interval, _exchanged(both, len(first), seed))


def _exchanged(values: Floats, own: int, seed: int) -> float:
    """Return P(the sum of `own` randomly chosen values is at least the sum of the first `own` values)."""
    kinds, counts = np.unique(values, return_counts=True)  # choosing between equal values changes nothing
    chosen = np.random.default_rng(seed).multivariate_hypergeometric(
        counts, own, size=PERMUTATION_DRAWS, method="marginals"
    )
    found = float(values[:own].sum()) - SAME_SUM * len(values)
    return (1 + int((chosen @ kinds >= found).sum())) / (PERMUTATION_DRAWS + 1)
