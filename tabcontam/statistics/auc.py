"""The AUC: how well a score ranks rows before others, with intervals for paired and for independent samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabcontam.statistics.exact_statistics import clopper_pearson

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Ranking:
    """The AUC: the share of pairs (own, other) in which the own value is larger; ties count a half."""

    value: float
    interval: (
        tuple[float, float] | None
    )  # at the asked confidence, 95 % by default; None if a sample has fewer than two values


def paired(own: Sequence[float], others: Sequence[float], confidence: float = 0.95) -> Ranking:
    """Return the AUC of `own` values against `others`, where the two values at each place form a pair.

    The variance is that of DeLong, DeLong and Clarke-Pearson (1988), extended to values that depend on each other
    within a pair (Obuchowski 1997, "Nonparametric analysis of clustered ROC curve data", equation 3). The interval is
    Student's on the scale of the log-odds. If all own values lie above all others, or below, the variance is 0, and
    the interval is the exact interval of a share. Raises `ValueError` if the lengths differ or there is no pair.
    """
    if len(own) != len(others) or not len(own):
        raise ValueError(f"{len(own)} values and {len(others)} others do not form pairs")
    above, below = placed(own, others)
    value, count = float(above.mean()), len(own)
    if count < 2:
        return Ranking(value, None)
    if value in (0.0, 1.0):
        return Ranking(value, clopper_pearson(round(value) * count, count, confidence))
    return Ranking(value, on_log_odds(value, float(np.std(above + below, ddof=1)) / count**0.5, count - 1, confidence))


def independent(own: Sequence[float], others: Sequence[float], confidence: float = 0.95) -> Ranking:
    """Return the AUC of `own` values against independent `others`, with an interval from DeLong's variance.

    Raises `ValueError` if one of the two samples is empty.
    """
    if not (len(own) and len(others)):
        raise ValueError(f"a sample is empty: there are {len(own)} values and {len(others)} others")
    above, below = placed(own, others)
    value, least = float(above.mean()), min(len(own), len(others))
    if least < 2:
        return Ranking(value, None)
    if value in (0.0, 1.0):
        return Ranking(value, clopper_pearson(round(value) * least, least, confidence))
    error = float(np.var(above, ddof=1) / len(own) + np.var(below, ddof=1) / len(others)) ** 0.5
    return Ranking(value, on_log_odds(value, error, least - 1, confidence))


def placed(own: Sequence[float], others: Sequence[float]) -> tuple[Floats, Floats]:
    """Return the share of others below each own value, and the share of own values above each of the others."""
    ones, twos = np.asarray(own, dtype=np.float64), np.asarray(others, dtype=np.float64)
    return share_below(ones, twos), 1.0 - share_below(twos, ones)


def share_below(values: Floats, others: Floats) -> Floats:
    """Return for each value the share of the others below it. Ties count a half."""
    ordered = np.sort(others)
    less, not_more = np.searchsorted(ordered, values, side="left"), np.searchsorted(ordered, values, side="right")
    return np.asarray((less + not_more) / (2 * len(ordered)))


def on_log_odds(value: float, error: float, freedom: int, confidence: float) -> tuple[float, float]:
    from scipy import special

    middle = float(special.logit(value))
    reach = float(special.stdtrit(freedom, (1 + confidence) / 2)) * error / (value * (1 - value))
    return float(special.expit(middle - reach)), float(special.expit(middle + reach))
