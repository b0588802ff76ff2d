"""A Parquet file as text: each value written the way Python prints it, null as None."""

import io
from datetime import date, time
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.tables.text_files import Rows, column_names

MAGIC = b"PAR1"
_PANDAS_INDEX = "__index_level_"  # a column that pandas keeps beside the table


def read_parquet(content: bytes, name: str) -> tuple[tuple[str, ...], Rows]:
    """Column names and rows; raises `UsageError` for a missing pyarrow or a file that is no Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError(
            f'{name} is a Parquet file, which needs pyarrow; type: pip install "tabcontam[parquet]"'
        ) from None
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(content))
    except (pyarrow.ArrowException, OSError) as error:
        raise UsageError(f"{name} is not a readable Parquet file: {str(error).splitlines()[0]}") from error
    kept = [index for index, column in enumerate(table.column_names) if not column.startswith(_PANDAS_INDEX)]
    columns = [_texts(table.column(index)) for index in kept]
    return column_names([table.column_names[index] for index in kept]), tuple(zip(*columns, strict=True))


def _texts(column: Any) -> list[str | None]:
    write = _single if str(column.type) in ("float", "halffloat") else _written
    return [None if value is None else write(value) for value in column.to_pylist()]


def _single(value: float) -> str:
    """A 32-bit or 16-bit float by its own shortest digits: 0.1, not 0.10000000149011612."""
    import numpy

    return str(numpy.float32(value))


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return repr(value) if isinstance(value, float) else str(value)
