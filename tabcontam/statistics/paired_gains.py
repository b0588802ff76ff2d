"""What is gained from one of two paired answers to the other: the mean, a 95 % interval, and whether it is above 0."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tabcontam.statistics.permuted import sign_flipped

ADDED = 1.0  # pair that is added for the interval: a quarter to each of the four cells of the two answers


@dataclass(frozen=True)
class Gained:
    """The mean gain of a pair, its 95 % interval, and P(a mean as large) where gains and losses are as likely."""

    mean: float
    interval: tuple[float, float]
    p_value: float


def gained(gains: Sequence[float]) -> Gained:
    """What pairs gain, each from -2 to 2: -1, 0 or 1 where nothing is taken off.

    The interval is Student's, with a quarter of a pair added to each of the four cells of the two answers, so that it
    has a width where no pair differs (after Agresti and Min 2005, "Simple improved confidence intervals for comparing
    matched proportions", section 3, who add a half; that covers more than it says where few pairs differ). The p-value
    is one-sided, by exchanging the two answers of each pair: the exact test of McNemar where gains are -1, 0 or 1.
    Raises ValueError without any pair.
    """
    if not gains:
        raise ValueError("no pairs")
    values = np.asarray(gains, dtype=np.float64)
    pairs = len(values) + ADDED
    mean = float(values.sum()) / pairs
    spread = (float((values**2).sum()) + ADDED / 2) / pairs - mean**2
    reach = float(special.stdtrit(len(values), 0.975)) * (spread / pairs) ** 0.5
    return Gained(float(values.mean()), (max(-1.0, mean - reach), min(1.0, mean + reach)), sign_flipped(gains))
