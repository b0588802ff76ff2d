"""The base of tests with one answer about several rows: an asked cell has a feature and the number of its row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.table_predictions import RowPrediction
from tabcontam.baseline.thresholds import LAGS
from tabcontam.evidence.base import Prompt, Query, Trial
from tabcontam.extensions.papers.earlier_rows import after_earlier
from tabcontam.extensions.papers.memcheck.csv_row_tests import RawAnswers, csv_serializer
from tabcontam.groups import grouped
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


def chances_of(table: Table, predictions: Mapping[int, RowPrediction]) -> dict[str, CellPrediction]:
    """Return the predictions of cells by name. `predictions` lists them by row."""
    return {
        cell_name(name, row): after_earlier(table, name, row, prediction, range(LAGS + 1, row + 1))
        for row, row_prediction in predictions.items()
        for name, prediction in row_prediction.cells.items()
    }
