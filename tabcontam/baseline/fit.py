"""The input of a predictor of hidden cells, and the output of a predictor that predicts some rows only."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Bools, Column, Floats, Ints, as_number, number_key, scaled, steps
from tabcontam.baseline.rounded_numbers import chain
from tabcontam.baseline.thresholds import CLOSE_ROW_ESCAPE, FEW_VALUES, LEAST_SPIKE_SHARE, MOST_GRID_STEPS

NOVEL = "\n"  # the key of all values that no training row has; no other key contains a line break


@dataclass(frozen=True, eq=False)
class Fit:
    """The data of one fit: predictors learn from the rows `train`, and predict the target in the rows `predicted`.

    Both are row indices. A key is a text that stands for a value of the target: equal values have equal keys."""

    target: Column
    shown: tuple[Column, ...]  # the most informative first
    scores: tuple[float, ...]  # bits that each column of `shown` saves in predicting the target
    train: Ints
    predicted: Ints

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys that get a probability: missing, new (`NOVEL`), seen values, and unseen multiples of the step."""
        seen = {self.target.keys[row] for row in self.train} - {MISSING}
        return (MISSING, NOVEL, *sorted(seen | set(self._grid)))

    @cached_property
    def place(self) -> dict[str, int]:
        """The index of each key in `keys`."""
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def codes(self) -> Ints:
        """The index in `keys` of each training row's value."""
        seen = map(self.target.keys.__getitem__, self.train.tolist())
        return np.fromiter(map(self.place.__getitem__, seen), np.int64, len(self.train))

    @cached_property
    def counts(self) -> Floats:
        """The number of training rows of each key."""
        return np.bincount(self.codes, minlength=len(self.keys)).astype(np.float64)

    @cached_property
    def marginal(self) -> Floats:
        """The probability of each key in one more row. All new values have that of values seen once (Good 1953)."""
        singletons = (self.counts == 1) & (not self.gridded)
        found = np.asarray(np.where(singletons, 0.1, self.counts) / (len(self.train) + 1))
        found[1] = 1 - found.sum()
        return found

    @cached_property
    def numbers(self) -> Floats | None:
        """The numbers of the training rows, NaN where missing; None for texts and for a column with few numbers."""
        numbers = None if self.target.numbers is None else self.target.numbers[self.train]
        return None if numbers is None or np.isfinite(numbers).sum() < 10 else numbers

    @cached_property
    def spikes(self) -> Bools:
        """A mask of the keys that, in a column of many numbers, are too frequent for a smooth distribution."""
        if self.numbers is None or (self.counts > 0).sum() <= FEW_VALUES:
            return np.zeros(len(self.keys), dtype=np.bool_)
        return np.asarray(self.counts >= max(10, LEAST_SPIKE_SHARE * len(self.train)), dtype=np.bool_)

    @cached_property
    def positions(self) -> Floats:
        """The number that each key spells, NaN if it is not a number."""
        return np.array([as_number(key) for key in self.keys], dtype=np.float64)

    def step(self, numbers: Floats) -> Floats:
        """Return the distance between adjacent values of the column, near each of these numbers."""
        edges, found = self._steps
        return np.asarray(found[np.clip(np.searchsorted(edges, numbers, "right") - 1, 0, len(found) - 1)])

    @cached_property
    def _steps(self) -> tuple[Floats, Floats]:
        assert self.numbers is not None  # noqa: S101 - called for numbers alone
        return steps(self.numbers[np.isfinite(self.numbers)], self.target.decimals)

    @cached_property
    def _grid(self) -> list[str]:
        if self.numbers is None:
            return []
        edges, sizes = self._steps
        if len(edges) < 2 or np.sum(np.diff(edges) / sizes) > MOST_GRID_STEPS:
            return []
        decimals = self.target.decimals
        wholes: set[int] = set()
        for low, high, size in zip(edges[:-1], edges[1:], sizes, strict=True):
            unit = max(1, round(size * 10**decimals))
            first, last = int(scaled(np.array([low]), decimals)[0]), int(scaled(np.array([high]), decimals)[0])
            wholes.update(range(-(-first // unit) * unit, last + 1, unit))
        return [number_key(whole, decimals) for whole in sorted(wholes)]

    @cached_property
    def rounded(self) -> list[tuple[list[str], Ints]]:
        """The rounded values at each coarser precision of the target, and for each key the index of its rounded value.

        A key that is not a number has the index after the last one.
        """
        found = []
        chains = [chain(key, self.target.coarser) for key in self.keys]
        for number in range(len(self.target.coarser)):
            keys = [one[number] for one in chains]
            texts = sorted({key for key in keys if key is not None})
            place = {key: index for index, key in enumerate(texts)}
            found.append((texts, np.array([len(texts) if key is None else place[key] for key in keys], dtype=np.int64)))
        return found

    @property
    def gridded(self) -> bool:
        """True if unseen values between seen values have probabilities too."""
        return bool(self._grid)


@dataclass(frozen=True, eq=False)
class CountedProbabilities:
    """Probabilities, by predicted row and key, counted in similar rows.

    `left` is the probability that each row leaves to the other predictors: the more similar rows there are, the less.
    So a predictor that finds similar rows for few rows affects only these few.
    """

    matrix: Floats
    left: Floats


def leave_for_new_values(counts: Floats, escape: float) -> CountedProbabilities:
    """Return the `counts` (rows by keys) as probabilities that leave a rest to other predictors.

    Each distinct value of a row adds `escape` to the weight of this rest (Witten and Bell 1991).
    """
    left = escape * np.maximum(1, (counts > CLOSE_ROW_ESCAPE).sum(axis=1))
    total = counts.sum(axis=1)
    return CountedProbabilities(counts / (total + left)[:, None], left / (total + left))
