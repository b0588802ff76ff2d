"""A pandas or polars DataFrame as text: each cell is what the DataFrame's own CSV writer writes."""

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from tabcontam.errors import UsageError
from tabcontam.tables.readers.base import MOST_CELLS
from tabcontam.tables.table_contents import Rows, rows_of

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = "pd.DataFrame | Any"  # or a polars frame; polars need not be installed


def read_frame(frame: "Frame", name: str) -> tuple[tuple[str, ...], Rows, bytes]:
    """Return column names, rows, and the CSV text from which they were read. Raises `UsageError` if it is no frame."""
    columns = _columns(frame, name)
    if len(columns) * len(frame) > MOST_CELLS:
        most = f"more than {MOST_CELLS:,} cells"
        raise UsageError(f"{name} has {most}; write it to a Parquet file, which may have any size, and name the file")
    content = _csv(frame, "\n")
    text = _csv(frame, "\r\n") if "\r" in content else content  # pandas quotes a carriage return only then
    try:
        lines = list(csv.reader(io.StringIO(text, newline="")))[1:]
    except csv.Error as error:  # for example, a cell is too long
        raise UsageError(f"{name} cannot be read as a table: {error}") from error
    return columns, rows_of(lines), content.encode("utf-8", "surrogatepass")


def is_frame(value: object) -> "TypeGuard[Frame]":
    """Return whether `value` is a DataFrame of pandas or polars. Neither library is imported."""
    rows = hasattr(value, "itertuples") or hasattr(value, "iter_rows")  # excludes a query not yet run, such as DuckDB's
    return rows and (hasattr(value, "to_csv") or hasattr(value, "write_csv")) and hasattr(value, "columns")


def to_frame(value: object) -> str:
    """Return advice, in words, on how to convert another library's table to a frame; "" if the library is unknown."""
    found = next((call for call in ("to_pandas", "toPandas", "collect", "df") if hasattr(type(value), call)), "")
    return f"; give the result of its .{found}()" if found else ""


def _columns(frame: Any, name: str) -> tuple[str, ...]:
    if not is_frame(frame):
        raise UsageError(f"{name}: {type(frame).__name__} is no DataFrame of pandas or polars")
    if any(not isinstance(column, str | int | float) for column in frame.columns):
        raise UsageError(f"{name}: the columns need texts as names, on one level; rename them")
    # pandas reads a missing name as NaN, and prompts would show that as a name
    columns = tuple("" if column != column else str(column).strip() for column in frame.columns)
    if "" in columns:
        raise UsageError(f"{name}: column {columns.index('') + 1} has no name; rename it")
    if twice := [column for column, count in Counter(columns).items() if count > 1]:
        raise UsageError(f"{name} has {Counter(columns)[twice[0]]} columns named {twice[0]!r}; rename them")
    return columns


def _csv(frame: Any, end: str) -> str:
    if hasattr(frame, "write_csv"):  # polars, which quotes carriage returns
        return str(frame.write_csv())
    return str(frame.to_csv(index=False, lineterminator=end))
