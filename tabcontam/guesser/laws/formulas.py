"""Formulas over several columns: sums, products, ratios, shares, powers, annuities, as far as a search finds them.

A formula holds where it equals the asked column after rounding to the column's decimals. Terms of one, two and three
columns are tried on a few rows, all at once; those that come to many of the values are held against all trained rows.
Weighted sums of any number of columns are fitted by least squares and least absolute deviations, so that some rows may
break them; monomials in the same way in logarithms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.guesser.columns import Column, Floats, Ints
from tabcontam.guesser.fit import Fit
from tabcontam.guesser.laws.base import Follows
from tabcontam.guesser.laws.linear import ROWS, sums
from tabcontam.guesser.laws.quantities import Quantity, quantity
from tabcontam.guesser.laws.rounding import Fitted, Sought, fitted, priors, sought
from tabcontam.guesser.laws.terms import Terms, factors, interest, most_met, nicest, terms
from tabcontam.guesser.laws.together import together

MOST = 4  # formulas that are followed
LEAST_ROWS = 4
FEW = 13  # rows on which all terms are tried
CLOSER = 400  # terms that are tried on more rows
TRIED = 40
PAIRED = 14  # columns of which all pairs are tried, those that go most with the target
TRIPLED = 9  # and all triples
TAKEN = 10  # terms of each kind that are held against all trained rows
NEAR = 5.0  # units of the target that a formula may be off, in a few rows at least
CLOSE = 0.05  # of the rows
LEAST_GAIN = 18.0  # bits that a formula has to tell: as many as tell it from the others that are tried
CONSTANT = 4.0  # more bits for each constant that is learned
CLASSES = 30  # of a column, each with a constant of its own
GROUPED = 4  # such columns that are tried
SURE = 0.97  # of the rows: a formula that holds in so many needs no other
FIRST = 12  # terms to which a second is added
SECOND = 3
JOINED = ("a", "a²", "√a", "1/a", "ab", "a/b", "a(1-b%)", "a(1+b%)", "a(1-b)", "a(1+b)", "abc", "bc/a", "a/(bc)")
JOINED += ("bc(1-a%)", "bc(1+a%)", "bc(1-a)", "bc(1+a)")  # terms of which two or three are added
BY_CLASS = ("a", "ab", "a/b", "a-b", "a+b")  # terms that may have a constant by class


@dataclass(frozen=True, eq=False)
class _Search:
    """What is searched: the target, the columns as lines of numbers, their order, the trained rows with a number."""

    target: Sought
    lines: Floats  # a line each column, a place each row of the table
    own: int  # so many of them are the table's, the others sums of these
    order: list[int]  # of the columns, those that go most with the target first
    paired: list[int]  # those of which all pairs are tried
    known: Ints
    worth: Floats  # bits of each known row's value

    @property
    def y(self) -> Floats:
        return self.target.quantity.values


def formulas(fit: Fit) -> list[Follows]:
    """What follows from formulas over shown columns, the best first."""
    found = quantity(fit.target)
    if found is None:
        return []
    target = sought(found, fit.train)
    known = fit.train[np.isfinite(found.values[fit.train])]
    if len(known) < LEAST_ROWS or len(np.unique(found.values[known])) < 2:
        return []
    quantities = [one for shown in fit.shown if (one := quantity(shown)) is not None]
    own = _lines([one.values for one in quantities], fit.train)
    if not len(own):
        return []
    lines = np.concatenate([own, *(line[None] for line in _lines(together(quantities), fit.train))])
    search = _search(target, lines, len(own), known)
    return [one.follows(target, fit.predicted) for one in _best(_tried(search, fit.shown), target)]


def _lines(values: Sequence[Floats], train: Ints) -> Floats:
    """The lines of numbers that vary."""
    kept = [line for line in values if np.isfinite(line[train]).sum() >= LEAST_ROWS and np.nanstd(line[train]) > 0]
    return np.array(kept) if kept else np.empty((0, 0))


def _search(target: Sought, lines: Floats, own: int, known: Ints) -> _Search:
    y = target.quantity.values
    order = _related(lines[:, known], y[known])
    paired = order[:PAIRED] + [place for place in order[PAIRED:] if place >= own]
    there = np.isfinite(y[target.train])
    return _Search(target, lines, own, order, paired, known, -np.log2(priors(target)[there]))


def _tried(search: _Search, shown: Sequence[Column]) -> Iterator[Fitted]:
    """Formulas held against the trained rows; nothing more is tried where a simple one holds nearly always."""
    target, known = search.target, search.known
    y = target.quantity.values[known]
    near = np.maximum(NEAR * target.unit, target.half(y))
    for way in (_with_terms(search), _summed(search), _joined(search), _monomials(search), _by_class(search, shown)):
        sure = False
        for name, formula, constants in way:
            with np.errstate(invalid="ignore"):
                close = np.abs(formula[known] - y) <= near
            if close.mean() < CLOSE or (found := fitted(name, formula, target, constants)) is None:
                continue
            yield found
            sure = sure or found.hits >= SURE * len(known) >= SURE * 12
        if sure:
            return


def _related(lines: Floats, y: Floats) -> list[int]:
    """The places of the columns, those first whose ranks go most with the target's."""
    ranks = np.argsort(np.argsort(np.where(np.isfinite(lines), lines, np.nanmedian(lines, axis=1)[:, None]), axis=1), axis=1)
    own = np.argsort(np.argsort(y))
    with np.errstate(all="ignore"):
        found = np.nan_to_num(np.corrcoef(np.vstack([own, ranks]))[0, 1:])
    return [int(place) for place in np.argsort(-np.abs(found), kind="stable")]


def _with_terms(search: _Search) -> Iterator[tuple[str, Floats, int]]:
    """Terms times a constant, and terms and a constant."""
    order, lines, known = search.order, search.lines, search.known
    whole = [place for place in order if np.all(np.mod(np.nan_to_num(lines[place][known]), 1) == 0)]
    rows = _some(known, TRIED)
    libraries = [terms(len(lines), search.paired, order[:TRIPLED], whole[:TRIPLED])]
    if (more := interest(lines[:, rows], order[:TRIPLED])) is not None:
        libraries.append(more)
    for library in libraries:
        values = library.values(lines[:, rows])
        for way in (_scaled, _shifted):
            yield from way(search, library, values, rows)


def _some(known: Ints, count: int) -> Ints:
    return known[np.linspace(0, len(known) - 1, min(count, len(known))).astype(np.int64)]


def _scaled(search: _Search, library: Terms, values: Floats, rows: Ints) -> Iterator[tuple[str, Floats, int]]:
    y, half, known = search.y, search.target.half(search.y), search.known
    for number, low, high in _most(search, *factors(values, y[rows], half[rows]), rows):
        name, whole = library.one(search.lines, number)
        lows, highs = factors(whole[None, known], y[known], half[known])
        _, start, end = most_met(lows, highs, np.ones(len(known)))
        factor = nicest(float(start[0]), float(end[0]))
        yield f"{factor} {name}", whole * factor, int(abs(factor) != 1)
        if not low <= 1 <= high and 0.9 < low < 1.1:
            yield name, whole, 0


def _shifted(search: _Search, library: Terms, values: Floats, rows: Ints) -> Iterator[tuple[str, Floats, int]]:
    """Terms as they are, too: cut off instead of rounded, a term is half a unit away."""
    y, half = search.y, search.target.half(search.y)
    away = y[rows] - values
    for number, low, high in _most(search, away - half[rows], away + half[rows], rows):
        name, whole = library.one(search.lines, number)
        more = nicest(low, high)
        yield f"{name} + {more}", whole + more, int(more != 0)
        if more and abs(more) <= 1.01 * search.target.unit:
            yield name, whole, 0


def _most(search: _Search, low: Floats, high: Floats, rows: Ints) -> list[tuple[int, float, float]]:
    """The terms whose constant comes to most of the values, by number, with the stretch of it: first by few rows."""
    worth = search.worth[np.searchsorted(search.known, rows)]
    few = slice(None, None, max(1, len(rows) // FEW))
    first = most_met(low[:, few], high[:, few], worth[few])[0]
    best = np.argsort(-first, kind="stable")[:CLOSER]
    met, start, end = most_met(low[best], high[best], worth)
    chosen = np.argsort(-met, kind="stable")[:TAKEN]
    return [(int(best[one]), float(start[one]), float(end[one])) for one in chosen if met[one] > 0]


def _summed(search: _Search) -> Iterator[tuple[str, Floats, int]]:
    """Weighted sums of columns: of all that are mostly there, with and without those that are often missing."""
    lines, y, known, unit = search.lines[: search.own], search.y, search.known, _fine(search)
    there = np.isfinite(lines[:, known])
    seen: set[bytes] = set()
    for least in (0.98, 0.8, 0.5):
        taken = np.flatnonzero(there.mean(axis=1) >= least)
        rows = known[there[taken].all(axis=0)][:ROWS] if len(taken) else known[:0]
        if len(rows) < len(taken) + 4:
            own = [place for place in search.order if place < search.own]
            taken = np.array(sorted(own[: max(1, len(rows) // 3, len(known) // 4)]), dtype=np.int64)
            rows = known[there[taken].all(axis=0)][:ROWS]
        if taken.tobytes() in seen or len(rows) < 8:
            continue
        seen.add(taken.tobytes())
        for found in sums(lines[np.ix_(taken, rows)].T, y[rows], unit):
            yield "sum", found.values(lines[taken].T), found.used


def _joined(search: _Search) -> Iterator[tuple[str, Floats, int]]:
    """Weighted sums of two or three terms: each that leaves least of what those before it leave."""
    rows = _some(search.known, TRIED)
    every = terms(len(search.lines), search.order[:10], search.order[:7], [])
    library = Terms(tuple(part for part in every.parts if part[0] in JOINED))
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
    for first, after, left in _added(apart, rest, FIRST):
        for second, later, little in _added(after, left, SECOND):
            found.append((float(np.median(np.abs(little))), (first, second)))
            if np.median(np.abs(little)) > search.target.unit:
                found += [
                    (float(np.median(np.abs(least))), (first, second, third))
                    for third, _, least in _added(later, little, 1)
                ]
    for _, chosen in sorted(found)[:3]:
        lines = np.array([library.one(search.lines, int(good[one]))[1] for one in chosen])
        there = search.known[np.isfinite(lines[:, search.known]).all(axis=0)][:ROWS]
        for one in sums(lines[:, there].T, search.y[there], _fine(search)):
            yield "joined", one.values(lines.T), one.used


def _added(apart: Floats, rest: Floats, count: int) -> Iterator[tuple[int, Floats, Floats]]:
    """The terms that go most with what is left, each with the terms without what goes with it, and with what it leaves."""
    size = np.linalg.norm(apart, axis=1)
    with np.errstate(all="ignore"):
        met = np.where(size > 1e-6, np.abs(apart @ rest) / size, 0.0)
    for one in np.argsort(-met, kind="stable")[:count]:
        if met[one] > 0:
            line = apart[one] / size[one]
            yield int(one), apart - np.outer(apart @ line, line), rest - (rest @ line) * line


def _fine(search: _Search) -> float:
    """The unit of the target; of one with all of a computer's digits, what its last bits may make."""
    if not search.target.quantity.long:
        return search.target.unit
    return float(1e-9 * (np.nanstd(search.y[search.target.train]) + 1e-12))


def _monomials(search: _Search) -> Iterator[tuple[str, Floats, int]]:
    """Products of powers of columns with a constant, by least squares of logarithms."""
    known = search.known
    positive = [
        place for place in search.order if np.nanmin(search.lines[place][known]) > 0 and np.isfinite(search.lines[place][known]).mean() > 0.8
    ][: min(12, len(known) // 4)]
    rows = known[(search.y[known] > 0) & np.isfinite(search.lines[np.ix_(positive, known)]).all(axis=0)][:ROWS]
    if len(positive) < 2 or len(rows) < len(positive) + 5:
        return
    logs = np.log(search.lines[np.ix_(positive, rows)]).T
    y = search.y[rows]
    worth = np.minimum(y / search.target.unit, 1e6)
    spread = logs.std(axis=0) > 1e-9
    design = np.column_stack([logs[:, spread] - logs[:, spread].mean(axis=0), np.ones(len(rows))])
    exponents = np.zeros(len(positive))
    kept = np.ones(len(rows), dtype=np.bool_)
    for _ in range(5):
        scale = worth[kept, None]
        beta = np.linalg.lstsq(design[kept] * scale, np.log(y[kept]) * scale[:, 0], rcond=1e-10)[0]
        off = np.abs(np.log(y) - design @ beta) * worth
        kept = off <= max(2.0, float(np.quantile(off, 0.6)))
    exponents[spread] = beta[:-1]
    for parts in (2, 3, 1):
        rounded = np.round(exponents * parts) / parts
        if 1 < (rounded != 0).sum() <= 6 and np.abs(rounded).max() <= 4:
            with np.errstate(all="ignore"):
                used = [place for place, power in zip(positive, rounded, strict=True) if power]
                term = np.prod(np.abs(search.lines[used]) ** rounded[rounded != 0][:, None], axis=0)
            low, high = factors(term[None, known], search.y[known], search.target.half(search.y[known]))
            _, start, end = most_met(low, high, np.ones(len(known)))
            factor = nicest(float(start[0]), float(end[0]))
            yield "monomial", np.where(np.isfinite(term), term, np.nan) * factor, 2


def _by_class(search: _Search, shown: Sequence[Column]) -> Iterator[tuple[str, Floats, int]]:
    """A term times, or and, a constant of its own in each class of a column."""
    known = search.known
    y, half = search.y, search.target.half(search.y)
    classes = [one for one in shown if 1 < len(np.unique(one.codes[known])) <= min(CLASSES, len(known) // 5)]
    classes.sort(key=lambda one: (-_between(one.codes[known], y[known]), one.name))
    rows = known[:: max(1, len(known) // 150)]
    every = terms(len(search.lines), search.order[:6], [], [])
    library = Terms(tuple(part for part in every.parts if part[0] in BY_CLASS))
    values = library.values(search.lines[:, rows])
    for one in classes[:GROUPED]:
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


def _with_constants(search: _Search, one: Column, term: Floats, way: int) -> Floats:
    """The term with the constant that suits each class."""
    y, half, known = search.y, search.target.half(search.y), search.known
    formula = np.full(len(term), np.nan)
    for code in np.unique(one.codes[known]):
        mine = known[one.codes[known] == code]
        low, high = _stretch(term[None, mine], y[mine], half[mine], way)
        _, start, end = most_met(low, high, np.ones(len(mine)))
        constant = nicest(float(start[0]), float(end[0]))
        if np.isfinite(constant):
            same = one.codes == code
            formula[same] = term[same] + constant if way else term[same] * constant
    return formula


def _stretch(values: Floats, y: Floats, half: Floats, way: int) -> tuple[Floats, Floats]:
    """The constants, factors or summands, with which each term comes to a value."""
    return (y - values - half, y - values + half) if way else factors(values, y, half)


def _between(codes: Ints, y: Floats) -> float:
    """How much of the variance lies between classes."""
    ranks = np.argsort(np.argsort(y)).astype(np.float64)
    counts = np.bincount(codes)
    means = np.bincount(codes, ranks) / np.maximum(counts, 1)
    return float((counts * (means - ranks.mean()) ** 2).sum() / len(y) - ranks.var() * (counts > 0).sum() / len(y))


def _best(tried: Iterator[Fitted], target: Sought) -> list[Fitted]:
    """The formulas that tell most, each different from those before it."""
    train = target.train
    least = LEAST_GAIN if len(train) > 12 else LEAST_GAIN / 2
    good = [one for one in tried if one.gain > least + CONSTANT * one.constants and one.hits > 0]
    good.sort(key=lambda one: (-one.gain + CONSTANT * one.constants, one.name))
    kept: list[Fitted] = []
    for one in good:
        mine = one.wholes[train]
        same = (np.mean((mine == other.wholes[train]) | ~np.isfinite(mine)) for other in kept)
        if len(kept) < MOST and all(share < 0.9 for share in same):
            kept.append(one)
    return kept
