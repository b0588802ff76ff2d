"""Delimited text files in which some cells are rewritten; all other bytes stay unchanged."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tabcontam.errors import UsageError
from tabcontam.tables.readers.base import File
from tabcontam.tables.readers.delimited_text import decoded_by, first_line, laid_out, read_delimited
from tabcontam.tables.readers.dialects import Dialect

# Codecs that add or drop a byte order mark, and the codec that keeps it in the text.
PLAIN = {"utf-8-sig": "utf-8"}
MARKED = {
    b"\xff\xfe\0\0": "utf-32-le",
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}

Place = tuple[int, int]  # a cell by its row and its column, from 0


@dataclass(frozen=True)
class CellLayout:
    """The text of a file, and the position of each cell in it. Rows are numbered from 0, below the header."""

    file: File
    text: str  # a byte order mark included
    codec: str
    dialect: Dialect
    records: Sequence[tuple[int, list[str]]]  # each with its last line; the first may be the header
    rows: int

    def cell(self, place: Place) -> str | None:
        """Return a cell's text between the delimiters, without quotes; None if its position in the file is unclear."""
        found = self._span(place)
        return None if found is None else self.text[slice(*found)]

    def with_cells(self, changed: Mapping[Place, str]) -> bytes:
        """Return the bytes of the file with the texts of `changed` in these cells. No text may need quotes.

        Raises `UsageError` if the new file would not be read as the same table with only these cells changed.
        """
        parts, done = [], 0
        spans = ((self._span(place), text) for place, text in changed.items())  # a cell without a span fails below
        for (start, end), text in sorted((span, text) for span, text in spans if span is not None):
            parts += [self.text[done:start], text]
            done = end
        content = "".join([*parts, self.text[done:]]).encode(self.codec)
        columns, rows = read_delimited(self.file)
        wanted = [list(row) for row in rows]
        for (row, column), text in changed.items():
            wanted[row][column] = text
        again = read_delimited(File(content, self.file.name, form=self.file.form))
        if (again[0], [list(row) for row in again[1]]) != (columns, wanted):
            raise UsageError(f"{self.file.name} becomes another table if digits change; save it as plain CSV first")
        return content

    def _span(self, place: Place) -> tuple[int, int] | None:
        row, column = place
        number = row + len(self.records) - self.rows
        last, record = self.records[number]
        first = self.records[number - 1][0] if number else first_line(last, record) - 1
        start, end = self._starts[first], self._starts[last]
        spans = _fields(self.text[start:end], self.dialect)
        if [text for _, _, text in spans] != record:
            return None
        low, high, _ = spans[column]
        return start + low, start + high

    @cached_property
    def _starts(self) -> list[int]:
        """The position in the text at which each line starts, and the end of the last line."""
        mark = self.text.startswith("\ufeff")
        starts = [int(mark)]
        for line in io.StringIO(self.text[int(mark) :], newline=""):
            starts.append(starts[-1] + len(line))
        return starts


def layout_of(file: File) -> CellLayout:
    """Return the positions of the cells of a delimited text file.

    Raises `UsageError` for a file that is not such a table, and for a text that does not encode to the same bytes.
    """
    text, encoding = decoded_by(file.content, file.name, file.form.encoding)
    marked = next((codec for mark, codec in MARKED.items() if file.content.startswith(mark)), None)
    codec = marked if marked and encoding.lower().startswith(("utf-16", "utf-32")) else PLAIN.get(encoding, encoding)
    found = laid_out(text, file.name, file.form)
    try:
        whole = file.content.decode(codec)
        faithful = whole.removeprefix("\ufeff") == text and whole.encode(codec) == file.content
    except UnicodeError:
        faithful = False
    if not faithful:
        raise UsageError(f"{file.name} is written in {encoding} in an irregular way; save it in UTF-8 first")
    return CellLayout(file, whole, codec, found.dialect, found.records, len(found.records) - found.header)


def _fields(text: str, dialect: Dialect) -> list[tuple[int, int, str]]:
    """Return start, end (both inside quotes) and text of each field of a record; leading blank lines are skipped."""
    place = len(text) - len(re.sub(r"\A(?:[^\S\r\n]*(?:\r\n|\r|\n))+", "", text))
    body = text.rstrip("\r\n")
    quoted = {"doubled": r'"((?:[^"]|"")*)"', "escaped": r'"((?:[^"\\]|\\.)*)"', "none": "(?!)()"}[dialect.quoting]
    blanks = dialect.delimiter == " "
    between = r"[ \t]+" if blanks else re.escape(dialect.delimiter)
    before = r"[ \t]*" if blanks else " *" if dialect.skip_initial_space else ""
    bare = r"[^ \t\r\n]*" if blanks else rf"[^{re.escape(dialect.delimiter)}\r\n]*"
    field = re.compile(rf"{before}(?:{quoted}|({bare}))(?:{between}|\Z)", re.DOTALL)
    found = []
    while place <= len(body) and (match := field.match(body, place)):
        group = 1 if match.group(1) is not None else 2
        inner = match.group(group)
        if group == 1:
            inner = inner.replace('""', '"') if dialect.quoting == "doubled" else re.sub(r"\\(.)", r"\1", inner)
        found.append((*match.span(group), inner))
        if match.end() == len(body):
            ended = not blanks and body[match.end() - 1 : match.end()] == dialect.delimiter
            if ended and match.end() > match.end(group):  # the last field is empty
                found.append((len(body), len(body), ""))
            break
        place = match.end()
    return found
