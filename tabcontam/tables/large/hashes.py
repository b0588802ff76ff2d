"""Sets of 64-bit hashes: a small set to search for in many hashes, and a large set to test hashes against."""

from collections.abc import Sequence

import numpy as np

from tabcontam.tables.large.chunks import Ints, Words, chunk_of, stirred
from tabcontam.tables.table_contents import Rows
from tabcontam.tables.thresholds import BLOOM_BITS_PER_HASH

SIEVE = 20  # bits of a hash, used to exclude most other hashes first
LEAST_BITS, MOST_BITS = 16, 29  # bits of a place in a Bloom filter: 8 KiB to 64 MiB
_SALT, _MIXED = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xFF51AFD7ED558CCD)


class Sieve:
    """A small set of hashes, sorted and without repeats, to search for in many other hashes."""

    def __init__(self, hashes: Words) -> None:
        self.hashes = hashes
        self._sieve = np.zeros(1 << SIEVE, dtype=bool)
        self._sieve[hashes >> np.uint64(64 - SIEVE)] = True

    def among(self, others: Words) -> tuple[Ints, Ints]:
        """Return the indices of those `others` that are in the set, and the index of each in the set."""
        found = np.flatnonzero(self._sieve[others >> np.uint64(64 - SIEVE)])
        places = np.minimum(np.searchsorted(self.hashes, others[found]), max(0, len(self.hashes) - 1))
        same = self.hashes[places] == others[found] if len(found) else np.zeros(0, dtype=bool)
        return np.asarray(found[same]), np.asarray(places[same])


class BloomFilter:
    """A set of hashes in little memory (Bloom 1970). A test finds every added hash, and 2 in 100 other hashes, too.

    The filter stops growing at 40 million hashes; with more hashes, more than 2 in 100 others are found.
    """

    def __init__(self, hashes: int) -> None:
        size = min(MOST_BITS, max(LEAST_BITS, int(BLOOM_BITS_PER_HASH * hashes - 1).bit_length()))
        self._bits = np.zeros(1 << size, dtype=bool)

    def add(self, hashes: Words) -> None:
        """Add these hashes."""
        for place in _places(hashes, len(self._bits)):
            self._bits[place] = True

    def packed(self) -> bytes:
        """Return the bits in the form that `HeldRows` needs."""
        return np.packbits(self._bits, bitorder="little").tobytes()


class HeldRows:
    """A test of whether a Bloom filter contains a row of a file. The cells of `rows` are hashed in advance."""

    def __init__(self, held: bytes, rows: Rows) -> None:
        self._held = held
        self._hashes: dict[tuple[int, str | None], int] = {}
        for column, cells in enumerate(zip(*rows, strict=True)):
            different = list(dict.fromkeys(cells))
            hashes = salted(chunk_of([(cell,) for cell in different], 1).hashes(0), column)
            self._hashes |= {(column, cell): one for cell, one in zip(different, hashes.tolist(), strict=True)}

    def may_hold(self, row: Sequence[str | None], but: int | None = None) -> bool:
        """Return whether the filter seems to contain a row; `but` is the index of a column that is not compared."""
        total = 0
        for one in enumerate(row):
            if one[0] != but:
                if one not in self._hashes:
                    self._hashes[one] = cell_hash(one[1], one[0])
                total += self._hashes[one]
        places = _places(np.array([total & ((1 << 64) - 1)], dtype=np.uint64), 8 * len(self._held))
        return all(self._held[int(place[0]) >> 3] >> (int(place[0]) & 7) & 1 for place in places)


def _places(hashes: Words, bits: int) -> list[Ints]:
    """Return two bit positions for each hash."""
    size, mixed = bits.bit_length() - 1, stirred(hashes)
    both = [mixed >> np.uint64(64 - size), (mixed << np.uint64(size)) >> np.uint64(64 - size)]
    return [places.astype(np.int64) for places in both]


def salted(hashes: Words, column: int) -> Words:
    """Return the cell hashes mixed with the column number. A row's hash can then be the sum of its cells' hashes."""
    mixed = (hashes ^ np.uint64(((column + 1) * int(_SALT)) & ((1 << 64) - 1))) * _MIXED
    return np.asarray(mixed ^ (mixed >> np.uint64(33)))


def cell_hash(cell: str | None, column: int) -> int:
    """Return the hash of one cell, as `salted` computes it for many."""
    return int(salted(chunk_of([(cell,)], 1).hashes(0), column)[0])
