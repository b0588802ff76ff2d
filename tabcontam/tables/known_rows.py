"""Known rows: rows that a model may rightly know, such as a published training split.

A table keeps all of its rows. Rows that are also in a known file train the baseline and are never asked about. Rows
that only the known file contains train the baseline and are never shown in a prompt.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import compress

from tabcontam.errors import UsageError, option_name
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.file_specs import named_file
from tabcontam.tables.readers.base import FOUND_OUT, TextFormat
from tabcontam.tables.sources import is_address
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.tables.table_contents import few

Row = tuple[Cell, ...]


@dataclass(frozen=True)
class ExtraRow:
    """A row of a known file that the table does not contain: the file, and the row's place in it."""

    rows: Sequence[Row]
    place: int

    @property
    def cells(self) -> Row:
        return self.rows[self.place]

    def earlier(self, by: int) -> Row | None:
        """Return the row `by` rows before this one in its file (0: this row); None if the file begins later."""
        return self.rows[self.place - by] if self.place >= by else None


def load_known(specs: Iterable[str | Table], form: TextFormat = FOUND_OUT) -> tuple[Table, ...]:
    """Return the known files, each once. Texts are read with the user's options in `form`. Raises `UsageError`."""
    found: dict[str | int, Table] = {}
    for spec in specs:
        if not isinstance(spec, str):
            found[id(spec)] = spec
        elif spec not in found:
            read_as = form if named_file(spec) is not None or is_address(spec) else FOUND_OUT
            found[spec] = load_table(spec, form=read_as, whole=True)
    return tuple(found.values())


def has_columns(file: Table, table: Table) -> bool:
    """Return whether a file has all columns of a table, in any order."""
    return set(table.columns) <= set(file.columns)


def with_known(tables: Sequence[Table], files: Sequence[Table]) -> tuple[Table, ...]:
    """Return the tables, each with the rows of the known files that have all of its columns.

    Raises `UsageError` for a file that fits no table, and for a table whose rows are all in known files.
    """
    for file in files:
        if not any(has_columns(file, table) for table in tables):
            problem = f"{option_name('known')}: {lacking_columns(file, tables)}"
            raise UsageError(f"{problem}; give a file with all columns of a dataset, under the same names")
    found = []
    for table in tables:
        own = [in_columns(file, table) for file in files if has_columns(file, table)]
        found.append(replace(table, known=(*table.known, *own)) if own else table)
        if own and len(known_rows(found[-1])) == len(table.rows):
            given = option_name("known")
            problem = f"{given}: every row of {table.name} is in a known file"
            raise UsageError(f"{problem}, so that none is left to ask about")
    return tuple(found)


def lacking_columns(file: Table, tables: Sequence[Table]) -> str:
    """Return, in words, the columns that a file lacks in comparison with the table that it resembles most."""
    lacking = [([name for name in table.columns if name not in file.columns], table) for table in tables]
    names, table = min(lacking, key=lambda one: len(one[0]))
    return f"{file.name} lacks the column {few(names)} of {table.name}"


def place_of(file: Table, tables: Sequence[Table], given: str) -> int:
    """Return the index of the only table whose columns `file` has. Raises `UsageError`, naming the option `given`."""
    fitting = [place for place, table in enumerate(tables) if has_columns(file, table)]
    if not fitting:
        problem = f"{option_name(given)}: {lacking_columns(file, tables)}"
        raise UsageError(f"{problem}; give rows of the same source with all of its columns, under the same names")
    if len(fitting) > 1:
        names = " and ".join(tables[place].named for place in fitting[:2])
        raise UsageError(f"{option_name(given)}: {file.name} has the columns of {names}; test one of them at a time")
    return fitting[0]


def in_columns(file: Table, table: Table) -> tuple[Row, ...]:
    """Return the file's rows, with the columns in the table's order. Cells that the file marks as missing are None."""
    columns = [file.column(name) for name in table.columns]
    if file.missing:
        columns = [tuple(None if file.is_missing(cell) else cell for cell in cells) for cells in columns]
    return tuple(zip(*columns, strict=True))


@table_fact
def known_rows(table: Table) -> frozenset[int]:
    """Return the places of the table's rows that a known file contains, too: no query asks about them."""
    return frozenset(compress(range(len(table.rows)), known_among(table, table.rows)))


def known_among(table: Table, rows: Sequence[Row]) -> list[bool]:
    """Return for each row whether a known file contains it. The rows have the table's columns."""
    if not table.known or not rows:
        return [False] * len(rows)
    known = {key for file in table.known for key in keys_of(table, file)}
    return [key in known for key in keys_of(table, rows)]


def not_known(table: Table, rows: Iterable[int]) -> list[int]:
    """Return those of the places `rows` at which the table has a row that is in no known file."""
    known = known_rows(table)
    return [row for row in rows if row not in known]


@table_fact
def extra_rows(table: Table) -> tuple[ExtraRow, ...]:
    """Return the rows that only known files contain, each once, sorted by content."""
    if not table.known:
        return ()
    own = set(keys_of(table, table.rows))
    found: dict[Row, ExtraRow] = {}
    for rows in table.known:
        for place, key in enumerate(keys_of(table, rows)):
            if key not in own and key not in found:
                found[key] = ExtraRow(rows, place)
    order = _by_name(table)
    return tuple(sorted(found.values(), key=lambda extra: [extra.cells[place] or "" for place in order]))


# shown: most rows that a prompt shows before a row
@table_fact
def known_digest(table: Table, *, shown: int = 4) -> str | None:
    """Return a digest of the rows that known files add to a table; None if there are no known files.

    It does not depend on the order of the table's columns.
    """
    if not table.known:
        return None
    order = _by_name(table)

    def in_order(row: Row | None) -> list[Cell] | None:
        return None if row is None else [row[place] for place in order]

    own = sorted([cell or "" for cell in in_order(table.rows[place]) or ()] for place in known_rows(table))
    extra = [[in_order(one.earlier(by)) for by in range(shown + 1)] for one in extra_rows(table)]
    return sha256(json.dumps([own, extra]).encode()).hexdigest()


def _by_name(table: Table) -> list[int]:
    return sorted(range(len(table.columns)), key=table.columns.__getitem__)


def keys_of(table: Table, rows: Sequence[Row]) -> list[Row]:
    """Return a key for each row, equal for rows that differ only in how they write numbers and missing values."""

    def keys(cells: Sequence[Cell]) -> list[Cell]:
        known = {cell: None if cell is None or table.is_missing(cell) else value_key(cell) for cell in set(cells)}
        return [known[cell] for cell in cells]

    return list(zip(*map(keys, zip(*rows, strict=True)), strict=True))
