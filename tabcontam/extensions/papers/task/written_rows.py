"""The different rows that all answers list, the table's rows that they match, and how similar they are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from tabcontam.evidence.base import FeatureFacts, Prompt, Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.rows.answer_cells import values_bare
from tabcontam.evidence.rows.bits_by_column import entity_names
from tabcontam.evidence.samples import MARK
from tabcontam.extensions.papers.answers_of_several_rows import cells_of, column_of, group_by_row
from tabcontam.extensions.papers.memcheck.csv_row_tests import cell_key
from tabcontam.extensions.papers.task.packed_table import unpacked
from tabcontam.extensions.papers.task.row_keys import (
    counted_of,
    differing,
    identified_row,
    key_of,
    may_count,
    order_of,
    predictions_of,
)
from tabcontam.extensions.papers.task.rows_in_answers import Row, may_be
from tabcontam.extensions.papers.thresholds import MOST_CLASS_WORDS, MOST_NEAR_ROW_CELLS, MOST_READING_VALUES
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import same_value
from tabcontam.reading.numbers import is_number
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.table import Cell, Table


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
        whole = [key for row in self.rows if (key := key_of(row, order_of(self.table))) is not None]
        apart = differing(self.table, whole)
        most = min(MOST_NEAR_ROW_CELLS, (len(self.table.columns) - 1) // 2)  # less than half of the cells
        exact, near = apart.count(0), sum(0 < cells <= most for cells in apart)
        again = f", {self.repeated} of them again" if self.repeated else ""
        form = max(0, sum(map(self._of_its_form, self.rows)) - exact - near)
        invented = len(self.rows) - exact - near - form + self.strange
        like = f"{exact} equal rows of the table, {near} nearly do, {form} have its form alone"
        return f"{len(self.rows) + self.repeated + self.strange} rows written{again}: {like}, {invented} another form"

    def _of_its_form(self, row: Row) -> bool:
        """Return whether a written row has every feature and, in features with few words, only the table's words."""
        classes = cached_fact(self.table, "few words", lambda: _few_words(self.table))
        return all(name in row for name in self.table.columns) and all(
            cell is None or cell_key(cell) in classes.get(name, {cell_key(cell)}) for name, cell in row.items()
        )


def written_rows(trials: Sequence[Trial]) -> WrittenRows | None:
    """Return the rows that the answers of these trials list, or None if no query carries the table."""
    packed = next((text for trial in trials for text in trial.query.not_expected), None)
    if packed is None:
        return None
    table = unpacked(packed)
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
    """Return trials about the table's rows: the answers about the cells after those that identify a row.

    Several written rows with the same first cells are samples of one query.
    """
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


def _sorts_of(table: Table) -> dict[str, FeatureValues]:
    """Return the values of each feature by which answers are read: the most frequent ones, and one that is a word."""

    def sort(name: str) -> FeatureValues:
        word = [value for value in table.distinct(name) if not is_number(value)][:1]
        return FeatureValues((*table.distinct(name)[:MOST_READING_VALUES], *word))

    return cached_fact(table, "sorts of features", lambda: {name: sort(name) for name in table.columns})


def _numeric(table: Table) -> list[str]:
    return [name for name in table.columns if _sorts_of(table)[name].numeric]


def _few_words(table: Table) -> dict[str, set[Cell]]:
    """Return the values of each feature that has few different words, as keys to compare."""
    own = {name: table.distinct(name) for name in table.columns if name not in _numeric(table)}
    return {name: set(map(cell_key, values)) for name, values in own.items() if len(values) <= MOST_CLASS_WORDS}
