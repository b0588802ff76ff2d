"""Parquet, Feather, Arrow and ORC files as streams of rows, with values written as in `arrow_files.py`."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabcontam.errors import UsageError, one_line
from tabcontam.tables.large.chunks import MISSING, PADDING, Chunk, from_columns, joined
from tabcontam.tables.large.text_streams import ahead
from tabcontam.tables.readers.arrow_files import EXTRA, OF_FEATHER, OF_ORC, OF_PARQUET, STREAM, of_table, texts
from tabcontam.tables.readers.base import missing_extra
from tabcontam.tables.table_contents import ReadDescription, contents

ROWS = 20_000  # rows that are read at a time
LEAST, MOST, MOST_SINGLE = 1e-4, 1e10, 1e6  # between these Arrow writes numbers as Python does, 32-bit ones as NumPy


@dataclass(frozen=True)
class ArrowRows:
    """The columns of an Arrow-like file, and its rows, which can be read any number of times."""

    path: Path
    title: str
    columns: tuple[str, ...]
    how: ReadDescription
    _kept: tuple[int, ...]

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows. Raises `UsageError` for a damaged file."""
        return ahead(self._chunks())

    def _chunks(self) -> Iterator[Chunk]:
        import pyarrow

        try:
            with closing(BATCHES[self.title](self.path)) as batches:
                for batch in batches:
                    batch.validate(full=True)
                    for first in range(0, batch.num_rows, ROWS):
                        part = batch.slice(first, ROWS)
                        yield joined([_column(part.column(place)) for place in self._kept])
        except (pyarrow.ArrowException, OSError, ValueError, KeyError, OverflowError, SystemError) as error:
            raise UsageError(f"{self.path.name} is not a readable {self.title} file: {one_line(error)}") from error


def arrow_rows(path: Path, title: str) -> ArrowRows:
    """Return the rows of a file of one of the `BATCHES`. Raises `UsageError` without pyarrow, and for other files."""
    try:
        import pyarrow
    except ImportError:
        raise missing_extra(path.name, f"{'an' if title == OF_ORC else 'a'} {title} file", "pyarrow", EXTRA) from None
    try:
        with _opened(path, title) as file:
            names = (file.schema_arrow if title == OF_PARQUET else file.schema).names
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"{path.name} is not a readable {title} file: {one_line(error)}") from error
    kept = tuple(place for place, name in enumerate(names) if of_table(name))
    found = contents([names[place] for place in kept], (), title)
    return ArrowRows(path, title, found[0], found.how, kept)


@contextmanager
# buffer: bytes of a column that are read at a time
def _opened(path: Path, title: str, *, buffer: int = 1 << 20) -> Iterator[Any]:
    """Yield the file, opened by the reader of its format."""
    import pyarrow
    import pyarrow.ipc

    if title == OF_PARQUET:
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path, buffer_size=buffer) as file:
            yield file
    elif title == OF_ORC:
        import pyarrow.orc

        yield pyarrow.orc.ORCFile(path)
    else:
        with pyarrow.memory_map(str(path)) as content:
            streamed = content.read(len(STREAM)) == STREAM
            content.seek(0)
            with (pyarrow.ipc.open_stream if streamed else pyarrow.ipc.open_file)(content) as file:
                yield file


def _of_parquet(path: Path) -> Generator[Any]:
    with _opened(path, OF_PARQUET) as file:
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        for groups in _together(sizes):
            yield from file.iter_batches(ROWS, groups)


def _of_feather(path: Path) -> Generator[Any]:
    with _opened(path, OF_FEATHER) as file:
        every = range(file.num_record_batches) if hasattr(file, "num_record_batches") else None
        yield from file if every is None else map(file.get_batch, every)


def _of_orc(path: Path) -> Generator[Any]:
    with _opened(path, OF_ORC) as file:
        yield from map(file.read_stripe, range(file.nstripes))


BATCHES: Mapping[str, Callable[[Path], Generator[Any]]] = {
    OF_PARQUET: _of_parquet,
    OF_FEATHER: _of_feather,
    OF_ORC: _of_orc,
}


# held: most rows in memory, of row groups that are read together
def _together(sizes: Sequence[int], *, held: int = 200_000) -> Iterator[list[int]]:
    """Yield groups of row-group numbers that are read together: small row groups are joined."""
    groups, rows = list[int](), 0
    for number, size in enumerate(sizes):
        groups.append(number)
        rows += size
        if rows >= held:
            yield groups
            groups, rows = [], 0
    if groups:
        yield groups


def _column(cells: Any) -> Chunk:
    """Return one column as bytes, each value as `texts` writes it."""
    import pyarrow

    types, kind = pyarrow.types, cells.type
    if types.is_dictionary(kind):
        cells, kind = cells.dictionary_decode(), kind.value_type
    if types.is_float32(kind) or types.is_float64(kind):
        return _bytes(_floats(cells))
    if types.is_integer(kind) or types.is_string(kind) or types.is_large_string(kind):
        return _bytes(cells.cast(pyarrow.large_string()))
    often = types.is_temporal(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    return _each_once(cells) if often else from_columns([texts(cells)], 1)


def _floats(cells: Any) -> Any:
    """Return floats as Python prints them. Arrow computes the same digits, but formats some numbers differently."""
    import pyarrow
    from pyarrow import compute

    written = cells.cast(pyarrow.large_string())
    whole = compute.equal(compute.floor(cells), cells)
    if compute.any(whole).as_py():
        end, none = (pyarrow.scalar(text, written.type) for text in (".0", ""))
        written = compute.binary_join_element_wise(written, compute.if_else(whole, end, none), none)
    sizes, most = compute.abs(cells), MOST_SINGLE if pyarrow.types.is_float32(cells.type) else MOST
    alike = compute.and_(compute.greater_equal(sizes, LEAST), compute.less(sizes, most))
    others = compute.invert(compute.or_(alike, compute.equal(sizes, 0.0)))
    if compute.any(others).as_py():
        own = pyarrow.array(texts(cells.filter(others)), type=written.type)
        written = compute.replace_with_mask(written, others, own)
    return written


def _each_once(cells: Any) -> Chunk:
    """Return values as bytes; equal values are stored once."""
    found = cells.dictionary_encode()
    values = from_columns([texts(found.dictionary)], 1)
    starts, lengths = np.append(values.starts[0], 0), np.append(values.lengths[0], MISSING)
    places = found.indices.fill_null(len(found.dictionary)).to_numpy()
    return Chunk(values.content, starts[places][None, :], lengths[places][None, :])


def _bytes(cells: Any) -> Chunk:
    """Return texts as one array of bytes."""
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
