"""The reader of Parquet: each row is a document. Rows are read in batches, so no whole row group is in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tabcontam.extensions.corpora.search.documents import DocumentStretch, ReaderInput
from tabcontam.extensions.corpora.search.file_opening import DamagedFileError, open_file
from tabcontam.extensions.corpora.search.json_records import paths_of, text_of, text_of_fields
from tabcontam.extensions.corpora.search.tally import Reason
from tabcontam.tables.readers.base import missing_extra

EXTRA = "parquet"
ROWS = 4096  # the most rows of a batch


def need_pyarrow(name: str) -> Any:
    """Return the package that reads Parquet. Raises `UsageError` if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise missing_extra(name, "a Parquet file", "pyarrow", EXTRA) from None
    return pyarrow


def row_groups(path: Path, name: str, split: int) -> list[tuple[int, int]]:
    """Return runs of row groups of about `split` bytes, each as its first group and the group after its last."""
    need_pyarrow(name)
    try:
        with open_file(path) as file:
            metadata = _opened(file).metadata
            sizes = [metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)]
    except (OSError, DamagedFileError):
        return [(0, 1)]  # `read` meets this error too, and reports it
    found, begin, size = [], 0, 0
    for group, bytes_ in enumerate(sizes):
        size += bytes_
        if size >= split:
            found.append((begin, group + 1))
            begin, size = group + 1, 0
    return [*found, (begin, len(sizes))] if size or not found else found


# buffer: bytes of a column that are read at once
def _opened(file: Any, *, buffer: int = 1 << 20) -> Any:
    """Return the file's Parquet reader. Raises `DamagedFileError`."""
    pyarrow = need_pyarrow("a corpus file")
    try:
        return pyarrow.parquet.ParquetFile(file, buffer_size=buffer, pre_buffer=False)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise DamagedFileError(str(error)) from None


def read_parquet(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield the rows of a portion as documents: the values of the named columns, or of all without raw bytes."""
    batch_bytes = 4 << 20  # approximate bytes of a batch of rows
    pyarrow = need_pyarrow(given.portion.name)
    parquet = _opened(given.file)
    columns = _columns(parquet, given)
    if not columns:
        given.note(Reason.NO_FIELD)
        return
    fields = [path for path in paths_of(given.portion.fields) if ".".join(path) in columns or path[0] in columns]
    metadata = parquet.metadata
    number = sum(metadata.row_group(group).num_rows for group in range(given.portion.start))
    try:
        for group in range(given.portion.start, given.portion.end):
            facts = metadata.row_group(group)
            rows = max(1, min(ROWS, batch_bytes * facts.num_rows // max(1, facts.total_byte_size)))
            for batch in parquet.iter_batches(rows, row_groups=[group], columns=columns, use_threads=False):
                for row in _rows(pyarrow, batch, fields):
                    number += 1
                    yield from given.document(given.source(number), row)
    except (pyarrow.ArrowException, ValueError, IndexError) as error:
        raise DamagedFileError(str(error)) from None


def _columns(parquet: Any, given: ReaderInput) -> list[str]:
    """Return the columns to read: the named ones, or all columns except columns of raw bytes (such as pictures)."""
    pyarrow = need_pyarrow(given.portion.name)
    schema = parquet.schema_arrow
    if given.portion.fields:
        names = [name for path in paths_of(given.portion.fields) for name in (".".join(path), path[0])]
        return [name for name in dict.fromkeys(names) if name in schema.names]
    binary = [field.name for field in schema if _is_binary(pyarrow, field.type)]
    if binary and not given.portion.start:
        given.note(Reason.BYTES, len(binary))
    return [name for name in schema.names if name not in binary]


def _rows(pyarrow: Any, batch: Any, fields: list[tuple[str, ...]]) -> Iterator[bytes | str]:
    """Yield the text of each row of a batch."""
    columns = [_texts(pyarrow, column) for column in batch.columns]
    if None not in columns:
        yield from map(b"\n".join, zip(*(column for column in columns if column is not None), strict=True))
        return
    for row in batch.to_pylist():
        found = text_of_fields(row, fields) if fields else text_of(row)
        yield found or ""


def _texts(pyarrow: Any, column: Any) -> list[bytes] | None:
    """Return the values of a column of text or numbers as UTF-8, or None if its values are nested."""
    types = pyarrow.types
    kind = column.type
    if types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if not (types.is_string(kind) or types.is_large_string(kind)):
        if types.is_nested(kind) or _is_binary(pyarrow, kind):
            return None
        column = column.cast(pyarrow.string())
        if types.is_floating(kind):
            return [_float(value) for value in column.to_pylist()]
    large = types.is_large_string(column.type)
    values = column.cast(pyarrow.large_binary() if large else pyarrow.binary()).to_pylist()
    return [value or b"" for value in values] if column.null_count else list(values)


def _is_binary(pyarrow: Any, kind: Any) -> bool:
    """Return whether a column has bytes that are not text."""
    types = pyarrow.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))


def _float(value: str | None) -> bytes:
    """Return a floating-point number as Python prints it (5.0), where Arrow prints 5."""
    if value is None:
        return b""
    return f"{value}.0".encode() if value.removeprefix("-").isdigit() else value.encode()
