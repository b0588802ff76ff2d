"""Many rows as one array of bytes, so that a few array operations process all cells of a column."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]

PADDING = 8  # extra bytes after the last cell: eight bytes can be read from any position
MISSING = -1  # the length of a missing cell

_EACH = np.uint64(0x0101010101010101)
_TOPS = _EACH * np.uint64(0x80)
_ZEROS = _EACH * np.uint64(ord("0"))
_DOTS = _EACH * np.uint64(ord("."))
_HEADS = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)  # for the first 0 to 8 of eight bytes
_ONE, _TWO = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
NONE = np.uint64(0x5851F42D4C957F2D)  # the hash of a missing cell


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows of a table as UTF-8 bytes, with the start and the length of each cell.

    `starts` and `lengths` have the shape (columns, rows). `PADDING` extra bytes follow the last cell.
    """

    content: Bytes
    starts: Ints
    lengths: Ints

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.starts.shape[1])

    def cell(self, column: int, row: int) -> str | None:
        """Return the text of a cell; None for a missing one."""
        return self._text(int(self.starts[column, row]), int(self.lengths[column, row]))

    def texts(self, rows: Iterable[int]) -> list[tuple[str | None, ...]]:
        """Return some of the rows, by their places in this chunk."""
        places = list(rows)
        starts, lengths = self.starts.T[places].tolist(), self.lengths.T[places].tolist()
        return [tuple(map(self._text, *row)) for row in zip(starts, lengths, strict=True)]

    def _text(self, start: int, length: int) -> str | None:
        return None if length < 0 else self._raw[start : start + length].decode("utf-8", "surrogatepass")

    @cached_property
    def _raw(self) -> bytes:
        return self.content.tobytes()

    @cached_property
    def _words(self) -> Words:
        """The eight bytes that begin at each byte, as one number."""
        return np.ndarray((max(0, len(self.content) - PADDING + 1),), dtype="<u8", buffer=self.content, strides=(1,))

    def first_bytes(self, column: int) -> Words:
        """Return the first eight bytes of each cell of a column as a little-endian number, padded with zeros."""
        return np.asarray(self._words[self.starts[column]] & _HEADS[np.clip(self.lengths[column], 0, 8)])

    def hashes(self, column: int) -> Words:
        """Return a 64-bit hash of each cell of a column; equal cells have equal hashes."""
        lengths = self.lengths[column]
        found = (lengths.astype(np.uint64) * _TWO) ^ _ONE
        found = stirred(found ^ self.first_bytes(column))
        more = np.flatnonzero(lengths > 8)
        offset = 8
        while len(more):
            words = self._words[self.starts[column][more] + offset] & _HEADS[np.minimum(lengths[more] - offset, 8)]
            found[more] = stirred(found[more] ^ words)
            offset += 8
            more = more[lengths[more] > offset]
        found[lengths < 0] = NONE
        return found

    # longest: digits up to which a number is certainly finite
    def plain_numbers(self, column: int, *, longest: int = 300) -> Bools:
        """Return which cells of a column consist of digits, with at most one sign and one point: finite numbers."""
        lengths, starts = self.lengths[column], self.starts[column]
        found = (lengths > 0) & (lengths <= longest)
        rows = np.flatnonzero(found)
        offset, others = 0, np.zeros(len(rows), dtype=np.int64)
        good = np.ones(len(rows), dtype=bool)
        dots = np.zeros(len(rows), dtype=np.int64)
        every = np.arange(len(rows))
        while len(every):
            left = lengths[rows[every]] - offset
            heads = _HEADS[np.minimum(left, 8)]
            words = (self._words[starts[rows[every]] + offset] & heads) | (_ZEROS & ~heads)
            if offset == 0:
                first = words & np.uint64(0xFF)
                signs = (first == np.uint64(ord("-"))) | (first == np.uint64(ord("+")))
                words = np.where(signs, (words & ~np.uint64(0xFF)) | np.uint64(ord("0")), words)
                others += signs
            unlike = words ^ _DOTS
            points = ~(((unlike & ~_TOPS) + ~_TOPS) | unlike | ~_TOPS)  # the top bit of each byte that is a point
            dots[every] += np.bitwise_count(points)
            digits = words ^ _ZEROS ^ ((points >> np.uint64(7)) * np.uint64(ord("0") ^ ord(".")))
            good[every] &= (((digits + _EACH * np.uint64(0x76)) | digits) & _TOPS) == 0
            offset += 8
            every = every[left > 8]
        found[rows] = good & (dots <= 1) & (lengths[rows] - others - dots > 0)
        return np.asarray(found)


def chunk_of(rows: Sequence[Sequence[str | None]], columns: int) -> Chunk:
    """Return these rows as bytes."""
    cells = [row[column] for column in range(columns) for row in rows]
    return from_columns([cells], columns)


def from_columns(cells: Sequence[Sequence[str | None]], columns: int) -> Chunk:
    """Return the cells of `columns` columns, one column after the other, as bytes."""
    found = [None if cell is None else cell.encode("utf-8", "surrogatepass") for part in cells for cell in part]
    lengths = np.array([MISSING if cell is None else len(cell) for cell in found], dtype=np.int64).reshape(columns, -1)
    content = np.frombuffer(b"".join(filter(None, found)) + bytes(PADDING), dtype=np.uint8)
    ends = np.cumsum(np.maximum(lengths, 0).ravel()).reshape(lengths.shape)
    return Chunk(content, ends - np.maximum(lengths, 0), lengths)


def kept_rows(rows: Iterable[Sequence[str | None]]) -> tuple[tuple[str | None, ...], ...]:
    """Return the rows; equal cells are stored as one object, to save memory. An empty cell stays an empty text."""
    cells: dict[str | None, str | None] = {}
    return tuple(tuple(cells.setdefault(cell, cell) for cell in row) for row in rows)


def joined(chunks: Sequence[Chunk]) -> Chunk:
    """Return one chunk from several chunks that have different columns of the same rows."""
    shifts = np.cumsum([0, *(len(chunk.content) for chunk in chunks)])
    starts = [chunk.starts + shift for chunk, shift in zip(chunks, shifts, strict=False)]
    content = np.concatenate([chunk.content for chunk in chunks])
    return Chunk(content, np.concatenate(starts), np.concatenate([chunk.lengths for chunk in chunks]))


def stirred(words: Words) -> Words:
    """Return the words with their bits mixed, so that every bit depends on many bits of the original word."""
    words = (words ^ (words >> np.uint64(32))) * _ONE
    return words ^ (words >> np.uint64(29))
