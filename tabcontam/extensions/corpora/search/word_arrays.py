"""The words of megabytes of text as arrays: where each word begins and ends, and its hash.

Equal words have the same hash, so a search by hash misses none. Different words may share a hash, so every hit is
compared again. The hash is made of the first and the last eight bytes of a word in lower case, and of its length. Zeros
that do not change a number (`012`, `12.00`) are left out first.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from tabcontam.extensions.corpora.search.corpus_words import ENTITY, ESCAPED, OF_A_WORD, THREE, TWO

Numbers = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

PADDING = bytes(16)  # around a text, so that eight bytes can be read at any place
DOT, ZERO, NINE = ord("."), ord("0"), ord("9")
LOWERED = bytes(range(256)).lower()
KEPT = bytes(LOWERED[byte] if bytes([byte]) in OF_A_WORD or byte == DOT else 0 for byte in range(256))
BACKSLASH, ESCAPED_LETTERS = ord("\\"), tuple(escaped[1] for escaped in ESCAPED)
LEADS = ((0xC2, 2), (0xE2, 3), (0xE3, 3), (0xEF, 3))  # first bytes of non-ASCII punctuation, and its length
BY_FIRST, BY_LAST, BY_LENGTH = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9


@dataclass(frozen=True, eq=False)
class WordArrays:
    """The words of a text. They begin at the bytes `begins`, end before the bytes `ends`, and have these `hashes`.
    `dotted` lists the index of a word once for each full stop in it. `padded` is the text after punctuation was blanked
    out, between `PADDING`.
    """

    begins: Numbers
    ends: Numbers
    hashes: Hashes
    dotted: Numbers
    padded: Bytes

    @cached_property
    def numbers(self) -> Numbers:
        """The indexes of the words that are numbers, in order. A few may be missing."""
        if not len(self.begins):
            return self.begins
        highest = np.maximum.reduceat(self.padded, self.begins + len(PADDING))
        number = highest <= NINE
        number[self.dotted[1:][self.dotted[1:] == self.dotted[:-1]]] = False  # `1.2.3`
        return np.flatnonzero(number)


def tokens(text: bytes) -> WordArrays:
    """Return the words of a text, the same as `words` returns for `blank_punctuation(text)`."""
    padded = np.frombuffer(bytearray(PADDING + text.translate(KEPT) + PADDING), np.uint8)
    _clean(padded, text)
    dots = np.flatnonzero(padded == DOT)
    before, after = padded[dots - 1], padded[dots + 1]
    joins = _digits(after) & (_digits(before) | (before == 0))
    padded[dots[~joins]] = 0
    inside = padded != 0
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    begins, ends = edges[0::2], edges[1::2]
    dotted = np.searchsorted(begins, dots[joins], "right") - 1
    hashes = _hashes(padded, *_without_zeros(padded, begins, ends, dotted))
    return WordArrays(begins - len(PADDING), ends - len(PADDING), hashes, dotted, padded)


def _clean(padded: Bytes, text: bytes) -> None:
    """Replace multi-byte punctuation by zeros where `blank_punctuation` has blanks."""
    if b"&" in text:
        for entity in ENTITY.finditer(text):
            padded[entity.start() + len(PADDING) : entity.end() + len(PADDING)] = 0
    if b"\\" in text:
        after = np.flatnonzero(np.frombuffer(text, np.uint8) == BACKSLASH) + len(PADDING) + 1
        padded[after[np.isin(padded[after], ESCAPED_LETTERS)]] = 0
    if text.isascii():
        return
    high = np.flatnonzero(padded >= 0x80)
    first = padded[high]
    for lead, size in LEADS:
        at = high[first == lead]
        if len(at):
            tail = [padded[at + place].astype(np.int64) for place in range(1, size)]
            code = tail[0] if size == 2 else tail[0] << 8 | tail[1]
            at = at[_punctuation(lead, size)[code]]
            for place in range(size):
                padded[at + place] = 0


@cache
def _punctuation(lead: int, size: int) -> NDArray[np.bool_]:
    """Return, for each sequence of `size` - 1 bytes, whether it is a punctuation mark after the byte `lead`."""
    pattern, found = TWO if size == 2 else THREE, np.zeros(1 << 8 * (size - 1), np.bool_)
    tails = range(0x80, 0xC0)
    for tail in tails if size == 2 else (first << 8 | second for first in tails for second in tails):
        found[tail] = pattern.fullmatch(bytes([lead]) + tail.to_bytes(size - 1, "big")) is not None
    return found


def _digits(signs: Bytes) -> NDArray[np.bool_]:
    return (signs - ZERO) < 10  # signs below "0" wrap around to large bytes


def _without_zeros(padded: Bytes, begins: Numbers, ends: Numbers, dotted: Numbers) -> tuple[Numbers, Numbers]:
    """Return where words begin and end, without the zeros that do not change a number."""
    first, last = begins.copy(), ends.copy()
    words = dotted[np.append(True, dotted[1:] != dotted[:-1])] if len(dotted) else dotted
    trailing = words
    while len(trailing := trailing[padded[last[trailing] - 1] == ZERO]):
        last[trailing] -= 1
    last[words] -= padded[last[words] - 1] == DOT
    leading = np.flatnonzero(padded[first] == ZERO)
    while len(leading := leading[(last[leading] - first[leading] > 1) & (padded[first[leading]] == ZERO)]):
        first[leading] += 1
    empty = words[first[words] == last[words]]  # `.0` becomes a single zero
    first[empty], last[empty] = first[empty] + 1, last[empty] + 2
    return first, last


def _hashes(padded: Bytes, first: Numbers, last: Numbers) -> Hashes:
    eight: Hashes = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    lengths = last - first
    masks = np.array([(1 << 8 * length) - 1 for length in range(9)], np.uint64)
    hashes: Hashes = eight[first] & masks[np.minimum(lengths, 8)]
    hashes *= np.uint64(BY_FIRST)
    long = np.flatnonzero(lengths > 8)
    hashes[long] ^= eight[last[long] - 8] * np.uint64(BY_LAST)
    hashes += lengths.astype(np.uint64) * np.uint64(BY_LENGTH)
    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(BY_LAST)
    return hashes


class KnownHashes:
    """Hashes that are searched for among millions of others, first by a table of bits, then by binary search."""

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = np.unique(hashes)
        bits = min(22, max(12, len(self.hashes).bit_length() + 6))
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, np.bool_)
        self._table[(self.hashes >> self._shift).astype(np.int64)] = True

    def __len__(self) -> int:
        return len(self.hashes)

    def places(self, hashes: Hashes) -> Numbers:
        """Return the index of each of these `hashes` in the known ones. All must be known."""
        return np.searchsorted(self.hashes, hashes)

    def among(self, hashes: Hashes) -> tuple[Numbers, Numbers]:
        """Return the indexes in `hashes` of known hashes, in order, and the index of each in the known hashes."""
        if not len(self.hashes):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        maybe = np.flatnonzero(self._table[(hashes >> self._shift).view(np.int64)])
        which = np.minimum(np.searchsorted(self.hashes, hashes[maybe]), len(self.hashes) - 1)
        known = self.hashes[which] == hashes[maybe]
        return maybe[known], which[known]
