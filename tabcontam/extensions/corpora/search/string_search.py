"""The search for many strings of bytes in a block of text at once, by the first 16, eight or four bytes of each.

Texts compared by signs are searched for in the block without its blanks and punctuation, texts compared by words in the
block's words, with a zero byte around each.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from tabcontam.evidence.questions import LookupMode
from tabcontam.extensions.corpora.search.corpus_words import OF_A_WORD
from tabcontam.extensions.corpora.search.exact_places import encode_text, everywhere, keys_of, only_signs
from tabcontam.extensions.corpora.search.row_places import TextSpan
from tabcontam.extensions.corpora.search.text_blocks import TextBlock
from tabcontam.extensions.corpora.search.word_arrays import BY_FIRST, BY_LAST, PADDING, Hashes, KnownHashes, Numbers
from tabcontam.groups import grouped

NO_SIGNS = bytes(byte for byte in range(256) if bytes([byte]) not in OF_A_WORD)
IS_SIGN = bytes(byte not in NO_SIGNS for byte in range(256))
WIDTHS = (16, 8, 4)  # numbers of bytes that are hashed together


class StringSearch:
    """A search for numbered lists of texts by letters, signs or words."""

    def __init__(self, texts: Mapping[int, tuple[str, ...]], by: LookupMode) -> None:
        few = 4  # up to so many strings are searched one by one
        self._by = by
        wanted: dict[bytes, list[tuple[int, int]]] = {}
        for number, own in texts.items():
            for place, text in enumerate(own):
                if sought := _compared(text, by):
                    wanted.setdefault(sought, []).append((number, place))
        self._wanted = wanted
        self._single = [text for text in wanted if len(text) < min(WIDTHS) or len(wanted) <= few]
        left = sorted(wanted.keys() - set(self._single))
        by_width = grouped(left, lambda text: next(width for width in WIDTHS if width <= len(text)))
        self._by_width = [(width, *_by_beginning(some, width)) for width, some in by_width.items()]

    def find(self, block: TextBlock, over: frozenset[int] = frozenset()) -> Iterator[tuple[int, int, list[TextSpan]]]:
        """Yield a list's number, a piece's index and the first place there of one text. Skip the lists in `over`."""
        if not self._wanted:
            return
        text, positions = _comparable(block, self._by)
        around = self._by is LookupMode.WORDS  # the zero byte on each side
        found: set[tuple[int, int, int]] = set()
        for sought, at in self._stand(text):
            begin, last = at + around, at + len(sought) - 1 - around
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


def _compared(text: str, by: LookupMode) -> bytes:
    """Return a sought text as it is in the result of `_comparable`; empty if there is nothing to search for."""
    if by is LookupMode.WORDS:
        keys = keys_of(encode_text(text))
        return b"\0%b\0" % b"\0".join(keys) if keys else b""
    return only_signs(encode_text(text)) if by is LookupMode.SIGNS else encode_text(text)


def _comparable(block: TextBlock, by: LookupMode) -> tuple[bytes, Numbers | None]:
    """Return the text of a block in which strings are searched for, and the byte of the block at each of its places."""
    if by is LookupMode.WORDS:
        padded = block.tokens.padded
        kept = np.flatnonzero(padded[1:] | padded[:-1]) + 1  # each word, and the byte after it
        kept = np.append(kept[:1] - 1, kept)
        return padded[kept].tobytes(), kept - len(PADDING)
    if by is LookupMode.SIGNS:
        places = np.flatnonzero(np.frombuffer(block.text.translate(IS_SIGN), np.uint8))
        return block.text.translate(None, NO_SIGNS), places
    return block.text, None


def _by_beginning(texts: list[bytes], width: int) -> tuple[KnownHashes, dict[int, list[bytes]]]:
    hashes = [int(_beginnings(text[:width], width)[0]) for text in texts]
    beginning: dict[int, list[bytes]] = {}
    for text, hashed in zip(texts, hashes, strict=True):
        beginning.setdefault(hashed, []).append(text)
    return KnownHashes(np.array(hashes, np.uint64)), beginning


def _beginnings(text: bytes, width: int) -> Hashes:
    """Return, for each place of a text, a hash of the `width` bytes from there."""
    if width == 16:
        first = _beginnings(text, 8)
        return first * np.uint64(BY_FIRST) + np.append(first[8:], np.zeros(min(8, len(first)), np.uint64))
    padded = np.frombuffer(text + PADDING, np.uint8)
    windows = np.ndarray((len(text),), f"<u{width}", padded, strides=(1,)).astype(np.uint64)
    windows *= np.uint64(BY_FIRST)
    return (windows ^ windows >> np.uint64(29)) * np.uint64(BY_LAST)
