"""What all answers together list: the different rows, which of the table's are meant, and how like they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tabcontam.evidence.base import Prompt, Query, Reading, Reply, State, Trial
from tabcontam.evidence.rows.by_column import lying_in
from tabcontam.evidence.rows.cells import values_bare
from tabcontam.evidence.rows.several_rows import by_row, column_of
from tabcontam.evidence.rows.task.held import unpacked
from tabcontam.evidence.rows.task.keyed import (
    NEAR,
    cell_key,
    counted_of,
    differing,
    guesses_of,
    key_of,
    may_count,
    meant_row,
    order_of,
)
from tabcontam.evidence.rows.task.said import Row, may_be
from tabcontam.evidence.samples import MARK
from tabcontam.groups import grouped
from tabcontam.reading.answers import Sort
from tabcontam.reading.numbers import is_number
from tabcontam.reading.reading import same_value
from tabcontam.tables.facts import cached_fact
from tabcontam.tables.table import Cell, Table

LISTED = 64  # values of a feature by which a cell is read


@dataclass(frozen=True)
class Written:
    """The table that answers are compared with, the different rows that they list, and how many are listed again."""

    table: Table
    rows: tuple[Row, ...]
    repeated: int

    @property
    def in_words(self) -> str:
        """How many there are, and how like the table's."""
        whole = [key for row in self.rows if (key := key_of(row, order_of(self.table))) is not None]
        apart = differing(self.table, whole)
        exact, near = apart.count(0), sum(0 < cells <= min(NEAR, _most_near(self.table)) for cells in apart)
        again = f", {self.repeated} of them again" if self.repeated else ""
        form = len(self.rows) - exact - near
        counts = f"{exact} exactly rows of the table, {near} nearly, {form} of its form alone"
        return f"{len(self.rows) + self.repeated} rows written{again}: {counts}"


def written(trials: Sequence[Trial]) -> Written | None:
    """What these answers list; None where no query carries the table."""
    held = next((text for trial in trials for text in trial.query.not_expected), None)
    if held is None:
        return None
    table = unpacked(held)
    rows = [row for trial in trials for row in rows_of(trial, table)]
    different = {_identity(row): row for row in reversed(rows)}
    return Written(table, tuple(reversed(different.values())), len(rows) - len(different))


def rows_of(trial: Trial, table: Table) -> list[Row]:
    """The rows that one read answer lists, those aside that have words where the table has numbers."""
    parsed = trial.reading.parsed if trial.readable and trial.reading else None
    if not isinstance(parsed, Mapping):
        return []
    sorts = cached_fact(table, "sorts of features", lambda: _sorts(table))
    numeric = [name for name in table.columns if sorts[name].numeric]
    listed = [{column_of(name): parsed[name] for name in names} for names in by_row(list(parsed))]
    known = [{name: cell for name, cell in row.items() if name in sorts} for row in listed]
    bare = (values_bare(_with_code(row, table), sorts) for row in known)
    return [row for row in bare if may_be(row, numeric)]


def rows_meant(trial: Trial, table: Table) -> set[int]:
    """The rows of the table that the rows of one read answer are meant to be."""
    return {place for row in rows_of(trial, table) if (place := meant_row(table, row)) is not None}


def compared(found: Written) -> list[Trial]:
    """For each row of the table that is meant the answers of what stands behind the cells by which it is told.

    They are trials about that row: several rows that begin alike are samples of one query.
    """
    table = found.table
    meant = grouped(found.rows, partial(meant_row, table))
    own = {row: said for row, said in meant.items() if row is not None and row in may_count(table)}
    if not own:
        return []
    guesses, lies_in = guesses_of(table, list(own)), lying_in(table, table.columns)

    def trials(row: int) -> list[Trial]:
        names = counted_of(table, row)
        cells = [table.rows[row][table.columns.index(name)] for name in names]
        truth = {name: None if table.is_missing(cell) else cell for name, cell in zip(names, cells, strict=True)}
        chance = {name: guesses[row].cells[name] for name in names}
        entities = {name: lies_in[name] for name in names if name in lies_in}
        return [
            _trial(
                Query(
                    f"row-{row}{MARK}{number}",
                    _unasked,
                    names,
                    tuple(truth.values()),
                    0,
                    chance=chance,
                    row=row,
                    lies_in=entities,
                ),
                {name: said[name] for name in names if name in said},
            )
            for number, said in enumerate(own[row], 1)
        ]

    return [trial for row in sorted(own) for trial in trials(row)]


def _trial(query: Query, said: Row) -> Trial:
    """The read trial of a row that goes on like this."""
    truth = dict(zip(query.asked, query.expected, strict=True))
    right = tuple(name for name, cell in said.items() if same_value(cell, truth[name]))
    whole = bool(right) and len(right) == sum(cell is not None for cell in truth.values())
    return Trial(query, Reply("", State.OK), Reading(said or None, whole, False, bool(said), right))


def _unasked() -> Prompt:
    raise LookupError("nobody was asked for the rest of a single row")


def _identity(row: Row) -> tuple[tuple[str, Cell], ...]:
    """What equal rows share."""
    return tuple((name, cell_key(cell)) for name, cell in sorted(row.items()))


def _with_code(row: Row, table: Table) -> Row:
    """The row with the code of its label, where the answer writes what the label is called (`setosa` for 0)."""
    codes = {name.casefold(): code for code, name in table.names_of_codes(table.target).items()} if table.target else {}
    label = row.get(table.target or "")
    return {**row, table.target or "": codes[label.casefold()]} if label and label.casefold() in codes else row


def _sorts(table: Table) -> dict[str, Sort]:
    """What sort of values each feature has, by its most frequent ones."""
    words = {name: [value for value in table.distinct(name) if not is_number(value)][:1] for name in table.columns}
    return {name: Sort((*table.distinct(name)[:LISTED], *words[name])) for name in table.columns}


def _most_near(table: Table) -> int:
    """In how many cells a row of the table may be missed that is nearly written: fewer than half."""
    return (len(table.columns) - 1) // 2
