"""A Parquet file as a stream of rows, each value written as the reader of whole files writes it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabcontam.errors import UsageError, one_line
from tabcontam.tables.cells import column_names
from tabcontam.tables.large.chunks import MISSING, PADDING, Chunk, from_columns, joined
from tabcontam.tables.large.streams import ahead
from tabcontam.tables.readers.arrow_files import EXTRA, of_table, texts
from tabcontam.tables.readers.base import missing_extra

ROWS = 50_000  # that are read at a time


@dataclass(frozen=True)
class ParquetRows:
    """The columns of a Parquet file, and its rows as often as they are wanted."""

    path: Path
    columns: tuple[str, ...]
    _kept: tuple[int, ...]

    def chunks(self) -> Iterator[Chunk]:
        """The rows. Raises `UsageError` for a file that is damaged."""
        return ahead(self._chunks())

    def _chunks(self) -> Iterator[Chunk]:
        import pyarrow
        import pyarrow.parquet

        try:
            with pyarrow.parquet.ParquetFile(self.path) as file:
                for batch in file.iter_batches(batch_size=ROWS):
                    batch.validate(full=True)
                    yield joined([_column(batch.column(place)) for place in self._kept])
        except (pyarrow.ArrowException, OSError, ValueError, KeyError, OverflowError, SystemError) as error:
            raise UsageError(f"{self.path.name} is not a readable Parquet file: {one_line(error)}") from error


def parquet_rows(path: Path) -> ParquetRows:
    """How a Parquet file is read. Raises `UsageError` for a missing pyarrow, and for what is no Parquet file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise missing_extra(path.name, "a Parquet file", "pyarrow", EXTRA) from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"{path.name} is not a readable Parquet file: {one_line(error)}") from error
    kept = tuple(place for place, name in enumerate(names) if of_table(name))
    return ParquetRows(path, column_names([names[place] for place in kept]), kept)


def _column(cells: Any) -> Chunk:
    """One column as bytes; its numbers and dates by their texts, those of few values each once."""
    import pyarrow

    if pyarrow.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pyarrow.types.is_integer(cells.type):
        cells = cells.cast(pyarrow.large_string())
    if not (pyarrow.types.is_string(cells.type) or pyarrow.types.is_large_string(cells.type)):
        return from_columns([texts(cells)], 1)
    cells = cells.cast(pyarrow.large_string())
    _, offsets, content = cells.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[cells.offset : cells.offset + len(cells) + 1]
    begin, end = (int(ends[0]), int(ends[-1])) if len(cells) else (0, 0)
    own = np.zeros(end - begin + PADDING, dtype=np.uint8)
    if end > begin:
        own[: end - begin] = np.frombuffer(content, dtype=np.uint8)[begin:end]
    lengths = np.diff(ends)
    if cells.null_count:
        lengths = np.where(cells.is_null().to_numpy(zero_copy_only=False), MISSING, lengths)
    return Chunk(own, (ends[:-1] - begin)[None, :], lengths[None, :])
