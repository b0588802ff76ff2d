"""The mean gain from one of two paired answers to the other, with a 95 % interval and a p-value for above 0."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.statistics.permutation_tests import sign_flipped
from tabcontam.statistics.thresholds import ADDED_PAIRS, MOST_PAIRS_NEEDED


@dataclass(frozen=True)
class MeanGain:
    """The mean gain, its 95 % interval, and P(a mean at least as large) if gains and losses are equally likely."""

    mean: float
    interval: tuple[float, float]
    p_value: float


def gained(gains: Sequence[float]) -> MeanGain:
    """Return the mean gain of pairs.

    Each gain is from -2 to 2; plain gains, with nothing subtracted, are -1, 0 or 1. The interval is Student's after a
    quarter of a pair is added for each of the four ways in which two answers can be right or wrong. So the interval has
    a width even if no pair differs. Agresti and Min 2005 ("Simple improved confidence intervals for comparing matched
    proportions", section 3) add a half, but the interval is then too wide if few pairs differ. The p-value is
    one-sided, by exchanging the two answers of each pair: McNemar's exact test if all gains are -1, 0 or 1. Raises
    `ValueError` if there are no pairs.
    """
    if not gains:
        raise ValueError("there are no pairs")
    values = np.asarray(gains, dtype=np.float64)
    interval = _interval(len(values), float(values.mean()), float((values**2).mean()))
    return MeanGain(float(values.mean()), interval, sign_flipped(gains))


def pairs_needed(mean: float, deviation: float, limit: float) -> int | None:
    """Return the least number of pairs at which the interval of `gained` excludes `limit`; None above a million.

    `mean` and `deviation` are the mean and the standard deviation of the gains so far.
    """
    square = deviation**2 + mean**2

    def decided(pairs: int) -> bool:
        low, high = _interval(pairs, mean, square)
        return not low <= limit < high

    if not decided(MOST_PAIRS_NEEDED):
        return None
    few, many = 1, MOST_PAIRS_NEEDED
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if decided(middle) else (middle + 1, many)
    return many


def _interval(number: int, mean: float, square: float) -> tuple[float, float]:
    """Return the interval for `number` gains, from their mean and their mean square."""
    from scipy import special

    pairs = number + ADDED_PAIRS
    middle = number * mean / pairs
    spread = (number * square + ADDED_PAIRS / 2) / pairs - middle**2
    reach = float(special.stdtrit(number, 0.975)) * (spread / pairs) ** 0.5
    return max(-1.0, middle - reach), min(1.0, middle + reach)
