"""The difference between the AUCs of several predictors on the same rows, with an interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.statistics.auc import Floats, Ints
from tabcontam.statistics.thresholds import AUC_RESAMPLES


@dataclass(frozen=True)
class AucDifference:
    """The AUC of each predictor, and the sum of these AUCs times their signs, with a 95 % interval."""

    values: tuple[float, ...]
    difference: float
    interval: tuple[float, float]


def auc_apart(sides: Sequence[Floats], signs: Sequence[int], labels: Ints, seed: int = 0) -> AucDifference | None:
    """Return the AUC of each predictor in `sides`, and the sum of the AUCs times their `signs`: 1, or -1 to subtract.

    Each side is a matrix of class probabilities, rows by classes. `labels` has the index of each row's class. With two
    classes, the AUC is that of the last class; with more, it is the mean of each class against the rest. The interval
    is from a percentile bootstrap of 2,000 resamples. Rows are drawn again within each class, so that no class is lost,
    and equally for all sides. Return None if fewer than two classes have rows.
    """
    places = [np.flatnonzero(labels == name) for name in range(sides[0].shape[1])]
    there = [name for name, own in enumerate(places) if len(own)]
    if len(there) < 2:
        return None
    rng = np.random.default_rng(seed)
    draws = [{name: rng.choice(places[name], len(places[name])) for name in there} for _ in range(AUC_RESAMPLES)]
    resamples = {name: np.stack([draw[name] for draw in draws]) for name in there}
    values = tuple(float(_aucs(side, {name: places[name][None] for name in there})[0]) for side in sides)
    drawn = sum(sign * _aucs(side, resamples) for sign, side in zip(signs, sides, strict=True))
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return AucDifference(values, sum(sign * value for sign, value in zip(signs, values, strict=True)), (low, high))


def _aucs(chances: Floats, samples: Mapping[int, Ints]) -> Floats:
    """Return the AUC of each sample. `samples` maps a class to its row indices, one line per sample."""
    found = []
    for name in list(samples)[-1:] if len(samples) == 2 else samples:
        others = np.concatenate([rows for other, rows in samples.items() if other != name], axis=1)
        found.append(_shares_below(chances[:, name], samples[name], others).mean(axis=1))
    return np.asarray(np.stack(found, axis=1).mean(axis=1))


def _shares_below(values: Floats, own: Ints, others: Ints) -> Floats:
    """Return `share_below` of each line of `own` rows and the same line of `others`, for all lines at once."""
    _, ranks = np.unique(values, return_inverse=True)
    many = int(ranks.max()) + 1
    starts = many * np.arange(len(own))[:, None]
    counts = np.bincount((ranks[others] + starts).ravel(), minlength=many * len(own)).reshape(len(own), many)
    not_more = counts.cumsum(axis=1)
    twice = np.take_along_axis(2 * not_more - counts, ranks[own], axis=1)
    return np.asarray(twice / (2 * others.shape[1]))
