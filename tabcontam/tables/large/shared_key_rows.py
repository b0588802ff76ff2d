"""Rows of a file that share a value with a sampled row, if such rows show which cells follow from the value.

A model that has read the other rows of a file, or knows the world, knows the city that a code means. If a file has more
codes than the sample has rows, the sample seldom contains a code twice. A baseline that learns from the sample alone
would mistake this knowledge for memory of the row. So a few more rows with the same code are collected for each sampled
row. The informative value may be a cell, or a piece of a cell: a company's mail addresses have the same end. It may be
two or three cells: a route and a class determine a fare. It may be nearly all cells: a row is in the file twice. The
sampled rows that share a value show whether the value is informative.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, islice
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np
from scipy import stats

from tabcontam.tables.large.chunks import MISSING, NONE, Bools, Chunk, Ints, Words, chunk_of
from tabcontam.tables.large.hashes import Sieve
from tabcontam.tables.large.pair_tests import Floats, alike, as_far_apart, at_most, beats, known_cells, numbers_of
from tabcontam.tables.large.table_excerpt import numbered
from tabcontam.tables.table_contents import Rows
from tabcontam.tables.thresholds import (
    ENOUGH_ROWS_PER_VALUE,
    EXPECTED_ROWS_FACTOR,
    KEY_END_BYTES,
    LEAST_COVERED_SHARE,
    LEAST_KEY_PAIRS,
    LEAST_ONE_LENGTH_SHARE,
    LEAST_POSITIVE_SHARE,
    LEAST_SEPARATED_SHARE,
    LONGEST_KEY_CODE,
    MOST_KEY_PARTS,
    MOST_KEY_SEPARATORS,
    MOST_NEARLY_ALL_KEYS,
    MOST_PIECE_PAIRS,
    MOST_RATIO_PAIRS,
    MOST_ROWS_PER_VALUE,
    MOST_SHARED_KEY_ROWS,
    MOST_TESTED_PAIRS,
    NEAR_RANK_SHARE,
    RATIO_TOLERANCE,
    SUREST_KEY_SHARE,
)

One = TypeVar("One")  # one column, or a pair of columns

SEPARATORS = ",;|/:@_-.()#=&+ "  # characters at which a cell is cut
MIDDLES = range(2, 9)  # numbers of bytes in the middle of a code that may be a key, except the smallest
MOST_TOGETHER = {2: 200, 3: 400}  # number of columns in a set: number of sets that are tried


@dataclass(frozen=True)
class CellPiece:
    """A rule for a piece of a cell: a range of its bytes, or the text before, after or between separators."""

    position: str  # "first" or "last": bytes or separator; "middle": bytes from a place on, or between separators
    size: int = 0  # number of bytes; 0 if a separator cuts
    separator: str = ""
    after: bool = False  # True: the text after the separator; False: before it
    start: int = 0  # number of bytes before the middle

    def of(self, chunk: Chunk, column: int) -> Words:
        """Return the hash of each cell's piece in a column; a cell without it gets the hash of a missing cell."""
        starts, lengths = chunk.starts[column], chunk.lengths[column]
        if self.size:
            longer = lengths > self.size + self.start
            begin = starts + (lengths - self.size if self.position == "last" else self.start)
            end = np.where(longer, begin + self.size, begin)
        else:
            begin, end = self._bounds(chunk, starts, lengths)
        sizes = np.where(end > begin, end - begin, MISSING)
        return Chunk(chunk.content, np.where(sizes > 0, begin, 0)[None], sizes[None]).hashes(0)

    def _bounds(self, chunk: Chunk, starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
        ends = starts + np.maximum(lengths, 0)
        places = np.flatnonzero(chunk.content == ord(self.separator))
        if not len(places):
            return starts, starts
        found = np.searchsorted(places, ends) - 1 if self.position == "last" else np.searchsorted(places, starts)
        place = places[np.clip(found, 0, len(places) - 1)]
        there = (found >= 0) & (place >= starts) & (place < ends)
        if self.position == "middle":
            second = places[np.clip(found + 1, 0, len(places) - 1)]
            there &= (second > place) & (second < ends)
            return np.where(there, place + 1, starts), np.where(there, second, starts)
        begin, end = (place + 1, ends) if self.after else (starts, place)
        return np.where(there, begin, starts), np.where(there, end, starts)


@dataclass(frozen=True)
class SharedKey:
    """A rule for a value that rows may share: a cell, a piece of a cell, a piece and another cell, or several cells.

    A key is informative only if it reveals more than each smaller key in `parts`.
    """

    columns: tuple[int, ...]
    cut: CellPiece | None = None
    parts: tuple["SharedKey", ...] = ()

    def hashes(self, chunk: Chunk, cells: Words) -> Words:
        """Return the hash of each row's value; `cells` are the hashes of all cells, from `salted_cells`."""
        if self.cut is None:
            return np.asarray(cells[list(self.columns)].sum(axis=0, dtype=np.uint64))
        pieces = self.cut.of(chunk, self.columns[0])
        if len(self.columns) == 1:
            return pieces
        both: Words = numbered(pieces) + cells[list(self.columns[1:])].sum(axis=0, dtype=np.uint64)
        return np.where(pieces == NONE, NONE, both)


class _WantedRows:
    """The hashes of the key values for which more rows are wanted, and the number of rows still wanted for each."""

    def __init__(self, key: SharedKey, hashes: Words, each: int) -> None:
        self.key, self._sieve, self._missing = key, Sieve(hashes), np.full(len(hashes), each)

    def more(self, hashes: Words, kept: Bools) -> Ints:
        """Return the places of rows with wanted values, no more than wanted for each; sampled rows are skipped."""
        rows, values = self._sieve.among(hashes)
        fitting = (self._missing[values] > 0) & ~kept[rows]
        rows, values = rows[fitting], values[fitting]
        order = np.argsort(values, kind="stable")
        rows, values = rows[order], values[order]
        new = np.arange(len(values)) - np.searchsorted(values, values) < self._missing[values]
        np.subtract.at(self._missing, values[new], 1)
        return np.asarray(rows[new])

    @property
    def done(self) -> bool:
        return not self._missing.any()


class SharedKeySearch:
    """A search for rows that share a key with sampled rows, in one pass over the file; `cells` are `salted_cells`."""

    def __init__(self, rows: Rows, cells: Words, missing: frozenset[str], count: int) -> None:
        few = informative_keys(rows, cells, missing)
        usual = MOST_SHARED_KEY_ROWS // max(1, sum(len(rare.values) for rare in few.values()))
        left = float(MOST_SHARED_KEY_ROWS)
        self._wanted = []
        for number, (key, (hashes, own)) in enumerate(few.items()):
            most = 0 if number else int(SUREST_KEY_SHARE * MOST_SHARED_KEY_ROWS) // max(1, len(hashes))
            each = min(MOST_ROWS_PER_VALUE, max(1, usual, most))
            # the probable number in the file; rows that occur twice get one more
            there = min(each, EXPECTED_ROWS_FACTOR * 2 * (len(own) / max(1, len(hashes)) - 1) * count / len(rows))
            # if there are too many values, some are used, evenly spread over their hashes
            hashes = hashes[_spread(len(hashes), min(1.0, left / max(1.0, there * len(hashes))))]
            left -= there * len(hashes)
            if len(hashes):
                self._wanted.append(_WantedRows(key, hashes, each))
        self.found: dict[int, tuple[str | None, ...]] = {}

    def add(self, chunk: Chunk, cells: Words, first: int, kept: Bools) -> None:
        """Search these rows. `first` is the place in the file of the first one; `kept` marks the sampled rows."""
        if not self._wanted:
            return
        taken = np.zeros(chunk.rows, dtype=bool)
        for one in self._wanted:
            taken[one.more(one.key.hashes(chunk, cells), kept)] = True
        self._wanted = [one for one in self._wanted if not one.done]
        places = np.flatnonzero(taken).tolist()[: MOST_SHARED_KEY_ROWS - len(self.found)]
        self.found |= dict(zip([first + place for place in places], chunk.texts(places), strict=True))


def informative_keys(rows: Rows, cells: Words, missing: frozenset[str] = frozenset()) -> "dict[SharedKey, _RareValues]":
    """Return the informative keys, surest first, each with its values that are too rare in the sample.

    `cells` has the hash of each cell, of shape (columns, rows). A key is informative if rows with its value agree in a
    column outside it: more often than random rows, and more often than rows that share a part of the key (binomial
    tests at 1e-6). For a key of one cell, numbers near each other count as agreeing, too. A key must add to other keys:
    rows that share another key do not count if this key follows from it. For example, the key of brand and price adds
    nothing to the key of the product. The key of airline and flight number adds to the key of departure hour.
    """
    sample = _KeySample.of(rows, cells, missing)
    rare: dict[SharedKey, _RareValues] = {}
    for key in sample.candidates():
        few = sample.rare(key)
        if len(few.values) and sample.strength(key, few, rare):
            rare[key] = few
    sure: dict[SharedKey, float] = {}
    for key in list(rare):  # a key may also follow from a later key, and add nothing
        others = [one for one in rare if one is not key and not sample.follows(one, key)]
        sure[key] = sample.strength(key, rare[key], others)
        if not sure[key]:
            del rare[key]
    ranked = sorted(rare, key=lambda key: (-round(sure[key], 1), len(rare[key].values)))
    return {key: rare[key] for key in ranked}


class _RareValues(NamedTuple):
    """The values of a key that few sampled rows have, sorted, and these rows."""

    values: Words
    rows: Ints


@dataclass(frozen=True, eq=False)
class _KeySample:
    """The sampled rows, used to detect informative keys."""

    chunk: Chunk
    cells: Words
    present: Bools  # for each column and row whether the cell is not missing
    ranks: dict[int, Floats]  # ranks in each column of numbers
    ratios: dict[tuple[int, int], Floats]  # logarithms of the ratios of two number columns
    pairs: dict[SharedKey, tuple[Ints, Ints]] = field(default_factory=dict)  # pairs of rows that share a value of a key

    @classmethod
    def of(cls, rows: Rows, cells: Words, missing: Collection[str]) -> "_KeySample":
        known, there = known_cells(rows, missing)
        ranks, logs = {}, dict[int, Floats]()
        for column, numbers in numbers_of(known).items():
            ranks[column] = stats.rankdata(numbers, nan_policy="omit") / len(numbers)
            many = len(np.unique(numbers)) > len(numbers) / ENOUGH_ROWS_PER_VALUE
            if many and (numbers > 0).mean() > LEAST_POSITIVE_SHARE:
                logs[column] = np.log(np.where(numbers > 0, numbers, np.nan))
        pairs = list(combinations(logs, 2))[:MOST_RATIO_PAIRS]
        ratios = {(one, other): logs[one] - logs[other] for one, other in pairs}
        return cls(chunk_of(rows, len(cells)), cells, there, ranks, ratios)

    def candidates(self) -> Iterator[SharedKey]:
        """Yield all keys that may be informative."""
        singles = [SharedKey((column,)) for column in range(len(self.cells))]
        yield from singles
        different = [len(np.unique(cells[there])) for cells, there in zip(self.cells, self.present, strict=True)]
        rows = len(self.chunk.starts[0])
        repeated = [one for one in range(len(self.cells)) if 1 < different[one] <= rows - LEAST_KEY_PAIRS]
        shared = [one for one in repeated if different[one] < rows / 2]
        pieces: list[SharedKey] = []
        for column in range(len(self.cells)):
            if different[column] > ENOUGH_ROWS_PER_VALUE:
                pieces += self._pieces(column)
        yield from pieces
        yield from self._with_pieces(pieces, singles, shared, different)
        known: dict[tuple[int, ...], SharedKey] = {key.columns: key for key in singles}
        for size, most in MOST_TOGETHER.items():
            source = repeated if size == 2 else shared  # a row entered twice shares two of its many-valued cells
            chosen = [(prod(different[one] for one in columns), columns) for columns in combinations(source, size)]
            fitting = sorted(
                (count, columns) for count, columns in chosen if rows < count * ENOUGH_ROWS_PER_VALUE <= rows**size
            )
            for _, columns in fitting[:most]:
                parts = tuple(known.get(part) or SharedKey(part) for part in combinations(columns, size - 1))
                known[columns] = SharedKey(columns, parts=parts)
                yield known[columns]
        yield from self._nearly_all(shared, different, sorted(known.values(), key=lambda key: len(key.columns)))

    def _nearly_all(
        self, shared: Sequence[int], different: Sequence[int], others: Sequence[SharedKey]
    ) -> Iterator[SharedKey]:
        """Yield keys of all columns except one or two, for rows that are in the file twice with small differences."""
        rows = len(self.chunk.starts[0])
        for size in (len(shared) - 1, len(shared) - 2):
            nearly_all = combinations(shared, size) if size > max(MOST_TOGETHER) else iter(())
            values = ((columns, prod(different[one] for one in columns)) for columns in nearly_all)
            many = (columns for columns, count in values if rows < count * ENOUGH_ROWS_PER_VALUE)
            for columns in islice(many, MOST_NEARLY_ALL_KEYS):
                parts = (one for one in others if set(one.columns) < set(columns))
                yield SharedKey(columns, parts=tuple(islice(parts, MOST_KEY_PARTS)))

    def _with_pieces(
        self, pieces: Sequence[SharedKey], singles: Sequence[SharedKey], shared: Sequence[int], different: Sequence[int]
    ) -> Iterator[SharedKey]:
        """Yield keys of a piece of one column and a cell of another: a day and a currency, first letters and a size."""
        rows = len(self.chunk.starts[0])
        chosen: dict[tuple[int, int, int], SharedKey] = {}
        for piece in [one for one in pieces if one.cut and (one.cut.separator or one.cut.position != "middle")]:
            (column,) = piece.columns
            if column in self.ranks and len(np.unique(self.chunk.lengths[column])) > 1:
                continue  # the first digits of an amount reveal little
            count = len(np.unique(self._hashes(piece)[self._has(piece)]))
            if not 1 < count < rows / 2:
                continue
            for other in shared:
                values = count * different[other]
                if other != column and rows < values * ENOUGH_ROWS_PER_VALUE:
                    key = SharedKey((column, other), piece.cut, (piece, singles[other]))
                    chosen.setdefault((values, column, other), key)  # equal numbers of values: mostly equal pieces
        yield from (key for _, key in sorted(chosen.items(), key=lambda one: one[0])[:MOST_PIECE_PAIRS])

    def _pieces(self, column: int) -> Iterator[SharedKey]:
        rows = np.flatnonzero(self.present[column])[:MOST_TESTED_PAIRS].tolist()
        texts = [self.chunk.cell(column, row) or "" for row in rows]
        counts = {mark: sum(mark in text for text in texts) for mark in SEPARATORS}
        often = [mark for mark in counts if counts[mark] > LEAST_SEPARATED_SHARE * len(texts)]
        common = sorted(often, key=lambda one: -counts[one])
        for mark in common[:MOST_KEY_SEPARATORS]:
            several = any(text.count(mark) > 1 for text in texts)
            for position in ("first", "last") if several else ("first",):
                for after in (False, True):
                    yield SharedKey((column,), CellPiece(position, separator=mark, after=after))
            if several:
                yield SharedKey((column,), CellPiece("middle", separator=mark))
        for position in ("first", "last"):
            shorter: tuple[SharedKey, ...] = ()
            for size in KEY_END_BYTES:
                key = SharedKey((column,), CellPiece(position, size=size), shorter)
                shorter = (key,)
                yield key
        yield from self._middles(column, texts)

    def _middles(self, column: int, texts: Sequence[str]) -> Iterator[SharedKey]:
        """Yield ranges of middle bytes of codes of one length; a longer range must be more informative."""
        length, count = Counter(map(len, texts)).most_common(1)[0] if texts else (0, 0)
        if count < LEAST_ONE_LENGTH_SHARE * len(texts) or length > LONGEST_KEY_CODE:
            return
        known: dict[tuple[int, int], SharedKey] = {}
        for size in MIDDLES:
            for start in range(1, length - size):
                parts = (known.get((start, size - 1)), known.get((start + 1, size - 1)))
                key = SharedKey((column,), CellPiece("middle", size=size, start=start), tuple(filter(None, parts)))
                known[start, size] = key
                if size > MIDDLES[0]:
                    yield key

    def rare(self, key: SharedKey) -> _RareValues:
        """Return the values of a key that too few sampled rows have to show which cells follow from them."""
        rows = np.flatnonzero(self._has(key))
        values, places, times = np.unique(self._hashes(key)[rows], return_inverse=True, return_counts=True)
        few = times < ENOUGH_ROWS_PER_VALUE
        return _RareValues(values[few], rows[few[places]])

    def strength(self, key: SharedKey, rare: _RareValues, before: Collection[SharedKey]) -> float:
        """Return how often rows that share a rare value of a key agree, in the column in which they agree most.

        Return 0 if the key is not informative. Pairs of rows that share a key in `before` do not count if `key` follows
        from that key.
        """
        hashes, rows = self._hashes(key), rare.rows
        first, second = _sharing(hashes, rows)
        if key.cut is not None:  # the whole cell is a key of its own
            apart = self.cells[key.columns[0]][first] != self.cells[key.columns[0]][second]
            first, second = first[apart], second[apart]
        for one in before:
            if len(first) >= LEAST_KEY_PAIRS and self._shared(hashes, one) >= LEAST_COVERED_SHARE:
                own, there = self._hashes(one), self._has(one)
                apart = (own[first] != own[second]) | ~there[first]
                first, second = first[apart], second[apart]
        if len(first) < LEAST_KEY_PAIRS:
            return 0.0
        others = [lambda: as_far_apart(first, second, rows, hashes)]
        others += [partial(self._sharing_part, part, rows) for part in key.parts]
        columns = [column for column in range(len(self.cells)) if column not in key.columns]
        if alike := self._most_alike((first, second), others, columns, self._alike):
            return alike
        both = [pair for pair in self.ratios if not set(pair) & set(key.columns)]
        if alike := self._most_alike((first, second), others, both, self._same_ratio):
            return alike
        if key.cut is not None or len(key.columns) > 1:
            return 0.0
        return self._most_alike((first, second), others, [one for one in columns if one in self.ranks], self._near)

    def follows(self, key: SharedKey, other: SharedKey) -> bool:
        """Return whether rows that share the key `other` also share `key`."""
        return self._shared(self._hashes(key), other) >= LEAST_COVERED_SHARE

    def _shared(self, hashes: Words, other: SharedKey) -> float:
        """Return the share of pairs with equal `hashes` among pairs of rows that share the key `other`."""
        first, second = self._pairs(other)
        return float((hashes[first] == hashes[second]).mean()) if len(first) else 0.0

    def _pairs(self, key: SharedKey) -> tuple[Ints, Ints]:
        """Return pairs of rows that share a value of a key."""
        if key not in self.pairs:
            self.pairs[key] = _sharing(self._hashes(key), np.flatnonzero(self._has(key)))
        return self.pairs[key]

    def _most_alike(
        self,
        sharing: tuple[Ints, Ints],
        others: Sequence[Callable[[], tuple[Ints, Ints]]],
        columns: Sequence[One],
        alike: Callable[[One, Ints, Ints], tuple[int, int]],
    ) -> float:
        """Return how often pairs that share a key agree in the column in which they agree most; 0 if none counts.

        A column counts only if each set of pairs in `others` agrees less often there.
        """
        left = [(column, *alike(column, *sharing)) for column in columns]
        for find in others:
            if not left:
                return 0.0
            pairs = find()
            left = [one for one in left if beats(*one[1:], at_most(*alike(one[0], *pairs)))]
        return max((hits / count for _, hits, count in left), default=0.0)

    def _alike(self, column: int, first: Ints, second: Ints) -> tuple[int, int]:
        return alike(self.cells[column], self.present[column], first, second)

    def _same_ratio(self, pair: tuple[int, int], first: Ints, second: Ints) -> tuple[int, int]:
        """Return how many pairs of rows have nearly equal ratios of two columns, and how many have both ratios."""
        apart = np.abs(self.ratios[pair][first] - self.ratios[pair][second])
        return int((apart <= RATIO_TOLERANCE).sum()), int(np.isfinite(apart).sum())

    def _near(self, column: int, first: Ints, second: Ints) -> tuple[int, int]:
        """Return how many pairs of rows have numbers near each other in a column, and how many have both numbers."""
        apart = np.abs(self.ranks[column][first] - self.ranks[column][second])
        return int((apart <= NEAR_RANK_SHARE).sum()), int(np.isfinite(apart).sum())

    def _sharing_part(self, part: SharedKey, rows: Ints) -> tuple[Ints, Ints]:
        return _sharing(self._hashes(part), rows[self._has(part)[rows]])

    def _hashes(self, key: SharedKey) -> Words:
        return key.hashes(self.chunk, self.cells)

    def _has(self, key: SharedKey) -> Bools:
        """Return for each row whether it has a value of `key`, without missing cells."""
        there = np.logical_and.reduce(self.present[list(key.columns)])
        return np.asarray(there & (self._hashes(key) != NONE) if key.cut is not None else there)


def _spread(count: int, share: float) -> Ints:
    """Return evenly spaced places, as many as the share `share` of `count` places."""
    return np.linspace(0, count, int(share * count), endpoint=False).astype(np.int64)


def _sharing(hashes: Words, rows: Ints) -> tuple[Ints, Ints]:
    """Return at most `PAIRS` pairs of rows that share a hash, at any distance in the file."""
    order = np.random.default_rng(2).permutation(rows)
    order = order[np.argsort(hashes[order], kind="stable")]
    pairs = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    if len(pairs) > MOST_TESTED_PAIRS:
        pairs = np.random.default_rng(1).choice(pairs, MOST_TESTED_PAIRS, replace=False)
    return order[pairs], order[pairs + 1]
