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
from tabcontam.guesser.laws.terms import Terms, factors, most_met, nicest, terms
from tabcontam.guesser.laws.together import together

MOST = 4  # formulas that are followed
LEAST_ROWS = 4
TRIED = 40  # rows on which terms are tried
PAIRED = 14  # columns of which all pairs are tried, those that go most with the target
TRIPLED = 9  # and all triples
TAKEN = 14  # terms of each kind that are held against all trained rows
LEAST_GAIN = 18.0  # bits that a formula has to tell: as many as tell it from the others that are tried
CONSTANT = 4.0  # more bits for each constant that is learned
CLASSES = 30  # of a column, each with a constant of its own
GROUPED = 4  # such columns that are tried


@dataclass(frozen=True, eq=False)
class _Search:
    """What is searched: the target, the columns as lines of numbers, the rows on which terms are tried."""

    target: Sought
    lines: Floats  # a line each column, a place each row of the table
    rows: Ints  # those tried
    worth: Floats  # bits of each of these rows' values
    all_terms: list[Terms]

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
    lines = _lines(quantities, fit.train)
    if not len(lines):
        return []
    return [one.follows(target, fit.predicted) for one in _best(_tried(target, lines, fit.shown, known), target)]


def _lines(quantities: Sequence[Quantity], train: Ints) -> Floats:
    """The numbers of all columns that vary, and of those that belong together."""
    added = [*(one.values for one in quantities), *together(quantities)]
    kept = [line for line in added if np.isfinite(line[train]).sum() >= LEAST_ROWS and np.nanstd(line[train]) > 0]
    return np.array(kept) if kept else np.empty((0, 0))


def _tried(target: Sought, lines: Floats, shown: Sequence[Column], known: Ints) -> Iterator[Fitted]:
    """Formulas held against the trained rows."""
    y = target.quantity.values
    order = _related(lines[:, known], y[known])
    whole = [place for place in order if np.all(np.mod(np.nan_to_num(lines[place][known]), 1) == 0)]
    rows = known[np.linspace(0, len(known) - 1, min(TRIED, len(known))).astype(np.int64)]
    bits = -np.log2(priors(target))[np.searchsorted(target.train, rows)] if _is_sorted(target.train) else None
    worth = np.ones(len(rows)) if bits is None else bits
    tried = terms(len(lines), order[:PAIRED], order[:TRIPLED], whole[:TRIPLED])
    search = _Search(target, lines, rows, worth, tried)
    for name, formula, constants in _candidates(search, shown, order, known):
        found = fitted(name, formula, target, constants)
        if found is not None:
            yield found


def _candidates(
    search: _Search, shown: Sequence[Column], order: list[int], known: Ints
) -> Iterator[tuple[str, Floats, int]]:
    yield from _scaled(search)
    yield from _shifted(search)
    yield from _summed(search, known)
    yield from _monomials(search, order, known)
    yield from _by_class(search, shown, order, known)


def _is_sorted(rows: Ints) -> bool:
    return bool(np.all(np.diff(rows) > 0))


def _related(lines: Floats, y: Floats) -> list[int]:
    """The places of the columns, those first whose ranks go most with the target's."""
    ranks = np.argsort(np.argsort(np.where(np.isfinite(lines), lines, np.nanmedian(lines, axis=1)[:, None]), axis=1), axis=1)
    own = np.argsort(np.argsort(y))
    with np.errstate(all="ignore"):
        found = np.nan_to_num(np.corrcoef(np.vstack([own, ranks]))[0, 1:])
    return [int(place) for place in np.argsort(-np.abs(found), kind="stable")]


def _scaled(search: _Search) -> Iterator[tuple[str, Floats, int]]:
    """Terms times a constant."""
    y, half = search.y[search.rows], search.target.half(search.y[search.rows])
    scored = []
    for one in search.all_terms:
        low, high = factors(one.values(search.lines, search.rows), y, half)
        scored.append(most_met(low, high, search.worth))
    for number, place, low, high in _most(scored):
        one = search.all_terms[number]
        whole = Terms(one.name, one.operation, one.places[place : place + 1]).values(search.lines)[0]
        train = search.target.train
        lows, highs = factors(whole[None, train], search.y[train], search.target.half(search.y[train]))
        _, low_all, high_all = most_met(lows, highs, np.ones(len(train)))
        factor = nicest(float(low_all[0]), float(high_all[0]))
        yield f"{factor} {one.name}", whole * factor, 0 if abs(factor) == 1 else 1
        if not low <= 1 <= high and 0.9 < low < 1.1:
            yield one.name, whole, 0


def _shifted(search: _Search) -> Iterator[tuple[str, Floats, int]]:
    """Terms and a constant, and terms as they are: cut off, a term is half a unit away."""
    y, half = search.y[search.rows], search.target.half(search.y[search.rows])
    scored = []
    for one in search.all_terms:
        away = y - one.values(search.lines, search.rows)
        scored.append(most_met(away - half, away + half, search.worth))
    for number, place, low, high in _most(scored):
        one = search.all_terms[number]
        whole = Terms(one.name, one.operation, one.places[place : place + 1]).values(search.lines)[0]
        more = nicest(low, high)
        yield f"{one.name} + {more}", whole + more, int(more != 0)
        if more and abs(more) <= 1.01 * search.target.unit:
            yield one.name, whole, 0


def _most(scored: Sequence[tuple[Floats, Floats, Floats]]) -> list[tuple[int, int, float, float]]:
    """The terms that come to most of the values, by number and place, with the stretch of their constant."""
    every = [
        (-float(worth[place]), number, int(place))
        for number, (worth, _, _) in enumerate(scored)
        for place in np.argsort(-worth, kind="stable")[:TAKEN]
        if worth[place] > 0
    ]
    every.sort()
    return [
        (number, place, float(scored[number][1][place]), float(scored[number][2][place]))
        for _, number, place in every[:TAKEN]
    ]


def _summed(search: _Search, known: Ints) -> Iterator[tuple[str, Floats, int]]:
    """Weighted sums of columns: of all that are mostly there, with and without those that are often missing."""
    lines, y, unit = search.lines, search.y, _fine(search)
    there = np.isfinite(lines[:, known])
    seen: set[bytes] = set()
    for least in (0.98, 0.8, 0.5):
        taken = np.flatnonzero(there.mean(axis=1) >= least)
        rows = known[there[taken].all(axis=0)][:ROWS] if len(taken) else known[:0]
        if len(rows) < len(taken) + 4:
            order = _related(lines[:, known], y[known])
            taken = np.array(sorted(order[: max(1, len(rows) // 3, len(known) // 4)]), dtype=np.int64)
            rows = known[there[taken].all(axis=0)][:ROWS]
        if taken.tobytes() in seen or len(rows) < 8:
            continue
        seen.add(taken.tobytes())
        for found in sums(lines[np.ix_(taken, rows)].T, y[rows], unit):
            yield "sum", found.values(lines[taken].T), found.used


def _fine(search: _Search) -> float:
    """The unit of the target; of one with all of a computer's digits, what its last bits may make."""
    if not search.target.quantity.long:
        return search.target.unit
    return float(1e-9 * (np.nanstd(search.y[search.target.train]) + 1e-12))


def _monomials(search: _Search, order: list[int], known: Ints) -> Iterator[tuple[str, Floats, int]]:
    """Products of powers of columns with a constant, by least squares of logarithms."""
    positive = [
        place for place in order if np.nanmin(search.lines[place][known]) > 0 and np.isfinite(search.lines[place][known]).mean() > 0.8
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


def _by_class(
    search: _Search, shown: Sequence[Column], order: list[int], known: Ints
) -> Iterator[tuple[str, Floats, int]]:
    """A term times, or and, a constant of its own in each class of a column."""
    y, half = search.y, search.target.half(search.y)
    classes = [one for one in shown if 1 < len(np.unique(one.codes[known])) <= min(CLASSES, len(known) // 5)]
    classes.sort(key=lambda one: (-_between(one.codes[known], y[known]), one.name))
    rows = known[:: max(1, len(known) // 150)]
    plain = [one for one in terms(len(search.lines), order[:6], [], []) if one.name in ("a", "ab", "a/b", "a-b", "a+b")]
    for one in classes[:GROUPED]:
        best: list[tuple[float, int, int, int]] = []
        for number, term in enumerate(plain):
            values = term.values(search.lines, rows)
            for way in (0, 1):
                met = np.zeros(len(values))
                for code in np.unique(one.codes[rows]):
                    mine = one.codes[rows] == code
                    low, high = _stretch(values[:, mine], y[rows][mine], half[rows][mine], way)
                    met += most_met(low, high, np.ones(int(mine.sum())))[0] - 1
                place = int(np.argmax(met))
                best.append((-float(met[place]), number, place, way))
        for met_rows, number, place, way in sorted(best)[:2]:
            if -met_rows >= 0.3 * len(rows):
                term = plain[number]
                whole = Terms(term.name, term.operation, term.places[place : place + 1]).values(search.lines)[0]
                formula = np.full(len(whole), np.nan)
                for code in np.unique(one.codes[known]):
                    mine = known[one.codes[known] == code]
                    low, high = _stretch(whole[None, mine], y[mine], half[mine], way)
                    _, start, end = most_met(low, high, np.ones(len(mine)))
                    constant = nicest(float(start[0]), float(end[0]))
                    same = one.codes == code
                    formula[same] = whole[same] + constant if way else whole[same] * constant
                yield f"{term.name} by {one.name}", formula, len(np.unique(one.codes[known]))


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
