"""The strongest predictors: trees and the nearest row, each trained on all rows of a table but the asked one."""

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabcontam.tables.table import Cell, Table

Floats = NDArray[np.float64]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
TREES = 60
WORK = 600_000  # rows times trees, of a large table
MANY = 60  # features of a row
CLASSES = 40  # of more values, numbers are fitted as such, and texts are those of the nearest row
NEAREST, FOREST, SQUARES = "nearest", "trees", "least squares"
KINDS = (FOREST, NEAREST, SQUARES)
RIDGES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # of the sum of squares of a feature


@dataclass(frozen=True, eq=False)
class Predictors:
    """What the predictors say of rows of a table; features and trees are found once for each asked column."""

    table: Table
    found: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def said(self, kind: str, target: str, shown: Sequence[str], row: int, previous: bool) -> Cell:
        """The cell that a predictor says: from the shown cells of its row or, with `previous`, of the rows before."""
        names = self.table.columns if previous else tuple(shown)
        cells = self.table.column(target)
        if kind == NEAREST:
            return cells[nearest(self._once(("ranks", names, previous), lambda: self._ranks(names, previous)), row)]
        key = (kind, target, names, previous)
        fit = _squares if kind == SQUARES else _forest
        cell: Cell = self._once(key, lambda: fit(self._features(names, previous), cells))[row]
        return cell if cell is not None else self.said(NEAREST, target, shown, row, previous)

    def _once(self, key: tuple[object, ...], find: Callable[[], Any]) -> Any:
        if key not in self.found:
            self.found[key] = find()
        return self.found[key]

    def _features(self, names: Sequence[str], previous: bool) -> Floats:
        features = np.column_stack([coded(self.table.column(name)) for name in names])
        if previous:
            lags = (1, 2) if features.shape[1] < MANY else (1,)
            features = np.column_stack([_moved(features, lag) for lag in lags])
        return np.nan_to_num(features, nan=-1.0)

    def _ranks(self, names: Sequence[str], previous: bool) -> Floats:
        """The features of all rows, each as the share of rows that have less."""
        columns = self._features(names, previous).T
        return np.column_stack([np.searchsorted(np.sort(one), one) / len(one) for one in columns])


def coded(cells: Sequence[Cell]) -> Floats:
    """A column as numbers: its values' places in order, and the first three numbers within its texts."""
    values = sorted({cell for cell in cells if cell is not None}, key=_in_order)
    place = {value: number for number, value in enumerate(values)}
    found = [[float(part) for part in NUMBER.findall(cell or "")[:3]] for cell in cells]
    most = max(map(len, found), default=0)
    ranks = [place[cell] if cell is not None else np.nan for cell in cells]
    parts = [[*one, *[np.nan] * (most - len(one))] for one in found]
    return np.column_stack([np.array(ranks, dtype=float), np.array(parts, dtype=float).reshape(len(cells), most)])


def _in_order(value: str) -> tuple[bool, float, str]:
    try:
        return (False, float(value), value)
    except ValueError:
        return (True, 0.0, value)


def _moved(features: Floats, lag: int) -> Floats:
    empty = np.full((lag, features.shape[1]), np.nan)
    return np.vstack([empty, features[:-lag]])


def nearest(ranks: Floats, row: int) -> int:
    """The row that is nearest to another one in all features together."""
    apart = np.abs(ranks - ranks[row]).sum(axis=1)
    apart[row] = np.inf
    return int(apart.argmin())


def _forest(features: Floats, cells: Sequence[Cell]) -> list[Cell]:
    """What trees say of each row that did not see it: those whose bootstrap sample it is not in."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    known = [number for number, cell in enumerate(cells) if cell is not None]
    values = sorted({cells[number] or "" for number in known})
    count = max(10, min(TREES, WORK // max(1, len(known))))
    options = {"bootstrap": True, "oob_score": True, "random_state": 0, "n_estimators": count, "n_jobs": 1}
    if len(values) <= 1:
        return [values[0] if values else None] * len(cells)
    said: list[Cell] = [None] * len(cells)
    if len(values) <= CLASSES:
        labels = np.array([values.index(cells[number] or "") for number in known])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # many classes for few rows
            trees = ExtraTreesClassifier(**options).fit(features[known], labels)
        for number, votes in zip(known, np.nan_to_num(trees.oob_decision_function_), strict=True):
            said[number] = values[trees.classes_[int(votes.argmax())]]
        return said
    try:
        numbers = np.array([float(cells[number] or "") for number in known])
    except ValueError:
        return said  # texts: the nearest row's
    decimals = max(len((cells[number] or "").partition(".")[2]) for number in known)
    trees = ExtraTreesRegressor(**options).fit(features[known], numbers)
    for number, value in zip(known, trees.oob_prediction_, strict=True):
        said[number] = f"{value:.{decimals}f}"
    return said


def _squares(features: Floats, cells: Sequence[Cell]) -> list[Cell]:
    """What a weighted sum of the features says of each row, fitted to all others; nothing of texts."""
    said: list[Cell] = [None] * len(cells)
    known = [number for number, cell in enumerate(cells) if cell is not None]
    try:
        numbers = np.array([float(cells[number] or "") for number in known])
    except ValueError:
        return said
    decimals = max((len((cells[number] or "").partition(".")[2]) for number in known), default=0)
    x = features[known]
    x = np.column_stack([(x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9), np.ones(len(known))])
    offs = []
    for ridge in RIDGES:
        hat = x @ np.linalg.solve(x.T @ x + ridge * len(x) * np.eye(x.shape[1]), x.T)
        offs.append((numbers - hat @ numbers) / np.maximum(1 - np.diag(hat), 1e-3))  # of a fit without the row itself
    for number, value in zip(known, numbers - min(offs, key=lambda off: float(np.abs(off).mean())), strict=True):
        said[number] = f"{value:.{decimals}f}"
    return said
