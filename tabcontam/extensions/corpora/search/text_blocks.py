"""Blocks of some megabytes, joined from stretches of documents, because one search of a block is faster than many."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tabcontam.extensions.corpora.search.corpus_words import blank_punctuation
from tabcontam.extensions.corpora.search.documents import OVERLAP, DocumentStretch
from tabcontam.extensions.corpora.search.word_arrays import Numbers, WordArrays, tokens
from tabcontam.extensions.corpora.thresholds import LONGEST_ROW_SPAN

BLOCK = 1 << 21  # bytes of a block; a longer stretch has a block of its own
BETWEEN = b"\n"  # between stretches, so words end there
MARGIN = OVERLAP - 2 * LONGEST_ROW_SPAN  # bytes at a stretch's beginning, owned by the stretch before


class BlockPiece(NamedTuple):
    """A stretch of a document in a block. It begins at byte `begin` of the block and at byte `start` of the document.

    The stretch owns (counts) only places that begin from byte `first` of the block to before byte `last`. The stretches
    before and after it own the other places, because they contain these and all that overlaps them.
    """

    source: str
    start: int
    begin: int
    end: int
    first: int
    last: int

    def owns(self, byte: int) -> bool:
        """Return whether this stretch owns a place that begins at this byte of the block."""
        return self.first <= byte < self.last


@dataclass(frozen=True, eq=False)
class TextBlock:
    """Stretches joined into one text, and the position of each."""

    text: bytes
    pieces: tuple[BlockPiece, ...]

    @classmethod
    def of(cls, parts: Sequence[tuple[BlockPiece, bytes]]) -> "TextBlock":
        """Return the block of these stretches. In `parts`, the positions of a piece refer to another text; they are
        shifted to positions in the block.
        """
        pieces, at = [], 0
        for piece, text in parts:
            shift = at - piece.begin
            moved = (number + shift for number in piece[2:])
            pieces.append(BlockPiece(piece.source, piece.start, *moved))
            at += len(text) + len(BETWEEN)
        return cls(BETWEEN.join(text for _, text in parts), tuple(pieces))

    @cached_property
    def tokens(self) -> WordArrays:
        """The words of the text."""
        return tokens(self.text)

    def around(self, begin: int, end: int) -> tuple[bytes, int]:
        """Return the words between two bytes, as text without punctuation, and its first byte in the block.

        The text includes the last letter of the word before.
        """
        words = self.tokens
        before = int(words.begins.searchsorted(begin)) - 1
        low = int(words.ends[before]) - 1 if before >= 0 else 0
        return blank_punctuation(self.text[low:end]), low

    @cached_property
    def begins(self) -> Numbers:
        """The bytes at which the pieces begin."""
        return np.array([piece.begin for piece in self.pieces], np.int64)

    @cached_property
    def first_words(self) -> Numbers:
        """The number of the first word of each piece, followed by the number of all words."""
        begins = self.tokens.begins
        return np.append(np.searchsorted(begins, self.begins), len(begins))

    def piece_at(self, byte: int) -> int:
        """Return the number of the piece that contains this byte."""
        return int(self.begins.searchsorted(byte, "right")) - 1


def blocks(parts: Iterable[DocumentStretch], more: bool = False) -> Iterator[TextBlock]:
    """Yield the stretches in blocks, in order. `more` means that the last document continues after the last stretch."""
    held: list[tuple[DocumentStretch, bool]] = []
    size, before = 0, None
    for part in parts:
        if before is not None:
            held.append((before, before.source == part.source))
            size += len(before.text)
            if size + len(part.text) > BLOCK:
                yield _block(held)
                held, size = [], 0
        before = part
    if before is not None:
        held.append((before, more))
        yield _block(held)


def _block(parts: list[tuple[DocumentStretch, bool]]) -> TextBlock:
    pieces = []
    for (source, start, text), goes_on in parts:
        first, end = MARGIN if start else 0, len(text)
        last = end - 2 * LONGEST_ROW_SPAN if goes_on else end
        pieces.append((BlockPiece(source, start, 0, end, first, last), text))
    return TextBlock.of(pieces)
