"""Numbers that are another number times, or plus, a constant of the row's kind: a state's tax, a currency's rate.

A kind is the set of rows with one cell, such as a state, or with one combination of cells or of their pieces.
A model that knows the constants can compute the number, and can recognize a kind by two numbers. The constant of a kind
is learned from its other rows in the whole table, because most kinds have no row in the baseline's sample. Some rows
may break the rule.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.coded_columns import Bools, Column, Floats, Ints, scaled
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.shared_cells import Words, codes_of, sharing, two_cells, with_pieces
from tabcontam.baseline.straight_lines import numbers_near
from tabcontam.baseline.thresholds import (
    FEW_VALUES,
    LEAST_PLAIN_RATE_LIFT,
    LEAST_PLAIN_RATE_SHARE,
    LEAST_RATE_BITS,
    LEAST_RATE_ROWS,
    LEAST_RATE_SHARE,
    MOST_KIND_COLUMNS,
    MOST_KINDS,
    MOST_KINDS_LISTED,
    MOST_MULTIPLIED_TERMS,
    MOST_RATE_CANDIDATES,
    MOST_RATE_DECIMALS,
    MOST_RATE_TERMS,
    MOST_RATES,
    MOST_ROWS_OF_SMALL_TABLE,
    MOST_TERMS_OF_TWO_CELLS,
    RATE_DISTANCE,
    RATE_GROUP_SIZES,
    ROW_PARTS,
)
from tabcontam.baseline.view import View
from tabcontam.tables.large.table_excerpt import numbered


def rates(view: View) -> list[LawPredictions]:
    """Return the numbers that follow from the best term (a shown number, or a product of two) and the best kinds."""
    if view.target.numbers is None or view.target.distinct <= FEW_VALUES:
        return []
    target = _RateTarget.of(view, view.target)
    scored = []
    together = ((one, target.terms[:MOST_TERMS_OF_TWO_CELLS]) for one in _together(view))
    for one, terms in chain(((one, target.terms) for one in _kinds(view)), together):
        for score, rate in target.scored(one, terms):
            scored.append((-score, one.name, rate.term.name, rate.term.unit, rate.added, rate))
    scored.sort(key=lambda item: item[:5])
    return [target.follows(view, rate) for *_, rate in scored[:MOST_RATES]]


def rate_owners(view: View) -> list[LawPredictions]:
    """Return the kinds, such as states, with a constant that turns one shown number into another."""
    target, best = view.target, 0.0
    found: tuple[_RateTarget, _Rate] | None = None
    if not 2 < target.distinct < min(MOST_KINDS, len(view.learned) / 2):
        return []
    many, kinds = view.of_many_numbers[:MOST_RATE_TERMS], _RowKinds.of(target)
    for one in many:
        others = tuple(other for other in many if other is not one)
        made = _RateTarget.of(replace(view, target=one, shown=others), one)
        for score, rate in made.scored(kinds, made.terms):
            if score > best:
                best, found = score, (made, rate)
    return [found[0].kinds(view, found[1])] if found else []


@dataclass(frozen=True, eq=False)
class _RateTerm:
    """A shown number or a product of two, by row. `unit` is the size of its last digit, or 0 if it is exact."""

    name: str
    values: Floats
    unit: float


@dataclass(frozen=True, eq=False)
class _RowKinds:
    """Hashes of the column, or of the combined cells, that define the kind of each row; 0 if a cell is missing."""

    name: str
    hashes: Words

    @classmethod
    def of(cls, one: Column) -> "_RowKinds":
        """Return the kinds defined by the values of one column."""
        return cls(one.name, np.where(one.codes > 0, numbered(one.codes), np.uint64(0)))

    @cached_property
    def codes(self) -> Ints:
        """A whole number for each row's kind; 0 for none."""
        return codes_of(self.hashes)


@dataclass(frozen=True, eq=False)
class _Rate:
    """A rule: the number is a term plus (if `added`) or times a constant of the row's kind."""

    one: _RowKinds
    term: _RateTerm
    added: bool


def _kinds(view: View) -> Iterator[_RowKinds]:
    """Yield the kinds defined by the shown columns in which several rows share a value."""
    found = sorted((one.distinct, one.name, one) for one in view.shown if 2 < one.distinct < len(view.learned) / 2)
    for *_, one in found[:MOST_KIND_COLUMNS]:
        yield _RowKinds.of(one)


def _together(view: View) -> Iterator[_RowKinds]:
    """Yield the kinds defined by two cells, or by pieces of cells."""
    for name, hashes in chain(two_cells(view, len(view.learned) / 100), with_pieces(view, len(view.learned) / 100)):
        yield _RowKinds(name, hashes)


@dataclass(frozen=True, eq=False)
class _RateTarget:
    """The numbers to predict, and the terms from which they may follow."""

    y: Floats
    unit: float
    spread: float  # between the first and the third quartile
    learned: Ints  # rows with a number
    probed: Ints
    terms: Sequence[_RateTerm]

    @classmethod
    def of(cls, view: View, one: Column) -> "_RateTarget":
        """Return the target: the numbers of the column `one`."""
        numbers = np.full(len(one.keys), np.nan) if one.numbers is None else one.numbers
        learned = view.learned[np.isfinite(numbers[view.learned])]
        probed = learned[:: max(1, len(learned) // 800)]
        low, high = np.quantile(numbers[learned], [0.25, 0.75]) if len(learned) else (0.0, 0.0)
        unit = 10.0**-one.decimals
        return cls(numbers, unit, float(high - low), learned, probed, list(_terms(view, numbers, probed)))

    def scored(self, one: _RowKinds, terms: Sequence[_RateTerm]) -> Iterator[tuple[float, _Rate]]:
        """Yield the useful rules for these kinds, each with its score."""
        partners = sharing(one.hashes, self.learned, self.probed)
        if (partners >= 0).sum() < LEAST_RATE_ROWS:
            return
        for term in terms:
            for added in (False, True):
                if (score := self.score(term, partners, added)) > 0:
                    yield score, _Rate(one, term, added)

    def score(self, term: _RateTerm, partners: NDArray[np.int32], added: bool) -> float:
        """Return the bits saved in the probed rows' numbers by the constant of another row of the same kind."""
        has_partner = partners >= 0
        rows, others = self.probed[has_partner], partners[has_partner]
        y, one, other = self.y[others], term.values[rows], term.values[others]
        with np.errstate(all="ignore"):
            made = y - other + one if added else y * one / other
            by = np.ones(len(y)) if added else np.abs(one / other)
            room = 0.5 * (1 + by) * (self.unit + term.unit * (1.0 if added else np.abs(y / other))) * 1.01
            bits = np.log2(self.spread / (2 * room))
            known = np.isfinite(made) & np.isfinite(bits) & (bits > LEAST_RATE_BITS)
            right = known & (np.abs(made - self.y[rows]) <= room)
        if right.sum() < max(LEAST_RATE_ROWS, LEAST_RATE_SHARE * known.sum()):
            return 0.0
        return float(bits[right].sum() + (~right & known).sum() * np.log2(1 - right.sum() / (known.sum() + 1)))

    def follows(self, view: View, rate: _Rate) -> LawPredictions:
        """Return the rule's numbers and adjacent numbers. Their probabilities are hit rates in the probed rows."""
        constants, own = self._apart(rate)
        probed, predicted = (self._made(rate, constants, own, rows) for rows in (self.probed, view.predicted))
        decimals = view.target.decimals
        return numbers_near(
            probed, scaled(self.y[self.probed], decimals), predicted, decimals, RATE_GROUP_SIZES, RATE_DISTANCE
        )

    def kinds(self, view: View, rate: _Rate) -> LawPredictions:
        """Return the kinds with a constant that gives the row's number. Kinds with more rows are likelier."""
        constants, own = self._apart(rate)
        times = np.bincount(rate.one.codes[self.learned], minlength=len(constants[0][0])).astype(np.float64)
        right, tried = 0, 1
        for row in self.probed.tolist():
            fitting = self._fitting(rate, constants[own[row]], row)
            right, tried = right + int(rate.one.codes[row] in fitting), tried + bool(len(fitting))
        keys = dict(zip(rate.one.codes.tolist(), view.target.keys, strict=True))
        values: list[dict[str, float]] = []
        for row in view.predicted.tolist():
            fitting = self._fitting(rate, constants[own[row]], row)
            likely = fitting[np.argsort(-times[fitting], kind="stable")][:MOST_KINDS_LISTED]
            shares = right / tried * times[likely] / max(1.0, times[fitting].sum())
            values.append(dict(zip(map(keys.__getitem__, likely.tolist()), shares.tolist(), strict=True)))
        return LawPredictions.of(values)

    def _fitting(self, rate: _Rate, constants: tuple[Floats, Ints], row: int) -> Ints:
        """Return the codes of the kinds with a constant that gives the row's number."""
        constant, counts = constants
        term, y = rate.term.values[row], self.y[row]
        with np.errstate(all="ignore"):
            made = term + constant if rate.added else term * constant
            near = np.abs(made - y) <= 0.51 * (self.unit + (0.0 if rate.added else rate.term.unit * np.abs(constant)))
        return np.flatnonzero(near & (counts > 0))

    def _apart(self, rate: _Rate) -> tuple[list[tuple[Floats, Ints]], Ints]:
        """Return the constants learned without each part of the rows and, last, from all rows; and each row's part.

        So a row is predicted by constants learned without it. Many rows are divided into two parts, since half of
        them determine the constants equally well; few rows are divided into more parts.
        """
        parts = 2 if len(self.learned) > MOST_ROWS_OF_SMALL_TABLE else ROW_PARTS
        part = np.arange(len(self.learned)) % parts
        own = np.full(len(self.y), parts)
        own[self.learned] = part
        without = (self.learned[part != one] for one in range(parts))
        return [self._constants(rate, rows) for rows in (*without, self.learned)], own

    def _constants(self, rate: _Rate, rows: Ints) -> tuple[Floats, Ints]:
        """Return the constant that most rows of each kind have, and the number of these rows.

        The candidates are the constants of the kind's largest terms, which are the most exact.
        """
        y, term, codes = self.y[rows], rate.term.values[rows], rate.one.codes[rows]
        good = np.isfinite(term) & (codes > 0) & (rate.added | (term != 0))
        y, term, codes = y[good], term[good], codes[good]
        weights = np.ones(len(y)) if rate.added else np.abs(term)
        each = y - term if rate.added else y / term
        room = np.ones(len(y)) if rate.added else np.abs(each)
        half = (self.unit + rate.term.unit * room) / 2 / weights
        kinds = int(rate.one.codes.max()) + 1
        order = np.lexsort((-weights, codes))
        first, sizes = np.searchsorted(codes[order], np.arange(kinds)), np.bincount(codes, minlength=kinds)
        counts, near = np.zeros(kinds, dtype=np.int64), np.zeros(len(y), dtype=np.bool_)
        for place in range(MOST_RATE_CANDIDATES if len(y) else 0):
            own = order[np.where(sizes > place, first + place, 0).clip(0, len(y) - 1)]
            made: Bools = np.abs(each - each[own][codes]) <= 1.01 * (half + half[own][codes])
            made &= sizes[codes] > place
            votes = np.bincount(codes[made], minlength=kinds)
            better = votes > counts
            counts = np.where(better, votes, counts)
            near = np.where(better[codes], made, near)
        return _between(codes[near], each[near], half[near], kinds), counts

    def _made(self, rate: _Rate, constants: Sequence[tuple[Floats, Ints]], own: Ints, rows: Ints) -> tuple[Ints, Ints]:
        """Return a rule's numbers in these rows, in units of the last digit, and how many rows share each constant.

        `own` is the index in `constants` for each row. The number of rows is 0 for a row without a number.
        """
        codes = rate.one.codes[rows]
        constant = np.choose(own[rows], [found[codes] for found, _ in constants])
        counts = np.choose(own[rows], [times[codes] for _, times in constants])
        with np.errstate(all="ignore"):
            term = rate.term.values[rows]
            made = term + constant if rate.added else term * constant
        counts = np.where(np.isfinite(made) & (codes > 0), counts, 0)
        return scaled(made, round(-np.log10(self.unit))), np.asarray(counts)


def _between(codes: Ints, each: Floats, half: Floats, kinds: int) -> Floats:
    """Return a constant for each kind that agrees with all of its rows, or their mean constant.

    Each item of `codes` is the kind of a row, with its constant in `each`, exact to plus or minus `half`.
    If most constants, or their inverses, have few decimals, constants are rounded to that number where it fits.
    """
    low, high = np.full(kinds, -np.inf), np.full(kinds, np.inf)
    np.maximum.at(low, codes, each - half)
    np.minimum.at(high, codes, each + half)
    weights = 1 / half
    with np.errstate(all="ignore"):
        mean = np.bincount(codes, each * weights, kinds) / np.bincount(codes, weights, kinds)
        consistent = np.isfinite(low) & (low <= high)
        sure = consistent & (np.bincount(codes, minlength=kinds) > 1)
        middle = np.where(consistent, (low + high) / 2, mean)
        for decimals in range(MOST_RATE_DECIMALS):
            for line, wide in ((middle, high - low), (1 / middle, (high - low) / middle**2)):
                plain = np.round(line, decimals)
                plain = plain if line is middle else 1 / plain
                fits = consistent & (low <= plain) & (plain <= high)
                by_chance = np.minimum(1, wide[sure] * 10.0**decimals).sum()
                if fits[sure].sum() >= LEAST_PLAIN_RATE_SHARE * sure.sum() > LEAST_PLAIN_RATE_LIFT * by_chance:
                    return np.asarray(np.where(fits, plain, middle))
    return np.asarray(middle)


def _terms(view: View, numbers: Floats, probed: Ints) -> Iterator[_RateTerm]:
    """Yield the shown numbers that correlate most with the target, exact and rounded, and products of two."""
    related = []
    for shown in view.shown:
        if shown.numbers is not None and shown.distinct > 2:
            both = np.isfinite(shown.numbers[probed])
            if both.sum() > FEW_VALUES and np.ptp(shown.numbers[probed][both]) > 0:
                mine, own = (np.argsort(np.argsort(line[probed][both])) for line in (shown.numbers, numbers))
                term = _RateTerm(shown.name, shown.numbers, 0.0)
                related.append((-abs(float(np.corrcoef(mine, own)[0, 1])), shown.name, 10.0**-shown.decimals, term))
    related.sort(key=lambda item: item[:2])
    yield from (term for *_, term in related[:MOST_RATE_TERMS])
    # the same numbers, known only to their last digit
    yield from (replace(term, unit=unit) for _, _, unit, term in related[:MOST_RATE_TERMS])
    for (*_, one), (*_, other) in combinations(related[:MOST_MULTIPLIED_TERMS], 2):
        yield _RateTerm(f"{one.name} · {other.name}", one.values * other.values, 0.0)
