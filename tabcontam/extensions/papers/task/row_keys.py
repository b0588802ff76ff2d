"""The choice of the table's row with which a written row is compared, and of the cells that are weighed.

If a written row were compared with every row, the most similar one would look like memory by selection alone. So the
written row's first cells choose the row, and these cells do not count. Each table has a fixed order of columns, the
hardest to predict first. Cells of a written row are read in this order until only one row of the table begins with
them. How many cells are read depends on these cells alone. The later cells are weighed as in test 9, with the first
ones shown. Each later cell is predicted from all cells before it, and from the cells in the easiest columns, which
never count.

The hardest columns come first for a second reason. Cells may follow from others by a rule that the model knows and the
baseline does not, such as a date from its parts. A model that invents a row often hits the usual cells of some row, and
would be right in the cells that follow from them. It hardly ever hits a rare cell.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.table_predictions import RowPrediction, least_sure, predict_rows
from tabcontam.evidence.thresholds import MOST_COUNTED_FEATURES
from tabcontam.extensions.papers.memcheck.csv_row_tests import cell_key
from tabcontam.extensions.papers.task.rows_in_answers import Row
from tabcontam.extensions.papers.thresholds import PRINTED_FIRST_ROWS, PRINTED_LAST_ROWS
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.known_rows import keys_of, known_rows
from tabcontam.tables.table import Cell, Table

SEVERAL = -1  # instead of a row: several rows have these first cells
Key = tuple[Cell, ...]


@dataclass(frozen=True)
class ColumnOrder:
    """The order of columns in which written rows are compared: first `counted`, the hardest first, and then `given`.

    Cells of `given` columns neither identify a row nor count. Columns that number the rows of the file are left out.
    """

    counted: tuple[str, ...]
    given: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in this order."""
        return (*self.counted, *self.given)


def order_of(table: Table) -> ColumnOrder:
    """Return the order of a table's columns, the same for every seed."""

    def find() -> ColumnOrder:
        columns = tuple(name for name in table.columns if not _numbers_rows(table, name))
        hardest = least_sure(table, columns, min(MOST_COUNTED_FEATURES, len(columns) - 1)) if len(columns) > 1 else ()
        return ColumnOrder(hardest, tuple(name for name in columns if name not in hardest))

    return cached_fact(table, "task order", find)


def _numbers_rows(table: Table, name: str) -> bool:
    """Return whether a column numbers the rows in the file's order; knowing such a number is no memory of a row."""
    cells = [int(cell) for cell in table.column(name) if cell is not None and cell.removeprefix("-").isdecimal()]
    if len(cells) != len(table.rows) or len(cells) < 2:
        return False
    step = (cells[1] - cells[0]) // (table.places[1] - table.places[0])
    return step != 0 and all(cell == cells[0] + step * place for cell, place in zip(cells, table.places, strict=True))


def keys(table: Table) -> list[Key]:
    """Return each row's key: its cells in the order of `order_of`; equal rows have equal keys."""

    def find() -> list[Key]:
        places = [table.columns.index(name) for name in order_of(table).columns]
        return [tuple(row[place] for place in places) for row in keys_of(table, table.rows)]

    return cached_fact(table, "task keys", find)


def identifying_lengths(table: Table) -> dict[int, int]:
    """Return for each row the number of first cells that identify it; rows that no cells identify are left out."""

    def find() -> dict[int, int]:
        found: dict[int, int] = {}
        for length in range(1, len(order_of(table).counted) + 1):
            times = Counter(key[:length] for key in keys(table))
            for row, key in enumerate(keys(table)):
                if row not in found and times[key[:length]] == 1:
                    found[row] = length
        return found

    return cached_fact(table, "task rows distinguished", find)


def may_count(table: Table) -> frozenset[int]:
    """Return the rows with cells that can count: not known rows, and not those at the beginning and end of the file."""

    def find() -> frozenset[int]:
        width, middle = len(order_of(table).counted), range(PRINTED_FIRST_ROWS, len(table.rows) - PRINTED_LAST_ROWS)
        lengths, known = identifying_lengths(table), known_rows(table)
        return frozenset(row for row in middle if lengths.get(row, width) < width and row not in known)

    return cached_fact(table, "task rows that may count", find)


def counted_of(table: Table, row: int) -> tuple[str, ...]:
    """Return the counted columns of a row after its identifying cells."""
    return order_of(table).counted[identifying_lengths(table)[row] :]


def predictions_of(table: Table, rows: Sequence[int]) -> Mapping[int, RowPrediction]:
    """Return the predictions of these rows' counted cells, given all cells before them and the `given` columns."""
    order = order_of(table)
    return predict_rows(table, order.counted, order.given, sorted(rows))


def key_of(row: Row, order: ColumnOrder) -> tuple[str | None, ...] | None:
    """Return a written row's key, which equals that of an equal row, or None if a feature is missing."""
    return tuple(cell_key(row[name]) for name in order.columns) if row.keys() >= {*order.columns} else None


def identified_row(table: Table, row: Row) -> int | None:
    """Return the only row of the table with the first cells of a written row, or None if there is none."""
    written: list[Cell] = []
    for length, name in enumerate(order_of(table).counted, 1):
        if name not in row:
            return None
        written.append(cell_key(row[name]))
        place = cached_fact(table, ("task index", length), partial(_index, table, length)).get(tuple(written))
        if place != SEVERAL:
            return place
    return None


def _index(table: Table, length: int) -> dict[Key, int]:
    """Return for each combination of `length` first cells the row that has them, or `SEVERAL`."""
    found: dict[Key, int] = {}
    for row, key in enumerate(keys(table)):
        found[key[:length]] = SEVERAL if key[:length] in found else row
    return found


def differing(table: Table, rows: Sequence[Key]) -> list[int]:
    """Return for each written row, by its key, in how many cells it differs from the table's most similar row."""

    def find() -> tuple[list[dict[Cell, int]], NDArray[np.int64]]:
        columns = list(zip(*keys(table), strict=True))
        codes = [{cell: code for code, cell in enumerate(dict.fromkeys(column))} for column in columns]
        coded = [[code[cell] for cell in column] for code, column in zip(codes, columns, strict=True)]
        return codes, np.array(coded, dtype=np.int64).T

    codes, coded = cached_fact(table, "task codes", find)
    written = ([code.get(cell, -1) for code, cell in zip(codes, row, strict=True)] for row in rows)
    return [int((coded != np.array(row)).sum(axis=1).min()) for row in written]
