"""CSV and TSV: each record is a document. Its text is the record without the quotes around its cells.

By hand, because no reader of CSV keeps a record's own bytes and begins inside a file.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from tabcontam.extensions.corpora.search.documents import DocumentStretch, ReaderInput
from tabcontam.extensions.corpora.search.file_opening import open_file
from tabcontam.extensions.corpora.search.json_values import read_records
from tabcontam.extensions.corpora.search.stream_lines import Line, LinePiece, lines
from tabcontam.extensions.corpora.search.tally import Reason

BLOCK = 1 << 22
DELIMITERS = b",;\t|"
QUOTED = re.compile(rb'"(?<![^,;\t|\n]")([^"]*(?:""[^"]*)*)"(?=[,;\t|\n]|$)')
CELL = {sign: re.compile(rb'"([^"]*(?:""[^"]*)*)"(?=[%c]|$)|([^%c]*)' % (sign, sign), re.DOTALL) for sign in DELIMITERS}


def record_starts(path: Path, size: int, split: int) -> list[int]:
    """Return the bytes, about `split` apart, at which records of a CSV file begin: after a line feed with an even
    number of quotes before it. A file larger than one portion is read once to find them.
    """
    starts, inside, at = [0], False, 0
    if size < split + split // 2:
        return starts
    try:
        with open_file(path) as file:
            for wanted in range(split, size - split // 2, split):
                while at < wanted and (block := file.read(min(BLOCK, wanted - at))):
                    inside ^= bool(block.count(b'"') & 1)
                    at += len(block)
                if (begin := _next_start(file, at, inside)) > starts[-1]:
                    starts.append(begin)
                file.seek(at)
    except OSError:  # `read` meets this error too, and reports it
        return [0]
    return starts


def _next_start(file: IO[bytes], at: int, inside: bool) -> int:
    """Return the byte at which the next record begins, else the next line, else 0. `at` is the file's position;
    `inside` means that a quote is open there.
    """
    block = file.read(BLOCK)
    begin = first = 0
    while end := block.find(b"\n", begin) + 1:
        inside ^= bool(block.count(b'"', begin, end) & 1)
        if not inside:
            return at + end
        first, begin = first or at + end, end
    return first


def read_csv(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield the records of a portion. A line break inside quotes belongs to its record."""
    return _read(given, _records(_lines(given), given.largest), quotes=True)


def read_tsv(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield the lines of a portion; a quote has no special meaning."""
    return _read(given, given.lines(), quotes=False)


def _lines(given: ReaderInput) -> Iterator[Line]:
    """Yield the lines that begin in this portion. The portion begins with a record."""
    if not given.portion.plain:
        return given.lines()
    given.file.seek(given.portion.start)
    return lines(given.file, given.portion.start, given.largest, given.portion.end)


def _read(given: ReaderInput, records: Iterator[Line], quotes: bool) -> Iterator[DocumentStretch]:
    columns = _Columns(given, quotes) if given.portion.fields else None

    def document_of(source: str, record: bytes) -> Iterable[DocumentStretch]:
        record = record.removesuffix(b"\r")
        if columns:
            text = columns.of(record)
        elif quotes and b'"' in record:
            text = _without_quotes(record)
        else:
            text = record
        return given.document(source, text) if text else ()

    return read_records(given, records, document_of)


def _without_quotes(record: bytes) -> bytes:
    """Return the record without the quotes around its cells. A doubled quote in such a cell becomes one quote."""
    pieces = record.split(b'"')  # every second piece is in quotes
    first, last, between = pieces[0], pieces[-1], pieces[2:-1:2]
    sound = len(pieces) & 1 and (not first or first[-1] in DELIMITERS) and (not last or last[0] in DELIMITERS)
    if not sound or any(piece and not (piece[0] in DELIMITERS and piece[-1] in DELIMITERS) for piece in between):
        return QUOTED.sub(_unquoted, record)  # some quote does not enclose a cell
    pieces[2:-1:2] = [piece or b'"' for piece in between]
    return b"".join(pieces)


def _unquoted(cell: "re.Match[bytes]") -> bytes:
    return cell[1].replace(b'""', b'"')


def _records(found: Iterator[Line], largest: int) -> Iterator[Line]:
    """Yield records: lines are joined while a quote is open. If a quote is never closed, each line is a record."""
    held: list[Line] = []
    size, inside = 0, False
    whole = LinePiece.WHOLE
    for line in found:
        _, text, piece = line
        if piece is not whole:
            yield from held
            held, inside = [], False
            yield line
            continue
        if text.count(b'"') & 1:
            inside = not inside
        if not held and not inside:
            yield line
            continue
        size = size + len(text) if held else len(text)
        held.append(line)
        if not inside:
            yield held[0][0], b"\n".join(text for _, text, _ in held), whole
            held = []
        elif size > largest:
            yield from held
            held, inside = [], False
    yield from held


class _Columns:
    """The named columns of a file, located by the header in its first line."""

    def __init__(self, given: ReaderInput, quotes: bool) -> None:
        self._given, self._quotes, self._places = given, quotes, list[int]()
        self._cell, self._header = CELL[DELIMITERS[0]], True
        if given.portion.plain and given.portion.start:
            with open_file(given.portion.path) as file:
                first = next(lines(file, 0, given.largest, given.portion.start), None)
            self.of(first[1].removesuffix(b"\r") if first else b"")

    def of(self, record: bytes) -> bytes:
        """Return the cells in these columns, one per line; empty for the header."""
        if self._header:
            record = record.removeprefix(b"\xef\xbb\xbf")
            self._cell, self._header = CELL[max(DELIMITERS, key=record.count)], False
            names = [cell.decode("utf-8", "replace") for cell in self._cells(record)]
            self._places = [names.index(field) for field in self._given.portion.fields if field in names]
            return b""
        cells = self._cells(record)
        found = [cells[place] for place in self._places if place < len(cells)]
        if not found:
            self._given.note(Reason.NO_FIELD)
        return b"\n".join(found)

    def _cells(self, record: bytes) -> list[bytes]:
        cells, place = [], 0
        while place <= len(record):
            if (cell := self._cell.match(record, place)) is None:
                break
            quoted = cell[1] is not None
            cells.append(_unquoted(cell) if quoted and self._quotes else cell[0])
            place = cell.end() + 1
        return cells
