"""The weights of the baseline's predictors, from the probabilities that they give to true values in held-out rows.

A predictor gives a probability to every possible value of a hidden cell. In rows that were held out from its fit, the
true value can be looked up. The probability that the predictor gave to it is the predictor's likelihood in this row.
The weights of a mixture maximise the likelihood of all held-out rows; they are found by expectation and maximisation
(Dempster, Laird and Rubin 1977).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.baseline.coded_columns import Bools, Column, Floats, Ints
from tabcontam.baseline.fit import NOVEL, CountedProbabilities, Fit
from tabcontam.baseline.laws import LawPredictions
from tabcontam.baseline.thresholds import LEAST_CHECKED_ROWS, LEAST_PROBABILITY, MIXING_ROUNDS, SIMILAR_VALUES


@dataclass(frozen=True, eq=False)
class FitPredictions:
    """The predictions of one fit: of all predictors that learned from its training rows, for its predicted rows."""

    fit: Fit
    dense: dict[str, Floats]  # by predictor: the probability of every value in every row
    added: dict[str, CountedProbabilities | LawPredictions]  # by predictor, if it predicts some rows only
    regressed: Mapping[
        str, Floats
    ]  # by regression: the number that it predicts in each row; mixture.py turns it into `dense`


def own_places(fit: Fit) -> Ints:
    """Return the index in the fit's keys of each predicted row's true value. It serves only to find weights."""
    novel = fit.place[NOVEL]
    return np.array([fit.place.get(fit.target.keys[row], novel) for row in fit.predicted], dtype=np.int64)


def mixing_weights(likelihoods: Floats, worth: Floats | None = None) -> Floats:
    """Return the weights of a mixture that maximise the rows' likelihood.

    `likelihoods` are rows by predictors. Each row counts as often as `worth` says. One more row is divided equally
    among the predictors, so that no weight is 0.
    """
    count = likelihoods.shape[1]
    weights = np.full(count, 1 / count)
    clipped = np.maximum(likelihoods, LEAST_PROBABILITY)
    rows = np.ones(len(likelihoods)) if worth is None else worth
    for _ in range(MIXING_ROUNDS):
        shares = weights * ((rows / (clipped @ weights)) @ clipped)
        weights = (shares + 1 / count) / (rows.sum() + 1)
    return weights


@dataclass(frozen=True, eq=False)
class PredictorLikelihoods:
    """The probability that each predictor gave to the true value of each row."""

    names: list[str]  # predictors of all rows
    dense: Floats  # rows by `names`
    extras: list[str]  # predictors of some rows only
    added: Floats  # rows by `extras`
    left: Floats  # rows by `extras`: the probability left to other predictors
    one_of: Floats  # number of values that share the likelihood: above 1 if the fit never saw the value
    known: Bools  # the rows with a prediction

    def weights(self, rows: Bools) -> dict[str, float]:
        """Return the weights of the predictors in `dense`, found in these rows.

        A row counts little if the predictors in `added` predict its value: it shows little about those in `dense`.
        """
        dense = self.dense[rows]
        weights = mixing_weights(dense)
        for _ in range(2):
            base = dense @ weights / self.one_of[rows]
            each = self._with_base(rows, base)
            extra = mixing_weights(each)
            left = base * (extra[0] + self.left[rows] @ extra[1:])
            weights = mixing_weights(dense, left / np.maximum(each @ extra, LEAST_PROBABILITY**2))
        return dict(zip(self.names, weights.tolist(), strict=True))

    def extra_weights(self, rows: Bools, base: Floats) -> dict[str, float]:
        """Return the weights, found in these rows, of the predictors in `added` and, under "", of the `dense` mixture.

        `base` is the likelihood of that mixture in every row.
        """
        weights = mixing_weights(self._with_base(rows, (base / self.one_of)[rows]))
        return dict(zip(["", *self.extras], weights.tolist(), strict=True))

    def _with_base(self, rows: Bools, base: Floats) -> Floats:
        """Return likelihoods of the mixture, and of each predictor in `added` with the mixture for the rest."""
        return np.column_stack([base, self.added[rows] + self.left[rows] * base[:, None]])


def likelihoods_of(predicted: Sequence[FitPredictions], rows: int) -> PredictorLikelihoods:
    """Return the likelihoods in `rows` rows. Each row's likelihoods are from the fit that did not learn from it."""
    names = sorted({name for one in predicted for name in one.dense})
    extras = sorted({name for one in predicted for name in one.added})
    dense, one_of = np.full((rows, len(names)), np.nan), np.ones(rows)
    added, left = np.zeros((rows, len(extras))), np.ones((rows, len(extras)))
    for one in predicted:
        places, truth = one.fit.predicted, own_places(one.fit)
        each = np.arange(len(truth))
        one_of[places] = np.where(truth == one.fit.place[NOVEL], len(one.fit.train), 1)
        for number, name in enumerate(names):
            dense[places, number] = one.dense.get(name, one.dense["marginal"])[each, truth]
        for number, name in enumerate(extras):
            if name in one.added:
                added[places, number] = _likelihood(one, one.added[name], truth)
                left[places, number] = one.added[name].left
    return PredictorLikelihoods(names, dense, extras, added, left, one_of, np.isfinite(dense[:, 0]))


def _likelihood(one: FitPredictions, added: CountedProbabilities | LawPredictions, truth: Ints) -> Floats:
    """Return the probability that a predictor of some rows gives to the true value of each predicted row."""
    if isinstance(added, CountedProbabilities):
        return np.asarray(np.where(truth == one.fit.place[NOVEL], 0, added.matrix[np.arange(len(truth)), truth]))
    keys = [one.fit.target.keys[row] for row in one.fit.predicted]
    return np.array([values.get(key, 0.0) for key, values in zip(keys, added.values, strict=True)])


@dataclass(frozen=True, eq=False)
class SortedHits:
    """Predicted values sorted by their probability, and whether each was right."""

    chances: Floats
    right: Bools

    @classmethod
    def of(cls, chances: Floats, right: Bools) -> "SortedHits":
        """Return the predicted values sorted by probability."""
        order = np.argsort(chances, kind="stable")
        return cls(chances[order], right[order])

    def raised(self, chance: float, most: int = SIMILAR_VALUES[1]) -> float:
        """Return the chance times the ratio of hits to expected hits among values of similar chance, if that is larger.

        A quarter of all values is compared, at most `most` of them.
        """
        if len(self.chances) < LEAST_CHECKED_ROWS:
            return chance
        around = min(most, max(min(SIMILAR_VALUES[0], len(self.chances) // 3), len(self.chances) // 4))
        middle = int(np.searchsorted(self.chances, chance))
        first = min(max(0, middle - around // 2), len(self.chances) - around)
        near = slice(first, first + around)
        factor = (self.right[near].sum() + 1) / (self.chances[near].sum() + 1)
        return min(1.0, chance * max(1.0, float(factor)))


@dataclass(frozen=True, eq=False)
class TopValueHits:
    """The probability of each row's likeliest value, and whether this value was right. `groups` are folds of rows.

    A mixture is right on average over all values, but may be too unsure of the likeliest one. A model that answers only
    likeliest values must not be right more often than their probabilities.
    """

    chances: Floats
    right: Bools
    groups: Ints

    @classmethod
    def of(cls, target: Column, likeliest: Mapping[int, tuple[str, float]], groups: Ints) -> "TopValueHits":
        """Return the hits of likeliest values, given by row as key and probability."""
        rows = list(likeliest)
        right = np.array([bool(likeliest[row][0]) and likeliest[row][0] == target.keys[row] for row in rows])
        chances = np.array([likeliest[row][1] for row in rows], dtype=np.float64)
        return cls(chances, right.astype(np.bool_), groups[np.array(rows, dtype=np.int64)])

    def in_other_groups(self, group: int) -> SortedHits:
        """Return the hits in the rows of other groups."""
        others = self.groups != group
        return SortedHits.of(self.chances[others], self.right[others])
