"""Readers of JSON: of JSON lines, and of files with an array or several values.

By hand, because ijson changes numbers (1e3 becomes 1E+3) and cannot give back what is no JSON.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO

from tabcontam.extensions.corpora.search.documents import MARK, DocumentStretch, ReaderInput, as_valid_utf8
from tabcontam.extensions.corpora.search.json_records import paths_of, scan, text_of, text_of_fields
from tabcontam.extensions.corpora.search.stream_lines import Line, LinePiece
from tabcontam.extensions.corpora.search.tally import Reason

# The reasons why text is not parsed: if it is read as it is written, and if it is skipped, because fields are named.
BROKEN = (Reason.NO_JSON, Reason.NO_JSON_SKIPPED)
LARGE = (Reason.TOO_LARGE, Reason.TOO_LARGE_SKIPPED)
UNPARSED = (ValueError, StopIteration, RecursionError)  # raised by `scan`
CHUNK = 1 << 20  # bytes of the smallest read
BETWEEN = re.compile(r"[\s,]*")


def read_lines(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield each line of a portion as a document: its values, or the raw line if it is not JSON or too large."""
    fields = paths_of(given.portion.fields)

    def document_of(source: str, line: bytes) -> Iterable[DocumentStretch]:
        if not (line := line.strip()):
            return ()
        text = as_valid_utf8(line, given.note).decode()
        try:
            record, end = scan(text, 0)
        except UNPARSED:
            end = -1
        if end != len(text):
            return given.raw_document(source, (text.encode(),), *BROKEN)
        return _values(given, source, record, fields)

    return read_records(given, given.lines(), document_of)


def _values(
    given: ReaderInput, source: str, record: object, fields: Sequence[Sequence[str]]
) -> Iterable[DocumentStretch]:
    """Return the document of a record's values."""
    found = text_of_fields(record, fields) if fields else text_of(record)
    if found is None:
        given.note(Reason.NO_FIELD)
        return ()
    return given.document(source, found)


def read_records(
    given: ReaderInput, records: Iterator[Line], document_of: Callable[[str, bytes], Iterable[DocumentStretch]]
) -> Iterator[DocumentStretch]:
    """Yield the document of each record that begins in a portion. A record that is too large becomes raw text."""
    plain, end, whole = given.portion.plain, given.portion.end, LinePiece.WHOLE
    for number, (at, line, piece) in enumerate(records, 1):
        if plain and at >= end:
            return
        if piece is whole:
            yield from document_of(given.source(number, at), line)
        else:
            yield from given.raw_document(given.source(number, at), _pieces(line, piece, records), *LARGE)


def _pieces(line: bytes, piece: LinePiece, records: Iterator[Line]) -> Iterator[bytes]:
    """Yield the pieces of a long line. `records` yields those after the first."""
    yield line
    while piece is LinePiece.MORE:
        _, line, piece = next(records)
        yield line


def read_json(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield each item of the file's array, or each value of the file, as a document.

    From text that is not JSON, or from a value that is too large, the rest of the file is raw text.
    """
    fields, values = paths_of(given.portion.fields), JsonValues(given.stream(), given.largest)
    for number, value in enumerate(values, 1):
        yield from _values(given, given.source(number), value, fields)
    if values.left:
        yield from given.raw_document(
            given.source(values.read + 1), values.rest(), *(LARGE if values.large else BROKEN)
        )


class JsonValues:
    """The values of a stream of JSON: the items if it is one array.

    After the iteration, `left` means that the rest could not be parsed, and `large` that its first value was too large.
    `rest` yields this rest, including that value, as UTF-8. `read` is the number of values that were read.
    """

    def __init__(self, stream: BinaryIO, largest: int) -> None:
        self._stream, self._largest = stream, largest
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text, self._ended = "", False
        self.read, self.left, self.large = 0, False, False

    def __iter__(self) -> Iterator[object]:
        place, in_array = 0, False
        self._more()
        self._text = self._text.removeprefix(MARK.decode())
        while True:
            place = BETWEEN.match(self._text, place).end()  # type: ignore[union-attr] # it always matches
            sign = self._text[place : place + 1]
            if not sign and self._ended:
                return
            if sign and sign in ("]" if in_array else "[" if not self.read else ""):
                in_array, place = not in_array, place + 1
                continue
            try:
                value, end = scan(self._text, place)
            except UNPARSED:
                end = len(self._text)
            else:
                if end < len(self._text) or self._ended:
                    self.read, place = self.read + 1, end
                    yield value
                    continue
            self._text, place = self._text[place:], 0
            self.large = len(self._text) > self._largest
            if self.large or self._ended:
                self.left = True
                return
            self._more()

    def rest(self) -> Iterator[bytes]:
        """Yield the rest of the text."""
        while self._text:
            yield self._text.encode("utf-8", "surrogateescape")
            self._text = ""
            if not self._ended:
                self._more()

    def _more(self) -> None:
        """Read at least as much text as is in memory, so a long value is parsed from its start only a few times."""
        block = self._stream.read(max(CHUNK, len(self._text)))
        self._ended = not block
        self._text += self._decoder.decode(block, final=self._ended)
