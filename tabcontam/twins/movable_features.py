"""The features whose values mean no more for the label than learners have learned: these alone may be moved.

An LLM may know what a value means, such as a postcode, a harbour or a norm, where learners see a number or a word. If
the rows show that values mean more than learners have learned, or are too few to exclude it, a moved value may have
another label, and skill would be taken for memory. So such features stay as they are.

The residuals show what learners missed: if these have something in common in rows that share a value, the value carries
more information about the label than was learned. With r the residual of a row (its label, as 0 or 1 for each class,
less the chance by learners that did not see it), the mean of r·r' over pairs of rows that share a value estimates the
variance of what the value adds; its own variance is estimated from the same products as if rows were independent.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special, stats

from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.moves import Moves
from tabcontam.twins.thresholds import (
    LEAST_PARTNER_GROUPS,
    LEAST_ROWS_PER_VALUE,
    LEAST_VALUE_INFORMATION,
    MOST_VALUE_INFORMATION,
    ORDER_LEVEL,
    RANK_BINS,
    ROWS_PER_PAIRED_GROUP,
    VALUE_INFORMATION_LEVEL,
)
from tabcontam.twins.twin_sample import Flags, Floats, Ints


@dataclass(frozen=True)
class ValueInformation:
    """The information of values beyond what was learned: a variance of a class's chance, and its error."""

    variance: float
    error: float

    def is_found(self, tests: int = 1) -> bool:
        """Return whether the information is more than a trifle, by a test at 0.05 over `tests` tests."""
        least = float(special.ndtri(1 - VALUE_INFORMATION_LEVEL / tests)) * self.error
        return self.variance > max(LEAST_VALUE_INFORMATION, least)

    @property
    def is_bounded(self) -> bool:
        """True if the upper limit with a confidence of 95 % is small."""
        return self.variance + float(special.ndtri(1 - VALUE_INFORMATION_LEVEL)) * self.error <= MOST_VALUE_INFORMATION


@dataclass(frozen=True, eq=False)
class MovableFeatures:
    """The knowledge of learners about the features of a sample's rows, by held-out rows."""

    moves: Moves
    baseline: LabelBaseline

    @cached_property
    def staying(self) -> frozenset[int]:
        """The places of the features that stay: with the unknown part of their meaning, a twin's label could change."""
        places = range(len(self.moves.columns))
        return frozenset(place for place in places if not self._may_move(place))

    def _may_move(self, place: int) -> bool:
        """Return whether a feature's values may be moved.

        Names stay. A feature stays if its values are found to add to what was learned, alone or together with another
        feature. For whole numbers, and for others that repeat, the addition has to be bounded; and whole ones, or
        numbers that are related to them, have to go with the label by their order: else they may be codes, or parts of
        a date, whose meaning has no order.
        """
        moves = self.moves
        if moves.named(place):
            return False
        by_value, own = self._besides(self._values[place]), self._besides(self._groups[place])
        if by_value.is_found(2) or own.is_found(2):
            return False
        is_whole = moves.numeric(place) and self._is_whole(place)
        if (is_whole or (moves.numeric(place) and self._repeats(place))) and not by_value.is_bounded:
            return False
        group = next(group for group in moves.groups if place in group)
        if is_whole and not any(self._is_ordered(one) for one in group if moves.numeric(one)):
            return False
        others = [other for other in range(len(moves.columns)) if other != place]
        return not any(self._together(place, other).is_found(len(others)) for other in others)

    def _together(self, place: int, other: int) -> ValueInformation:
        """Return the information of two features' values together, beyond that of the other one's alone."""
        both = self._besides(RANK_BINS * self._groups[place] + self._coarse[other])
        alone = self._besides(self._coarse[other])
        return ValueInformation(both.variance - max(0.0, alone.variance), float(np.hypot(both.error, alone.error)))

    @cached_property
    def _residuals(self) -> Floats:
        """The labels less their chances: shape (rows, classes)."""
        found = self.moves.sample
        chances = self.baseline.chances(found.rows, range(len(found.rows)))
        return np.asarray(np.eye(len(found.classes))[found.codes] - chances)

    def _besides(self, groups: Ints) -> ValueInformation:
        """Return the common part of a group's residuals: a mean over pairs of rows, half the sum over the classes."""
        residuals = self._residuals
        sizes = np.bincount(groups).astype(np.float64)
        pairs = float((sizes * (sizes - 1)).sum())
        if not pairs:
            return ValueInformation(0.0, np.inf)
        common = sum(_paired(groups, own) for own in residuals.T)
        spread = sum(_paired(groups, own * other) for own in residuals.T for other in residuals.T)
        return ValueInformation(common / pairs / 2, float(max(0.0, 2 * spread) ** 0.5 / pairs / 2))

    @cached_property
    def _groups(self) -> list[Ints]:
        """For each feature the rows that share a value, or, for numbers that hardly repeat, those that are near."""
        return [
            self._by_rank(place, RANK_BINS) if self.moves.numeric(place) and not self._repeats(place) else values
            for place, values in enumerate(self._values)
        ]

    @cached_property
    def _values(self) -> list[Ints]:
        """For each feature the rows that share a value."""
        key = self.moves.sample.key
        keys = [[key(cell) or "" for cell in cells] for cells in self.moves.columns]
        return [np.asarray(np.unique(own, return_inverse=True)[1], dtype=np.int64) for own in keys]

    @cached_property
    def _coarse(self) -> list[Ints]:
        """For each feature a few groups of rows: by ranks, or those of the most frequent values and the rest."""
        filled = len(self.moves.sample.rows) // (ROWS_PER_PAIRED_GROUP * RANK_BINS)
        groups = min(RANK_BINS, max(LEAST_PARTNER_GROUPS, filled))
        return [
            self._by_rank(place, groups) if self.moves.numeric(place) else _most_frequent(values, groups)
            for place, values in enumerate(self._values)
        ]

    def _by_rank(self, place: int, groups: int) -> Ints:
        ranks = stats.rankdata(np.nan_to_num(self.moves.plain[:, place], nan=-np.inf))
        return np.asarray((ranks - 1) * groups // len(ranks), dtype=np.int64)

    def _repeats(self, place: int) -> bool:
        return len(self.moves.columns[place]) >= LEAST_ROWS_PER_VALUE * len(self.moves.counts(place))

    def _is_whole(self, place: int) -> bool:
        numbers = self.moves.plain[:, place]
        return bool(np.all(np.isnan(numbers) | (numbers == np.floor(numbers))))

    def _is_ordered(self, place: int) -> bool:
        """Return whether the label depends on the order of whole numbers (Kruskal and Wallis 1952)."""
        numbers = self.moves.plain[:, place]
        present: Flags = np.isfinite(numbers)
        codes = self.moves.sample.codes
        by_class = [numbers[present & (codes == code)] for code in np.unique(codes[present])]
        if len(by_class) < 2 or len(np.unique(numbers[present])) < 2:
            return False
        return bool(stats.kruskal(*by_class).pvalue <= ORDER_LEVEL)


def _most_frequent(values: Ints, groups: int) -> Ints:
    """Return the place of each value among the most frequent ones; all others are the last of `groups` groups."""
    order = np.argsort(-np.bincount(values), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return np.minimum(place[values], groups - 1)


def _paired(groups: Ints, values: Floats) -> float:
    """Return the sum of v·v' over ordered pairs of different rows of a group."""
    sums, squares = np.bincount(groups, values), np.bincount(groups, values**2)
    return float((sums**2 - squares).sum())
