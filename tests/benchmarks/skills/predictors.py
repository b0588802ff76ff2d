"""The strongest predictors: trees and the nearest row, each trained on all rows of a table but the asked one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabcontam.tables.table import Cell, Table

Floats = NDArray[np.float64]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
TREES = 60
CLASSES = 40  # of more values, numbers are fitted as such, and texts are those of the nearest row
NEAREST, FOREST = "nearest", "trees"
KINDS = (FOREST, NEAREST)


@dataclass(frozen=True, eq=False)
class Predictors:
    """What the predictors say of every row of a table, found once for each asked column and shown ones."""

    table: Table
    found: dict[tuple[object, ...], list[Cell]] = field(default_factory=dict)

    def said(self, kind: str, target: str, shown: Sequence[str], row: int, previous: bool) -> Cell:
        """The cell that a predictor says: from the shown cells of its row or, with `previous`, of four rows before."""
        key = (kind, target, tuple(shown), previous)
        if key not in self.found:
            self.found[key] = self._all(kind, target, shown, previous)
        return self.found[key][row]

    def _all(self, kind: str, target: str, shown: Sequence[str], previous: bool) -> list[Cell]:
        names = self.table.columns if previous else shown
        features = np.column_stack([coded(self.table.column(name)) for name in names])
        if previous:
            features = np.column_stack([_moved(features, lag) for lag in ((1, 2) if features.shape[1] < 60 else (1,))])
        features = np.nan_to_num(features, nan=-1.0)
        cells = self.table.column(target)
        return _forest(features, cells) if kind == FOREST else nearest(features, cells)


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


def nearest(features: Floats, cells: Sequence[Cell]) -> list[Cell]:
    """For each row the cell of the nearest other one, each feature taken by its rank."""
    ranks = np.argsort(np.argsort(features, axis=0, kind="stable"), axis=0) / len(features)
    said: list[Cell] = []
    for number, row in enumerate(ranks):
        apart = np.abs(ranks - row).sum(axis=1)
        apart[number] = np.inf
        said.append(cells[int(apart.argmin())])
    return said


def _forest(features: Floats, cells: Sequence[Cell]) -> list[Cell]:
    """What trees say of each row that did not see it: those whose bootstrap sample it is not in."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    known = [number for number, cell in enumerate(cells) if cell is not None]
    values = sorted({cells[number] or "" for number in known})
    options = {"bootstrap": True, "oob_score": True, "random_state": 0, "n_estimators": TREES, "n_jobs": 1}
    if len(values) <= 1:
        return [values[0] if values else None] * len(cells)
    said: list[Cell] = [None] * len(cells)
    if len(values) <= CLASSES:
        labels = np.array([values.index(cells[number] or "") for number in known])
        trees = ExtraTreesClassifier(**options).fit(features[known], labels)
        for number, votes in zip(known, np.nan_to_num(trees.oob_decision_function_), strict=True):
            said[number] = values[trees.classes_[int(votes.argmax())]]
        return said
    try:
        numbers = np.array([float(cells[number] or "") for number in known])
    except ValueError:
        return nearest(features, cells)
    decimals = max(len((cells[number] or "").partition(".")[2]) for number in known)
    trees = ExtraTreesRegressor(**options).fit(features[known], numbers)
    for number, value in zip(known, trees.oob_prediction_, strict=True):
        said[number] = f"{value:.{decimals}f}"
    return said
