"""Formulas over several columns: sums, products, ratios, shares, powers and annuities, found by a search.

A formula is right where it equals the hidden column after rounding to the column's decimals. Terms of one, two and
three columns are all tried on a few rows. The terms that equal most values are checked on all training rows. Weighted
sums of any number of columns are fitted by least squares and by least absolute deviations, so some rows may break them.
Products of powers are fitted likewise in logarithms.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from tabcontam.baseline.coded_columns import Column, Floats, Ints
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.laws.choice_laws import chosen
from tabcontam.baseline.laws.column_groups import spreads, together
from tabcontam.baseline.laws.date_laws import length
from tabcontam.baseline.laws.formula_fit import FormulaFit, FormulaTarget, fit_formula, formula_target, numbers, priors
from tabcontam.baseline.laws.formula_search import FormulaSearch, ways
from tabcontam.baseline.laws.quantities import Quantity, quantity
from tabcontam.baseline.thresholds import (
    BITS_PER_CONSTANT,
    LEAST_CLOSE_SHARE,
    LEAST_FORMULA_GAIN,
    LEAST_FORMULA_ROWS,
    LEAST_MET_SHARE,
    LEAST_SECTION_ROWS,
    LEAST_SECTION_SHARE,
    MOST_CHECKED_FORMULAS,
    MOST_FORMULA_PAIR_COLUMNS,
    MOST_FORMULA_SEARCHES,
    MOST_FORMULAS,
    MOST_LATER_FORMULAS,
    SURE_FORMULA_SHARE,
)


def formulas(fit: Fit) -> list[LawPredictions]:
    """Return the predictions of formulas over shown columns, the best formula first."""
    own_numbers = quantity(fit.target) or length(fit.target)
    if own_numbers is None:
        return []
    target, y = formula_target(own_numbers, fit.train), own_numbers.values
    known = fit.train[np.isfinite(y[fit.train])]
    if len(known) < LEAST_FORMULA_ROWS or len(np.unique(y[known])) < 2:
        return []
    quantities = [one for shown in fit.shown if (one := quantity(shown)) is not None]
    own = _lines([one.values for one in quantities], fit.train)
    if not len(own):
        return []
    made = [*together(quantities), *chosen(y, quantities, known)]
    lines = np.concatenate([own, *(line[None] for line in _lines(made, fit.train))])
    found = _in_sections(lambda rows: _tried(_started(target, lines, len(own), rows), fit.shown), target, known)
    found = [*_best(_spread(quantities, target, known), target), *found]
    found = sorted(
        [*_bent(found, target, known), *found], key=lambda one: -one.gain + BITS_PER_CONSTANT * one.constants
    )
    return [one.follows(target, fit.predicted) for one in found]  # predictors are named by their index


def _spread(quantities: Sequence[Quantity], target: FormulaTarget, known: Ints) -> Iterator[FormulaFit]:
    """Yield statistics of a row's numbers (`spreads`) that are near the target often enough."""
    y = target.quantity.values[known]
    for name, line in spreads(quantities):
        with np.errstate(invalid="ignore"):
            close = (np.abs(line[known] - y) <= target.unit).mean() >= LEAST_CLOSE_SHARE
        if close and (found := fit_formula(name, line, target, 1)) is not None:  # 1: one of many statistics
            yield found


def _in_sections(tried: Callable[[Ints], Iterator[FormulaFit]], target: FormulaTarget, known: Ints) -> list[FormulaFit]:
    """Return the formulas found in all known rows, then formulas found in rows that no earlier formula gives."""
    found: list[FormulaFit] = []
    remaining = known
    for _ in range(MOST_FORMULA_SEARCHES):
        more = _best(tried(remaining), target)
        meeting = ((one, one.meets(target, remaining)) for one in more if one.sharp(target, remaining))
        often = [(one, met) for one, met in meeting if met.mean() > LEAST_MET_SHARE]
        found += [one for one, _ in often[:MOST_LATER_FORMULAS]] if found else more
        met = np.logical_or.reduce([np.zeros(len(remaining), dtype=np.bool_), *(met for _, met in often)])
        if not often or (~met).sum() < max(LEAST_SECTION_ROWS, LEAST_SECTION_SHARE * len(known)):
            break
        remaining = remaining[~met]
    return found


def _bent(found: Sequence[FormulaFit], target: FormulaTarget, known: Ints) -> list[FormulaFit]:
    """Return the best maximum or minimum of formulas and a constant: brackets of a tax, pay with overtime."""
    found = [one for one in found if one.sharp(target, known)]
    if not found or max(one.hits for one in found) >= SURE_FORMULA_SHARE * len(known):
        return []
    y = target.quantity.values[target.train]
    values, counts = np.unique(y[np.isfinite(y)], return_counts=True)
    often = np.full(len(found[0].wholes), values[counts.argmax()])
    pieces = [(numbers(one.wholes, target), one.constants) for one in found] + [(often, 1)]
    least, best = max(one.gain for one in found), None
    for some in (*combinations(pieces, 2), *combinations(pieces, 3)):
        for way, bent in (("largest", np.maximum.reduce), ("smallest", np.minimum.reduce)):
            constants = sum(each for _, each in some)
            one = fit_formula(f"{way} of {len(some)}", bent([line for line, _ in some]), target, constants)
            if one is not None and one.gain - BITS_PER_CONSTANT * constants > least:
                least, best = one.gain - BITS_PER_CONSTANT * constants, one
    return [best] if best else []


def _lines(values: Sequence[Floats], train: Ints) -> Floats:
    """Return the lines that have several different numbers in the training rows."""
    known = (line for line in values if np.isfinite(line[train]).sum() >= LEAST_FORMULA_ROWS)
    kept = [line for line in known if np.nanstd(line[train]) > 0]
    return np.array(kept) if kept else np.empty((0, 0))


def _started(target: FormulaTarget, lines: Floats, own: int, known: Ints) -> FormulaSearch:
    y = target.quantity.values
    order = _related(lines[:, known], y[known])
    paired = order[:MOST_FORMULA_PAIR_COLUMNS] + [place for place in order[MOST_FORMULA_PAIR_COLUMNS:] if place >= own]
    worth = np.zeros(len(y))
    worth[target.train] = -np.log2(priors(target))
    return FormulaSearch(target, lines, own, order, paired, known, worth[known])


def _tried(search: FormulaSearch, shown: Sequence[Column]) -> Iterator[FormulaFit]:
    """Yield formulas checked on the training rows; stop after a way with a formula that is nearly always right."""
    target, known = search.target, search.known
    y = target.quantity.values[known]
    half = target.half(y)
    near = np.maximum(1.01 * target.unit, half)
    for way in ways(search, shown):
        scored: list[tuple[float, int, str, Floats, int]] = []
        for number, (name, formula, constants) in enumerate(way):
            with np.errstate(invalid="ignore"):
                off = np.abs(formula[known] - y)
                close, met = off <= near, off <= half
            if close.mean() >= LEAST_CLOSE_SHARE:
                worth = float(search.worth[close].sum() + search.worth[met].sum()) / 2
                scored.append((BITS_PER_CONSTANT * constants - worth, number, name, formula, constants))
        scored.sort(key=lambda item: item[:2])
        sure = False
        for _, _, name, formula, constants in scored[:MOST_CHECKED_FORMULAS]:
            if (found := fit_formula(name, formula, target, constants)) is not None:
                yield found
                sure = sure or found.hits >= SURE_FORMULA_SHARE * len(known) >= SURE_FORMULA_SHARE * 12
        if sure:
            return


def _related(lines: Floats, y: Floats) -> list[int]:
    """Return the indices of the columns, in descending order of rank correlation with the target."""
    middle = np.array([float(np.nanmedian(line)) if np.isfinite(line).any() else 0.0 for line in lines])
    filled = np.where(np.isfinite(lines), lines, middle[:, None])
    ranks = np.argsort(np.argsort(filled, axis=1), axis=1)
    own = np.argsort(np.argsort(y))
    with np.errstate(all="ignore"):
        found = np.nan_to_num(np.asarray(np.corrcoef(np.vstack([own, ranks])))[0, 1:])
    return [int(place) for place in np.argsort(-np.abs(found), kind="stable")]


def _best(tried: Iterator[FormulaFit], target: FormulaTarget) -> list[FormulaFit]:
    """Return the formulas that save most bits, without formulas that mostly agree with a better one."""
    train = target.train
    least = LEAST_FORMULA_GAIN if len(train) > 12 else LEAST_FORMULA_GAIN / 2
    good = [one for one in tried if one.gain > least + BITS_PER_CONSTANT * one.constants and one.hits > 0]
    good.sort(key=lambda one: (-one.gain + BITS_PER_CONSTANT * one.constants, one.name))
    kept: list[FormulaFit] = []
    for one in good:
        mine = one.wholes[train]
        same = (np.mean((mine == other.wholes[train]) | ~np.isfinite(mine)) for other in kept)
        if len(kept) < MOST_FORMULAS and all(share < 0.9 for share in same):
            kept.append(one)
    return kept
