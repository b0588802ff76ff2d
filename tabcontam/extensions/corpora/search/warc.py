"""Reader of WARC's text form (WET): the text of web pages, as Common Crawl publishes it.

Source: ISO 28500:2017, "WARC file format": a record is a line with the version, named fields, an empty line, and as
many bytes as its field Content-Length states. By hand, because FastWARC and warcio stop at the first damaged record.
"""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from tabcontam.extensions.corpora.search.documents import STRETCH, DocumentStretch, ReaderInput
from tabcontam.extensions.corpora.search.tally import Reason

OF_TEXT = frozenset({b"conversion", b"resource"})  # types of record whose content is a document
ABOUT = frozenset({b"warcinfo", b"metadata", b"request"})  # types of record that only describe other records


def read_warc(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield the text of each page as a document. The number in its name counts documents, not records."""
    stream, number = given.stream(), 0
    while (head := _head(stream, given)) is not None:
        kind, size = head.get(b"warc-type", b""), _size(head)
        if size is None:
            given.note(Reason.BROKEN_WARC)
        elif kind not in OF_TEXT:
            if kind not in ABOUT:
                given.note(Reason.NO_TEXT)
            for _ in _blocks(stream, size, given):
                pass
        else:
            number += 1
            yield from _document(stream, size, given.source(number), given)


# longest: the most bytes of a line of a record's head
# most: the most lines of a record's head
def _head(
    stream: BinaryIO, given: ReaderInput, *, longest: int = 1 << 16, most: int = 1000
) -> dict[bytes, bytes] | None:
    """Return the fields of the next record, with lower-case names, or None at the end of the file."""
    noted = False
    while line := stream.readline(longest):
        if line.startswith(b"WARC/"):
            break
        if line.strip() and not noted:
            given.note(Reason.BROKEN_WARC)
            noted = True
    else:
        return None
    fields: dict[bytes, bytes] = {}
    for _ in range(most):
        line = stream.readline(longest).strip()
        if not line:
            break
        name, _, value = line.partition(b":")
        fields[name.strip().lower()] = value.strip()
    return fields


def _size(head: dict[bytes, bytes]) -> int | None:
    """Return the number of bytes of the content, or None if the record's fields (`head`) do not state it."""
    text = head.get(b"content-length", b"")
    return int(text) if text.isdigit() and len(text) < 19 else None


def _document(stream: BinaryIO, size: int, source: str, given: ReaderInput) -> Iterable[DocumentStretch]:
    blocks = _blocks(stream, size, given)
    return given.document(source, b"".join(blocks)) if size <= STRETCH else given.document_in_pieces(source, blocks)


def _blocks(stream: BinaryIO, size: int, given: ReaderInput) -> Iterator[bytes]:
    """Yield the content of a record in blocks."""
    while size:
        block = stream.read(min(size, STRETCH // 2))
        if not block:
            given.note(Reason.BROKEN_WARC)
            return
        size -= len(block)
        yield block
