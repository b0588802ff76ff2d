"""The reader of plain text: the whole file is one document, and each portion has consecutive stretches of it."""

from collections.abc import Iterator

from tabcontam.extensions.corpora.search.documents import STRETCH, DocumentStretch, StretchBuilder
from tabcontam.extensions.corpora.search.reader_input import ReaderInput

LETTER = 4  # bytes of the longest character in UTF-8


def read_text(given: ReaderInput) -> Iterator[DocumentStretch]:
    """Yield the stretches of a portion. The first stretch of a later portion begins with text of the portion before."""
    if not given.plain:
        document = StretchBuilder(given.name, given.name, given.overlap, given.tally)
        stream = given.stream()
        while block := stream.read(STRETCH // 2):
            yield from document.add(block)
        yield from document.end()
        return
    begin = max(0, given.start - given.overlap - LETTER + 1) if given.overlap else given.start
    given.file.seek(begin)
    begin += _rest_of_letter(given.file.read(LETTER)) if begin else 0
    given.file.seek(begin)
    before = given.start - begin
    document = StretchBuilder(given.name, given.name, given.overlap, given.tally, begin, before)
    left = given.end - begin
    while left and (block := given.file.read(min(document.room, left))):
        left -= len(block)
        yield from document.add(block)
    if not left:
        rest = given.file.read(LETTER)
        yield from document.add(rest[: _rest_of_letter(rest)])
    yield from document.end()


def _rest_of_letter(text: bytes) -> int:
    """Return how many bytes at the beginning belong to a character that began earlier."""
    head = text[: LETTER - 1]
    return next((place for place, byte in enumerate(head) if byte & 0xC0 != 0x80), len(head))
