"""The sample of a large table's rows, and exact facts about all rows."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from tabcontam.tables.large.adjoining_rows import AdjoiningRows
from tabcontam.tables.table_contents import UNKNOWN, ReadDescription, Rows
from tabcontam.tables.thresholds import SAMPLED_BLOCK, SAMPLED_ROWS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class WholeTableFacts:
    """Exact facts about all rows of a file of which a table holds a sample.

    `rows` is the number of rows in the file. `places` are the sampled rows' places in the file, from 0 and rising.
    `distinct` has the values of each column with few values, most frequent first, then by first appearance. `numeric`
    are the columns of numbers alone. `enumerates_domain` is True if all combinations of the feature values occur.
    `bloom` is a Bloom filter of all rows, each once with its target and once without.

    Three sets of the file's other rows are never asked about or shown. `resembling` rows have the first cells of a
    sampled row, or all its cells except one; nothing learns from them (`resembling_rows.py`). The baseline learns from
    `key_rows`, which share an informative value with a sampled row (`shared_key_rows.py`), and uses the cells of the
    `adjoining` rows.
    """

    rows: int
    places: tuple[int, ...] = field(repr=False)
    resembling: Rows = field(repr=False)
    key_rows: Rows = field(repr=False)
    distinct: Mapping[str, tuple[str, ...]] = field(repr=False)
    numeric: frozenset[str]
    enumerates_domain: bool
    bloom: bytes = field(repr=False)
    adjoining: tuple[AdjoiningRows, ...] = field(default=(), repr=False)

    @cached_property
    def digest(self) -> str:
        """A digest of the facts, without the sampled rows."""
        held = [self.places, self.resembling, self.key_rows, sorted(self.distinct.items()), sorted(self.numeric)]
        about = [self.rows, self.enumerates_domain, sha256(self.bloom).hexdigest()]
        adjoining = [one.facts() for one in self.adjoining]
        return sha256(json.dumps([*about, *held, *adjoining]).encode()).hexdigest()

    def with_rows(self, change: Callable[[Rows], Rows]) -> "WholeTableFacts":
        """Return the facts, with `change` applied to the stored rows. All other rows of the file are then unknown."""
        adjoining = tuple(one.with_rows(change) for one in self.adjoining)
        return replace(
            self, resembling=change(self.resembling), key_rows=change(self.key_rows), adjoining=adjoining, bloom=b""
        )

    def before(self) -> tuple[int, ...]:
        """Return for each sampled row how many rows directly before it in the file are sampled, without a gap."""
        found: list[int] = []
        for number, place in enumerate(self.places):
            follows = number > 0 and self.places[number - 1] == place - 1
            found.append(found[-1] + 1 if follows else 0)
        return tuple(found)


@dataclass(frozen=True)
class TableExcerpt:
    """The stored part of a table: columns, rows, and, if the rows are a sample, facts about all rows.

    `missing` are the usual marks of a missing value that occur. `first` are the file's first rows (all rows of a small
    file). `how` describes how the file was read.
    """

    columns: tuple[str, ...]
    rows: Rows
    whole: WholeTableFacts | None
    missing: frozenset[str]
    first: Rows
    how: ReadDescription = UNKNOWN

    def values(self, column: str) -> Collection[str]:
        """Return the values of a column except missing ones, if it has few; all values for a small table."""
        if self.whole is not None:
            return self.whole.distinct.get(column, ())
        place = self.columns.index(column)
        return {cell for row in self.rows if (cell := row[place]) is not None} - self.missing


class BlockSample:
    """A random sample of blocks of consecutive rows, drawn during reading, before the number of rows is known.

    Each block has a random number, and the blocks with the smallest numbers are drawn. So the draw depends only on the
    number of rows. The first block is always drawn.
    """

    def __init__(self) -> None:
        self.blocks: dict[int, list[tuple[str | None, ...]]] = {}
        self._numbers: dict[int, int] = {}
        self._most = (1 << 64) - 1

    def wanted(self, first: int, count: int) -> "NDArray[np.int64]":
        """Return which of the next `count` rows may be drawn, as indices from 0; `first` is the first one's place."""
        import numpy as np

        blocks = np.arange(first, first + count) // SAMPLED_BLOCK
        return np.flatnonzero((numbered(blocks) <= np.uint64(self._most)) | (blocks == 0))

    def add(self, places: Sequence[int], rows: Sequence[tuple[str | None, ...]]) -> None:
        """Add wanted rows, and drop the blocks that are no longer drawn."""
        import numpy as np

        for place, row in zip(places, rows, strict=True):
            self.blocks.setdefault(place // SAMPLED_BLOCK, []).append(row)
        new = [block for block in self.blocks if block and block not in self._numbers]
        self._numbers |= dict(zip(new, numbered(np.array(new, dtype=np.int64)).tolist(), strict=True))
        drawn = SAMPLED_ROWS // SAMPLED_BLOCK
        if len(self._numbers) > drawn:
            ranked = sorted(self._numbers, key=self._numbers.__getitem__)
            self._most = self._numbers[ranked[drawn - 1]]
            for block in ranked[drawn:]:
                del self._numbers[block], self.blocks[block]

    def drawn(self) -> tuple[tuple[int, ...], list[tuple[str | None, ...]]]:
        """Return the places of the drawn rows, and the rows, both in file order."""
        blocks = sorted(self.blocks)
        places = tuple(block * SAMPLED_BLOCK + place for block in blocks for place in range(len(self.blocks[block])))
        return places, [row for block in blocks for row in self.blocks[block]]


def numbered(places: "NDArray[np.int64] | NDArray[np.uint64]") -> "NDArray[np.uint64]":
    """Return a pseudo-random number for each place or code (finalizer of SplitMix64: Steele, Lea and Flood 2014)."""
    import numpy as np

    numbers = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
