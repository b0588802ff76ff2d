"""Delimited text as a stream of rows, split by a fast method, or by Python's csv if its quotes are unusual.

The fast method splits a text only if all readers of CSV agree on the result: one delimiter between cells, a line feed
after each row, quotes only around whole cells, and quotes inside a cell doubled. Every byte is checked. Text in another
encoding is first converted to UTF-8. Python's csv reads any other text: only the unusual part if it has no quotes, else
all text from there on.
"""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabcontam.errors import UsageError, option
from tabcontam.tables.large.chunks import MISSING, PADDING, Bytes, Chunk, Ints, from_columns
from tabcontam.tables.readers.archives import Stored, opened, packing
from tabcontam.tables.readers.base import TextFormat, read_as
from tabcontam.tables.readers.delimited_text import TextRecords, decoded_by, from_line, head_of, uneven, zero_byte
from tabcontam.tables.readers.dialects import Dialect, find_dialects, usual_width
from tabcontam.tables.table_contents import UNKNOWN, ReadDescription, contents
from tabcontam.tables.thresholds import ENCODING_SAMPLE_BYTES, SAMPLE_RECORDS

BEGINNING = 8 * 1024 * 1024  # bytes in which encoding, delimiter and header are detected
READ = 4 * 1024 * 1024  # bytes that are split at a time
ROWS = 20_000  # rows that Python's csv reads at a time
CR, LF, BLANK, QUOTE = ord("\r"), ord("\n"), ord(" "), ord('"')
Quotes = NDArray[np.int32]
Item = TypeVar("Item")


class OddText(Exception):
    """The error for a text that the fast method cannot split as Python's csv does."""


class TextFault(UsageError):
    """The error for a text that is wrong however its quotes are read."""


class NotUtf8(UsageError):
    """The error for bytes that are not UTF-8; `content` has their rows if all before is ASCII, else nothing."""

    def __init__(self, line: str, content: bytes) -> None:
        super().__init__(line)
        self.content = content


class UnclosedQuote(csv.Error):
    """The error for a record at which Python's csv fails; `never` is True if its quote is never closed."""

    def __init__(self, name: str, line: int, error: csv.Error) -> None:
        what = "a quote opens there that is not closed; close it, or remove it"
        if long := "field larger" in str(error):
            what = f"a cell of more than {csv.field_size_limit():,} characters begins there, or {what}"
        super().__init__(f"{name}, line {line}: {what}")
        self.never = long or "unexpected end" in str(error)


@dataclass(frozen=True)
class StreamLayout:
    """The way to read the text of a file, for all of its rows.

    `begin` is the number of UTF-8 bytes above the header or the first row, `above` the number of these lines.
    """

    path: Stored
    name: str
    codec: str
    dialect: Dialect
    columns: tuple[str, ...]
    header: bool
    begin: int = 0
    above: int = 0
    how: ReadDescription = UNKNOWN

    def chunks(self) -> Iterator[Chunk]:
        """Return the rows below the header. Raises `csv.Error` and `UsageError`."""
        if len(self.dialect.delimiter.encode()) > 1 or self.dialect.delimiter == " ":
            return self._slowly(self.begin, self.above, self.header)
        return ahead(self._fast())

    def _fast(self) -> Iterator[Chunk]:
        """Yield chunks by the fast method. Python's csv reads unusual parts, and all text after unusual quotes."""
        quotes, header = self.dialect.quoting != "none", self.header
        done, lines, plain, ascii_only = self.begin, self.above, True, True
        try:
            for part in whole_rows(self.path, self.codec, quotes, self.begin):
                quoted, slashed = b'"' in part, b"\\" in part
                plain = plain and not (quoted or slashed)
                self._check_utf_8(part, lines, ascii_only)
                ascii_only = ascii_only and part.isascii()
                try:
                    chunk = _apart(part, self.dialect, len(self.columns))
                    if header:
                        chunk = Chunk(chunk.content, chunk.starts[:, 1:], chunk.lengths[:, 1:])
                    yield chunk
                except OddText:
                    if quotes and (quoted or (slashed and self.dialect.quoting == "escaped")):
                        raise  # a row may continue after the part
                    try:
                        yield from self._batches(io.StringIO(part.decode(), newline=""), lines, header)
                    except UsageError as error:
                        raise TextFault(str(error)) if plain else error from None
                header, done, lines = False, done + len(part), lines + _lines(part)
        except OddText:
            yield from self._slowly(done, lines, header)
        except UnicodeDecodeError:
            raise self._not_throughout() from None

    def _slowly(self, begin: int, lines: int, header: bool) -> Iterator[Chunk]:
        """Yield chunks by Python's csv; the first `begin` bytes, which have `lines` lines, are skipped."""
        parts = _parts(self.path, self.codec)
        with io.TextIOWrapper(io.BufferedReader(_PartsStream(parts, begin)), encoding="utf-8", newline="") as text:
            try:
                yield from self._batches(text, lines, header)
            except UnicodeDecodeError:
                raise self._not_throughout() from None

    def _batches(self, text: Iterable[str], before: int, header: bool) -> Iterator[Chunk]:
        """Yield chunks by Python's csv; `before` is the number of lines above the text."""
        width, line = len(self.columns), before
        records = ((before + number, record) for number, record in self.dialect.records_of(text))
        try:
            if header:
                line, _ = next(records)
            while True:
                batch = []
                for line, record in islice(records, ROWS):
                    if len(record) != width:
                        raise UsageError(uneven(self.name, line, len(record), width))
                    if any("\0" in cell for cell in record):
                        raise UsageError(zero_byte(self.name, line))
                    batch.append(record)
                if not batch:
                    return
                yield from_columns([[record[place] or None for record in batch] for place in range(width)], width)
        except csv.Error as error:
            if self.dialect.quoting == "none":
                raise
            raise UnclosedQuote(self.name, line + 1, error) from None

    def _check_utf_8(self, part: bytes, lines: int, ascii_only: bool) -> None:
        """Check that a part is UTF-8. Raises `NotUtf8` if it is not."""
        if part.isascii():
            return
        try:
            part.decode("utf-8")
        except UnicodeDecodeError as error:
            line = lines + _lines(part[: error.start]) + 1
            problem = f"{self.name}, line {line}: the bytes of this line are not UTF-8"
            assumed = ascii_only and part[: error.start].isascii()
            raise NotUtf8(f"{problem}; give the file's {option('encoding')}", part if assumed else b"") from None

    def _not_throughout(self) -> UsageError:
        return UsageError(f"{self.name} has bytes that are not {self.codec}; give its {option('encoding')}")


class _PartsStream(io.RawIOBase):
    """Parts of a file as one stream that skips the first `begin` bytes."""

    def __init__(self, parts: Iterator[bytes], begin: int) -> None:
        self._parts, self._begin, self._left = parts, begin, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._left, self._begin = memoryview(part)[self._begin :], max(0, self._begin - len(part))
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def _lines(content: bytes) -> int:
    """Return the number of line ends of any kind in `content`."""
    return content.count(b"\n") + (content.count(b"\r") - content.count(b"\r\n") if b"\r" in content else 0)


def layouts(path: Stored, name: str, form: TextFormat) -> list[StreamLayout]:
    """Return the possible ways to read a text, likeliest first, detected in its beginning. Raises `UsageError`."""
    with opened(path) as file:
        content = file.read(BEGINNING)
    if cut := len(content) == BEGINNING:
        content = _whole_lines(content)
    text, codec = decoded_by(content, name, form.encoding)
    if cut and b"\0" in content[:ENCODING_SAMPLE_BYTES]:  # its quotes were not searched for before
        text = _whole_lines(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    codec = codecs.lookup(codec).name
    if codec == "utf-8" and content.startswith(codecs.BOM_UTF8):
        codec = "utf-8-sig"
    rest, above = from_line(text, form, name), (form.header_line or 1) - 1
    found, problem = [], None
    for dialect in find_dialects(rest, form.delimiter):
        try:
            with suppress(csv.Error):
                records = islice(dialect.records(rest), SAMPLE_RECORDS)
                numbered = [(above + line, record) for line, record in records]
                head = head_of(numbered, form, name)
                lines = numbered[head.above - 1][0] if head.above else above
                part = TextRecords(dialect, numbered[head.above :], head.header)
                found.append(_layout(path, name, codec, text, lines, part))
        except UsageError as error:
            problem = problem or error
    if problem and not found:
        raise problem
    return found


def _layout(path: Stored, name: str, codec: str, text: str, above: int, part: TextRecords) -> StreamLayout:
    """Return the layout of a text with the first records `part`. Reading fails at a later record with more cells."""
    width = usual_width(record for _, record in part.records)
    header = part.header and len(part.records[0][1]) == width
    begin = sum(len(line.encode("utf-8", "surrogatepass")) for line in islice(io.StringIO(text, newline=""), above))
    kind, *details = part.read_as(codec)
    how = read_as(kind, packing(path), *details)
    found = contents(part.records[0][1] if header else [""] * width, (), how)
    return StreamLayout(path, name, codec, part.dialect, found[0], header, begin, above, found.how)


def _whole_lines(content: bytes) -> bytes:
    """Return the lines of a file's beginning, without an incomplete last line or quoted cell."""
    if b"\0" in content[:ENCODING_SAMPLE_BYTES]:  # UTF-16 or UTF-32, whose characters must not be cut, either
        unit = 4 if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)) else 2
        return content[: (content.rfind(b"\n") // unit + 1) * unit] or content
    end = content.rfind(b"\n") + 1
    count = content.count(b'"', 0, end)
    while count % 2 and (before := content.rfind(b"\n", 0, end - 1) + 1) > len(content) // 2:
        count -= content.count(b'"', before, end)
        end = before
    return content[:end] or content


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items; a background thread computes the next items meanwhile."""
    chunks_ahead = 3  # chunks that are read in advance
    with ThreadPoolExecutor(1) as thread:
        coming = [thread.submit(next, items, None) for _ in range(chunks_ahead)]
        while (item := coming.pop(0).result()) is not None:
            coming.append(thread.submit(next, items, None))
            yield item


def _parts(path: Stored, codec: str) -> Iterator[bytes]:
    """Yield the bytes of a file in UTF-8, in parts that may end inside a row. Raises `UnicodeDecodeError`."""
    begun = codec == "utf-8"
    decoder = None if codec in ("utf-8", "utf-8-sig") else codecs.getincrementaldecoder(codec)()
    with opened(path) as file:
        for part in ahead(iter(partial(file.read, READ), b"")):
            if decoder is None:
                yield part if begun else part.removeprefix(codecs.BOM_UTF8)
            else:
                text = decoder.decode(part)
                yield (text if begun else text.removeprefix("\ufeff")).encode("utf-8", "surrogatepass")
            begun = True
    if decoder is not None and (text := decoder.decode(b"", final=True)):
        yield text.encode("utf-8", "surrogatepass")


# longest: most bytes of one row
def whole_rows(
    path: Stored, codec: str, quotes: bool, begin: int = 0, *, longest: int = 256 * 1024 * 1024
) -> Iterator[bytes]:
    """Yield the bytes of a file from `begin` on, in parts that end with a row. A missing last line feed is added.

    Raises `OddText` if no row ends within 8 MiB after a quote. Such a quote is probably part of the text. A longer
    search would read the text after it again with every part.
    """
    left = b""
    for part in _parts(path, codec):
        begin, part = max(0, begin - len(part)), part[begin:]
        content = left + part
        end = _last_end(content, quotes)
        if quotes and len(content) - end > 2 * READ:
            raise OddText
        if len(content) - end > longest:
            problem = f"{path.name} has a row of more than {longest // 1024**2} MiB"
            raise UsageError(f"{problem}, or a quote that is not closed")
        if end:
            yield content[:end]
        left = content[end:]
    if left:
        yield left if left.endswith(b"\n") else left + b"\n"


def _last_end(content: bytes, quotes: bool) -> int:
    """Return the index after the last line feed that ends a row; if none, after a carriage return before the end."""
    sign = b"\n"
    end, count = content.rfind(sign) + 1, None
    if not end and b"\r" in content:
        sign = b"\r"
        end = content.rfind(sign, 0, len(content) - 1) + 1
    while end and quotes:
        if count is None:
            count = int(np.count_nonzero(np.frombuffer(content, dtype=np.uint8, count=end) == QUOTE))
        if not count % 2:
            break
        before = content.rfind(sign, 0, end - 1) + 1
        count -= content.count(b'"', before, end)
        end = before
    return end


def _apart(part: bytes, dialect: Dialect, width: int) -> Chunk:
    """Return whole rows split into cells. Raises `OddText` if readers of CSV would disagree."""
    delimiter, quotes = ord(dialect.delimiter), dialect.quoting != "none"
    if b"\0" in part or (dialect.quoting == "escaped" and (b"\\" in part or b'""' in part)):
        raise OddText
    content = np.frombuffer(part + bytes(PADDING), dtype=np.uint8)
    size = len(part)
    ends = np.flatnonzero((content[:size] == delimiter) | (content[:size] == LF))
    marks = np.flatnonzero(content[:size] == QUOTE) if quotes and b'"' in part else np.empty(0, dtype=np.int64)
    if len(marks):
        _check_quotes(content, marks, delimiter)
        met = np.cumsum(content[:size] == QUOTE, dtype=np.int32)  # quotes up to each byte
        ends = ends[met[ends] % 2 == 0]
    if len(ends) % width:
        raise OddText
    is_end = (content[ends] == LF).reshape(-1, width)
    if is_end[:, :-1].any() or not is_end[:, -1].all():
        raise OddText
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    last = slice(width - 1, None, width)
    if b"\r" in part:
        carriage = (lengths[last] > 0) & (content[ends[last] - 1] == CR)
        lengths[last] -= carriage
        returns = np.flatnonzero(content[:size] == CR)
        outside = met[returns] % 2 == 0 if len(marks) else np.ones(len(returns), dtype=bool)
        if int(outside.sum()) != int(carriage.sum()):
            raise OddText  # a carriage return that ends a row alone
    while dialect.skip_initial_space and (blank := (content[starts] == BLANK) & (lengths > 0)).any():
        starts, lengths = starts + blank, lengths - blank
    if len(marks):
        content, starts, lengths = _unquoted(content, met, starts, lengths)
    lengths[lengths == 0] = MISSING
    columns = (np.ascontiguousarray(found.reshape(-1, width).T) for found in (starts, lengths))
    return Chunk(content, *columns)


def _check_quotes(content: Bytes, marks: Ints, delimiter: int) -> None:
    """Check that each quote begins or ends a cell, or is doubled inside quotes. Raises `OddText` if not."""
    if len(marks) % 2:
        raise OddText
    opening, closing = marks[0::2], marks[1::2]
    before = content[np.maximum(opening - 1, 0)]
    begins = (opening == 0) | (before == delimiter) | (before == LF)
    begins[1:] |= closing[:-1] == opening[1:] - 1
    following = content[closing + 1]
    ends = (following == delimiter) | (following == LF) | ((following == CR) & (content[closing + 2] == LF))
    ends[:-1] |= opening[1:] == closing[:-1] + 1
    if not (begins.all() and ends.all()):
        raise OddText


def _unquoted(content: Bytes, met: Quotes, starts: Ints, lengths: Ints) -> tuple[Bytes, Ints, Ints]:
    """Return the cells without the quotes around them. The bytes of cells with inner quotes are moved to the end."""
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
