"""The baseline: a mixture of predictors, each fitted on rows other than those it predicts.

A large table has one fit, on rows that are never queried. A small table is divided into folds, and each fold is
predicted from the others. Predictor weights are found by expectation and maximisation, on rows held out from the fit.
The weights for a queried row are found without the rows of its fold. The model's answers are never used. Everything is
deterministic.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isfinite, sqrt
from typing import TypeVar

import numpy as np

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.character_grams import by_characters
from tabcontam.baseline.coded_columns import MISSING, Bools, Column, Floats, Ints, as_number
from tabcontam.baseline.failures import attempt
from tabcontam.baseline.fit import NOVEL, CountedProbabilities, Fit
from tabcontam.baseline.frequencies import frequencies, informative
from tabcontam.baseline.laws import LawPredictions
from tabcontam.baseline.ordered_keys import ordered
from tabcontam.baseline.predictor_weights import FitPredictions, SortedHits, TopValueHits, likelihoods_of, own_places
from tabcontam.baseline.rare_values import same_rare_value
from tabcontam.baseline.rates import rate_owners, rates
from tabcontam.baseline.regression import ErrorDistribution, boosted, heaped, regressed, squared
from tabcontam.baseline.rounded_numbers import RoundedPrediction, chain
from tabcontam.baseline.row_sample import RowSample
from tabcontam.baseline.similar_rows import neighbours
from tabcontam.baseline.straight_lines import lines
from tabcontam.baseline.thresholds import (
    LEAST_FITTED_ROWS,
    LEAST_PROBABILITY,
    MIXTURE_POWERS,
    MOST_INFORMATIVE_COLUMNS,
    MOST_LISTED_VALUES,
    ROUNDED_CHANCE_FACTOR,
)
from tabcontam.baseline.view import View

PLACES = 9  # decimals of a stored chance
COUNTING: Sequence[tuple[str, Callable[[View], list[LawPredictions]]]] = (  # (kind, predictor by counting other rows)
    ("kin", same_rare_value),
    ("rate", rates),
    ("rate", rate_owners),
    ("rate", lines),
    ("ordered", ordered),
)
Made = TypeVar("Made")


def mixture_of(
    target: Column,
    given: Sequence[Column],
    sample: RowSample,
    wanted: Ints,
    view: View,
    laws: Sequence[Mapping[str, LawPredictions]],
    like: Bools,
) -> "Mixture":
    """Return the mixture of predictors for the rows `wanted`. Weights are found in the rows marked in `like`."""
    counting = _counting(view, [len(rows) for _, rows in sample.fits])
    fits = zip(sample.fits, laws, counting, strict=True)
    predicted = [_predicted(target, given, fit, {**law, **more}) for fit, law, more in fits]
    peaks = _with_errors(target, predicted, sample)
    likelihoods = likelihoods_of(predicted, len(sample.rows))
    finals: dict[int, _FitMixture] = {}
    for group in sorted({int(group) for group in sample.groups[wanted]}):
        others = likelihoods.known & (sample.groups != group) & like
        weights = likelihoods.weights(others)
        mixed = _sharpened(predicted, [_mixed(one, weights) for one in predicted], others)
        base = np.full(len(sample.rows), np.nan)  # the mixture's probability of each row's true value
        for one, matrix in zip(predicted, mixed, strict=True):
            base[one.fit.predicted] = matrix[np.arange(len(matrix)), own_places(one.fit)]
        extra = likelihoods.extra_weights(others, base)
        for one, matrix in zip(predicted, mixed, strict=True):
            own = sample.groups[one.fit.predicted] == group
            if own.any():
                final = _FitMixture(one, _with_added(one, matrix, extra), extra, int(others.sum()))
                finals |= {int(row): final for row in one.fit.predicted[own | (len(predicted) == 1)]}
    return Mixture(target, sample, wanted, finals, peaks)


@dataclass(frozen=True, eq=False)
class Mixture:
    """The joint prediction of all predictors for the rows at the indices `wanted` of a sample."""

    target: Column
    sample: RowSample
    wanted: Ints
    finals: "Mapping[int, _FitMixture]"  # by index in the sample
    peaks: Floats  # by index: the largest probability of any value, by the errors of predicted numbers

    def predictions(self) -> list[CellPrediction]:
        """Return the prediction for each wanted row."""
        likeliest = {row: final.likeliest[row] for row, final in self.finals.items()}
        tops = TopValueHits.of(self.target, likeliest, self.sample.groups)
        groups = self.sample.groups[self.wanted].tolist()
        other_hits = {group: tops.in_other_groups(group) for group in set(groups)}
        rows = zip(self.wanted.tolist(), groups, strict=True)
        return [self.finals[row].predict(row, self.peaks[row], other_hits[group]) for row, group in rows]

    def chances(self) -> "list[ValueChances]":
        """Return the probability of each value for each wanted row, before `predict` raises it."""
        return [ValueChances(self.finals[row].by_key(row)) for row in self.wanted.tolist()]


@dataclass(frozen=True, eq=False)
class ValueChances:
    """The probability of each value of a cell, by key. The key `NOVEL` has the sum over all unknown values."""

    values: Mapping[str, float]

    def chance_of(self, key: str) -> float:
        """Return the probability of a value. An unknown value has the probability of `NOVEL`."""
        return max(LEAST_PROBABILITY, self.values.get(key, self.values[NOVEL]))

    def among(self, keys: Sequence[str]) -> list[float]:
        """Return the probability of each of these values, given that one of them is true.

        Unknown values share the probability of `NOVEL`.
        """
        unnamed = max(1, sum(key not in self.values for key in keys))
        novel = max(LEAST_PROBABILITY, self.values[NOVEL] / unnamed)
        return [self.chance_of(key) if key in self.values else novel for key in keys]


@dataclass(frozen=True, eq=False)
class _FitMixture:
    """The mixture's probabilities of the values of each row that one fit predicts."""

    one: FitPredictions
    chances: Floats
    extra: Mapping[str, float]  # the weights of the predictors that predict some rows only
    rows: int  # number of rows from which the weights come

    @cached_property
    def place(self) -> Mapping[int, int]:
        """The line of each row in `chances`."""
        return {row: number for number, row in enumerate(self.one.fit.predicted.tolist())}

    @cached_property
    def followed(self) -> list[dict[str, float]]:
        """The probabilities of the values that laws and counting predict, by key, for each predicted row."""
        found: list[dict[str, float]] = [{} for _ in self.chances]
        for name, added in self.one.added.items():
            if isinstance(added, LawPredictions):
                for mine, values in zip(found, added.values, strict=True):
                    for key, share in values.items():
                        mine[key] = mine.get(key, 0.0) + self.extra[name] * share
        return found

    @cached_property
    def likeliest(self) -> Mapping[int, tuple[str, float]]:
        """The likeliest value of each row, by key, and its probability; "" if there is no value."""
        most = self.chances[:, 2:].argmax(axis=1) + 2 if self.chances.shape[1] > 2 else np.zeros(0, dtype=np.int64)
        found = {}
        for row, number in self.place.items():
            dense = {self.one.fit.keys[most[number]]: float(self.chances[number, most[number]])} if len(most) else {}
            both = dense | self._with_followed(number)
            found[row] = max(both.items(), key=lambda item: (item[1], item[0]), default=("", 0.0))
        return found

    def _with_followed(self, number: int) -> dict[str, float]:
        """Return the total probability of each value that laws or counting predict in line `number`, by key."""
        place = self.one.fit.place
        return {
            key: share + (float(self.chances[number, place[key]]) if key in place else 0.0)
            for key, share in self.followed[number].items()
        }

    def by_key(self, row: int) -> dict[str, float]:
        """Return the chance of each value in one row."""
        number = self.place[row]
        found = dict(zip(self.one.fit.keys, self.chances[number].tolist(), strict=True))
        for key, chance in self.followed[number].items():
            found[key] = found.get(key, 0.0) + chance
        return found

    def predict(self, row: int, peak: float, tops: SortedHits) -> CellPrediction:
        """Return the prediction of one row.

        `peak` is an upper bound of the probability of any unlisted value. `tops` are the hits of likeliest values in
        other rows. No value has a probability below the floor, 1 / (training rows + 1). Each probability is raised by
        its standard error; that of the likeliest value is also raised to the hit rate of similar ones in `tops`. A
        probability that is too high costs a few hundredths of a bit; one that is too low makes false verdicts more
        frequent.
        """
        number, fit = self.place[row], self.one.fit
        chances, followed = self.chances[number], self.followed[number]
        floor, noise = 1 / (len(fit.train) + 1), 0.25 / self.rows
        likely = np.flatnonzero(chances > (sqrt(floor + noise) - sqrt(noise)) ** 2)  # above the floor once raised
        best = _largest(chances, likely, MOST_LISTED_VALUES + len(followed) + 3) or [2]
        found = {fit.keys[place]: float(chances[place]) for place in best if 1 < place < len(chances)}
        ranked = _raised(found | self._with_followed(number), self.rows)
        ranked[:1] = [(key, round(tops.raised(chance), PLACES)) for key, chance in ranked[:1]]
        next_one = [chance for _, chance in ranked[MOST_LISTED_VALUES : MOST_LISTED_VALUES + 1]]
        rest = round(max(floor, peak, *next_one, 0.0), PLACES)  # upper bound for all values that are not listed
        listed = [item for item in ranked[:MOST_LISTED_VALUES] if item[1] > rest] or ranked[:1]
        values = {fit.target.texts.get(key) or _plain(key): max(chance, rest) for key, chance in listed}
        coarser = _rounded(fit, chances, followed, max(floor, peak), self.rows)
        return CellPrediction(values, rest, round(min(1.0, float(chances[fit.place[MISSING]])), PLACES), coarser)


def _counting(view: View, sizes: Sequence[int]) -> list[dict[str, LawPredictions]]:
    """Return each fit's predictions by counting other rows. `sizes` are the numbers of rows that the fits predict."""
    found: dict[str, list[LawPredictions]] = {}
    for kind, counts in COUNTING:
        found.setdefault(kind, [])
        found[kind] += attempt(f"{counts.__name__} of {view.target.name}", partial(counts, view), [])
    named = {f"{name} {number}": one for name, every in found.items() for number, one in enumerate(every)}
    ends = np.cumsum(sizes)
    fits = [np.arange(end - size, end) for end, size in zip(ends.tolist(), sizes, strict=True)]
    return [{name: one.at_places(places) for name, one in named.items()} for places in fits]


def _predicted(
    target: Column, given: Sequence[Column], places: tuple[Ints, Ints], laws: Mapping[str, LawPredictions]
) -> FitPredictions:
    train, _ = places
    shown = informative(target, given, train, MOST_INFORMATIVE_COLUMNS)
    fit = Fit(target, tuple(one for one, _ in shown), tuple(max(0.0, gain) for _, gain in shown), *places)

    def tried(predict: Callable[[Fit], Made], otherwise: Made, seen: Fit = fit) -> Made:
        return attempt(f"{predict.__name__} of {target.name}", partial(predict, seen), otherwise)

    none: tuple[dict[str, Floats], dict[str, CountedProbabilities]] = ({}, {})
    common, counted = tried(frequencies, none)
    near, close = tried(neighbours, none)
    matrices = {"marginal": np.tile(fit.marginal, (len(fit.predicted), 1))} | common | near
    # texts are informative even if they have many values
    every = replace(fit, shown=tuple(given), scores=())
    classes = {"boosted": tried(boosted, None), "characters": tried(by_characters, None, every)}
    matrices |= {name: found for name, found in classes.items() if found is not None}
    added: dict[str, CountedProbabilities | LawPredictions] = {**counted, **close, **laws}
    numbers = {"regressed": tried(regressed, None)}
    if numbers["regressed"] is not None:
        numbers["squared"] = tried(squared, None, every)
    return FitPredictions(fit, matrices, added, {name: found for name, found in numbers.items() if found is not None})


def _mixed(one: FitPredictions, weights: Mapping[str, float]) -> Floats:
    mixed = np.zeros_like(one.dense["marginal"])
    for name, weight in weights.items():
        mixed += weight * one.dense.get(name, one.dense["marginal"])
    return mixed


def _sharpened(predicted: Sequence[FitPredictions], mixed: Sequence[Floats], others: Bools) -> list[Floats]:
    """Return mixtures raised to the power that makes the rows marked in `others` likeliest: means are too unsure."""
    truths = [own_places(one.fit)[others[one.fit.predicted]] for one in predicted]
    held = [matrix[others[one.fit.predicted]] for one, matrix in zip(predicted, mixed, strict=True)]

    def likelihood(power: float) -> float:
        pairs = zip(held, truths, strict=True)
        found = (_power(matrix, power)[np.arange(len(matrix)), truth] for matrix, truth in pairs)
        return sum(float(np.log(np.maximum(chances, LEAST_PROBABILITY)).sum()) for chances in found)

    best = max(MIXTURE_POWERS, key=likelihood)
    return [_power(matrix, best) for matrix in mixed]


def _power(matrix: Floats, power: float) -> Floats:
    if power == 1:
        return matrix
    found = np.maximum(matrix, 1e-12) ** power
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _with_added(one: FitPredictions, mixed: Floats, extra: Mapping[str, float]) -> Floats:
    """Return the mixture plus counted probabilities, but without the values of laws, which are added later."""
    base = np.full(len(mixed), extra[""])
    total = np.zeros_like(mixed)
    for name, weight in extra.items():
        added = one.added.get(name)
        if isinstance(added, CountedProbabilities):
            total += weight * added.matrix
            base += weight * added.left
        elif isinstance(added, LawPredictions):
            base += weight * added.left
        elif name:
            base += weight
    return np.asarray(total + base[:, None] * mixed)


def _raised(chances: Mapping[str, float], rows: int, more: float = 0.0) -> list[tuple[str, float]]:
    """Return the probabilities plus `more`, raised by their standard error in `rows` rows, in descending order."""
    exact = np.clip(np.fromiter(chances.values(), np.float64, len(chances)) + more, 0, 1)
    raised = np.minimum(1.0, exact + np.sqrt(exact * (1 - exact) / rows)).round(PLACES)
    return [(key, -least) for least, key in sorted(zip((-raised).tolist(), chances, strict=True))]


def _largest(chances: Floats, places: Ints, count: int) -> list[int]:
    """Return the `count` places with the largest chances. Equal chances keep their order."""
    if len(places) > 2 * count:  # faster than sorting all places
        least = np.partition(chances[places], len(places) - count)[len(places) - count]
        places = places[chances[places] >= least]
    ranked: list[int] = places[np.argsort(-chances[places], kind="stable")][:count].tolist()
    return ranked


def _rounded(
    fit: Fit, chances: Floats, followed: Mapping[str, float], novel: float, rows: int
) -> tuple[RoundedPrediction, ...]:
    """Return the probabilities of the number at coarser precisions, raised by their standard error and doubled.

    Near misses are evidence of skill: a model that predicts numbers better than the baseline may hit twice as often
    before its hits count as memory. `novel` is the upper bound of a single unlisted value's chance. A rounded value
    stands for ten or a hundred values.
    """
    found = []
    for fewer, (place, (texts, bins)) in enumerate(zip(fit.target.coarser, fit.rounded, strict=True), start=1):
        masses: Floats = np.asarray(np.bincount(bins, chances, len(texts)), dtype=np.float64)[: len(texts)]
        best = _largest(masses, np.arange(len(texts)), MOST_LISTED_VALUES + len(followed) + 1)
        mass = {texts[one]: float(masses[one]) for one in best}
        for key, share in followed.items():
            if (rounded := chain(key, fit.target.coarser)[fewer - 1]) is not None:
                mass[rounded] = mass.get(rounded, 0.0) + share
        other = novel if fit.gridded else novel * 10**fewer
        likely = _raised(mass, rows, 0.0 if fit.gridded else other)
        raised = [(key, min(1.0, round(ROUNDED_CHANCE_FACTOR * chance, PLACES))) for key, chance in likely]
        unlisted = [chance for _, chance in raised[MOST_LISTED_VALUES:]]
        rest = round(min(1.0, max(ROUNDED_CHANCE_FACTOR * other, *unlisted, 0.0)), PLACES)
        listed = {key: chance for key, chance in raised[:MOST_LISTED_VALUES] if chance > rest}
        found.append(RoundedPrediction(place, listed, rest))
    return tuple(found)


def _plain(key: str) -> str:
    """Return a number's key without an exponent, and any other key unchanged."""
    number = as_number(key)
    if not isfinite(number):
        return key
    return str(int(number)) if number == int(number) else repr(number)


def _with_errors(target: Column, predicted: Sequence[FitPredictions], sample: RowSample) -> Floats:
    """Add the error distributions of predicted numbers; return by row the largest chance of a value that is no key."""
    names = [name for name in predicted[0].regressed if all(name in one.regressed for one in predicted)]
    nothing = np.zeros(len(sample.rows))
    ways = {name: partial(_with_errors_of, name, target, predicted, sample) for name in names}
    every = [attempt(f"errors of {name} of {target.name}", add, nothing) for name, add in ways.items()]
    return np.asarray(np.maximum.reduce([nothing, *every]))


def _with_errors_of(name: str, target: Column, predicted: Sequence[FitPredictions], sample: RowSample) -> Floats:
    """Add the error distributions of the regression `name`. The result is as in `_with_errors`."""
    peaks = np.zeros(len(sample.rows))
    if target.numbers is None:
        return peaks
    expected = np.full(len(sample.rows), np.nan)
    for one in predicted:
        expected[one.fit.predicted] = one.regressed[name]
    weighed = np.isfinite(expected) & np.isfinite(target.numbers)
    if len(predicted) == 1:
        weighed &= sample.groups == 0
    if weighed.sum() < LEAST_FITTED_ROWS:
        return peaks
    fit = predicted[0].fit
    spikes = {key for key, spike in zip(fit.keys, fit.spikes, strict=True) if spike}
    weighed &= np.array([key not in spikes for key in target.keys])
    if weighed.sum() < LEAST_FITTED_ROWS:
        return peaks
    among = np.concatenate([one.fit.predicted for one in predicted])
    share = weighed.sum() / np.isin(sample.groups[among], sample.groups[weighed]).sum()
    known, step = expected[weighed], float(np.median(fit.step(expected[weighed])))
    errors = ErrorDistribution(known, target.numbers[weighed] - known, step)
    own = np.where(weighed, target.numbers, np.nan)
    for one in predicted:
        rows = one.fit.predicted
        if fit.gridded and one.fit.gridded:
            _add_distribution(name, one, errors, expected[rows], own[rows])
        else:
            peaks[rows] = errors.peak(expected[rows], one.fit.step(expected[rows])) * share
    return peaks


def _add_distribution(
    name: str, one: FitPredictions, errors: "ErrorDistribution", expected: Floats, own: Floats
) -> None:
    """Add a distribution of numbers to `one`. Missing cells and spikes keep their chances."""
    fit, near = one.fit, one.dense.get("near", one.dense["marginal"])
    apart = fit.spikes.copy()
    apart[:2] = True
    remaining = 1 - near[:, apart].sum(axis=1, keepdims=True)
    densities = np.nan_to_num(errors.density(expected, fit.positions, own) * fit.step(fit.positions))
    densities[:, apart] = 0
    factors = {name: np.ones(len(fit.keys))} | ({"heaped": heaped(fit)} if name == "regressed" else {})
    for which, factor in factors.items():
        matrix = densities * factor
        total = matrix.sum(axis=1, keepdims=True)
        matrix *= remaining / np.maximum(total, LEAST_PROBABILITY)
        one.dense[which] = np.where(total > LEAST_PROBABILITY, np.where(apart, near, matrix), near)
