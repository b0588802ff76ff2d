"""Parquet, Feather, Arrow and ORC files as text: values as Python prints them, null as None.

Python writes the values, because Arrow writes 1.0 as 1.
"""

import io
from datetime import date, time
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.tables.readers.base import File, check_cells, missing_extra
from tabcontam.tables.table_contents import Contents, contents

PARQUET = b"PAR1"
FEATHER = (b"ARROW1", b"FEA1")
STREAM = b"\xff\xff\xff\xff"  # first bytes of an Arrow stream, the format of the library `datasets`
OF_PARQUET, OF_FEATHER, OF_ORC = "Parquet", "Feather or Arrow", "ORC"  # titles of such files
EXTRA = "parquet"
_PANDAS_INDEX = "__index_level_"  # a column that pandas adds to the table


def is_orc(content: bytes) -> bool:
    """Return whether the bytes begin and end like an ORC file."""
    return content.startswith(b"ORC") and b"ORC" in content[-4:]


def read_arrow(file: File, kind: str, title: str) -> Contents:
    """Return column names and rows of a file of this `kind`: Parquet, Feather, Arrow or ORC.

    Raises `UsageError` if pyarrow is not installed, or if the file is of another kind.
    """
    try:
        import pyarrow
    except ImportError:
        raise missing_extra(file.name, kind, "pyarrow", EXTRA) from None
    try:
        table = _table(file.content, title, file.name)
        check_cells(table.num_rows * table.num_columns, file.name)
        table.validate(full=True)  # a changed file may state wrong positions of its cells
        kept = [index for index, column in enumerate(table.column_names) if of_table(column)]
        columns = [texts(table.column(index)) for index in kept]
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, OverflowError, SystemError, MemoryError) as error:
        raise UsageError(f"{file.name} is not a readable {title} file: {one_line(error)}") from error
    header = [table.column_names[index] for index in kept]
    return contents(header, tuple(zip(*columns, strict=True)), file.read_as(title))


def _table(content: bytes, title: str, name: str) -> Any:
    import pyarrow

    source = io.BytesIO(content)
    if title == OF_PARQUET:
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(source) as parquet:
            check_cells(parquet.metadata.num_rows * parquet.metadata.num_columns, name)
            types = pyarrow.types
            texts = [field.name for field in parquet.schema_arrow if types.is_string(field.type)]
        source.seek(0)
        return pyarrow.parquet.read_table(source, read_dictionary=texts)  # repeated texts are stored once
    if title == OF_ORC:
        import pyarrow.orc

        return pyarrow.orc.read_table(source)
    if content.startswith(STREAM):
        import pyarrow.ipc

        return pyarrow.ipc.open_stream(source).read_all()
    import pyarrow.feather

    return pyarrow.feather.read_table(source)


def of_table(column: str) -> bool:
    """Return whether a column, by its name, belongs to the table: pandas adds a column for its index."""
    return not column.startswith(_PANDAS_INDEX)


def texts(column: Any) -> list[str | None]:
    """Return the values of a column of any type as Python prints them; None for null."""
    if hasattr(column.type, "value_type") and hasattr(column.type, "index_type"):  # equal values are one object
        chunks = column.chunks if hasattr(column, "chunks") else [column]
        shared = ((texts(chunk.dictionary), chunk.indices.to_pylist()) for chunk in chunks)
        return [None if place is None else values[place] for values, places in shared for place in places]
    write = _single if str(column.type) in ("float", "halffloat") else _written
    return [None if value is None else write(value) for value in column.to_pylist()]


def _single(value: float) -> str:
    """Return a 32-bit or 16-bit float in the fewest digits for its precision: 0.1, not 0.10000000149011612."""
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
