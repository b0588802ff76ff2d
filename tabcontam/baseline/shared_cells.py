"""Composite keys: combinations of cells, or of parts of cells, that determine a hidden cell together.

An airline and a flight number determine the destination, a day and a currency the exchange rate. Digits four to eight
of an account number determine the branch. Without these keys, a model that deduces such a cell would seem to remember
it. Each combination is scored by the bits it saves when a row's hidden cell is predicted from another row with the same
combination.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.cell_parts import parts
from tabcontam.baseline.coded_columns import Column, Floats, Ints
from tabcontam.baseline.thresholds import (
    COMBINATION_PROBES,
    LEAST_CODES,
    LEAST_COMBINATION_ROWS,
    LONGEST_CODE,
    MOST_CELL_PIECES,
    MOST_COMBINATIONS,
    MOST_COMBINED_COLUMNS,
    MOST_LOOKUP_BITS,
    MOST_PIECE_COMBINATIONS,
    MOST_ROWS_OF_SMALL_TABLE,
)
from tabcontam.baseline.view import View
from tabcontam.tables.large.table_excerpt import numbered

Words = NDArray[np.uint64]

MOST = {2: 80, 3: 120}  # number of combinations to score, by number of cells
SIZES = range(3, 9)  # lengths of pieces from the middle of a code


def shared(view: View) -> list[Ints]:
    """Return the best combinations, each as a code for every row: equal codes mean equal cells, 0 a missing cell."""
    probes = _Probes.of(view)
    best: list[tuple[float, Words]] = []
    for hashes in chain(_together(view), _middles(view)):
        if (gain := probes.gain(hashes)) > 0:
            best = sorted([*best, (gain, hashes)], key=lambda one: -one[0])[:MOST_COMBINATIONS]
    return [codes_of(hashes) for _, hashes in best]


def codes_of(hashes: Words) -> Ints:
    """Return a whole number for each distinct hash; 0 stays 0."""
    values, codes = np.unique(hashes, return_inverse=True)
    return np.asarray(codes + (0 if len(values) and values[0] == 0 else 1), dtype=np.int64)


def _together(view: View) -> Iterator[Words]:
    """Yield hashes of two or three cells, a cell with a piece, and all cells or all but one; 0 if a cell is missing."""
    cells = _cells(view.shown, MOST_COMBINED_COLUMNS, len(view.learned) / 2)
    for size, most in MOST.items():
        yield from (hashes for _, hashes in _choices(combinations(cells, size), len(view.learned) / 30, most))
    yield from (hashes for _, hashes in with_pieces(view, len(view.learned) / 30))
    if view.large and len(cells) > max(MOST):
        yield from _nearly_all(cells)


def _nearly_all(cells: "Sequence[_HashedColumn]") -> Iterator[Words]:
    """Yield hashes of all cells together and of all but one: a row may occur twice in a file."""
    total: Words = np.sum([one.hashes for one in cells], axis=0, dtype=np.uint64)
    present = np.logical_and.reduce([one.hashes > 0 for one in cells])
    left_outs: list[Words] = [np.zeros_like(total), *(one.hashes for one in cells)]
    for left_out in left_outs:
        yield np.where(present, numbered(total - left_out) | np.uint64(1), np.uint64(0))


def with_pieces(view: View, least: float) -> Iterator[tuple[str, Words]]:
    """Yield names and hashes of pairs with more than `least` possible values: a piece and a cell, or two pieces.

    A hash is 0 if a cell or piece is missing.
    """
    cells = _cells(view.shown, MOST_COMBINED_COLUMNS, len(view.learned) / 2)
    pieces = _cells(
        [more for one in view.shown for more in parts(one)], MOST_CELL_PIECES, len(view.learned) / 2, len(cells)
    )
    others = [(piece, cell) for piece in pieces for cell in cells if not piece.name.startswith(f"{cell.name} ")]
    yield from _choices([*others, *combinations(pieces, 2)], least, MOST_PIECE_COMBINATIONS)


def two_cells(view: View, least: float) -> Iterator[tuple[str, Words]]:
    """Yield names and hashes of pairs of cells with more than `least` possible values; 0 if a cell is missing."""
    cells = _cells(view.shown, MOST_COMBINED_COLUMNS, len(view.learned) / 2)
    yield from _choices(combinations(cells, 2), least, MOST[2])


class _HashedColumn(NamedTuple):
    """A column and the hashes of its cells, which can be added to other columns' hashes; 0 if a cell is missing."""

    distinct: int
    name: str
    hashes: Words


def _cells(columns: Iterable[Column], most: int, below: float, first: int = 0) -> list[_HashedColumn]:
    """Return the hashes of the `most` columns with the fewest distinct cells, if these are fewer than `below`.

    The columns are numbered from `first` on, because columns with equal numbers would have equal hashes.
    """
    few = sorted((one.distinct, one.name, one) for one in columns if 2 < one.distinct < below)[:most]
    found = []
    for place, (distinct, name, one) in enumerate(few, start=first):
        hashes = numbered(one.codes.astype(np.uint64) + np.uint64(place << 40)) | np.uint64(1)
        found.append(_HashedColumn(distinct, name, np.where(one.codes > 0, hashes, np.uint64(0))))
    return found


def _choices(several: Iterable[Sequence[_HashedColumn]], least: float, most: int) -> Iterator[tuple[str, Words]]:
    """Yield names and hashes of combinations with more than `least` possible values, those with the fewest first."""
    chosen = [
        (prod(one.distinct for one in cells), " and ".join(one.name for one in cells), cells) for cells in several
    ]
    for _, name, cells in sorted((one for one in chosen if one[0] > least), key=lambda one: one[:2])[:most]:
        present = np.logical_and.reduce([one.hashes > 0 for one in cells])
        both: Words = np.sum([one.hashes for one in cells], axis=0, dtype=np.uint64)
        yield name, np.where(present, numbered(both) | np.uint64(1), np.uint64(0))


def _middles(view: View) -> Iterator[Words]:
    """Yield hashes of middle characters of codes of one length; 0 if a cell has another length."""
    for one in view.shown:
        length = one.size_of_codes
        least = MOST_ROWS_OF_SMALL_TABLE if view.large else LEAST_CODES
        if not 0 < length <= LONGEST_CODE or one.distinct <= least:
            continue
        texts = [(one.texts.get(key) or "").encode() for key in one.keys]
        there = np.array([len(text) == length for text in texts])
        letters = np.array([text if len(text) == length else b"\0" * length for text in texts], dtype=f"S{length}")
        bytes_of = np.frombuffer(letters.tobytes(), dtype=np.uint8).reshape(-1, length)
        each = numbered(bytes_of.astype(np.uint64) + (np.arange(length, dtype=np.uint64) << np.uint64(8)))
        until = np.concatenate([np.zeros((len(each), 1), dtype=np.uint64), np.cumsum(each, axis=1, dtype=np.uint64)], 1)
        for size in SIZES:
            for start in range(1, length - size):
                part = numbered(until[:, start + size] - until[:, start]) | np.uint64(1)
                yield np.where(there, part, np.uint64(0))


@dataclass(frozen=True, eq=False)
class _Probes:
    """The rows on which combinations are scored, and the target's values."""

    learned: Ints
    rows: Ints  # the scoring rows
    targets: Ints  # the target's code in every row
    bits: Floats  # surprisal of each scoring row's value by frequency

    @classmethod
    def of(cls, view: View) -> "_Probes":
        """Return scoring rows: evenly chosen training rows with a known target."""
        targets = view.target.codes
        known = view.learned[targets[view.learned] > 0]
        rows = known[:: max(1, len(known) // COMBINATION_PROBES)]
        counts = np.bincount(targets[known], minlength=int(targets.max(initial=0)) + 1)
        return cls(view.learned, rows, targets, -np.log2(counts[targets[rows]] / max(1, len(known))))

    def gain(self, hashes: Words) -> float:
        """Return the bits saved when each scoring row is predicted from another row with an equal hash."""
        partner = sharing(hashes, self.learned, self.rows)
        has_partner = partner >= 0
        count = int(has_partner.sum())
        right = has_partner & (self.targets[partner] == self.targets[self.rows])
        hits = int(right.sum())
        if count < LEAST_COMBINATION_ROWS or not hits:
            return 0.0
        sure = (hits + 0.5) / (count + 1)
        return float(self.bits[right].sum() + hits * np.log2(sure) + (count - hits) * np.log2(1 - sure))


def sharing(hashes: Words, learned: Ints, rows: Ints) -> NDArray[np.int32]:
    """Return for each of `rows` another training row with an equal hash; -1 if there is none or the hash is 0."""
    bits = min(MOST_LOOKUP_BITS, 2 + len(learned).bit_length())
    partners = another(hashes >> np.uint64(64 - bits), 1 << bits, learned, rows)
    return np.where((hashes[partners] == hashes[rows]) & (hashes[rows] > 0), partners, np.int32(-1))


def another(keys: Words | Ints, most: int, learned: Ints, rows: Ints) -> NDArray[np.int32]:
    """Return for each of `rows` another training row with an equal key; -1 if there is none. Keys are below `most`."""
    found = []
    for ordered in (learned, learned[::-1]):
        last = np.full(most, -1, dtype=np.int32)
        last[keys[ordered]] = ordered
        found.append(last[keys[rows]])
    partners = np.where(found[0] == rows, found[1], found[0])
    return np.where(partners == rows, np.int32(-1), partners)
