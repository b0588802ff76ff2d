"""The ways to search for formulas: each yields formulas, evaluated in all rows, that may equal the target."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tabcontam.baseline.coded_columns import Column, Floats, Ints
from tabcontam.baseline.laws.formula_fit import FormulaTarget
from tabcontam.baseline.laws.formula_terms import TermLibrary, factors, interest, met_at_most, most_met, nicest, terms
from tabcontam.baseline.laws.linear import powers, sums
from tabcontam.baseline.solving import weights_of
from tabcontam.baseline.thresholds import (
    DIVIDED_DISTANCE,
    FIRST_TERM_ROWS,
    LARGEST_POWER,
    LEAST_EQUAL_RISES,
    LEAST_PRESENT_SHARE,
    LEAST_REMAINDER_SHARE,
    LEAST_TERM_REMAINDER,
    MOST_CONSTANT_CLASSES,
    MOST_CONSTANT_COLUMNS,
    MOST_DIVIDED_COLUMNS,
    MOST_DIVISORS,
    MOST_FIRST_TERMS,
    MOST_POWER_FACTORS,
    MOST_SECOND_ROUND_TERMS,
    MOST_SECOND_TERMS,
    MOST_SLOPED_COLUMNS,
    MOST_TERMS_TAKEN,
    MOST_TRIPLED_COLUMNS,
    SUM_FIT_ROWS,
    TERM_TRIAL_ROWS,
)

JOINED = (  # terms for sums of two or three terms
    *("a", "a²", "√a", "1/a", "ab", "a/b", "a(1-b%)", "a(1+b%)", "a(1-b)", "a(1+b)", "abc", "bc/a", "a/(bc)"),
    *("bc(1-a%)", "bc(1+a%)", "bc(1-a)", "bc(1+a)"),
)
BY_CLASS = ("a", "ab", "a/b", "a-b", "a+b")  # terms that may have a separate constant for each class


@dataclass(frozen=True, eq=False)
class FormulaSearch:
    """The input of a search: the target, lines of numbers and their order, and the training rows with a number."""

    target: FormulaTarget
    lines: Floats  # number columns, one a line, then numbers computed from them
    own: int  # number of lines that are the table's columns; later lines are computed from them
    order: list[int]  # indices of lines, in descending order of correlation with the target
    paired: list[int]  # indices of lines that are tried in pairs
    known: Ints
    worth: Floats  # surprisal of each known row's value by frequency

    @property
    def y(self) -> Floats:
        return self.target.quantity.values


Between = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]  # least and greatest constants
Found = tuple[str, Floats, int]  # a formula's name, its value in each row, its number of learned constants


def ways(search: FormulaSearch, shown: Sequence[Column]) -> Iterator[Iterator[Found]]:
    """Yield the ways to search, the simplest first."""
    yield _with_terms(search)
    yield _left_of(search)
    yield _sloped(search)
    yield _summed(search)
    yield _joined(search)
    yield _monomials(search)
    yield _divided(search)
    yield _by_class(search, shown)


def _with_terms(search: FormulaSearch) -> Iterator[Found]:
    """Yield terms times a constant, and terms plus a constant."""
    order, lines, known = search.order, search.lines, search.known
    whole = [place for place in order if np.all(np.mod(np.nan_to_num(lines[place][known]), 1) == 0)]
    rows = _some(known, TERM_TRIAL_ROWS)
    libraries = [terms(len(lines), search.paired, order[:MOST_TRIPLED_COLUMNS], whole[:MOST_TRIPLED_COLUMNS])]
    if (more := interest(lines[:, rows], order[:MOST_TRIPLED_COLUMNS])) is not None:
        libraries.append(more)
    for library in libraries:
        values = library.values(lines[:, rows])
        for way in (_scaled, _shifted):
            yield from way(search, library, values, rows)


def _some(known: Ints, count: int) -> Ints:
    return known[np.linspace(0, len(known) - 1, min(count, len(known))).astype(np.int64)]


def _scaled(search: FormulaSearch, library: TermLibrary, values: Floats, rows: Ints) -> Iterator[Found]:
    y, half, known = search.y, search.target.half(search.y), search.known
    for number, low, high in _most(search, factors, values, rows):
        name, whole = library.one(search.lines, number)
        factor = _constant(*factors(whole[None, known], y[known], half[known]))
        yield f"{factor} {name}", whole * factor, int(abs(factor) != 1)
        if not low <= 1 <= high and 0.9 < low < 1.1:
            yield name, whole, 0


def _constant(low: Floats, high: Floats) -> float:
    """Return the plainest constant that lies in most of these intervals, given by their lower and upper limits."""
    _, start, end = most_met(low, high, np.ones(low.shape[1]))
    return nicest(float(start[0]), float(end[0]))


def _shifted(search: FormulaSearch, library: TermLibrary, values: Floats, rows: Ints) -> Iterator[Found]:
    """Yield terms plus a constant, and terms alone: a truncated term seems to need half a unit more."""
    for number, low, high in _most(search, _away, values, rows):
        name, whole = library.one(search.lines, number)
        more = nicest(low, high)
        yield f"{name} + {more}", whole + more, int(more != 0)
        if more and abs(more) <= 1.01 * search.target.unit:
            yield name, whole, 0


def _away(term: Floats, y: Floats, half: Floats) -> tuple[Floats, Floats]:
    """Return the range of constants that, added to each term, give each value of `y` to within `half`."""
    away = y - term
    return away - half, away + half


def _most(search: FormulaSearch, between: Between, values: Floats, rows: Ints) -> list[tuple[int, float, float]]:
    """Return the terms with a constant that gives most values, each as (index, least constant, greatest constant).

    Terms are first selected on a few rows.
    """
    worth = search.worth[np.searchsorted(search.known, rows)]
    y, half = search.y[rows], search.target.half(search.y)[rows]
    few = slice(None, None, max(1, len(rows) // FIRST_TERM_ROWS))
    of_few = np.ascontiguousarray(values[:, few].T)  # rows by terms
    first = met_at_most(*between(of_few, y[few, None], half[few, None]), worth[few])
    best = np.argsort(-first, kind="stable")[:MOST_SECOND_ROUND_TERMS]
    met, start, end = most_met(*between(values[best], y, half), worth)
    chosen = np.argsort(-met, kind="stable")[:MOST_TERMS_TAKEN]
    return [(int(best[one]), float(start[one]), float(end[one])) for one in chosen if met[one] > 0]


def _left_of(search: FormulaSearch) -> Iterator[Found]:
    """Yield a column minus a sum of columns: one part is the total minus the other parts."""
    lines, y, half = search.lines, search.y, search.target.half(search.y)
    rows = _some(search.known, TERM_TRIAL_ROWS)
    for line in lines[search.own :]:
        hits = (np.abs(lines[: search.own, rows] - line[rows] - y[rows]) <= half[rows]).mean(axis=1)
        best = int(hits.argmax())
        if hits[best] > LEAST_REMAINDER_SHARE:
            yield "what a sum leaves", lines[best] - line, 0


def _sloped(search: FormulaSearch) -> Iterator[Found]:
    """Yield a line over one column through most points, with the most frequent slope between neighbouring points."""
    y, half = search.y, search.target.half(search.y)
    for place in [one for one in search.order if one < search.own][:MOST_SLOPED_COLUMNS]:
        line = search.lines[place]
        rows = search.known[np.isfinite(line[search.known])]
        rows = _some(rows[np.argsort(line[rows], kind="stable")], SUM_FIT_ROWS)
        run, rise, unsure = np.diff(line[rows]), np.diff(y[rows]), half[rows][1:] + half[rows][:-1]
        apart = run > 0
        if apart.sum() < LEAST_EQUAL_RISES:
            continue
        slope, off = rise[apart] / run[apart], unsure[apart] / run[apart]
        met, start, end = most_met((slope - off)[None], (slope + off)[None], np.ones(len(slope)))
        if met[0] < LEAST_EQUAL_RISES:
            continue
        factor = nicest(float(start[0]), float(end[0]))
        away = (y - factor * line)[None, search.known]
        more = _constant(away - half[search.known], away + half[search.known])
        if np.isfinite(more) and factor:
            yield f"{factor} a + c [{place}]", factor * line + more, 2


def _summed(search: FormulaSearch) -> Iterator[Found]:
    """Yield weighted sums of all columns that are mostly present, with and without columns that are often missing."""
    lines, y, known, unit = search.lines[: search.own], search.y, search.known, _fine(search)
    there = np.isfinite(lines[:, known])
    seen: set[bytes] = set()
    for least in (0.98, 0.8, 0.5):
        taken = np.flatnonzero(there.mean(axis=1) >= least)
        rows = known[there[taken].all(axis=0)][:SUM_FIT_ROWS] if len(taken) else known[:0]
        if 8 <= len(rows) < len(taken) + 4:  # more columns than rows: try sums of a few columns
            for found in sums(lines[np.ix_(taken, rows)].T, y[rows], unit):
                yield "sum of few", found.values(lines[taken].T), found.used
        if len(rows) < len(taken) + 4:
            own = [place for place in search.order if place < search.own]
            taken = np.array(sorted(own[: max(1, len(rows) // 3, len(known) // 4)]), dtype=np.int64)
            rows = known[there[taken].all(axis=0)][:SUM_FIT_ROWS]
        if taken.tobytes() in seen or len(rows) < 8:
            continue
        seen.add(taken.tobytes())
        for found in sums(lines[np.ix_(taken, rows)].T, y[rows], unit):
            yield "sum", found.values(lines[taken].T), found.used


def _joined(search: FormulaSearch) -> Iterator[Found]:
    """Yield weighted sums of two or three terms. Each next term is one that leaves the least remainder."""
    rows = _some(search.known, TERM_TRIAL_ROWS)
    every = terms(len(search.lines), search.order[:10], search.order[:7], [])
    library = TermLibrary(tuple(part for part in every.parts if part[0] in JOINED))
    values = library.values(search.lines[:, rows])
    rows = rows[(np.isfinite(values).mean(axis=0) > 0.5)]
    if len(rows) < 10:
        return
    values = library.values(search.lines[:, rows])
    good = np.flatnonzero(np.isfinite(values).all(axis=1) & (values.std(axis=1) > 1e-9 * np.abs(values).max(axis=1)))
    apart = values[good] - values[good].mean(axis=1, keepdims=True)
    apart /= np.linalg.norm(apart, axis=1, keepdims=True)
    rest = search.y[rows] - search.y[rows].mean()
    found: list[tuple[float, tuple[int, ...]]] = []
    for first in _going(apart @ rest, np.linalg.norm(apart, axis=1), MOST_FIRST_TERMS):
        line = apart[first] / np.linalg.norm(apart[first])
        after, left = apart - np.outer(apart @ line, line), rest - (rest @ line) * line
        size = np.linalg.norm(after, axis=1)
        for second in _going(after @ left, size, MOST_SECOND_TERMS):
            line = after[second] / size[second]
            little = left - (left @ line) * line
            found.append((float(np.median(np.abs(little))), (first, second)))
            if np.median(np.abs(little)) > search.target.unit:
                along = after @ line  # saves computing the remainder of all terms
                short = np.sqrt(np.maximum(size**2 - along**2, 0))
                for third in _going(after @ little, short, 1):
                    own = (after[third] - along[third] * line) / short[third]
                    found.append((float(np.median(np.abs(little - (little @ own) * own))), (first, second, third)))
    for _, chosen in sorted(found)[:3]:
        lines = np.array([library.one(search.lines, int(good[one]))[1] for one in chosen])
        there = search.known[np.isfinite(lines[:, search.known]).all(axis=0)][:SUM_FIT_ROWS]
        for one in sums(lines[:, there].T, search.y[there], _fine(search)):
            yield "joined", one.values(lines.T), one.used


def _going(products: Floats, sizes: Floats, count: int) -> list[int]:
    """Return the `count` terms that correlate most with a remainder; `sizes` are the norms of the terms."""
    with np.errstate(all="ignore"):
        met = np.where(sizes > LEAST_TERM_REMAINDER, np.abs(products) / sizes, 0.0)
    order = [int(met.argmax())] if count == 1 else np.argsort(-met, kind="stable")[:count].tolist()
    return [one for one in order if met[one] > 0]


def _fine(search: FormulaSearch) -> float:
    """Return the target's unit, or its rounding error if the target has all digits of floating-point numbers."""
    if not search.target.quantity.long:
        return search.target.unit
    return float(1e-9 * (np.nanstd(search.y[search.target.train]) + 1e-12))


def _monomials(search: FormulaSearch) -> Iterator[Found]:
    """Yield a constant times powers of columns, by least squares of logarithms."""
    known, y = search.known, search.y
    there = [place for place in search.order if np.isfinite(search.lines[place][known]).mean() > 0.8]
    positive = np.array([place for place in there if np.nanmin(search.lines[place][known]) > 0])
    positive = positive[: min(12, len(known) // 4)]
    if len(positive) < 2:
        return
    lines = search.lines[positive]
    rows = known[(y[known] > 0) & np.isfinite(lines[:, known]).all(axis=0)][:SUM_FIT_ROWS]
    if len(rows) < len(positive) + 5:
        return
    exponents = powers(np.log(lines[:, rows]).T, np.log(y[rows]), np.minimum(y[rows] / search.target.unit, 1e6))
    for parts in (2, 3, 1):
        rounded = np.round(exponents * parts) / parts
        used = rounded != 0
        if 1 < used.sum() <= MOST_POWER_FACTORS and np.abs(rounded).max() <= LARGEST_POWER:
            with np.errstate(all="ignore"):
                term = np.prod(np.abs(lines[used]) ** rounded[used][:, None], axis=0)
            factor = _constant(*factors(term[None, known], y[known], search.target.half(y[known])))
            yield "monomial", np.where(np.isfinite(term), term, np.nan) * factor, 2


def _divided(search: FormulaSearch) -> Iterator[Found]:
    """Yield weighted sums divided by a column or by the sum of two: a batting average or a grade average."""
    lines, known = search.lines[: search.own], search.known
    own = [place for place in search.order if place < search.own]
    places = [place for place in own if np.isfinite(lines[place][known]).mean() > LEAST_PRESENT_SHARE]
    parts = np.array([*lines[sorted(places[:MOST_DIVIDED_COLUMNS])], np.ones(lines.shape[1])])
    rows = _some(known[np.isfinite(parts[:, known]).all(axis=0)], SUM_FIT_ROWS)
    if len(parts) < 3 or len(rows) < len(parts) + 6:
        return
    few, y = _some(rows, TERM_TRIAL_ROWS + len(parts)), search.y
    divisors = [*parts[:-1], *(one + two for one, two in combinations(parts[:-1], 2))]
    close = []
    for number, divisor in enumerate(divisors):
        if (divisor[rows] > 0).all():
            made = (parts[:, few] / divisor[few]).T
            off = np.abs(y[few] - made @ weights_of(made, y[few], rcond=1e-10))
            close.append((float(np.median(off)), number))
    for off, number in sorted(close)[:MOST_DIVISORS]:
        if off <= DIVIDED_DISTANCE * search.target.unit:
            divisor = divisors[number]
            made = parts / np.where(divisor > 0, divisor, np.nan)
            for one in sums(made[:, rows].T, y[rows], _fine(search)):
                yield "divided", one.values(made.T), one.used


def _by_class(search: FormulaSearch, shown: Sequence[Column]) -> Iterator[Found]:
    """Yield a term times, or plus, a separate constant for each class of a column."""
    known = search.known
    y, half = search.y, search.target.half(search.y)
    most = min(MOST_CONSTANT_CLASSES, len(known) // 5)
    classes = [one for one in shown if 1 < len(np.unique(one.codes[known])) <= most]
    classes.sort(key=lambda one: (-_between(one.codes[known], y[known]), one.name))
    rows = known[:: max(1, len(known) // 150)]
    every = terms(len(search.lines), search.order[:6], [], [])
    library = TermLibrary(tuple(part for part in every.parts if part[0] in BY_CLASS))
    values = library.values(search.lines[:, rows])
    for one in classes[:MOST_CONSTANT_COLUMNS]:
        best: list[tuple[float, int, int]] = []
        for way in (0, 1):
            met = np.zeros(len(values))
            for code in np.unique(one.codes[rows]):
                mine = one.codes[rows] == code
                low, high = _stretch(values[:, mine], y[rows][mine], half[rows][mine], way)
                met += np.maximum(0, most_met(low, high, np.ones(int(mine.sum())))[0] - 1)
            best += [(-float(met[number]), int(number), way) for number in np.argsort(-met, kind="stable")[:2]]
        for missed, number, way in sorted(best)[:2]:
            if -missed >= 0.3 * len(rows):
                name, term = library.one(search.lines, number)
                yield f"{name} by {one.name}", _with_constants(search, one, term, way), len(np.unique(one.codes[known]))


def _with_constants(search: FormulaSearch, one: Column, term: Floats, way: int) -> Floats:
    """Return the term times (or, if `way` is 1, plus) the best constant of each class."""
    y, half, known = search.y, search.target.half(search.y), search.known
    formula = np.full(len(term), np.nan)
    for code in np.unique(one.codes[known]):
        mine = known[one.codes[known] == code]
        constant = _constant(*_stretch(term[None, mine], y[mine], half[mine], way))
        if np.isfinite(constant):
            same = one.codes == code
            formula[same] = term[same] + constant if way else term[same] * constant
    return formula


def _stretch(values: Floats, y: Floats, half: Floats, way: int) -> tuple[Floats, Floats]:
    """Return the range of constants, factors or (if `way` is 1) summands, with which each term gives each value."""
    return (y - values - half, y - values + half) if way else factors(values, y, half)


def _between(codes: Ints, y: Floats) -> float:
    """Return the share of variance between classes."""
    ranks = np.argsort(np.argsort(y)).astype(np.float64)
    counts = np.bincount(codes)
    means = np.bincount(codes, ranks) / np.maximum(counts, 1)
    return float((counts * (means - ranks.mean()) ** 2).sum() / len(y) - ranks.var() * (counts > 0).sum() / len(y))
