"""Readers of JSON: of JSON lines, and of files with an array or several values.

By hand, because ijson changes numbers (1e3 becomes 1E+3) and cannot give back what is no JSON.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from tabcontam.extensions.corpora.search.documents import DocumentStretch, StretchBuilder, as_bytes, as_text
from tabcontam.extensions.corpora.search.json_records import paths_of, scan, text_of, text_of_fields
from tabcontam.extensions.corpora.search.reader_input import MARK, ReaderInput
from tabcontam.extensions.corpora.search.stream_lines import Line, LinePiece
from tabcontam.extensions.corpora.search.tally import Reason

BROKEN = (Reason.NO_JSON, Reason.NO_JSON_SKIPPED)
CHUNK = 1 << 20  # bytes of the smallest read
BETWEEN = re.compile(r"[\s,]*")


def read_lines(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield each line of a portion as a document: its values, or the raw line if it is not JSON or too large."""
    return read_records(given, given.lines(), _reader(given))


def read_records(
    given: ReaderInput, records: Iterator[Line], document_of: Callable[[str, bytes], Iterable[DocumentStretch]]
) -> Iterator[DocumentStretch]:
    """Yield the document of each record that begins in a portion. A record that is too large becomes raw text."""
    whole, number, rest = LinePiece.WHOLE, 0, RawDocument(given, Reason.TOO_LARGE, Reason.TOO_LARGE_SKIPPED)
    for at, line, piece in records:
        if not rest.open:
            if given.plain and at >= given.end:
                return
            number += 1
            if piece is whole:
                yield from document_of(given.source(at, number), line)
                continue
            rest.begin(given.source(at, number))
        yield from rest.add(line)
        if piece is LinePiece.LAST:
            yield from rest.end()


class RawDocument:
    """A document of text that is not parsed. If fields are named, it is skipped, because raw text has none."""

    def __init__(self, given: ReaderInput, read: Reason, skipped: Reason) -> None:
        self._given, self._reason = given, skipped if given.fields else read
        self._document: StretchBuilder | None = None
        self.open = False

    def begin(self, source: str) -> None:
        """Begin a document."""
        given, self.open = self._given, True
        given.tally.note(self._reason, given.name)
        self._document = None if given.fields else StretchBuilder(source, given.name, given.overlap, given.tally)

    def add(self, piece: bytes) -> Iterator[DocumentStretch]:
        """Add text to the document. Yield the stretches that it completes."""
        return self._document.add(piece) if self._document else iter(())

    def end(self) -> Iterator[DocumentStretch]:
        """End the document. Yield its last stretch."""
        self.open = False
        return self._document.end() if self._document else iter(())


def _reader(given: ReaderInput) -> Callable[[str, bytes], Iterable[DocumentStretch]]:
    """Return the function that turns a line's name and bytes into the stretches of its document."""
    name, tally, fields, document = given.name, given.tally, paths_of(given.fields), given.document

    def as_record(source: str, line: bytes) -> Iterable[DocumentStretch]:
        if not (line := line.strip()):
            return ()
        text = as_text(line, name, tally)
        try:
            record, end = scan(text, 0)
        except (ValueError, StopIteration, RecursionError):
            return as_it_stands(source, text)
        if end != len(text):
            return as_it_stands(source, text)
        return as_values(source, record)

    def as_values(source: str, record: object) -> Iterable[DocumentStretch]:
        found = text_of_fields(record, fields) if fields else text_of(record)
        if found is None:
            tally.note(Reason.NO_FIELD, name)
            return ()
        return document(source, as_bytes(found, name, tally))

    def as_it_stands(source: str, text: str) -> Iterable[DocumentStretch]:
        tally.note(Reason.NO_JSON_SKIPPED if fields else Reason.NO_JSON, name)
        return () if fields else document(source, as_bytes(text, name, tally))

    return as_record


def read_json(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield each item of the file's array, or each value of the file, as a document.

    From text that is not JSON, or from a value that is too large, the rest of the file is raw text.
    """
    name, tally, fields = given.name, given.tally, paths_of(given.fields)
    values = JsonValues(given.stream(), given.largest)
    for number, value in enumerate(values, 1):
        found = text_of_fields(value, fields) if fields else text_of(value)
        if found is None:
            tally.note(Reason.NO_FIELD, name)
        else:
            yield from given.document(given.source_of_number(number), as_bytes(found, name, tally))
    if values.left:
        large = values.large
        rest = RawDocument(given, *((Reason.TOO_LARGE, Reason.TOO_LARGE_SKIPPED) if large else BROKEN))
        rest.begin(given.source_of_number(values.read + 1))
        for piece in values.rest():
            yield from rest.add(piece)
        yield from rest.end()


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
            except (ValueError, StopIteration, RecursionError):
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
