"""Columns made for tests of the guesser, and who predicts which rows of them."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.chains import FeatureChain
from tabcontam.baseline.coded_columns import Column, column
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.stored_facts import one_thread
from tabcontam.baseline.view import View
from tabcontam.tables.table import Cell

Cells = Mapping[str, Sequence[Cell]]


def columns(cells: Cells) -> dict[str, Column]:
    """The columns by name."""
    return {name: column(name, one) for name, one in cells.items()}


def view(cells: Cells, target: str, predicted: Sequence[int], learned: Sequence[int] | None = None) -> View:
    """What is seen by who predicts these rows from all others, or from those given."""
    known = columns(cells)
    count = len(cells[target])
    places = [row for row in range(count) if row not in set(predicted)] if learned is None else learned
    shown = tuple(one for name, one in known.items() if name != target)
    return View(known[target], shown, np.array(places), np.array(predicted))


def fit(cells: Cells, target: str, predicted: Sequence[int]) -> Fit:
    """A fit on all rows but those predicted."""
    seen = view(cells, target, predicted)
    return Fit(seen.target, seen.shown, (), seen.learned, seen.predicted)


def chances(follows: Sequence[LawPredictions], target: Column, rows: Sequence[int]) -> list[float]:
    """The most that any of the predictors gives to the real value of each of these rows, which it predicts in turn."""
    keys = [target.keys[row] for row in rows]
    return [max((one.values[place].get(key, 0.0) for one in follows), default=0.0) for place, key in enumerate(keys)]


def guess_chain(
    columns: Mapping[str, Sequence[Cell] | Column],
    shown: Sequence[str],
    asked: Sequence[str],
    rows: Sequence[int],
    missing: Collection[str] = (),
    order: Sequence[int] | None = None,
) -> list[list[CellPrediction]]:
    """For each of `rows`, a guess for each asked feature of a `FeatureChain` in turn."""
    chain = FeatureChain(columns, shown, asked, rows, missing, order)
    with one_thread():
        found = [chain.predictions(place) for place in range(len(asked))]
    return [list(guesses) for guesses in zip(*found, strict=True)]
