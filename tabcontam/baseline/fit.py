"""The input of a predictor of hidden cells, and the output of a predictor that knows something about some rows only."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Bools, Column, Floats, Ints, as_number, number_key, scaled, steps
from tabcontam.baseline.rounded_numbers import chain
from tabcontam.baseline.thresholds import CLOSE_ROW_ESCAPE, FEW_VALUES, LEAST_SPIKE_SHARE, MOST_GRID_STEPS

NOVEL = "\n"  # the key of all values that no training row has; no other key holds a line break


@dataclass(frozen=True, eq=False)
class Fit:
    """The data of one fit: `train` and `predicted` are places in the columns; the target is seen in `train` alone."""

    target: Column
    shown: tuple[Column, ...]  # the most informative first
    scores: tuple[float, ...]  # bits that each saves in predicting the target
    train: Ints
    predicted: Ints

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys with a probability: missing, a new value, those seen, and those between them on the number grid."""
        seen = {self.target.keys[row] for row in self.train} - {MISSING}
        return (MISSING, NOVEL, *sorted(seen | set(self._grid)))

    @cached_property
    def place(self) -> dict[str, int]:
        """The place of each value among the keys."""
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def codes(self) -> Ints:
        """The place of each training row's value."""
        seen = map(self.target.keys.__getitem__, self.train.tolist())
        return np.fromiter(map(self.place.__getitem__, seen), np.int64, len(self.train))

    @cached_property
    def counts(self) -> Floats:
        """The count of each value."""
        return np.bincount(self.codes, minlength=len(self.keys)).astype(np.float64)

    @cached_property
    def marginal(self) -> Floats:
        """The frequency of each value for one more row; a new one is as likely as those seen once (Good 1953)."""
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
        """The mask of values so frequent in a column of many numbers that they are no part of its distribution."""
        if self.numbers is None or (self.counts > 0).sum() <= FEW_VALUES:
            return np.zeros(len(self.keys), dtype=np.bool_)
        return np.asarray(self.counts >= max(10, LEAST_SPIKE_SHARE * len(self.train)), dtype=np.bool_)

    @cached_property
    def positions(self) -> Floats:
        """The number of each key, NaN where it is none."""
        return np.array([as_number(key) for key in self.keys], dtype=np.float64)

    def step(self, numbers: Floats) -> Floats:
        """Return the distance to the next value of the column's own precision, around each of these numbers."""
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
        """The rounded values at each coarser precision of the target, and the place of each key's among them.

        A key that is no number has the place after the last one.
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
        """True if the values between those seen have a probability too."""
        return bool(self._grid)


@dataclass(frozen=True, eq=False)
class CountedProbabilities:
    """Probabilities, by predicted row and key, from other rows that are like the predicted one.

    The fewer such rows there are, the more of the probability is `left` in that row for all other predictors. So a
    predictor that knows a few rows well and nothing of the others counts in those few.
    """

    matrix: Floats
    left: Floats


def leave_for_new_values(counts: Floats, escape: float) -> CountedProbabilities:
    """Return frequencies; the more different values there are, the more is left for others (Witten and Bell 1991)."""
    left = escape * np.maximum(1, (counts > CLOSE_ROW_ESCAPE).sum(axis=1))
    total = counts.sum(axis=1)
    return CountedProbabilities(counts / (total + left)[:, None], left / (total + left))
