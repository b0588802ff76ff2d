"""The AUC of a class against the rest, within groups of rows: how well the probabilities of classes rank rows."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.groups import grouped
from tabcontam.statistics.auc import Ranking, on_log_odds, placed
from tabcontam.statistics.exact_statistics import clopper_pearson


@dataclass(frozen=True)
class RatedRow:
    """A row: its class, the predicted probability of each class if known, the group within which rows are compared, and
    the class that a model named."""

    label: str
    chances: Mapping[str, float] | None
    group: Hashable = 0
    answer: str | None = None


@dataclass(frozen=True)
class _ClassAuc:
    """The AUC of a class, its standard error, and the degrees of freedom.

    `least` is the number of rows of the class, or of all other classes, whichever is smaller."""

    value: float
    error: float
    least: int
    freedom: int


def ranked(rows: Sequence[RatedRow], classes: Sequence[str], confidence: float = 0.95) -> Ranking | None:
    """Return the AUC of the first of two classes; of more classes, the mean AUC of each class against the rest.

    Rows without probabilities are left out.
    The AUC is the share of all pairs within a group that are ranked right; ties count a half. A group is, for example,
    the rows that were asked after the same examples. The variance is DeLong's, estimated over all groups together,
    since a group may have a single row of a class. The interval is Student's on the scale of the log-odds. The mean
    over classes gets the mean of the classes' standard errors: its own error cannot be larger, however the classes
    depend on each other. If all pairs are ranked right, or all wrong, the interval is the exact one of a share of n
    rows: n counts the rows of the class, or of the rest, whichever are fewer. A class is left out if no group has rows
    of it and of another class. Return None if no class is left.
    """
    asked = classes[:1] if len(classes) == 2 else classes
    found = [each for each in (_of_class(rows, name) for name in asked) if each is not None]
    if not found:
        return None
    value, least = float(np.mean([each.value for each in found])), min(each.least for each in found)
    if value in (0.0, 1.0):
        return Ranking(value, clopper_pearson(round(value) * least, least, confidence))
    freedom = min(each.freedom for each in found)
    if freedom < 1:
        return Ranking(value, None)
    return Ranking(value, on_log_odds(value, float(np.mean([each.error for each in found])), freedom, confidence))


def _of_class(rows: Sequence[RatedRow], name: str) -> _ClassAuc | None:
    sides = []
    for group in grouped(rows, lambda row: row.group).values():
        rated = [(row.label == name, row.chances.get(name, 0.0)) for row in group if row.chances is not None]
        own = [chance for is_own, chance in rated if is_own]
        others = [chance for is_own, chance in rated if not is_own]
        if own and others:
            sides.append((own, others))
    if not sides:
        return None
    pairs = np.array([len(own) * len(others) for own, others in sides], dtype=np.float64)
    weights, each = pairs / pairs.sum(), [placed(own, others) for own, others in sides]
    squares = [((above - above.mean()) ** 2).sum() for above, _ in each]
    below = [((lower - lower.mean()) ** 2).sum() for _, lower in each]
    counts = np.array([[len(own), len(others)] for own, others in sides])
    freedom = counts.sum(axis=0) - len(sides)
    spread = [float(sum(part)) / max(1, int(free)) for part, free in zip((squares, below), freedom, strict=True)]
    error = float((weights**2 * (spread[0] / counts[:, 0] + spread[1] / counts[:, 1])).sum()) ** 0.5
    value = float(sum(weight * above.mean() for weight, (above, _) in zip(weights, each, strict=True)))
    return _ClassAuc(value, error, int(counts.sum(axis=0).min()), int(freedom.min()))
