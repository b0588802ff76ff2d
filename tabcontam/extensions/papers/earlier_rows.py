"""Predictions of a cell from earlier rows that the baseline ignores: an equal value, or one a fixed step away."""

from collections.abc import Iterable
from dataclasses import replace
from math import sqrt
from typing import NamedTuple

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import column_of
from tabcontam.extensions.papers.thresholds import STEP_DECIMALS
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.table import Table


class LagStatistics(NamedTuple):
    """Statistics of pairs of rows at one distance: the share of equal cells, the most frequent step, and its share."""

    same: float
    step: float
    stepping: float


def after_earlier(table: Table, name: str, row: int, prediction: CellPrediction, lags: Iterable[int]) -> CellPrediction:
    """Return the prediction, with higher chances for values that follow from the cells `lags` rows earlier.

    Two shares are counted over the column for each lag: of cells that equal the cell `lag` rows before, and of cells
    that differ from it by the most frequent step. The value of the earlier cell, and the value one step from it, get at
    least these shares, raised by their standard errors. Other values keep their chances. So chances are upper bounds
    that may sum to more than 1.
    """
    likely = likely_after(table, name, row, lags)
    more = {value: chance for value, chance in likely.items() if chance > prediction.chance_of(value)}
    if not more:
        return prediction
    keys = {value_key(value): chance for value, chance in more.items()}
    values = {value: max(chance, keys.pop(value_key(value), 0.0)) for value, chance in prediction.values.items()}
    values |= {value: chance for value, chance in more.items() if value_key(value) in keys}
    return replace(prediction, values=values)


def likely_after(table: Table, name: str, row: int, lags: Iterable[int]) -> dict[str, float]:
    """Return the chances that a row's cell equals the cell `lags` rows before, or is one step from it; by value."""
    one = column_of(table, name)
    raised: dict[str, float] = {}
    for lag in lags:
        before = row - lag
        if before < 0 or row > len(table.rows) or (row < len(table.rows) and table.rows_before[row] < lag):
            continue
        found = earlier(table, name, lag)
        cell = one.cells[before]
        if cell is not None and not table.is_missing(cell):
            raised[cell] = max(found.same, raised.get(cell, 0.0))
        numbers = one.numbers
        if found.step and numbers is not None and numbers[before] == numbers[before]:
            value = str(round(float(numbers[before]) + found.step, STEP_DECIMALS)).removesuffix(".0")
            raised[value] = max(found.stepping, raised.get(value, 0.0))
    return raised


@table_fact
def earlier(table: Table, name: str, lag: int) -> LagStatistics:
    """Return the statistics of a column over all pairs of rows `lag` places apart: equal cells, and the usual step."""
    import numpy as np

    one = column_of(table, name)
    apart = np.array(table.rows_before[lag:]) >= lag  # whether the two rows are that far apart in the file
    count = int(apart.sum())
    if count < 1:
        return LagStatistics(0.0, 0.0, 0.0)
    codes = one.codes[: len(table.rows)]
    same = float(((codes[lag:] == codes[:-lag]) & (codes[lag:] > 0))[apart].mean())
    step, stepping = 0.0, 0.0
    if one.numbers is not None:
        numbers = one.numbers[: len(table.rows)]
        steps = (numbers[lag:] - numbers[:-lag])[apart].round(STEP_DECIMALS)
        values, times = np.unique(steps[np.isfinite(steps)], return_counts=True)
        if len(values):
            step, stepping = float(values[times.argmax()]), float(times.max()) / count
    return LagStatistics(_raised(same, count), step, _raised(stepping, count))


def _raised(share: float, count: int) -> float:
    return min(1.0, share + sqrt(share * (1 - share) / count))
