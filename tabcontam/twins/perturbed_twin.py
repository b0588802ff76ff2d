"""The perturbed twin: rows whose values are moved so little that the label cannot change.

A feature's values may be moved if learners have learned all that the values mean for the label.

An LLM may know the meaning of a value, such as a postcode or a harbour; learners see a number or a word. If a value
means more than learners have learned, a moved value may change the label. A twin would then have a wrong label, and the
LLM's skill would be taken for memory. So a feature stays if the rows show such a meaning, or are too few to exclude it.

The residuals show what learners missed: r is a row's label (0 or 1 for each class) minus the chance that learners
predict without having seen the row. If rows that share a value have similar residuals, the value has information that
learners missed. The mean of r·r' over pairs of rows that share a value estimates the variance that the value adds. The
variance of this estimate is computed from the same products, as if rows were independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special, stats

from tabcontam.errors import Skip
from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.moves import Moves
from tabcontam.twins.thresholds import (
    DRAWS_OF_A_ROW,
    LEAST_MOVED_FEATURES,
    LEAST_MOVED_GROUPS,
    LEAST_PARTNER_GROUPS,
    LEAST_ROWS_PER_VALUE,
    LEAST_TWINNED_SHARE,
    LEAST_VALUE_INFORMATION,
    MOST_CHANCE_CHANGE,
    MOST_VALUE_INFORMATION,
    ORDER_LEVEL,
    PERTURBING_ROUNDS,
    RANK_BINS,
    ROWS_PER_PAIRED_GROUP,
    VALUE_INFORMATION_LEVEL,
)
from tabcontam.twins.twin_sample import Flags, Floats, Ints, Row, TwinSample


class PerturbedTwin(Twin):
    """Each row's values are moved so little that its label cannot change, as the baseline predicts.

    Keeps: the names of features and categories, and the label. According to each of the baseline's learners, the
    likeliest class stays, and the chance of each class changes by at most 0.1. Related features are moved together. A
    category that fewer than 30 rows have stays: learners cannot know its meaning for the label, but an LLM may. A whole
    feature stays if learners have not learned the meaning of its values, or if the rows cannot show that they have (see
    `MovableFeatures`): names, codes, identifiers, dates. So knowledge of the task, of features and categories, and of
    named persons or things helps as much on the twin as on the row.

    Changes: at least a sixth of the row's values, at least two, and as many as possible. Numbers move by up to 5 % of
    their ranks or towards a similar row. Frequent categories become categories of similar rows. No twin is a row of the
    table, however its values are written.

    Refused if learners learn nothing about the label, and if a column has running text: then it is unknown which noise
    leaves the label unchanged.

    Cannot show memory of a row that the model recalls from cells that stayed, such as a name or number, or from similar
    rows. Such recall also works on the twin; memory's share is then estimated too small. The label may follow a law
    that the baseline cannot learn from the rows, such as one of single digits or of three features together. Then a
    twin may have a wrong label, and skill is taken for memory.
    """

    kind = "perturbed"

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return twins of the rows that can be moved in this way. Raises `Skip` if fewer than half of the rows can."""
        moves = Moves(sample, MovableFeatures(Moves(sample), baseline).staying)
        own = baseline.each(sample.rows[: sample.twins], range(sample.twins))
        moves.check_no_texts("whose meaning for the label the baseline cannot learn")
        _check_learned(sample, baseline)
        draws: dict[int, list[Row]] = {}
        for number in range(PERTURBING_ROUNDS):
            rows = [row for row in range(sample.twins) if len(draws.get(row, ())) < DRAWS_OF_A_ROW]
            far = 1.0 - number / PERTURBING_ROUNDS
            share = LEAST_MOVED_GROUPS + (1 - LEAST_MOVED_GROUPS) * far
            if rows:
                proposed = moves.drawn(rows, rng, far, share)
                for row, twin in _accepted(sample, baseline, own, rows, proposed).items():
                    draws.setdefault(row, []).append(twin)
        if len(draws) < max(2, LEAST_TWINNED_SHARE * sample.twins):
            raise Skip(
                f"only {len(draws)} of {sample.twins} rows have values that can be changed so that the label stays as "
                "likely and the row is not in the table"
            )
        made = self._of_draws(sample, draws, lambda _, of: [sample.labels[row] for row in of], rng)
        return replace(made, unchanged=moves.unchanged)


def _accepted(
    sample: TwinSample, baseline: LabelBaseline, own: Sequence[Floats], rows: Sequence[int], proposed: Sequence[Row]
) -> dict[int, Row]:
    """Return the proposed rows that keep the chances of their label, have enough moved values and are no real rows."""
    stays = np.ones(len(rows), dtype=bool)
    for chances, other in zip(own, baseline.each(proposed, rows), strict=True):
        before = chances[list(rows)]
        stays &= other.argmax(axis=1) == before.argmax(axis=1)
        stays &= np.abs(other - before).max(axis=1) <= MOST_CHANCE_CHANGE
    found = {}
    least = min(len(sample.features), max(2, LEAST_MOVED_FEATURES * len(sample.features)))
    for row, twin, same in zip(rows, proposed, stays.tolist(), strict=True):
        cells = zip(sample.rows[row], twin, strict=True)
        moved = sum(sample.key(one) != sample.key(other) for one, other in cells)
        if same and moved >= least and not sample.is_real(twin):
            found[row] = twin
    return found


def _check_learned(sample: TwinSample, baseline: LabelBaseline) -> None:
    """Raise `Skip` if the baseline cannot know which moves change a label.

    The baseline must predict the labels of held-out rows better than the frequency of each class does. So the one-sided
    95 % limit of the mean gain in log-likelihood, by Student's t, must be above 0.
    """
    codes = sample.codes[: sample.twins]
    chances = baseline.chances(sample.rows[: sample.twins], range(sample.twins))
    shares = np.bincount(sample.codes, minlength=len(sample.classes)) / len(sample.codes)
    gains = np.log(chances[np.arange(len(codes)), codes]) - np.log(shares[codes])
    if gains.mean() <= float(special.stdtrit(len(gains) - 1, 0.95)) * gains.std(ddof=1) / len(gains) ** 0.5:
        problem = "the baseline learns nothing about the label from its cells"
        raise Skip(f"{problem}, so it is unknown which noise leaves it unchanged")


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
        numbers = moves.plain[:, place]
        is_whole = moves.numeric(place) and bool(np.all(np.isnan(numbers) | (numbers == np.floor(numbers))))
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
