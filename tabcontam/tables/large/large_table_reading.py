"""A large table, read in two passes: first the facts and the sample, then the rows related to the sampled rows."""

import csv
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabcontam.errors import UsageError, one_line, option, unknown
from tabcontam.tables.large.arrow_streams import arrow_rows
from tabcontam.tables.large.chunks import Bools, Chunk, Words, chunk_of, kept_rows
from tabcontam.tables.large.class_sample import ClassSample
from tabcontam.tables.large.column_facts import ColumnFacts, enumerated
from tabcontam.tables.large.file_order_search import lines_of
from tabcontam.tables.large.hashes import BloomFilter, cell_hash
from tabcontam.tables.large.reading_progress import report_progress
from tabcontam.tables.large.resembling_rows import ResemblingRowSearch, in_order, salted_cells
from tabcontam.tables.large.shared_key_rows import SharedKeySearch
from tabcontam.tables.large.table_excerpt import BlockSample, TableExcerpt, WholeTableFacts
from tabcontam.tables.large.text_streams import NotUtf8, StreamLayout, TextFault, UnclosedQuote, ahead, layouts
from tabcontam.tables.readers.archives import ArchiveMember, Stored, opened, packing
from tabcontam.tables.readers.base import MOST_CELLS, TextFormat
from tabcontam.tables.readers.delimited_text import decoded_by
from tabcontam.tables.table_contents import Rows
from tabcontam.tables.thresholds import MOST_ROWS_FOR_TEXTS, MOST_ROWS_READ_WHOLE, MOST_STREAMED_COLUMNS

# Errors of a packed file that ends early or was changed.
CUT_OFF = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
AT_ONCE = 20_000  # rows in memory that are processed together
Stream = Callable[[], Iterator[Chunk]]


class MissingTarget(UsageError):
    """The error for a target that is no column of the table."""


def read_stream(columns: tuple[str, ...], stream: Stream, target: str | None, name: str) -> TableExcerpt | None:
    """Return the excerpt of `stream`, which yields the same rows at each call; None if all rows are kept."""
    if target is not None and target not in columns:
        raise MissingTarget(str(unknown(f"target column of {name}", target, columns)))
    if len(columns) > MOST_STREAMED_COLUMNS:
        _check_cells(len(columns), stream, name)
        return None
    facts = [ColumnFacts(place) for place in range(len(columns))]
    answered = None if target is None else columns.index(target)
    blocks, classes, count, first = BlockSample(), ClassSample(answered), 0, list[tuple[str | None, ...]]()
    for chunk in stream():
        for one in facts:
            one.add(chunk)
        wanted = blocks.wanted(count, chunk.rows)
        blocks.add((wanted + count).tolist(), chunk.texts(wanted.tolist()))
        classes.add(chunk, count)
        first += chunk.texts(range(min(chunk.rows, MOST_ROWS_FOR_TEXTS - len(first))))
        count += chunk.rows
        report_progress(f"{count:,} rows read so far")
    if count <= MOST_ROWS_READ_WHOLE:
        return None
    drawn = dict(zip(*blocks.drawn(), strict=True))
    drawn |= classes.missed(tuple(drawn.values()))
    places = tuple(sorted(drawn))
    rows = kept_rows(drawn[place] for place in places)
    missing = frozenset(mark for one in facts for mark in one.missing())
    own, sampled_places = salted_cells(chunk_of(rows, len(columns))), np.array(places)
    found, key_search, position = ResemblingRowSearch(rows, own), SharedKeySearch(rows, own, missing, count), 0
    lines = lines_of(rows, own, places, missing)
    combinations = _Combinations([one for one in facts if columns[one.place] != target], count)
    bloom = BloomFilter(count * (1 if answered is None else 2))
    for chunk, cells in ahead((chunk, salted_cells(chunk)) for chunk in stream()):
        sampled = np.zeros(chunk.rows, dtype=bool)
        here = (sampled_places >= position) & (sampled_places < position + chunk.rows)
        sampled[sampled_places[here] - position] = True
        found.add(chunk, cells, position, sampled)
        key_search.add(chunk, cells, position, sampled)
        for line in lines:
            line.add(chunk, cells, sampled)
        combinations.add(cells)
        sums = cells.sum(axis=0, dtype=np.uint64)
        bloom.add(sums)
        if answered is not None:
            bloom.add(sums - cells[answered])
        position += chunk.rows
        total = max(position, count)
        report_progress(f"{position / total:.0%} of {total:,} rows read a second time")
    if position != count:
        raise TextFault(f"{name} changed while it was read; read it again")
    names = dict(zip(columns, facts, strict=True))
    distinct = {name: values for name, one in names.items() if (values := one.values(missing)) is not None}
    whole = WholeTableFacts(
        rows=count,
        places=places,
        resembling=in_order(found.found.items()),
        key_rows=kept_rows(in_order(key_search.found.items())),
        distinct=distinct,
        numeric=frozenset(name for name, one in names.items() if one.is_numeric(missing)),
        enumerates_domain=combinations.all_occur,
        bloom=bloom.packed(),
        adjoining=tuple(line.found(columns) for line in lines),
    )
    return TableExcerpt(columns, rows, whole, missing, tuple(first))


def _check_cells(columns: int, stream: Stream, name: str) -> None:
    """Check that a wide table, which is kept whole, fits into memory. Raises `UsageError` if not."""
    rows = 0
    for chunk in stream():
        rows += chunk.rows
        if rows * columns > MOST_CELLS:
            size = f"{name} has {columns:,} columns and more than {MOST_CELLS:,} cells"
            problem = f"{size}, too many for memory"
            raise TextFault(f"{problem}; leave columns out until {MOST_STREAMED_COLUMNS} remain, or leave rows out")


class _Combinations:
    """The combinations of feature values that occur, recorded if there are enough rows to have all of them."""

    def __init__(self, features: Sequence[ColumnFacts], rows: int) -> None:
        self._features: list[tuple[int, Words, int]] = []
        self._seen: Bools = np.zeros(0, dtype=bool)
        sizes = [None if one.counts is None else len(one.counts) for one in features]
        if not enumerated(sizes, rows):
            return
        step = 1
        for one in features:
            values = np.sort(np.array([cell_hash(value, one.place) for value in one.counts or ()], dtype=np.uint64))
            self._features.append((one.place, values, step))
            step *= len(values)
        self._seen = np.zeros(step, dtype=bool)

    def add(self, cells: Words) -> None:
        """Record the combinations in these rows."""
        if len(self._seen):
            parts = [np.searchsorted(values, cells[place]) * step for place, values, step in self._features]
            codes = np.sum(parts, axis=0)
            self._seen[np.minimum(codes, len(self._seen) - 1)] = True  # a value is new if the file has changed

    @property
    def all_occur(self) -> bool:
        """True if every combination occurs."""
        return bool(len(self._seen)) and bool(self._seen.all())


def read_rows(columns: tuple[str, ...], rows: Rows, target: str | None, name: str) -> TableExcerpt | None:
    """Return the excerpt of rows that are in memory."""

    def chunks() -> Iterator[Chunk]:
        for start in range(0, len(rows), AT_ONCE):
            yield chunk_of(rows[start : start + AT_ONCE], len(columns))

    return read_stream(columns, chunks, target, name)


def read_text(path: Stored, name: str, form: TextFormat, target: str | None) -> TableExcerpt | None:
    """Return the excerpt of a file of delimited text, packed or not. Raises `UsageError` for a file without a table."""
    try:
        return _read_text(path, name, form, target)
    except NotUtf8 as error:
        _check_whole(path, name)
        if form.encoding is not None or not error.content:
            raise
        _, codec = decoded_by(error.content, name)
        return _read_text(path, name, replace(form, encoding=codec), target)
    except MissingTarget:
        raise
    except UsageError:
        _check_whole(path, name)
        raise
    except CUT_OFF as error:
        raise _not_whole(path, name, error) from None


def _read_text(path: Stored, name: str, form: TextFormat, target: str | None) -> TableExcerpt | None:
    problem: UsageError | None = None
    unclosed, quoted = False, False
    for layout in _also_escaped(layouts(path, name, form)):
        if layout.dialect.quoting == "none" and layout.dialect.delimiter in ",;":
            # between tabs and bars quotes may be text; between other delimiters an open quote is an error
            problem = problem if quoted else _left_open(layout)
            if unclosed or (problem and not quoted):
                break
        quoted = quoted or layout.dialect.quoting != "none"
        try:
            read = read_stream(layout.columns, layout.chunks, target, name)
            return None if read is None else replace(read, how=layout.how)
        except (MissingTarget, TextFault, NotUtf8):
            raise
        except UsageError as error:
            problem = problem or error
        except csv.Error as error:
            message = str(error) if isinstance(error, UnclosedQuote) else f"{name} cannot be read as a table: {error}"
            unclosed = unclosed or (isinstance(error, UnclosedQuote) and error.never)
            problem = problem or UsageError(message)
    raise problem or UsageError(f"{name} has one column; give a table with two or more, or its {option('delimiter')}")


def _left_open(layout: StreamLayout) -> UsageError | None:
    """Return the error for a quote that is never closed, if quotes enclose cells; None if all are closed."""
    try:
        for _ in replace(layout, dialect=layout.dialect.with_quoting("doubled")).chunks():
            pass
    except UnclosedQuote as error:
        return UsageError(str(error)) if error.never else None
    except (csv.Error, UsageError):
        pass
    return None


# at_a_time: bytes that are read at a time
def _check_whole(path: Stored, name: str, *, at_a_time: int = 4 * 1024 * 1024) -> None:
    """Check that a packed file is undamaged: damage would look like an error in its text. Raises `UsageError`."""
    if not packing(path):
        return
    try:
        with opened(path) as file:
            while file.read(at_a_time):
                pass
    except CUT_OFF as error:
        raise _not_whole(path, name, error) from None


def _not_whole(path: Stored, name: str, error: Exception) -> UsageError:
    if isinstance(path, ArchiveMember):
        return UsageError(f"{path.archive.name} is not a whole ZIP archive: {one_line(error)}")
    kind = packing(path)
    whole = f"is not a whole {kind} file" if kind else "cannot be read to its end"
    return UsageError(f"{name} {whole}: {one_line(error)}")


def _also_escaped(found: Sequence[StreamLayout]) -> Iterator[StreamLayout]:
    """Yield the layouts; layouts with backslash-escaped quotes come before layouts with quotes as plain text."""
    quotings = [layout.dialect.quoting for layout in found]
    plain = quotings.index("none") if "none" in quotings else len(found)
    yield from found[:plain]
    if "escaped" not in quotings:
        for layout in found[:plain]:
            yield replace(layout, dialect=layout.dialect.with_quoting("escaped"))
    yield from found[plain:]


def read_arrow(path: Path, title: str, target: str | None) -> TableExcerpt | None:
    """Return the excerpt of a Parquet, Feather, Arrow or ORC file. Raises `UsageError` as their readers do."""
    found = arrow_rows(path, title)
    read = read_stream(found.columns, found.chunks, target, path.name)
    return None if read is None else replace(read, how=found.how)
