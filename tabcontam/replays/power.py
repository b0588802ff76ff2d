"""Whether recorded queries could have told memory from guessing: how often a memory would have been seen."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tabcontam.decide.statistics import units

Distribution = NDArray[np.float64]


def power(groups: Sequence[Sequence[float]], share: float, level: float) -> float:
    """The chance of p <= level, exactly, where each group of cells is remembered, whole, with this probability.

    A cell is given by the guesser's chance of the value it holds. What is not remembered is right by that chance.
    """
    guessed, known = np.ones(1), np.ones(1)
    for chances in groups:
        group = np.ones(1)
        for chance in chances:
            group = np.convolve(group, _cell(chance))
        remembered = np.zeros_like(group)
        remembered[-1] = 1.0
        guessed = np.convolve(guessed, group)
        known = np.convolve(known, share * remembered + (1 - share) * group)
    tails = np.cumsum(guessed[::-1])[::-1]
    return float(known[tails <= level].sum())


def _cell(chance: float) -> Distribution:
    cell = np.zeros(units(chance) + 1)
    cell[0] = 1 - chance
    cell[-1] += chance
    return cell
