"""Laws of cells that are a choice: the name of the column with the largest number, the winner of two, late or not.

Such a cell follows from the order of its row's numbers. A cell that equals one of the row's numbers, such as the median
or the second largest, is found by formulas: `chosen` returns their input.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Column, Floats, Ints
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.frequencies import left_out
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.laws.calendar import dates_of
from tabcontam.baseline.laws.date_laws import unlike_date
from tabcontam.baseline.laws.quantities import Quantity, quantity
from tabcontam.baseline.thresholds import (
    COMPARISON_ROWS,
    FEW_VALUES,
    LEAST_CHOICE_SHARE,
    LEAST_COMPARISON_GAIN,
    LEAST_NAMING_SHARE,
    MOST_CHOICE_COLUMNS,
    MOST_COMPARED_COLUMNS,
)


def chosen(target: Floats, quantities: Sequence[Quantity], known: Ints) -> list[Floats]:
    """Return each row's smallest number, second smallest and so on, among the columns that the target chooses from.

    These are the columns that equal the target more often than chance. `target` has a number in the `known` rows.
    """
    own = target[known]
    values, counts = np.unique(own, return_counts=True)
    taken = []
    for one in quantities:
        theirs = one.values[known]
        place = np.minimum(np.searchsorted(values, theirs), len(values) - 1)
        by_chance = float(np.where(values[place] == theirs, counts[place], 0).mean()) / len(known)
        share = float((theirs == own).mean())
        spread = np.sqrt(by_chance * (1 - by_chance) / len(known))
        if share > max(LEAST_CHOICE_SHARE, by_chance + 3 * spread) and share < 1 - LEAST_CHOICE_SHARE:
            taken.append((share, one.values))
    taken.sort(key=lambda item: -item[0])
    lines = np.array([line for _, line in taken[:MOST_CHOICE_COLUMNS]])
    return list(np.sort(lines, axis=0)) if len(lines) > 2 else []  # for two columns, formula terms include min and max


def choices(fit: Fit) -> list[LawPredictions]:
    """Return the values that follow from the order of a row's numbers."""
    shown = sorted(fit.shown, key=unlike_date)
    numbers = [(one.name, line) for one in shown if (line := _comparable(one)) is not None]
    if len(numbers) < 2 or not len(fit.train) or (fit.target.numbers is not None and fit.target.distinct > FEW_VALUES):
        return []
    return [*_named(fit, dict(numbers)), *_by_comparison(fit, [line for _, line in numbers[:MOST_COMPARED_COLUMNS]])]


def _comparable(one: Column) -> Floats | None:
    """Return a column's numbers, or its dates as numbers; None if it has neither."""
    if (number := quantity(one)) is not None:
        return number.values
    date = dates_of(one)
    return None if date is None else date.seconds


def _named(fit: Fit, numbers: dict[str, Floats]) -> list[LawPredictions]:
    """Return the name of the column with the largest (or second largest, …) number among the named columns."""
    if fit.target.numbers is not None:
        return []
    places = {name.casefold(): number for number, name in enumerate(numbers)}
    spelled = {key: places[text.casefold()] for key, text in fit.target.texts.items() if text.casefold() in places}
    named = np.array([spelled.get(key, -1) for key in fit.target.keys])
    among = sorted(set(named[fit.train].tolist()) - {-1})
    if len(among) < 2 or (named[fit.train] >= 0).mean() < LEAST_NAMING_SHARE:
        return []
    lines = np.array(list(numbers.values()))[among]
    order = np.argsort(np.where(np.isfinite(lines), lines, np.inf), axis=0, kind="stable")
    keys = {place: key for key, place in spelled.items()}
    ranked = np.array(among)[order]
    shares = (ranked[:, fit.train] == named[fit.train]).mean(axis=1)
    best = int(shares.argmax())
    sure = float(shares[best]) * len(fit.train) / (len(fit.train) + 1)
    return [LawPredictions.of([{keys[place]: sure} for place in ranked[best, fit.predicted].tolist()])]


def _by_comparison(fit: Fit, lines: Sequence[Floats]) -> list[LawPredictions]:
    """Return values that follow from which of two numbers is larger: a class, or the text of a shown column."""
    outcome, sources = (fit.target.codes, None) if fit.target.distinct <= FEW_VALUES else _copied(fit)
    if sources is not None and len(sources) < 2:
        return []
    rows = fit.train[:: max(1, len(fit.train) // COMPARISON_ROWS)]
    alone = left_out(np.zeros(len(rows), dtype=np.int64), outcome[rows])
    # 1 where the first number is smaller, 2 where both are equal, 3 where it is larger, 0 if one is missing
    signs = (np.nan_to_num(np.sign(one - other) + 2, nan=0.0) for one, other in combinations(lines, 2))
    pairs = [sign.astype(np.int64) for sign in signs]
    gains = [left_out(pair[rows], outcome[rows]) - alone for pair in pairs]
    if max(gains, default=0.0) <= LEAST_COMPARISON_GAIN:
        return []
    return [_predict_outcomes(fit, pairs[int(np.argmax(gains))], outcome, sources)]


def _copied(fit: Fit) -> tuple[Ints, list[Column]]:
    """Return each row's 1-based index of the text column that contains its target (0 for none), and these columns."""
    source_numbers = np.zeros(len(fit.target.keys), dtype=np.int64)
    sources: list[Column] = []
    own = np.array(fit.target.keys)
    for one in fit.shown:
        if one.numbers is None:
            same = (np.array(one.keys) == own) & (own != MISSING)
            if same[fit.train].mean() > LEAST_CHOICE_SHARE:
                sources.append(one)
                source_numbers[same & (source_numbers == 0)] = len(sources)
    return source_numbers, sources


def _predict_outcomes(fit: Fit, context: Ints, outcome: Ints, sources: Sequence[Column] | None) -> LawPredictions:
    """Return the values that follow. Probabilities are shares of outcomes in training rows of equal context.

    `outcome` is a value's code, or with `sources` the 1-based index of the column that has the value.
    """
    counts = np.zeros((4, int(outcome.max()) + 1))
    np.add.at(counts, (context[fit.train], outcome[fit.train]), 1)
    shares = counts / (counts.sum(axis=1, keepdims=True) + 1)
    keys = dict(zip(fit.target.codes.tolist(), fit.target.keys, strict=True))
    values: list[dict[str, float]] = []
    for row, own in zip(fit.predicted.tolist(), context[fit.predicted].tolist(), strict=True):
        found: dict[str, float] = {}
        for place in np.flatnonzero(shares[own]).tolist():
            key = keys[place] if sources is None else sources[place - 1].keys[row] if place else MISSING
            if key != MISSING:
                found[key] = found.get(key, 0.0) + float(shares[own, place])
        values.append(found)
    return LawPredictions.of(values)
