"""Columns of strings for the baseline: codes, numbers, ranks, and the grid of values that a number may have."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from math import isfinite
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.rounded_numbers import coarser_places
from tabcontam.baseline.thresholds import (
    CODE_LENGTHS,
    FEW_VALUES,
    LARGEST_NUMBER,
    LEAST_CODE_SHARE,
    LEAST_NUMBER_SHARE,
    LEAST_ROWS_PER_BEGINNING,
    LONGEST_NUMBERED_TEXT,
    MOST_CODE_BEGINNINGS,
    MOST_DECIMALS,
    MOST_UNSPLIT_VALUES,
    NUMBER_BINS,
)
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.table import Cell

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Fact = TypeVar("Fact")

MISSING = ""  # the key of a missing cell
DIGITS = re.compile(r"\d{1,15}")
WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of one column, also as keys, codes (whole numbers; 0 is missing) and numbers.

    A key is a text that stands for a value: equal values, such as `5` and `5.0`, have equal keys."""

    name: str
    cells: tuple[Cell, ...]
    keys: tuple[str, ...]

    def in_rows(self, rows: Sequence[int]) -> "Column":
        """Return this column, restricted to these rows."""
        return Column(self.name, tuple(map(self.cells.__getitem__, rows)), tuple(map(self.keys.__getitem__, rows)))

    def sampled(self, rows: tuple[int, ...]) -> "Column":
        """Return this column, restricted to these rows. The results for the two latest samples are cached."""
        samples: dict[tuple[int, ...], Column] = cached_fact(self, "samples", dict)
        found = samples.pop(rows, None) or self.in_rows(rows)
        samples[rows] = found
        for earlier in list(samples)[:-2]:
            del samples[earlier]
        return found

    @cached_property
    def facts(self) -> dict[Hashable, object]:
        """The cached facts about the column."""
        return {}

    def later(self, name: str, by: int) -> "Column":
        """Return a column `name` with the cells `by` rows earlier. The first `by` rows are missing."""
        return Column(name, (None,) * by + self.cells[:-by], (MISSING,) * by + self.keys[:-by])

    @cached_property
    def words(self) -> "tuple[Column, ...]":
        """Columns of the first, second and last word of texts, with fewer distinct values than the texts have.

        For codes of one length, such as telephone numbers, the columns have beginnings that several rows share.
        """
        if self.distinct <= MOST_UNSPLIT_VALUES:
            return ()
        if self.numbers is not None or self.size_of_codes:
            return tuple(self._beginnings())
        split_texts = {key: WORD.findall(text) for key, text in self.texts.items()}
        found = []
        for name, place in (("first", 0), ("second", 1), ("last", -1)):
            least = max(place + 1, 2)
            words = {key: row[place] for key, row in split_texts.items() if len(row) >= least}
            more = column(f"{self.name} {name}", [words.get(key) for key in self.keys])
            if 1 < more.distinct < self.distinct:
                found.append(more)
        return tuple(found)

    @cached_property
    def size_of_codes(self) -> int:
        """The number of characters of nearly all values, if they are codes of one length; otherwise 0."""
        sizes = Counter(len(text) if text.isalnum() else 0 for text in self.texts.values())
        size, count = sizes.most_common(1)[0] if sizes else (0, 0)
        return size if CODE_LENGTHS[0] <= size <= CODE_LENGTHS[1] and count >= LEAST_CODE_SHARE * sizes.total() else 0

    def _beginnings(self) -> "list[Column]":
        """Return columns of the longest beginnings of codes that several rows share."""
        found: list[Column] = []
        fewer, known = MOST_UNSPLIT_VALUES, len(self.keys) - self.keys.count(MISSING)
        for size in range(2, self.size_of_codes):
            begun = {key: text[:size] for key, text in self.texts.items() if len(text) == self.size_of_codes}
            different = len(set(begun.values()))
            if different * LEAST_ROWS_PER_BEGINNING > known:
                break
            if different > fewer:
                found.append(column(f"{self.name} first {size}", [begun.get(key) for key in self.keys]))
                fewer = different
        return found[-MOST_CODE_BEGINNINGS:]

    @cached_property
    def order_in_text(self) -> Floats | None:
        """The number by which each row may be ordered: the cell itself, or the last number in its text.

        It is NaN where a cell has no number; the result is None if more than half of the rows have none.
        """
        if self.numbers is not None:
            return self.numbers
        last = {key: _number_in(key, text) for key, text in self.texts.items()} | {MISSING: float("nan")}
        numbers = np.fromiter(map(last.__getitem__, self.keys), np.float64, len(self.keys))
        return numbers if np.isfinite(numbers).sum() >= 0.5 * len(numbers) else None

    @cached_property
    def texts(self) -> dict[str, str]:
        """The most frequent spelling of each value, by key."""
        counts = Counter(zip(self.keys, self.cells, strict=True))
        ordered = sorted(counts.items(), key=lambda item: (item[1], item[0][1] or ""))
        return {key: cell for (key, cell), _ in ordered if key != MISSING and cell is not None}

    @cached_property
    def codes(self) -> Ints:
        """The code of each cell: whole numbers from 1 in the order of the keys; 0 is missing."""
        known = {key: place + 1 for place, key in enumerate(sorted(set(self.keys) - {MISSING}))}
        known[MISSING] = 0
        return np.fromiter(map(known.__getitem__, self.keys), np.int64, len(self.keys))

    @cached_property
    def numbers(self) -> Floats | None:
        """The cells as numbers, NaN for a cell that is missing or no number; None for a column of texts."""
        known = {key: as_number(key) for key in set(self.keys)}
        found = np.fromiter(map(known.__getitem__, self.keys), np.float64, len(self.keys))
        present = len(self.keys) - self.keys.count(MISSING)
        return found if present and np.isfinite(found).sum() >= LEAST_NUMBER_SHARE * present else None

    @cached_property
    def decimals(self) -> int:
        """The number of decimals that suffices for nearly all values."""
        needed = sorted(_decimals(key) for key in set(self.keys) if isfinite(as_number(key)))
        return min(MOST_DECIMALS, max(0, needed[int(0.98 * (len(needed) - 1))])) if needed else 0

    @cached_property
    def coarser(self) -> tuple[int, ...]:
        """The decimal places to which the numbers may be rounded, finest first; empty for few numbers."""
        return () if self.numbers is None else coarser_places([key for key in set(self.keys) if key != MISSING])

    @cached_property
    def ranks(self) -> Floats:
        """The ranks of the numbers, from 0 to 1, NaN where missing. For texts, the codes."""
        if self.numbers is None:
            return self.codes.astype(np.float64)
        present = np.sort(self.numbers[np.isfinite(self.numbers)])
        low, high = np.searchsorted(present, self.numbers), np.searchsorted(present, self.numbers, "right")
        return np.where(np.isfinite(self.numbers), (low + high) / (2 * len(present)), np.nan)

    @cached_property
    def distinct(self) -> int:
        """The number of values; missing cells count as one value."""
        return len(set(self.keys))

    @cached_property
    def binned(self) -> Ints:
        """The octile of each number, or the code of each text among the most frequent texts; 0 is missing."""
        if self.distinct <= FEW_VALUES + 1:
            return self.codes
        if self.numbers is not None:
            eighths = 1 + np.floor(np.nan_to_num(self.ranks) * NUMBER_BINS * 0.9999)
            return np.asarray(np.where(np.isfinite(self.ranks), eighths, 0).astype(np.int64))
        counts = np.bincount(self.codes)
        counts[0] = 0
        kept = np.argsort(-counts, kind="stable")[:FEW_VALUES]
        places = np.full(len(counts), FEW_VALUES + 1, dtype=np.int64)
        places[kept] = np.arange(1, len(kept) + 1)
        places[0] = 0
        return np.asarray(places[self.codes])


def cached_by_column(find: Callable[[Column], Fact]) -> Callable[[Column], Fact]:
    """Return `find`, with its result cached for each column."""
    return lambda one: cached_fact(one, find, lambda: find(one))


def column(name: str, cells: Sequence[Cell], missing: Collection[str] = ()) -> Column:
    """Return a column of these cells, in which None and the marks in `missing` are the missing value."""
    keys = {cell: MISSING if cell is None or cell in missing else value_key(cell) for cell in set(cells)}
    return Column(name, tuple(cells), tuple(map(keys.__getitem__, cells)))


def of_whole_numbers(name: str, numbers: Floats) -> Column:
    """Return a column of these whole numbers. A number that is not finite is a missing cell."""
    different, places = np.unique(numbers, return_inverse=True)
    cells = [str(int(number)) if isfinite(number) else None for number in different.tolist()]
    keys = [MISSING if cell is None else value_key(cell) for cell in cells]
    own = places.tolist()
    return Column(name, tuple(map(cells.__getitem__, own)), tuple(map(keys.__getitem__, own)))


def as_column(name: str, cells: Sequence[Cell] | Column, missing: Collection[str]) -> Column:
    """Return the cells as a column, or unchanged if they are a column."""
    return cells if isinstance(cells, Column) else column(name, cells, missing)


def with_words(columns: Iterable[Column]) -> list[Column]:
    """Return the columns, each followed by its `words`: the columns of its words, or of beginnings of its codes."""
    return [found for one in columns for found in (one, *one.words)]


def without_words(columns: Iterable[Column]) -> list[Column]:
    """Return the columns except those that `with_words` adds."""
    given = list(columns)
    names = {more.name for one in given for more in one.words}
    return [one for one in given if one.name not in names]


def scaled(numbers: Floats, decimals: int) -> Ints:
    """Return the numbers times 10 ** `decimals`, rounded to whole numbers. NaN becomes 0."""
    within = np.nan_to_num(np.clip(numbers, -LARGEST_NUMBER, LARGEST_NUMBER))
    return np.asarray(np.rint(within * 10**decimals).astype(np.int64))


def steps(numbers: Floats, decimals: int) -> tuple[Floats, Floats]:
    """Return the edges of ranges with equally many numbers, and the step from value to value in each range."""
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, 7)))
    places = np.clip(np.searchsorted(edges, numbers, "right") - 1, 0, max(len(edges) - 2, 0))
    whole = scaled(numbers, decimals)
    everywhere = _step(whole, 1)
    found = [_step(whole[places == place], everywhere) for place in range(max(len(edges) - 1, 1))]
    return edges, np.array(found) / 10**decimals


def _step(whole: Ints, otherwise: int) -> int:
    """Return the largest round step that divides 95 % of the values; `otherwise` for fewer than ten values."""
    values = np.unique(whole[whole != 0])
    if len(values) < 10:
        return otherwise
    sizes = [base * 10**power for power in range(8) for base in (1, 2, 5)]
    fitting = [size for size in sizes if np.mean(values % size == 0) >= 0.95]
    return max(fitting, default=1)


def format_number(whole: int, decimals: int) -> str:
    """Return the number `whole` / 10 ** `decimals` as text."""
    return format(Decimal(whole).scaleb(-decimals), "f")


@lru_cache(maxsize=200_000)
def number_key(whole: int, decimals: int) -> str:
    """Return the key of the number `whole` / 10 ** `decimals`."""
    return value_key(format_number(whole, decimals))


@lru_cache(maxsize=200_000)
def _decimals(key: str) -> int:
    """Return the number of decimals of a key's number; negative if the number ends in zeros."""
    digits, _, exponent = key.partition("e")
    return len(digits.partition(".")[2]) - int(exponent or 0)


@lru_cache(maxsize=200_000)
def as_number(key: str) -> float:
    """Return the number that a key spells; NaN if it is not a number or too large."""
    try:
        number = float(key)
    except ValueError:
        return float("nan")
    return number if abs(number) < LARGEST_NUMBER else float("nan")


def _number_in(key: str, text: str) -> float:
    """Return the number that a text spells, or the last whole number in it; NaN if there is none.

    `key` is the text's key, in which equal numbers have one spelling.
    """
    number = as_number(key)
    if isfinite(number):
        return number
    digits = DIGITS.findall(text[:LONGEST_NUMBERED_TEXT])
    return float(digits[-1]) if digits else float("nan")


def previous(name: str, by: int = 1) -> str:
    """Return the name of the column that holds, in each row, the cell of column `name` from `by` rows earlier."""
    return f"previous {name}" if by == 1 else f"previous {by} {name}"


# sparse: possible codes per cell; below this number codes are counted, above it they are sorted
def count_codes(codes: Ints, *, sparse: int = 16) -> tuple[Ints, Ints, Ints]:
    """Return the distinct codes in ascending order, the count of each, and for each item of `codes` its count."""
    if codes.max(initial=0) < sparse * len(codes):  # counting is faster than sorting
        counts: Ints = np.bincount(codes)
        kinds = np.flatnonzero(counts)
        return kinds, counts[kinds], counts[codes]
    kinds, places, both = np.unique(codes, return_inverse=True, return_counts=True)
    return kinds, both, both[places]
