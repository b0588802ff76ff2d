"""Tables of SQLite and DuckDB databases, read from a copy, so that no file is changed, and views access no other file.

SQLite is read by the standard library, because DuckDB has to download a part to read it.
"""

import atexit
import gc
import tempfile
import time
from contextlib import closing
from itertools import islice
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

from tabcontam.errors import UsageError, one_line
from tabcontam.tables.readers.base import MOST_CELLS, File, choose_part, missing_extra, sql_name, too_many_cells
from tabcontam.tables.table_contents import Contents, Rows, contents

if TYPE_CHECKING:
    from sqlite3 import Connection

    from duckdb import DuckDBPyConnection

SQLITE = b"SQLite format 3\0"
JOURNALED = slice(18, 20)  # the header bytes that are 2 if changes are written to another file
SECONDS = 60.0  # time limit for a view
MEMORY = "2GB"
# The file may come from a stranger, and its views may hold any query.
CONFINED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "lock_configuration": "true",
    "memory_limit": MEMORY,
}
TABLES = """
    SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal
    UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal
"""


def is_duckdb(content: bytes) -> bool:
    """Return whether the bytes are a DuckDB database."""
    return content[8:12] == b"DUCK"


def read_sqlite(file: File) -> Contents:
    """Return column names and rows of a table or view, in the order of row ids. Raises `UsageError`.

    Texts are unchanged, numbers are written as SQLite does, NULL is None.
    """
    import sqlite3

    page, pages = int.from_bytes(file.content[16:18], "big"), int.from_bytes(file.content[28:32], "big")
    size = (65536 if page == 1 else page) * pages
    if len(file.content) < size:
        raise UsageError(f"{file.name} is cut off: it has {len(file.content):,} bytes of {size:,}; copy it again")
    _check_log(file, "-wal", f"sqlite3 {file.name} 'PRAGMA wal_checkpoint(TRUNCATE)'")
    header = bytearray(file.content)
    header[JOURNALED] = b"\1\1"  # a database in memory has no second file
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
        try:
            connection.deserialize(bytes(header))
            return _of_sqlite(file, connection)
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
            raise UsageError(f"{file.name} is not a readable SQLite database: {one_line(error)}") from None


def read_duckdb(file: File) -> Contents:
    """Return column names and rows of a table or view. Raises `UsageError` without duckdb, or for a damaged file.

    Texts are unchanged, other values are as DuckDB writes them, NULL is None. A table in a schema other than the
    default one is named `SCHEMA.TABLE`.
    """
    try:
        import duckdb
    except ImportError:
        raise missing_extra(file.name, "a DuckDB database", "duckdb", "duckdb") from None
    atexit.register(gc.unfreeze)  # without this, duckdb's types print errors when the process ends
    _check_log(file, ".wal", f"duckdb {file.name} CHECKPOINT")
    with tempfile.TemporaryDirectory(prefix="tabcontam-") as folder:
        copy = Path(folder) / "table.duckdb"
        copy.write_bytes(file.content)
        try:
            with duckdb.connect(str(copy), read_only=True, config=dict(CONFINED)) as connection:
                return _of_duckdb(file, connection)
        except duckdb.Error as error:
            what = one_line(error).replace(str(copy), file.name)
            raise UsageError(f"{file.name} is not a readable DuckDB database: {what}") from None


def _check_log(file: File, ending: str, command: str) -> None:
    """Check that no changes are in a second file. Raises `UsageError`, with the command that writes them, if so."""
    log = None if file.path is None else Path(f"{file.path}{ending}")
    if log is not None and log.is_file() and log.stat().st_size:
        problem = f"{file.name} has changes that are not in the file yet"
        raise UsageError(f"{problem}; close what writes to it, or type: {command}")


# steps: steps of SQLite's machine between two checks of the time
def _of_sqlite(file: File, connection: "Connection", *, steps: int = 100_000) -> Contents:
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
    rows = tuple(tuple(map(_cell, row)) for row in islice(found, _most_rows(columns) + 1))
    return _checked(file, "SQLite", table, columns, rows)


def _cell(value: str | bytes | None) -> str | None:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def _of_duckdb(file: File, connection: "DuckDBPyConnection") -> Contents:
    found = {table if schema == "main" else f"{schema}.{table}": (schema, table)
             for schema, table in connection.execute(TABLES).fetchall()}  # fmt: skip
    name = choose_part(file, "table", list(found))
    schema, table = found[name]
    clock = Timer(SECONDS, connection.interrupt)
    clock.start()
    try:
        where = f"{sql_name(schema)}.{sql_name(table)}"
        cells = connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {where}")  # noqa: S608 (names are quoted)
        columns = [name for name, *_ in cells.description]
        rows = tuple(cells.fetchmany(_most_rows(columns) + 1))
    finally:
        clock.cancel()
    return _checked(file, "DuckDB", name, columns, rows)


def _most_rows(columns: list[str]) -> int:
    return MOST_CELLS // max(1, len(columns))


def _checked(file: File, kind: str, table: str, columns: list[str], rows: Rows) -> Contents:
    if len(rows) > _most_rows(columns):
        raise too_many_cells(file.name)
    return contents(columns, rows, file.read_as(kind, f"table {table!r}"))
