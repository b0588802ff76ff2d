"""Tables of SQLite databases, read from a copy in memory, so that no file is changed.

By the standard library, because DuckDB has to download a part to read SQLite.
"""

import time
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.errors import UsageError, one_line
from tabcontam.tables.readers.base import MOST_CELLS, File, choose_part, sql_name, too_many_cells
from tabcontam.tables.table_contents import Contents, contents

if TYPE_CHECKING:
    from sqlite3 import Connection

MAGIC = b"SQLite format 3\0"
JOURNALED = slice(18, 20)  # the header bytes that are 2 if changes are written to another file
SECONDS = 60.0  # time limit for a view


def read_sqlite(file: File) -> Contents:
    """Return column names and rows of a table or view, in the order of row ids. Raises `UsageError`.

    Texts are unchanged, numbers are written as SQLite does, NULL is None.
    """
    import sqlite3

    _check_whole(file)
    header = bytearray(file.content)
    header[JOURNALED] = b"\1\1"  # a database in memory has no second file
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
        try:
            connection.deserialize(bytes(header))
            return _contents(file, connection)
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
            raise UsageError(f"{file.name} is not a readable SQLite database: {one_line(error)}") from None


def _check_whole(file: File) -> None:
    """Check that the file has the whole database: nothing is cut off, nothing in another file. Raises `UsageError`."""
    page, pages = int.from_bytes(file.content[16:18], "big"), int.from_bytes(file.content[28:32], "big")
    size = (65536 if page == 1 else page) * pages
    if len(file.content) < size:
        raise UsageError(f"{file.name} is cut off: it has {len(file.content):,} bytes of {size:,}; copy it again")
    wal = None if file.path is None else Path(f"{file.path}-wal")
    if wal is not None and wal.is_file() and wal.stat().st_size:
        problem = f"{file.name} has changes that are not in the file yet; close what writes to it, or type"
        raise UsageError(f"{problem}: sqlite3 {file.name} 'PRAGMA wal_checkpoint(TRUNCATE)'")


# steps: steps of SQLite's machine between two checks of the time
def _contents(file: File, connection: "Connection", *, steps: int = 100_000) -> Contents:
    connection.execute("PRAGMA trusted_schema = OFF")  # views may call only functions without side effects
    connection.execute("PRAGMA query_only = ON")
    deadline = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, steps)
    listed = connection.execute("SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid")
    kinds = {name: kind for name, kind in listed if not name.startswith("sqlite_")}
    table = choose_part(file, "table", list(kinds))
    where = sql_name(table)
    columns = [name for name, *_ in connection.execute(f"SELECT * FROM {where} LIMIT 0").description]  # noqa: S608
    names = [f"{where}.{sql_name(column)}" for column in columns]  # an unknown name in quotes alone would be a text
    cells = ", ".join(f"CASE typeof({name}) WHEN 'blob' THEN {name} ELSE CAST({name} AS TEXT) END" for name in names)
    as_stored = "NOT INDEXED" if kinds[table] == "table" else ""  # an index would return the rows in index order
    found = connection.execute(f"SELECT {cells} FROM {where} {as_stored}")  # noqa: S608 (names are quoted)
    most = MOST_CELLS // max(1, len(columns))
    rows = tuple(tuple(map(_cell, row)) for row in islice(found, most + 1))
    if len(rows) > most:
        raise too_many_cells(file.name)
    return contents(columns, rows, file.read_as("SQLite", f"table {table!r}"))


def _cell(value: str | bytes | None) -> str | None:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
