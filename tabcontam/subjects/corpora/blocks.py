"""Documents put together to blocks of megabytes, so that all of them are looked through at once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tabcontam.subjects.corpora.cells import LONGEST
from tabcontam.subjects.corpora.documents import OVERLAP, Part
from tabcontam.subjects.corpora.tokens import Tokens, tokens
from tabcontam.subjects.corpora.words import cleaned

if TYPE_CHECKING:
    from tabcontam.subjects.corpora.tokens import Numbers

BLOCK = 1 << 21  # bytes of a block, but for one that is a single stretch
BETWEEN = b"\n"  # no word goes on behind it
MARGIN = OVERLAP - 2 * LONGEST  # bytes at the beginning of a stretch whose places the stretch before tells


class Piece(NamedTuple):
    """A stretch of a document in a block: it begins at byte `begin` of the block, and at `start` of the document.

    Only places that begin at a byte of the block from `first` to before `last` are its own: the others are told by
    the stretches before and behind it, which see the whole of them and all that overlaps them.
    """

    source: str
    start: int
    begin: int
    end: int
    first: int
    last: int

    def owns(self, byte: int) -> bool:
        """Whether a place that begins at this byte of the block is this stretch's own."""
        return self.first <= byte < self.last


@dataclass(frozen=True, eq=False)
class Block:
    """Stretches as one text, and where each is."""

    text: bytes
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, held: Sequence[tuple[Piece, bytes]]) -> "Block":
        """Stretches put together; where a piece begins and ends, and what is its own, is said by places of another
        text, in which it stands.
        """
        pieces, at = [], 0
        for piece, text in held:
            shift = at - piece.begin
            moved = (number + shift for number in piece[2:])
            pieces.append(Piece(piece.source, piece.start, *moved))
            at += len(text) + len(BETWEEN)
        return cls(BETWEEN.join(text for _, text in held), tuple(pieces))

    @cached_property
    def tokens(self) -> Tokens:
        """The words of the text."""
        return tokens(self.text)

    def around(self, begin: int, end: int) -> tuple[bytes, int]:
        """The text from where a word begins to where one ends, `cleaned`, with enough before it to tell what joins the
        first word; and at which byte of the block it begins.
        """
        words = self.tokens
        before = int(words.begins.searchsorted(begin)) - 1
        low = int(words.ends[before]) - 1 if before >= 0 else 0
        return cleaned(self.text[low:end]), low

    @cached_property
    def begins(self) -> "Numbers":
        """Where the pieces begin."""
        import numpy as np

        return np.array([piece.begin for piece in self.pieces], np.int64)

    @cached_property
    def first_words(self) -> "Numbers":
        """The first word of each piece, and the number of all words."""
        import numpy as np

        begins = self.tokens.begins
        return np.append(np.searchsorted(begins, self.begins), len(begins))

    def piece_at(self, byte: int) -> int:
        """The place of the piece that this byte belongs to."""
        return int(self.begins.searchsorted(byte, "right")) - 1


def blocks(parts: Iterable[Part], more: bool = False) -> Iterator[Block]:
    """The stretches as they come, in blocks. `more` says that the last document goes on behind the last stretch."""
    held: list[tuple[Part, bool]] = []
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


def _block(held: list[tuple[Part, bool]]) -> Block:
    pieces = []
    for (source, start, text), goes_on in held:
        end = len(text)
        pieces.append(
            (Piece(source, start, 0, end, MARGIN if start else 0, end - 2 * LONGEST if goes_on else end), text)
        )
    return Block.of(pieces)
