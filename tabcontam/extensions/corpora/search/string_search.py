"""The search for many strings of bytes in a block of text at once, by the first eight or four bytes of each.

Texts compared by signs are searched for in the block without its blanks and punctuation.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tabcontam.extensions.corpora.search.corpus_words import OF_A_WORD
from tabcontam.extensions.corpora.search.exact_places import encode_text, everywhere, only_signs
from tabcontam.extensions.corpora.search.row_places import TextSpan
from tabcontam.extensions.corpora.search.text_blocks import TextBlock
from tabcontam.extensions.corpora.search.word_arrays import BY_FIRST, BY_LAST, PADDING, KnownHashes

if TYPE_CHECKING:
    from tabcontam.extensions.corpora.search.word_arrays import Hashes, Numbers

NO_SIGNS = bytes(byte for byte in range(256) if bytes([byte]) not in OF_A_WORD)
WIDTHS = {8: "<u8", 4: "<u4"}


class StringSearch:
    """A search for numbered lists of texts, letter by letter; with `signs`, only letters and digits are compared."""

    def __init__(self, texts: Mapping[int, tuple[str, ...]], signs: bool = False) -> None:
        few = 4  # up to so many strings are searched one by one
        self._signs = signs
        wanted: dict[bytes, list[tuple[int, int]]] = {}
        for number, own in texts.items():
            for place, text in enumerate(own):
                sought = only_signs(encode_text(text)) if signs else encode_text(text)
                if sought:
                    wanted.setdefault(sought, []).append((number, place))
        self._wanted = wanted
        self._single = [text for text in wanted if len(text) < min(WIDTHS) or len(wanted) <= few]
        self._by_width: list[tuple[int, KnownHashes, dict[int, list[bytes]]]] = []
        left = [text for text in wanted if text not in set(self._single)]
        for width, some in ((8, [t for t in left if len(t) >= 8]), (4, [t for t in left if len(t) < 8])):
            if some:
                self._by_width.append((width, *_by_beginning(some, width)))

    def find(self, block: TextBlock, over: frozenset[int] = frozenset()) -> Iterator[tuple[int, int, list[TextSpan]]]:
        """Yield a list's number, a piece's index and the first place there of one text. Skip the lists in `over`."""
        if not self._wanted:
            return
        text = block.text.translate(None, NO_SIGNS) if self._signs else block.text
        positions = _sign_positions(block.text) if self._signs else None
        found: set[tuple[int, int, int]] = set()
        for sought, at in self._stand(text):
            begin, last = at, at + len(sought) - 1
            if positions is not None:
                begin, last = int(positions[begin]), int(positions[last])
            piece = block.piece_at(begin)
            if last >= block.pieces[piece].end or not block.pieces[piece].owns(begin):
                continue
            for number, place in self._wanted[sought]:
                if number not in over and (number, place, piece) not in found:
                    found.add((number, place, piece))
                    yield number, piece, [TextSpan(begin, last + 1, place)]

    def _stand(self, text: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield each sought string in a text with its place."""
        for sought in self._single:
            yield from ((sought, at) for at in everywhere(text, sought))
        for width, known, beginning in self._by_width:
            hashes = _beginnings(text, width)
            places, _ = known.among(hashes)
            for at, hashed in zip(places.tolist(), hashes[places].tolist(), strict=True):
                for sought in beginning[hashed]:
                    if text.startswith(sought, at):
                        yield sought, at


def _by_beginning(texts: list[bytes], width: int) -> tuple[KnownHashes, dict[int, list[bytes]]]:
    import numpy as np

    hashes = [int(_beginnings(text[:width], width)[0]) for text in texts]
    beginning: dict[int, list[bytes]] = {}
    for text, hashed in zip(texts, hashes, strict=True):
        beginning.setdefault(hashed, []).append(text)
    return KnownHashes(np.array(hashes, np.uint64)), beginning


def _beginnings(text: bytes, width: int) -> "Hashes":
    """Return, for each place of a text, a hash of the `width` bytes from there."""
    import numpy as np

    padded = np.frombuffer(text + PADDING, np.uint8)
    windows = np.ndarray((len(text),), WIDTHS[width], padded, strides=(1,)).astype(np.uint64)
    windows *= np.uint64(BY_FIRST)
    return (windows ^ windows >> np.uint64(29)) * np.uint64(BY_LAST)


def _sign_positions(text: bytes) -> "Numbers":
    """Return the places of the letters and digits of a text."""
    import numpy as np

    return np.flatnonzero(np.frombuffer(text.translate(bytes(byte not in NO_SIGNS for byte in range(256))), np.uint8))
