"""Documents as readers yield them: stretches of UTF-8 text, which overlap, so a match at a border is found."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tabcontam.extensions.corpora.search.file_forms import FileForm
from tabcontam.extensions.corpora.search.file_opening import open_stream
from tabcontam.extensions.corpora.search.stream_lines import Line, lines, lines_from
from tabcontam.extensions.corpora.search.tally import Reason, Tally

STRETCH = 8 << 20  # bytes of the longest stretch
OVERLAP = 1 << 16  # bytes that consecutive stretches of a document share
STRAY = re.compile("[\ud800-\udfff]")  # a byte that is not UTF-8, or half a pair of JSON's \\u
MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8, at the beginning of a file


class DocumentStretch(NamedTuple):
    """A stretch of a document.

    `source` is the document's name: a file, or a record of a file. A record is named `FILE@BYTE`, by the byte (from 0)
    at which it begins, if the file's records are lines (JSON lines, CSV, TSV) and the file is plain UTF-8. Other
    records are named `FILE#N`, by their number (from 1). `start` is the offset of this stretch in the document's text,
    in bytes; `text` is the stretch in UTF-8, at most `STRETCH` bytes.
    """

    source: str
    start: int
    text: bytes


@dataclass(frozen=True)
class Portion:
    """A file or a part of a file, with everything that a process needs to read it.

    `path` is the file, and `name` is its path as the user would write it. `form` states how the file is split into
    documents, or why it is not read. `start` and `end` are bytes of the file (of a Parquet file: row groups); documents
    that are lines belong to the portion in which they begin. `size` and `changed` (nanoseconds) are those of the file
    when the portion was made, and `weight` is the number of bytes of this portion on disk.
    """

    path: Path
    name: str
    form: FileForm | Reason
    fields: tuple[str, ...] = ()
    compressed: str = ""
    encoded: str = ""
    start: int = 0
    end: int = 0
    size: int = 0
    changed: int = 0
    weight: int = 0

    @property
    def plain(self) -> bool:
        """True if the bytes of the file are its text: neither compressed nor in another encoding."""
        return not self.compressed and not self.encoded


@dataclass(frozen=True)
class ReaderInput:
    """The open file of a portion, at its beginning, and how to read it. Raises ValueError for a large overlap."""

    portion: Portion
    file: BinaryIO
    overlap: int
    largest: int  # bytes of the largest record that is parsed
    tally: Tally

    def __post_init__(self) -> None:
        if not 0 <= self.overlap <= STRETCH // 2:
            raise ValueError(f"an overlap of {self.overlap} bytes is more than half of a stretch, {STRETCH}")

    def note(self, reason: Reason, number: int = 1) -> None:
        """Count something in this file that was skipped or changed."""
        self.tally.note(reason, self.portion.name, number)

    def stream(self) -> BinaryIO:
        """Return the file's text from its beginning, as a stream of UTF-8."""
        portion = self.portion
        return open_stream(self.file, portion.compressed, portion.encoded, lambda: self.note(Reason.DAMAGED))

    def lines(self) -> Iterator[Line]:
        """Yield the lines from the first that begins in this portion to the end of the file."""
        if self.portion.plain:
            found = lines_from(self.file, self.portion.start, self.portion.end, self.largest)
        else:
            found = lines(self.stream(), 0, self.largest)
        if (first := next(found, None)) is not None:
            at, text, piece = first
            yield at, text if at else text.removeprefix(MARK), piece
        yield from found

    def source(self, number: int, at: int | None = None) -> str:
        """Return the name of the document that is record `number` of the file (from 1) and begins at byte `at`."""
        by_byte = at is not None and self.portion.plain
        return f"{self.portion.name}@{at}" if by_byte else f"{self.portion.name}#{number}"

    def document(self, source: str, text: bytes | str) -> Iterable[DocumentStretch]:
        """Return the stretches of a document whose whole text is in memory."""
        text = as_valid_utf8(text, self.note)
        if len(text) > STRETCH:
            return self.document_in_pieces(source, (text,))
        self.tally.documents += 1
        self.tally.bytes += len(text)
        return (DocumentStretch(source, 0, text),)

    def document_in_pieces(self, source: str, pieces: Iterable[bytes]) -> Iterator[DocumentStretch]:
        """Yield the stretches of a document whose text arrives in pieces."""
        document = StretchBuilder(source, self)
        for piece in pieces:
            yield from document.add(piece)
        yield from document.end()

    def raw_document(
        self, source: str, pieces: Iterable[bytes], read: Reason, skipped: Reason
    ) -> Iterator[DocumentStretch]:
        """Yield the stretches of text that is not parsed. If fields are named, it is skipped: raw text has none."""
        self.note(skipped if self.portion.fields else read)
        if not self.portion.fields:
            yield from self.document_in_pieces(source, pieces)
            return
        for _ in pieces:
            pass


def as_valid_utf8(text: bytes | str, note: Callable[[Reason, int], None]) -> bytes:
    """Return a text as valid UTF-8. Each invalid byte becomes a question mark, so all offsets stay the same; so does
    half a surrogate pair, which JSON allows.
    """
    try:
        if isinstance(text, str):
            return text.encode()
        if not text.isascii():
            text.decode()
    except UnicodeError:
        letters = text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")
        mended, number = STRAY.subn("?", letters)
        note(Reason.NOT_UTF8, number)
        return mended.encode()
    return text


class StretchBuilder:
    """A document whose text arrives in pieces and is passed on in stretches. Only the overlap stays in memory.

    `start` is the offset of its first piece in the document. The first `before` bytes belong to the portion before:
    they are in the first stretch, but not counted again.
    """

    def __init__(self, source: str, given: ReaderInput, start: int = 0, before: int = 0) -> None:
        self._source, self._given = source, given
        self._start, self._pending, self._fresh = start, b"", False
        self._uncounted = before
        if not start and not before:
            given.tally.documents += 1

    @property
    def room(self) -> int:
        """The number of bytes that the next stretch still needs."""
        return STRETCH - len(self._pending)

    def add(self, piece: bytes) -> Iterator[DocumentStretch]:
        """Add the next piece, which may end inside a character. Yield the stretches that it completes."""
        while piece:
            taken, piece = piece[: self.room], piece[self.room :]
            self._pending += taken
            self._fresh = True
            if len(self._pending) >= STRETCH:
                yield from self._give(_whole_end(self._pending))

    def end(self) -> Iterator[DocumentStretch]:
        """Yield the last stretch."""
        if self._fresh:
            yield from self._give(len(self._pending))

    def _give(self, end: int) -> Iterator[DocumentStretch]:
        text, overlap = as_valid_utf8(self._pending[:end], self._given.note), self._given.overlap
        yield DocumentStretch(self._source, self._start, text)
        self._given.tally.bytes += end - self._uncounted
        next_start = _whole(text, max(0, end - overlap)) if overlap else end
        self._uncounted = end - next_start
        self._start += next_start
        self._pending = text[next_start:] + self._pending[end:]
        self._fresh = len(self._pending) > self._uncounted


def _whole(text: bytes, end: int) -> int:
    """Return the largest offset up to `end` that is not inside a UTF-8 character."""
    return next((place for place in range(end, max(0, end - 4), -1) if text[place] & 0xC0 != 0x80), end)


def _whole_end(text: bytes) -> int:
    """Return the end of the last complete UTF-8 character. The rest is left for the next piece."""
    for back in range(1, min(4, len(text)) + 1):
        byte = text[-back]
        if byte & 0xC0 != 0x80:
            letters = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            return len(text) if letters <= back else len(text) - back
    return len(text)
