"""Documents as they are searched: stretches of UTF-8 text. They overlap, so a match at a border is found."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tabcontam.extensions.corpora.search.tally import Reason, Tally

STRETCH = 8 << 20  # bytes of the longest stretch
SMALL = 1 << 12  # bytes; a document of at most this size is one stretch
OVERLAP = 1 << 16  # bytes that consecutive stretches of a document share
STRAY = re.compile("[\ud800-\udfff]")  # a byte that is not UTF-8, or half a pair of JSON's \\u


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


def stretches(source: str, text: bytes, overlap: int, tally: Tally) -> Iterator[DocumentStretch]:
    """Yield the stretches of a whole document, only one if it is short."""
    tally.documents += 1
    tally.bytes += len(text)
    if len(text) <= STRETCH:
        yield DocumentStretch(source, 0, text)
        return
    start = 0
    while True:
        end = whole(text, start + STRETCH)
        yield DocumentStretch(source, start, text[start:end])
        if end == len(text):
            return
        start = whole(text, end - overlap)


def whole(text: bytes, end: int) -> int:
    """Return the largest offset up to `end` that is not inside a UTF-8 character."""
    if end >= len(text):
        return len(text)
    return next((place for place in range(end, max(0, end - 4), -1) if text[place] & 0xC0 != 0x80), end)


def as_valid_utf8(text: bytes, file: str, tally: Tally) -> bytes:
    """Return the text as valid UTF-8: each invalid byte becomes a question mark, so all offsets stay the same."""
    if text.isascii():
        return text
    try:
        text.decode()
    except UnicodeDecodeError:
        mended, number = STRAY.subn("?", text.decode("utf-8", "surrogateescape"))
        tally.note(Reason.NOT_UTF8, file, number)
        return mended.encode()
    return text


def as_text(text: bytes, file: str, tally: Tally) -> str:
    """Return bytes as text, with a question mark for each invalid byte."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return as_valid_utf8(text, file, tally).decode()


def as_bytes(text: str, file: str, tally: Tally) -> bytes:
    """Return text as UTF-8. Half a surrogate pair, which JSON allows, becomes a question mark."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        mended, number = STRAY.subn("?", text)
        tally.note(Reason.NOT_UTF8, file, number)
        return mended.encode()


class StretchBuilder:
    """A document whose text arrives in pieces and is passed on in stretches. Only the overlap stays in memory.

    `start` is the offset of its first piece in the document. The first `before` bytes belong to the portion before:
    they are in the first stretch, but not counted again.
    """

    def __init__(self, source: str, file: str, overlap: int, tally: Tally, start: int = 0, before: int = 0) -> None:
        self._source, self._file, self._overlap, self._tally = source, file, overlap, tally
        self._start, self._pending, self._fresh = start, b"", False
        self._uncounted = before
        if not start and not before:
            tally.documents += 1

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
                yield from self._give(whole_end(self._pending))

    def end(self) -> Iterator[DocumentStretch]:
        """Yield the last stretch."""
        if self._fresh:
            yield from self._give(len(self._pending))

    def _give(self, end: int) -> Iterator[DocumentStretch]:
        text = as_valid_utf8(self._pending[:end], self._file, self._tally)
        yield DocumentStretch(self._source, self._start, text)
        self._tally.bytes += end - self._uncounted
        next_start = whole(text, max(0, end - self._overlap)) if self._overlap else end
        self._uncounted = end - next_start
        self._start += next_start
        self._pending = text[next_start:] + self._pending[end:]
        self._fresh = len(self._pending) > self._uncounted


def whole_end(text: bytes) -> int:
    """Return the end of the last complete UTF-8 character. The rest is left for the next piece."""
    for back in range(1, min(4, len(text)) + 1):
        byte = text[-back]
        if byte & 0xC0 != 0x80:
            letters = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            return len(text) if letters <= back else len(text) - back
    return len(text)
