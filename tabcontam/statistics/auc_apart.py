"""How much better the same rows are ranked by one's probabilities of classes than by another's, with an interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabcontam.statistics.auc import Floats, share_below

Ints = NDArray[np.int64]
RESAMPLES = 2_000


@dataclass(frozen=True)
class AucApart:
    """The AUC of each side, and the first less the others with their signs, with a 95 % interval."""

    values: tuple[float, ...]
    difference: float
    interval: tuple[float, float]


def auc_apart(sides: Sequence[Floats], signs: Sequence[int], labels: Ints, seed: int = 0) -> AucApart | None:
    """The AUCs of several matrices of chances about the same rows, added up with these signs.

    A matrix has a line for each row and a column for each class, `labels` the place of each row's class. The AUC is
    that of the last of two classes, or the mean of each class against the rest. The interval is of 2,000 resamples of
    the rows, drawn within each class so that none is lost, the same in all matrices (a percentile bootstrap). None
    where fewer than two classes have rows.
    """
    places = [np.flatnonzero(labels == name) for name in range(sides[0].shape[1])]
    there = [name for name, own in enumerate(places) if len(own)]
    if len(there) < 2:
        return None
    rng = np.random.default_rng(seed)
    values = tuple(_auc(side, labels, there) for side in sides)
    drawn = np.empty(RESAMPLES)
    for number in range(RESAMPLES):
        rows = np.concatenate([rng.choice(places[name], len(places[name])) for name in there])
        each = (_auc(side[rows], labels[rows], there) for side in sides)
        drawn[number] = sum(sign * value for sign, value in zip(signs, each, strict=True))
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return AucApart(values, sum(sign * value for sign, value in zip(signs, values, strict=True)), (low, high))


def _auc(chances: Floats, labels: Ints, there: Sequence[int]) -> float:
    asked = there[-1:] if len(there) == 2 else there
    sides = ((chances[labels == name, name], chances[labels != name, name]) for name in asked)
    return float(np.mean([share_below(own, others).mean() for own, others in sides]))
