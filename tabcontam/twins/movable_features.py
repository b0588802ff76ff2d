"""Features whose values may be moved, since learners have learned all that the values mean for the label.

An LLM may know the meaning of a value, such as a postcode or a harbour; learners see a number or a word. If a value
means more than learners have learned, a moved value may change the label. A twin would then have a wrong label, and the
LLM's skill would be taken for memory. So a feature stays if the rows show such a meaning, or are too few to exclude it.

The residuals show what learners missed: r is a row's label (0 or 1 for each class) minus the chance that learners
predict without having seen the row. If rows that share a value have similar residuals, the value has information that
learners missed. The mean of r·r' over pairs of rows that share a value estimates the variance that the value adds. The
variance of this estimate is computed from the same products, as if rows were independent.
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
    """Information of values that learners missed: the variance it adds to a class's chance, and its standard error."""

    variance: float
    error: float

    def is_found(self, tests: int = 1) -> bool:
        """Return whether the information is more than negligible, by a test at the level 0.05 / `tests`."""
        least = float(special.ndtri(1 - VALUE_INFORMATION_LEVEL / tests)) * self.error
        return self.variance > max(LEAST_VALUE_INFORMATION, least)

    @property
    def is_bounded(self) -> bool:
        """True if the upper 95 % limit of the information is small."""
        return self.variance + float(special.ndtri(1 - VALUE_INFORMATION_LEVEL)) * self.error <= MOST_VALUE_INFORMATION


@dataclass(frozen=True, eq=False)
class MovableFeatures:
    """The features of a sample, and what learners have learned about them, measured on held-out rows."""

    moves: Moves
    baseline: LabelBaseline

    @cached_property
    def staying(self) -> frozenset[int]:
        """The places of the features that stay, since moving them could change a twin's label."""
        places = range(len(self.moves.columns))
        return frozenset(place for place in places if not self._may_move(place))

    def _may_move(self, place: int) -> bool:
        """Return whether a feature's values may be moved.

        Names stay unchanged. A feature stays if its values, alone or with another feature's, have information that was
        not learned. A feature of whole numbers or repeated numbers stays, too, if the upper limit of this information
        is not small. A feature of whole numbers also stays unless the label depends on its order, or on that of a
        related feature. Otherwise the numbers may be codes or parts of a date, whose order means nothing.
        """
        moves = self.moves
        if moves.named(place):
            return False
        by_value, own = self._information(self._values[place]), self._information(self._groups[place])
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
        """Return the information that the feature `place` adds to the values of the feature `other`."""
        both = self._information(RANK_BINS * self._groups[place] + self._coarse[other])
        alone = self._information(self._coarse[other])
        return ValueInformation(both.variance - max(0.0, alone.variance), float(np.hypot(both.error, alone.error)))

    @cached_property
    def _residuals(self) -> Floats:
        """The labels (0 or 1 for each class) minus their predicted chances, shape (rows, classes)."""
        found = self.moves.sample
        chances = self.baseline.chances(found.rows, range(len(found.rows)))
        return np.asarray(np.eye(len(found.classes))[found.codes] - chances)

    def _information(self, groups: Ints) -> ValueInformation:
        """Return how similar residuals are within groups: the mean product of the residuals of two rows of a group.

        The products are summed over classes and halved: with two classes each residual counts twice.
        """
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
        """For each feature, each row's group: rows with equal values, or with near numbers if few numbers repeat."""
        return [
            self._by_rank(place, RANK_BINS) if self.moves.numeric(place) and not self._repeats(place) else values
            for place, values in enumerate(self._values)
        ]

    @cached_property
    def _values(self) -> list[Ints]:
        """For each feature, a number for each row; rows with equal values have equal numbers."""
        key = self.moves.sample.key
        keys = [[key(cell) or "" for cell in cells] for cells in self.moves.columns]
        return [np.asarray(np.unique(own, return_inverse=True)[1], dtype=np.int64) for own in keys]

    @cached_property
    def _coarse(self) -> list[Ints]:
        """For each feature, a few groups of rows: by rank, or by the most frequent values and all others."""
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
        return len(self.moves.columns[place]) >= LEAST_ROWS_PER_VALUE * len(self.moves.counts[place])

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
    """Return the rank of each value by frequency; the last of `groups` ranks is shared by all rarer values."""
    order = np.argsort(-np.bincount(values), kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return np.minimum(place[values], groups - 1)


def _paired(groups: Ints, values: Floats) -> float:
    """Return the sum of v·v' over ordered pairs of different rows of one group."""
    sums, squares = np.bincount(groups, values), np.bincount(groups, values**2)
    return float((sums**2 - squares).sum())
