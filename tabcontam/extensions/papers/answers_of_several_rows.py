"""The base of tests with one answer about several rows: an asked cell has a feature and the number of its row."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import RowPrediction, least_sure, predict_rows
from tabcontam.baseline.thresholds import LAGS
from tabcontam.evidence.answering import MISSING, AnswerKind
from tabcontam.evidence.base import Prompt, Query, Reading, Trial
from tabcontam.evidence.thresholds import MOST_COUNTED_FEATURES
from tabcontam.extensions.papers.earlier_rows import after_earlier
from tabcontam.extensions.papers.memcheck.csv_row_tests import RawAnswers, csv_serializer
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import same_value
from tabcontam.tables.known_rows import known_rows
from tabcontam.tables.table import Cell, Table

IN = ", row "  # between the feature and the number of the row in a cell's name


@dataclass(frozen=True)
class SeveralRowsAnswers(RawAnswers):
    """Answers with cells of several rows of a file."""

    def column(self, asked: str) -> str:
        return column_of(asked)

    def places(self, query: Query) -> Sequence[int]:
        return [int(name.rpartition(IN)[2]) - 1 for name in query.asked]

    def text(self, query: Query, values: Sequence[Cell], prompt: Prompt | None = None) -> str:
        cells = iter(values)
        rows = group_by_row(query.asked)
        return "\n".join(csv_serializer().row(names, [next(cells) for _ in names]) for names in rows)


@dataclass(frozen=True)
class RememberedRows(AnswerKind):
    """Answers with rows of the table, one a line. A model without memory makes a row of cells of random rows."""

    rows: tuple[int, ...] = ()
    cells: tuple[Cell, ...] = field(default=(), repr=False)

    def truth(self, query: Query) -> Sequence[Cell]:
        return self.cells

    def places(self, query: Query) -> Sequence[int]:
        return [row for row in self.rows for _ in query.asked]

    def usual(self, query: Query, table: Table) -> Sequence[Cell]:
        """Return a single row, with the most frequent value of each column."""
        return [next(iter(table.distinct(name)), MISSING) for name in query.asked]

    def predicted(self, query: Query, table: Table, rng: Random) -> Sequence[Cell]:
        return [rng.choice(table.column(name)) for name in table.columns]

    def text(self, query: Query, values: Sequence[Cell], prompt: Prompt | None = None) -> str:
        starts = range(0, len(values), len(query.asked))
        return "\n".join(csv_serializer().row(query.asked, values[at : at + len(query.asked)]) for at in starts)


def cell_name(column: str, row: int) -> str:
    """Return the name of a cell; rows are counted from 0."""
    return f"{column}{IN}{row + 1}"


def column_of(name: str) -> str:
    """Return the feature of the cell with this name."""
    return name.rpartition(IN)[0]


def group_by_row(names: Sequence[str]) -> list[list[str]]:
    """Return the names of the asked cells, grouped by row."""
    return list(grouped(names, lambda name: name.rpartition(IN)[2]).values())


def cells_of(trial: Trial) -> Mapping[str, Cell]:
    """Return the cells of a read answer by name; {} if it could not be read."""
    parsed = trial.reading.parsed if trial.readable and trial.reading else None
    return parsed if isinstance(parsed, Mapping) else {}


def columns_of(query: Query, entities: Mapping[str, str]) -> dict[str, str]:
    """Return the column in which each asked cell lies, or that column's entity if it has one."""
    return {name: entities.get(column_of(name), column_of(name)) for name in query.asked}


def read_rows(
    query: Query, cells: Mapping[str, Cell], exact: bool, same: Callable[[Cell, Cell], bool] = same_value
) -> Reading:
    """Return the reading of an answer with these cells: a hit if every counted cell that has a value is right."""
    truth = dict(zip(query.asked, query.expected, strict=True))
    right = tuple(name for name, cell in truth.items() if cell is not None and same(cells.get(name), cell))
    counted = {name for name in query.chance or query.asked if truth[name] is not None}
    hit = bool(counted) and counted <= set(right)
    return Reading(cells or None, hit, query.paper and exact, bool(cells), right)


def predict_whole_rows(table: Table, rows: Iterable[int]) -> Mapping[int, RowPrediction]:
    """Return the predictions of the rows that count, given the rows before: not of first rows, nor of known ones."""
    known = known_rows(table)
    counted = [row for row in rows if row >= LAGS and not known & {row, row + 1}]
    every = least_sure(table, table.columns, MOST_COUNTED_FEATURES, before=True)
    return predict_rows(table, every, (), counted, before=True)


def chances_of(table: Table, predictions: Mapping[int, RowPrediction]) -> dict[str, CellPrediction]:
    """Return the predictions of cells by name. `predictions` lists them by row."""
    return {
        cell_name(name, row): after_earlier(table, name, row, prediction, range(LAGS + 1, row + 1))
        for row, row_prediction in predictions.items()
        for name, prediction in row_prediction.cells.items()
    }
