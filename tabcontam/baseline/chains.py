"""A chain of hidden features: each is predicted from the shown cells and the hidden features before it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from tabcontam.baseline.cell_prediction import CellPrediction, marginal
from tabcontam.baseline.coded_columns import Bools, Column, Floats, Ints, as_column
from tabcontam.baseline.densities import densities
from tabcontam.baseline.failures import attempt
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.laws import LawPredictions, derived, predict_by_laws, visible_features
from tabcontam.baseline.mixture import Mixture, ValueChances, mixture_of
from tabcontam.baseline.nearest_row import Counts, alike, apart, differing, most_similar_row
from tabcontam.baseline.row_sample import RowSample, SampledTable, sample_of
from tabcontam.baseline.thresholds import FOLDS, FULL_LAW_SEARCH, LAW_PARTS
from tabcontam.tables.table import Cell


@dataclass(frozen=True, eq=False)
class FeatureChain:
    """The predictions of the hidden features `asked`, in this order, for the queried `rows`.

    A feature is predicted from the cells of earlier features, not from their predictions. `missing` are marks of
    missing cells besides None. The training rows are used in this `order`, by default the table's order. Similar rows
    are searched in the whole table, not only among the training rows: they are compared by the shown features in
    `near`, by default all shown features. Predictors always learn from the `known` rows, but these do not affect
    predictor weights.
    """

    columns: Mapping[str, Sequence[Cell] | Column]
    shown: Sequence[str]
    asked: Sequence[str]
    rows: Sequence[int]
    missing: Collection[str] = ()
    order: Sequence[int] | None = None
    near: Collection[str] | None = None
    known: Collection[int] = ()

    def predictions(self, place: int) -> list[CellPrediction]:
        """Return each row's prediction of the feature at index `place`, without the silent predictor's answer."""
        if self._sampled is not None:
            return self._sampled.mixture(place).predictions()
        cells = self._whole[self.asked[place]].cells
        others = [[cells[other] for other in self._drawn if other != row] for row in self.rows]
        return [marginal(of_others, self.missing) for of_others in others]

    def chances(self, place: int) -> list[ValueChances] | None:
        """Return each row's probability of each value of the feature at index `place`; None for few rows."""
        return None if self._sampled is None else self._sampled.mixture(place).chances()

    def densities(self, place: int, values: Sequence[str]) -> list[Floats]:
        """Return each number predictor's probabilities of these `values` in each row (see `densities`)."""
        return [] if self._sampled is None else self._sampled.densities(place, values)

    def silent(self) -> list[dict[int, str]]:
        """Return the silent predictor's answers by row, one dict for each hidden feature."""
        return [{} for _ in self.asked] if self._sampled is None else self._sampled.silent()

    @cached_property
    def _whole(self) -> dict[str, Column]:
        names = sorted({*self.shown, *self.asked})
        return {name: as_column(name, self.columns[name], self.missing) for name in names}

    @cached_property
    def _drawn(self) -> list[int]:
        return list(self.order) if self.order is not None else list(range(len(self._whole[self.asked[0]].keys)))

    @cached_property
    def _sampled(self) -> "_SampledChain | None":
        """The fitted chain on a sample of rows; None if there are too few rows."""
        sample = sample_of(self._drawn, self.rows, frozenset(self.known))
        return None if sample is None else _SampledChain(self, self._whole, sample)


@dataclass(frozen=True, eq=False)
class _SampledChain:
    """A chain that is fitted on a sample of rows."""

    chain: FeatureChain
    whole: Mapping[str, Column]
    sample: RowSample

    def mixture(self, place: int) -> Mixture:
        """Return the mixture of predictors of the hidden feature at index `place`."""
        name, given = self.chain.asked[place], [*self._visible, *self.chain.asked[:place]]
        target, sample = self._taken[name], self.sample
        laws = _laws(target, self._given(visible_features(name, given, self.chain.near)), sample)
        if self._apart is not None:
            differ = sum((differing(self._taken[other]) for other in self.chain.asked[:place]), start=self._apart)
            pairs = zip(laws, sample.fits, strict=True)
            laws = [{**law, **self._similar_rows(target, differ, predicted)} for law, (_, predicted) in pairs]
        view = self._everywhere.view(name, [*self._close, *self.chain.asked[:place]])
        return mixture_of(target, self._given(given), sample, self._wanted, view, laws, self._like)

    def _similar_rows(self, target: Column, differ: Counts, predicted: Ints) -> dict[str, LawPredictions]:
        """Return predictions from the most similar row; `differ` counts the shown cells in which two rows differ."""
        return attempt(
            f"twin of {target.name}", lambda: {"twin": most_similar_row(target, differ, self._like, predicted)}, {}
        )

    def densities(self, place: int, values: Sequence[str]) -> list[Floats]:
        """Return each number predictor's probabilities of these `values` of the hidden feature in each row."""
        given = self._given([*self._visible, *self.chain.asked[:place]])
        target = self._taken[self.chain.asked[place]]
        predict = partial(densities, target, given, self.sample.fits, self._wanted, values)
        return attempt(f"densities of {target.name}", predict, [])

    def silent(self) -> list[dict[int, str]]:
        """Return the silent predictor's answers by row, one dict for each hidden feature."""
        nothing: list[dict[int, str]] = [{} for _ in self.chain.asked]
        named = f"trees of {' and '.join(self.chain.asked)}"
        return attempt(named, lambda: self._everywhere.silent(self.chain.asked, self._close), nothing)

    @cached_property
    def _taken(self) -> dict[str, Column]:
        """The columns, restricted to the rows of the sample."""
        return {name: one.sampled(self.sample.rows) for name, one in self.whole.items()}

    @cached_property
    def _wanted(self) -> Ints:
        places = {row: place for place, row in enumerate(self.sample.rows)}
        return np.array([places[row] for row in self.chain.rows], dtype=np.int64)

    @cached_property
    def _everywhere(self) -> SampledTable:
        return SampledTable(self.whole, self._taken, self.sample)

    @cached_property
    def _visible(self) -> list[str]:
        return sorted(set(self.chain.shown))

    @cached_property
    def _close(self) -> list[str]:
        return self._visible if self.chain.near is None else sorted(set(self.chain.near))

    @cached_property
    def _apart(self) -> Counts | None:
        """The number of shown cells in which two rows differ, for all pairs of rows; None if rows are not compared."""
        if self.chain.near is not None or self._everywhere.large:
            return None
        return apart([self._taken[name] for name in self._close], len(self.sample.rows))

    @cached_property
    def _like(self) -> Bools:
        """A mask of the rows in which predictor weights are found."""
        return alike(self._apart, self._wanted)

    def _given(self, names: Sequence[str]) -> list[Column]:
        """Return these features' columns and the columns derived from them."""
        return sorted((one for name in names for one in derived(self._taken[name])), key=lambda one: one.name)


def _laws(target: Column, given: Sequence[Column], sample: RowSample) -> list[dict[str, LawPredictions]]:
    """Return the predictions by laws for each fit of the sample. Laws are learned from all columns in `given`.

    Learning laws is slow, and laws change little with the rows: they have few constants. So laws are not learned anew
    for each fold (the rows that one fit predicts). The folds are divided into a few parts, and the laws for one part
    are learned from the other parts.
    """
    if len(sample.fits) == 1:
        return [predict_by_laws(Fit(target, tuple(given), (), *sample.fits[0]))]
    laws: list[dict[str, LawPredictions]] = []
    count = LAW_PARTS if len(sample.groups) <= FULL_LAW_SEARCH[0] and len(given) <= FULL_LAW_SEARCH[1] else 2
    parts = np.where(sample.groups < 0, -1, sample.groups * count // FOLDS)  # known rows, with group -1, are in no part
    found: dict[int, dict[str, LawPredictions]] = {}
    for _, places in sample.fits:
        part = int(parts[places[0]])
        own = np.flatnonzero(parts == part)
        if part not in found:
            found[part] = predict_by_laws(Fit(target, tuple(given), (), np.flatnonzero(parts != part), own))
        laws.append({name: law.at_places(np.searchsorted(own, places)) for name, law in found[part].items()})
    return laws
