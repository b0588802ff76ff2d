"""The different rows that all answers list, the table's rows with which they are compared, and the cells that count.

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
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.table_predictions import RowPrediction, least_sure, predict_rows
from tabcontam.evidence.base import FeatureFacts, Prompt, Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.rows.answer_cells import values_bare
from tabcontam.evidence.rows.bits_by_column import entity_names
from tabcontam.evidence.samples import MARK
from tabcontam.evidence.thresholds import MOST_COUNTED_FEATURES
from tabcontam.extensions.papers.answers_of_several_rows import cells_of, column_of, group_by_row
from tabcontam.extensions.papers.memcheck.csv_row_tests import cell_key
from tabcontam.extensions.papers.task.packed_table import carried_table
from tabcontam.extensions.papers.task.rows_in_answers import Row, may_be
from tabcontam.extensions.papers.thresholds import (
    MOST_CLASS_WORDS,
    MOST_NEAR_ROW_CELLS,
    MOST_READING_VALUES,
    PRINTED_FIRST_ROWS,
    PRINTED_LAST_ROWS,
)
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import same_value
from tabcontam.reading.numbers import is_number
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.tables.cached_facts import table_fact
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


@table_fact
def order_of(table: Table) -> ColumnOrder:
    """Return the order of a table's columns, the same for every seed."""
    columns = tuple(name for name in table.columns if not _numbers_rows(table, name))
    hardest = least_sure(table, columns, min(MOST_COUNTED_FEATURES, len(columns) - 1)) if len(columns) > 1 else ()
    return ColumnOrder(hardest, tuple(name for name in columns if name not in hardest))


def _numbers_rows(table: Table, name: str) -> bool:
    """Return whether a column numbers the rows in the file's order; knowing such a number is no memory of a row."""
    cells = [int(cell) for cell in table.column(name) if cell is not None and cell.removeprefix("-").isdecimal()]
    if len(cells) != len(table.rows) or len(cells) < 2:
        return False
    step = (cells[1] - cells[0]) // (table.places[1] - table.places[0])
    return step != 0 and all(cell == cells[0] + step * place for cell, place in zip(cells, table.places, strict=True))


@table_fact
def keys(table: Table) -> list[Key]:
    """Return each row's key: its cells in the order of `order_of`; equal rows have equal keys."""
    places = [table.columns.index(name) for name in order_of(table).columns]
    return [tuple(row[place] for place in places) for row in keys_of(table, table.rows)]


@table_fact
def identifying_lengths(table: Table) -> dict[int, int]:
    """Return for each row the number of first cells that identify it; rows that no cells identify are left out."""
    found: dict[int, int] = {}
    for length in range(1, len(order_of(table).counted) + 1):
        times = Counter(key[:length] for key in keys(table))
        for row, key in enumerate(keys(table)):
            if row not in found and times[key[:length]] == 1:
                found[row] = length
    return found


@table_fact
def may_count(table: Table) -> frozenset[int]:
    """Return the rows with cells that can count: not known rows, and not those at the beginning and end of the file."""
    width, middle = len(order_of(table).counted), range(PRINTED_FIRST_ROWS, len(table.rows) - PRINTED_LAST_ROWS)
    lengths, known = identifying_lengths(table), known_rows(table)
    return frozenset(row for row in middle if lengths.get(row, width) < width and row not in known)


def counted_of(table: Table, row: int) -> tuple[str, ...]:
    """Return the counted columns of a row after its identifying cells."""
    return order_of(table).counted[identifying_lengths(table)[row] :]


def predictions_of(table: Table, rows: Sequence[int]) -> Mapping[int, RowPrediction]:
    """Return the predictions of these rows' counted cells, given all cells before them and the `given` columns."""
    order = order_of(table)
    return predict_rows(table, order.counted, order.given, sorted(rows))


def identified_row(table: Table, row: Row) -> int | None:
    """Return the only row of the table with the first cells of a written row, or None if there is none."""
    written: list[Cell] = []
    for length, name in enumerate(order_of(table).counted, 1):
        if name not in row:
            return None
        written.append(cell_key(row[name]))
        place = _index(table, length).get(tuple(written))
        if place != SEVERAL:
            return place
    return None


@table_fact
def _index(table: Table, length: int) -> dict[Key, int]:
    """Return for each combination of `length` first cells the row that has them, or `SEVERAL`."""
    found: dict[Key, int] = {}
    for row, key in enumerate(keys(table)):
        found[key[:length]] = SEVERAL if key[:length] in found else row
    return found


def differing(table: Table, rows: Sequence[Key]) -> list[int]:
    """Return for each written row, by its key, in how many cells it differs from the table's most similar row."""
    codes, coded = _codes(table)
    written = ([code.get(cell, -1) for code, cell in zip(codes, row, strict=True)] for row in rows)
    return [int((coded != np.array(row)).sum(axis=1).min()) for row in written]


@table_fact
def _codes(table: Table) -> tuple[list[dict[Cell, int]], NDArray[np.int64]]:
    """Return the numbers of the cells in each column of the keys, and all keys as numbers, rows by columns."""
    columns = list(zip(*keys(table), strict=True))
    codes = [{cell: code for code, cell in enumerate(dict.fromkeys(column))} for column in columns]
    coded = [[code[cell] for cell in column] for code, column in zip(codes, columns, strict=True)]
    return codes, np.array(coded, dtype=np.int64).T


@dataclass(frozen=True)
class WrittenRows:
    """The table with which answers are compared, the different rows that they list, and the number of repetitions.

    `strange` counts further rows, which are left out since they have words in columns of numbers.
    """

    table: Table
    rows: tuple[Row, ...]
    repeated: int
    strange: int = 0

    @property
    def in_words(self) -> str:
        """The number of rows, and how similar they are to the table's rows, in words."""
        columns = order_of(self.table).columns
        whole = [row for row in self.rows if row.keys() >= {*columns}]
        apart = differing(self.table, [tuple(cell_key(row[name]) for name in columns) for row in whole])
        most = min(MOST_NEAR_ROW_CELLS, (len(self.table.columns) - 1) // 2)  # less than half of the cells
        exact, near = apart.count(0), sum(0 < cells <= most for cells in apart)
        again = f", {self.repeated} of them again" if self.repeated else ""
        form = max(0, sum(map(self._of_its_form, self.rows)) - exact - near)
        invented = len(self.rows) - exact - near - form + self.strange
        like = f"{exact} equal rows of the table, {near} nearly do, {form} have its form alone"
        return f"{len(self.rows) + self.repeated + self.strange} rows written{again}: {like}, {invented} another form"

    def _of_its_form(self, row: Row) -> bool:
        """Return whether a written row has every feature and, in features with few words, only the table's words."""
        classes = _few_words(self.table)
        return all(name in row for name in self.table.columns) and all(
            cell is None or cell_key(cell) in classes.get(name, {cell_key(cell)}) for name, cell in row.items()
        )


def written_rows(trials: Sequence[Trial]) -> WrittenRows | None:
    """Return the rows that the answers of these trials list, or None if no query carries the table."""
    table = carried_table(trials)
    if table is None:
        return None
    every = [row for trial in trials for row in _listed(trial, table)]
    rows = [row for row in every if may_be(row, _numeric(table))]
    strange = {_identity(row) for row in every if not may_be(row, _numeric(table))}
    different = {_identity(row): row for row in reversed(rows)}
    again = len(every) - len(different) - len(strange)
    return WrittenRows(table, tuple(reversed(different.values())), again, len(strange))


def _listed(trial: Trial, table: Table) -> list[Row]:
    """Return all rows that one read answer lists."""
    cells, sorts = cells_of(trial), _sorts_of(table)
    listed = [{column_of(name): cells[name] for name in names} for names in group_by_row(list(cells))]
    known = [{name: cell for name, cell in row.items() if name in sorts} for row in listed]
    return [values_bare(_with_code(row, table), sorts) for row in known]


def identified_rows(trial: Trial, table: Table) -> set[int]:
    """Return the rows of the table that one answer's rows identify; written rows with words for numbers are ignored."""
    rows = (row for row in _listed(trial, table) if may_be(row, _numeric(table)))
    return {place for row in rows if (place := identified_row(table, row)) is not None}


def trials_by_row(found: WrittenRows) -> list[Trial]:
    """Return trials about the table's rows; written rows with the same first cells are samples of one query."""
    table = found.table
    by_row = grouped(found.rows, partial(identified_row, table))
    own = {row: written for row, written in by_row.items() if row is not None and row in may_count(table)}
    if not own:
        return []
    predictions, lies_in = predictions_of(table, list(own)), entity_names(table, table.columns)

    def trials(row: int) -> list[Trial]:
        names = counted_of(table, row)
        cells = [table.rows[row][table.columns.index(name)] for name in names]
        truth = {name: None if table.is_missing(cell) else cell for name, cell in zip(names, cells, strict=True)}
        chance = {name: predictions[row].cells[name] for name in names}
        entities = {name: lies_in[name] for name in names if name in lies_in}
        expected = tuple(truth.values())
        query = Query(
            f"row-{row}{MARK}", _unasked, names, expected, 0, chance=chance, row=row, features=FeatureFacts(entities)
        )
        answers = ({name: written[name] for name in names if name in written} for written in own[row])
        return [_trial(replace(query, id=f"{query.id}{at}"), answer) for at, answer in enumerate(answers, 1)]

    return [trial for row in sorted(own) for trial in trials(row)]


def _trial(query: Query, written: Row) -> Trial:
    """Return the read trial of an answer with these cells."""
    truth = dict(zip(query.asked, query.expected, strict=True))
    right = tuple(name for name, cell in written.items() if same_value(cell, truth[name]))
    whole = bool(right) and len(right) == sum(cell is not None for cell in truth.values())
    return Trial(query, Reply("", ReplyState.OK), Reading(written or None, whole, False, bool(written), right))


def _unasked() -> Prompt:
    raise LookupError("no model was asked for the rest of a single row")


def _identity(row: Row) -> tuple[tuple[str, Cell], ...]:
    """Return a row's key; equal rows have equal keys."""
    return tuple((name, cell_key(cell)) for name, cell in sorted(row.items()))


def _with_code(row: Row, table: Table) -> Row:
    """Return the row with the code of its label if the answer writes the label's name (`setosa` for 0)."""
    codes = {name.casefold(): code for code, name in table.names_of_codes(table.target).items()} if table.target else {}
    label = row.get(table.target or "")
    return {**row, table.target or "": codes[label.casefold()]} if label and label.casefold() in codes else row


@table_fact
def _sorts_of(table: Table) -> dict[str, FeatureValues]:
    """Return the values of each feature by which answers are read: the most frequent ones, and one that is a word."""

    def sort(name: str) -> FeatureValues:
        word = [value for value in table.distinct(name) if not is_number(value)][:1]
        return FeatureValues((*table.distinct(name)[:MOST_READING_VALUES], *word))

    return {name: sort(name) for name in table.columns}


def _numeric(table: Table) -> list[str]:
    return [name for name in table.columns if _sorts_of(table)[name].numeric]


@table_fact
def _few_words(table: Table) -> dict[str, set[Cell]]:
    """Return the values of each feature that has few different words, as keys to compare."""
    own = {name: table.distinct(name) for name in table.columns if name not in _numeric(table)}
    return {name: set(map(cell_key, values)) for name, values in own.items() if len(values) <= MOST_CLASS_WORDS}
