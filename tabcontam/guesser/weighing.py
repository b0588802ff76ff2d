"""How much each predictor counts: what makes rows held out likeliest, by expectation and maximisation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabcontam.guesser.columns import Floats, Ints
from tabcontam.guesser.fit import NOVEL, Counted, Fit
from tabcontam.guesser.laws import Follows

Bools = NDArray[np.bool_]

ROUNDS = 60
LEAST = 1e-9  # a chance below counts as this


@dataclass(frozen=True, eq=False)
class Predicted:
    """What the predictors of one fit make of its rows."""

    fit: Fit
    dense: dict[str, Floats]
    added: dict[str, Counted | Follows]
    regressed: Floats | None


def own_places(fit: Fit) -> Ints:
    """The place of each predicted row's own value among the keys: what the weights are found by, and nothing else."""
    novel = fit.place[NOVEL]
    return np.array([fit.place.get(fit.target.keys[row], novel) for row in fit.predicted], dtype=np.int64)


def _weights(chances: Floats, worth: Floats | None = None) -> Floats:
    """How much each predictor counts, by expectation and maximisation; each begins with a part of one row's worth."""
    count = chances.shape[1]
    weights = np.full(count, 1 / count)
    clipped = np.maximum(chances, LEAST)
    rows = np.ones(len(chances)) if worth is None else worth
    for _ in range(ROUNDS):
        shares = weights * ((rows / (clipped @ weights)) @ clipped)
        weights = (shares + 1 / count) / (rows.sum() + 1)
    return weights


@dataclass(frozen=True, eq=False)
class Told:
    """What each predictor says of the rows' own values: the mixed ones, and those that know some rows only.

    `one_of` are the values that a mixed predictor's chance is of: many where the row's value was never seen.
    """

    names: list[str]
    chances: Floats
    extras: list[str]
    added: Floats
    left: Floats
    one_of: Floats
    known: Bools

    def weights(self, others: Bools) -> dict[str, float]:
        """The weights of the mixed predictors, by the rows in which the others leave something to them."""
        chances = self.chances[others]
        weights = _weights(chances)
        for _ in range(2):
            base = chances @ weights / self.one_of[others]
            each = self._each(others, base)
            extra = _weights(each)
            left = base * (extra[0] + self.left[others] @ extra[1:])
            weights = _weights(chances, left / np.maximum(each @ extra, LEAST**2))
        return dict(zip(self.names, weights.tolist(), strict=True))

    def beside(self, others: Bools, base: Floats) -> dict[str, float]:
        """The weights of the predictors that know some rows only, beside the mixture of all others (named by "")."""
        weights = _weights(self._each(others, (base / self.one_of)[others]))
        return dict(zip(["", *self.extras], weights.tolist(), strict=True))

    def _each(self, others: Bools, base: Floats) -> Floats:
        return np.column_stack([base, self.added[others] + self.left[others] * base[:, None]])


def what_is_told(predicted: Sequence[Predicted], rows: int) -> Told:
    """What the predictors of all fits say of their rows' own values."""
    names = sorted({name for one in predicted for name in one.dense})
    extras = sorted({name for one in predicted for name in one.added})
    chances, one_of = np.full((rows, len(names)), np.nan), np.ones(rows)
    added, left = np.zeros((rows, len(extras))), np.ones((rows, len(extras)))
    for one in predicted:
        places, truth = one.fit.predicted, own_places(one.fit)
        each = np.arange(len(truth))
        one_of[places] = np.where(truth == 1, len(one.fit.train), 1)
        for number, name in enumerate(names):
            chances[places, number] = one.dense.get(name, one.dense["marginal"])[each, truth]
        for number, name in enumerate(extras):
            if name in one.added:
                added[places, number] = _of_own(one, one.added[name], truth)
                left[places, number] = one.added[name].left
    return Told(names, chances, extras, added, left, one_of, np.isfinite(chances[:, 0]))


def _of_own(one: Predicted, added: Counted | Follows, truth: Ints) -> Floats:
    """What is added to the chance of each row's own value."""
    if isinstance(added, Counted):
        return np.asarray(np.where(truth == 1, 0, added.matrix[np.arange(len(truth)), truth]))
    keys = [one.fit.target.keys[row] for row in one.fit.predicted]
    return np.array([values.get(key, 0.0) for key, values in zip(keys, added.values, strict=True)])
