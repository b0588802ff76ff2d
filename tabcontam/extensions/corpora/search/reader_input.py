"""Portions of a corpus, and the input that a reader gets: a portion's open file, and how to read it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tabcontam.extensions.corpora.search import documents
from tabcontam.extensions.corpora.search.documents import SMALL, DocumentStretch, stretches
from tabcontam.extensions.corpora.search.file_forms import FileForm
from tabcontam.extensions.corpora.search.file_opening import open_stream
from tabcontam.extensions.corpora.search.stream_lines import Line, lines, lines_from
from tabcontam.extensions.corpora.search.tally import Reason, Tally

MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8, at the beginning of a file


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


@dataclass(frozen=True)
class ReaderInput:
    """The open file of a portion, at its beginning, and how to read it. The other fields are the portion's."""

    file: BinaryIO
    path: Path
    name: str
    fields: tuple[str, ...]
    start: int
    end: int
    compressed: str
    encoded: str
    overlap: int
    largest: int
    tally: Tally

    @classmethod
    def of(cls, portion: Portion, file: BinaryIO, overlap: int, tally: Tally, largest: int) -> "ReaderInput":
        """Return the input of a portion's reader. Raises ValueError if `overlap` is more than half a stretch."""
        if not 0 <= overlap <= documents.STRETCH // 2:
            raise ValueError(f"an overlap of {overlap} bytes is more than half of a stretch, {documents.STRETCH}")
        return cls(
            file, portion.path, portion.name, portion.fields, portion.start, portion.end,
            portion.compressed, portion.encoded, overlap, largest, tally,
        )  # fmt: skip

    @property
    def plain(self) -> bool:
        """True if the bytes of the file are its text: neither compressed nor in another encoding."""
        return not self.compressed and not self.encoded

    def stream(self) -> BinaryIO:
        """Return the file's text from its beginning, as a stream of UTF-8."""
        return open_stream(self.file, self.compressed, self.encoded, lambda: self.tally.note(Reason.DAMAGED, self.name))

    def lines(self) -> Iterator[Line]:
        """Yield the lines from the first that begins in this portion to the end of the file."""
        if self.plain:
            found = lines_from(self.file, self.start, self.end, self.largest)
        else:
            found = lines(self.stream(), 0, self.largest)
        if (first := next(found, None)) is not None:
            at, text, piece = first
            yield at, text if at else text.removeprefix(MARK), piece
        yield from found

    def source(self, at: int, number: int) -> str:
        """Return the name of the document that begins at byte `at`, record `number` of the file (from 1)."""
        return f"{self.name}@{at}" if self.plain else f"{self.name}#{number}"

    def source_of_number(self, number: int) -> str:
        """Return the name of the document that is record `number` of the file, counted from 1."""
        return f"{self.name}#{number}"

    def document(self, source: str, text: bytes) -> Iterable[DocumentStretch]:
        """Return the stretches of a document whose whole text is in memory."""
        if len(text) <= SMALL:
            self.tally.documents += 1
            self.tally.bytes += len(text)
            return (DocumentStretch(source, 0, text),)
        return stretches(source, text, self.overlap, self.tally)
