"""Delimited text as a stream of rows: by the places of its delimiters, or by Python's csv where its quotes are odd.

The fast way takes a text apart only where every reader of CSV agrees how: UTF-8, one delimiter between cells, a line
feed behind each row, quotes around whole cells and doubled within. Whether that is so is checked for every byte. Of
what is otherwise, the rest of the file goes through Python's csv, which is what reads a file that is read whole.
"""

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tabcontam.errors import UsageError, option
from tabcontam.tables.cells import column_names
from tabcontam.tables.large.chunks import MISSING, PADDING, Bytes, Chunk, Ints, from_columns
from tabcontam.tables.readers.archives import opened
from tabcontam.tables.readers.base import TextFormat
from tabcontam.tables.readers.delimited import SAMPLE_BYTES, decoded_by, has_header, uneven
from tabcontam.tables.readers.dialects import SAMPLE_RECORDS, Dialect, find_dialects, usual_width

BEGINNING = 8 * 1024 * 1024  # bytes by which encoding, delimiter and header are found out
READ = 4 * 1024 * 1024  # bytes that are taken apart at a time
LONGEST = 256 * 1024 * 1024  # bytes of one row
ROWS = 20_000  # that Python's csv reads at a time
AHEAD = 3  # chunks that are read before they are asked for
CR, LF, QUOTE = ord("\r"), ord("\n"), ord('"')
Quotes = NDArray[np.int32]
Item = TypeVar("Item")


class Odd(Exception):
    """What the fast way cannot take apart as Python's csv does."""


@dataclass(frozen=True)
class Layout:
    """How the text of a file is read: the same for all of its rows."""

    path: Path
    name: str
    codec: str
    dialect: Dialect
    columns: tuple[str, ...]
    header: bool

    def chunks(self) -> Iterator[Chunk]:
        """The rows below the header. Raises `Odd`, `csv.Error` and `UsageError`."""
        fast = self.codec in ("utf-8", "utf-8-sig") and len(self.dialect.delimiter.encode()) == 1
        if not fast or self.dialect.delimiter == " " or self.dialect.skip_initial_space:
            return self.slowly()
        return ahead(self._fast()) if self.dialect.quoting in ("doubled", "none") else self.slowly()

    def _fast(self) -> Iterator[Chunk]:
        first = self.header
        for part in whole_rows(self.path, self.codec, self.dialect.quoting == "doubled"):
            chunk = _apart(part, ord(self.dialect.delimiter), len(self.columns), self.dialect.quoting == "doubled")
            if first:
                chunk = Chunk(chunk.content, chunk.starts[:, 1:], chunk.lengths[:, 1:])
            first = False
            yield chunk

    def slowly(self) -> Iterator[Chunk]:
        """The same by Python's csv."""
        width = len(self.columns)
        with opened(self.path) as file:
            text = io.TextIOWrapper(file, encoding=self.codec, newline="")
            try:
                records = self.dialect.records_of(text)
                if self.header:
                    next(records)
                while batch := list(islice(records, ROWS)):
                    for line, record in batch:
                        if len(record) != width:
                            raise UsageError(uneven(self.name, line, len(record), width))
                    cells = [[record[place] or None for _, record in batch] for place in range(width)]
                    if any(cell is not None and "\0" in cell for column in cells for cell in column):
                        raise UsageError(f"{self.name} is a binary file of a kind that is not read; save it as CSV")
                    yield from_columns(cells, width)
            except UnicodeDecodeError:
                raise UsageError(
                    f"{self.name} is not written in {self.codec} throughout; give its {option('encoding')}"
                ) from None


def layouts(path: Path, name: str, form: TextFormat) -> list[Layout]:
    """How a text may be read, the likeliest first, by its beginning. Raises `UsageError`."""
    with opened(path) as file:
        content = file.read(BEGINNING)
    if len(content) == BEGINNING:
        content = _whole_lines(content)
    text, codec = decoded_by(content, name, form.encoding)
    codec = codecs.lookup(codec).name
    if codec == "utf-8" and content.startswith(codecs.BOM_UTF8):
        codec = "utf-8-sig"
    found = []
    for dialect in find_dialects(text, form.delimiter):
        with suppress(csv.Error):
            records = [record for _, record in islice(dialect.records(text), SAMPLE_RECORDS)]
            found.append(_layout(path, name, codec, dialect, records, form.header))
    return found


def _layout(
    path: Path, name: str, codec: str, dialect: Dialect, records: Sequence[Sequence[str]], stated: bool | None
) -> Layout:
    """How a text is read whose first records are these; that one is wider than others is told when it is read."""
    width = usual_width(records)
    even = [record for record in records if len(record) == width]
    header = len(records[0]) == width and (has_header(even) if stated is None else stated)
    return Layout(path, name, codec, dialect, column_names(records[0] if header else [""] * width), header)


def _whole_lines(content: bytes) -> bytes:
    """The lines of the beginning of a file but the last, which may be cut off, as may be a cell in quotes."""
    if b"\0" in content[:SAMPLE_BYTES]:  # UTF-16 or UTF-32, whose characters are not to be cut, either
        unit = 4 if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) else 2
        return content[: (content.rfind(b"\n") // unit + 1) * unit] or content
    end = content.rfind(b"\n") + 1
    count = content.count(b'"', 0, end)
    while count % 2 and (before := content.rfind(b"\n", 0, end - 1) + 1) > len(content) // 2:
        count -= content.count(b'"', before, end)
        end = before
    return content[:end] or content


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, each made while the ones before it are worked on."""
    with ThreadPoolExecutor(1) as thread:
        coming = [thread.submit(next, items, None) for _ in range(AHEAD)]
        while (item := coming.pop(0).result()) is not None:
            coming.append(thread.submit(next, items, None))
            yield item


def _parts(path: Path, codec: str) -> Iterator[bytes]:
    """The bytes of a file, in parts that may end within a row; behind the last stands a line feed."""
    begun = codec != "utf-8-sig"
    with opened(path) as file:
        for part in ahead(iter(partial(file.read, READ), b"")):
            yield part if begun else part.removeprefix(codecs.BOM_UTF8)
            begun = True


def whole_rows(path: Path, codec: str, quotes: bool) -> Iterator[bytes]:
    """The bytes of a file, in parts that end with a row; behind the last a line feed is added where it has none.

    Raises `Odd` where no row ends within 8 MiB after a quote: the quote is probably part of the text, and what follows
    it would be looked through again with every further part.
    """
    left = b""
    for part in _parts(path, codec):
        content = left + part
        end = _last_end(content, quotes)
        if quotes and len(content) - end > 2 * READ:
            raise Odd
        if len(content) - end > LONGEST:
            raise UsageError(
                f"{path.name} has a row of more than {LONGEST // 1024**2} MiB, or a quote that is not closed"
            )
        if end:
            yield content[:end]
        left = content[end:]
    if left:
        yield left if left.endswith(b"\n") else left + b"\n"


def _last_end(content: bytes, quotes: bool) -> int:
    """Behind the last line feed that ends a row."""
    end, count = content.rfind(b"\n") + 1, None
    while end and quotes:
        if count is None:
            count = int(np.count_nonzero(np.frombuffer(content, dtype=np.uint8, count=end) == QUOTE))
        if not count % 2:
            break
        before = content.rfind(b"\n", 0, end - 1) + 1
        count -= content.count(b'"', before, end)
        end = before
    return end


def _apart(part: bytes, delimiter: int, width: int, quotes: bool) -> Chunk:
    """Whole rows as cells. Raises `Odd` where they are not as every reader of CSV reads them."""
    if b"\0" in part:
        raise Odd
    if not part.isascii():
        try:
            part.decode("utf-8")
        except UnicodeDecodeError:
            raise Odd from None
    content = np.frombuffer(part + bytes(PADDING), dtype=np.uint8)
    size = len(part)
    ends = np.flatnonzero((content[:size] == delimiter) | (content[:size] == LF))
    marks = np.flatnonzero(content[:size] == QUOTE) if quotes and b'"' in part else np.empty(0, dtype=np.int64)
    if len(marks):
        _check_quotes(content, marks, delimiter)
        met = np.cumsum(content[:size] == QUOTE, dtype=np.int32)  # quotes up to each byte
        ends = ends[met[ends] % 2 == 0]
    if len(ends) % width:
        raise Odd
    is_end = (content[ends] == LF).reshape(-1, width)
    if is_end[:, :-1].any() or not is_end[:, -1].all():
        raise Odd
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    last = slice(width - 1, None, width)
    if b"\r" in part:
        carriage = (lengths[last] > 0) & (content[ends[last] - 1] == CR)
        lengths[last] -= carriage
        returns = np.flatnonzero(content[:size] == CR)
        outside = met[returns] % 2 == 0 if len(marks) else np.ones(len(returns), dtype=bool)
        if int(outside.sum()) != int(carriage.sum()):
            raise Odd  # one that ends a row by itself
    if len(marks):
        content, starts, lengths = _unquoted(content, met, starts, lengths)
    lengths[lengths == 0] = MISSING
    columns = (np.ascontiguousarray(found.reshape(-1, width).T) for found in (starts, lengths))
    return Chunk(content, *columns)


def _check_quotes(content: Bytes, marks: Ints, delimiter: int) -> None:
    """Raises `Odd` where a quote neither begins nor ends a cell, nor is doubled within quotes."""
    if len(marks) % 2:
        raise Odd
    opening, closing = marks[0::2], marks[1::2]
    before = content[np.maximum(opening - 1, 0)]
    begins = (opening == 0) | (before == delimiter) | (before == LF)
    begins[1:] |= closing[:-1] == opening[1:] - 1
    behind = content[closing + 1]
    ends = (behind == delimiter) | (behind == LF) | ((behind == CR) & (content[closing + 2] == LF))
    ends[:-1] |= opening[1:] == closing[:-1] + 1
    if not (begins.all() and ends.all()):
        raise Odd


def _unquoted(content: Bytes, met: Quotes, starts: Ints, lengths: Ints) -> tuple[Bytes, Ints, Ints]:
    """The cells without the quotes around them; those with quotes within are written behind all others."""
    quoted = (content[starts] == QUOTE) & (lengths > 0)
    cells = np.flatnonzero(quoted)
    doubled = cells[met[starts[cells] + lengths[cells] - 1] - met[starts[cells]] > 1]
    starts, lengths = starts + quoted, lengths - 2 * quoted
    if not len(doubled):
        return content, starts, lengths
    texts = [content[starts[cell] : starts[cell] + lengths[cell]].tobytes().replace(b'""', b'"') for cell in doubled]
    more = np.frombuffer(b"".join(texts) + bytes(PADDING), dtype=np.uint8)
    sizes = np.array([len(text) for text in texts])
    starts[doubled], lengths[doubled] = len(content) + np.cumsum(sizes) - sizes, sizes
    return np.concatenate([content, more]), starts, lengths
