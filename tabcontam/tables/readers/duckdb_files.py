"""Tables of DuckDB databases, with values as DuckDB writes them. A copy is read, and views can access no other file."""

import atexit
import gc
import tempfile
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

from tabcontam.errors import UsageError, one_line
from tabcontam.tables.readers.base import MOST_CELLS, File, choose_part, missing_extra, sql_name, too_many_cells
from tabcontam.tables.table_contents import Contents, contents

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAGIC = b"DUCK"
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


# place: position of the magic bytes
def is_duckdb(content: bytes, *, place: int = 8) -> bool:
    """Return whether the bytes are a DuckDB database."""
    return content[place : place + len(MAGIC)] == MAGIC


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
    if file.path is not None and (log := Path(f"{file.path}.wal")).is_file() and log.stat().st_size:
        problem = f"{file.name} has changes that are not in the file yet"
        raise UsageError(f"{problem}; close what writes to it, or type: duckdb {file.name} CHECKPOINT")
    with tempfile.TemporaryDirectory(prefix="tabcontam-") as folder:
        copy = Path(folder) / "table.duckdb"
        copy.write_bytes(file.content)
        try:
            with duckdb.connect(str(copy), read_only=True, config=dict(CONFINED)) as connection:
                return _contents(file, connection)
        except duckdb.Error as error:
            what = one_line(error).replace(str(copy), file.name)
            raise UsageError(f"{file.name} is not a readable DuckDB database: {what}") from None


# seconds: time limit for a view
def _contents(file: File, connection: "DuckDBPyConnection", *, seconds: float = 60.0) -> Contents:
    found = {table if schema == "main" else f"{schema}.{table}": (schema, table)
             for schema, table in connection.execute(TABLES).fetchall()}  # fmt: skip
    name = choose_part(file, "table", list(found))
    schema, table = found[name]
    where = f"{sql_name(schema)}.{sql_name(table)}"
    clock = Timer(seconds, connection.interrupt)
    clock.start()
    try:
        cells = connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {where}")  # noqa: S608 (names are quoted)
        columns = [name for name, *_ in cells.description]
        most = MOST_CELLS // max(1, len(columns))
        rows = tuple(cells.fetchmany(most + 1))
    finally:
        clock.cancel()
    if len(rows) > most:
        raise too_many_cells(file.name)
    return contents(columns, rows, file.read_as("DuckDB", f"table {name!r}"))
