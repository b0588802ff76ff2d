"""Columns whose last digits can be drawn again: the form of their numbers, and the texts that a cell could have.

Drawn numbers keep the number of decimals, the step between numbers, and the range that the column's cells show. A
column cannot be used if its numbers are identifiers, are small counts, or number the rows.
"""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from statistics import pstdev

from tabcontam.errors import Skip
from tabcontam.extensions.planting.thresholds import (
    LEAST_DISTINCT_NUMBERS,
    LEAST_SHARE_OF_DECIMALS,
    LEAST_SHARE_OF_IDENTIFIERS,
    LEAST_SHARE_ON_STEPS,
    MOST_DEFAULT_STEPS,
    MOST_EXACT_DIGITS,
    MOST_SHARE_OF_REPEATS,
    MOST_STEPS_OF_AMOUNT,
    SPIKE_ROWS,
)
from tabcontam.tables.entities import entities
from tabcontam.tables.table import Table

NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d+))?")
NAMES = frozenset({"id", "uuid", "guid", "index", "idx", "key", "code", "zip", "zipcode", "postcode", "phone", "ssn"})


@dataclass(frozen=True)
class WrittenNumber:
    """A number as a cell writes it: `whole` has the digits before the point, `units` the value without the point."""

    sign: str
    whole: str
    decimals: int
    units: int

    @classmethod
    def parse(cls, cell: str | None) -> "WrittenNumber | None":
        """Return the number in a cell; None unless the cell has plain digits that programs read without rounding."""
        match = NUMBER.fullmatch((cell or "").strip())
        if match is None or not (match[2] or match[3]):
            return None
        digits = match[2] + (match[3] or "")
        if len(digits.lstrip("0")) > MOST_EXACT_DIGITS:
            return None
        return cls(match[1], match[2], len(match[3] or ""), int(f"{match[1]}{digits}"))

    def text(self, units: int) -> str | None:
        """Return `units` written like this number, with as many characters; None if length or sign would change."""
        digits = str(abs(units)).zfill(len(self.whole) + self.decimals)
        whole, decimals = digits[: len(digits) - self.decimals], digits[len(digits) - self.decimals :]
        padded = len(self.whole) > 1 and whole[:1] == "0" and self.whole[:1] != "0"
        if units * self.units <= 0 or len(whole) != len(self.whole) or padded:
            return None
        return f"{self.sign}{whole}.{decimals}" if self.decimals else f"{self.sign}{whole}"


@dataclass(frozen=True)
class SpareDigits:
    """A column that can be planted. `step` is in units of the last decimal; a cell changes by at most `steps` steps."""

    column: str
    decimals: int
    step: int
    steps: int
    numbers: Mapping[int, WrittenNumber]  # by row, for cells with all decimals
    cells: Sequence[str | None]

    @property
    def tolerance(self) -> str:
        """The largest change of a cell, in the column's unit."""
        return f"{Decimal(self.steps * self.step).scaleb(-self.decimals):f}"

    def alternatives(self, row: int) -> tuple[str, ...]:
        """Return all texts that a cell may get, in order, its present one included; empty if there is no other text."""
        number, cell = self.numbers.get(row), self.cells[row]
        if number is None or cell is None or number.units % self.step or not self._allowed(number.units):
            return ()
        around = (number.units + self.step * by for by in range(-self.steps, self.steps + 1))
        texts = [text for units in around if self._allowed(units) and (text := number.text(units)) is not None]
        return tuple(cell.replace(cell.strip(), text) for text in texts) if len(texts) > 1 else ()

    def _allowed(self, units: int) -> bool:
        low, high = self._range
        written = self._ends_in_zero or units % 10 != 0
        return units != 0 and low <= units <= high and written and units not in self._spikes

    @cached_property
    def _counts(self) -> Counter[int]:
        return Counter(number.units for number in self.numbers.values())

    @cached_property
    def _range(self) -> tuple[int, int]:
        return min(self._counts), max(self._counts)

    @cached_property
    def _ends_in_zero(self) -> bool:
        """True if the file writes final zeros: 12.50, not 12.5."""
        return not self.decimals or any(units % 10 == 0 for units in self._counts)

    @cached_property
    def _spikes(self) -> frozenset[int]:
        """Numbers far more frequent than the numbers around them. Such a number is probably a code, as 999 may be."""
        found = set()
        for units, times in self._counts.items():
            around = [units + self.step * by for by in range(-MOST_DEFAULT_STEPS, MOST_DEFAULT_STEPS + 1) if by]
            if times >= max(SPIKE_ROWS[0], SPIKE_ROWS[1] * sum(self._counts[other] for other in around) / len(around)):
                found.add(units)
        return frozenset(found)


def spare_digits(table: Table, column: str, share: float, amount: Decimal | None = None) -> SpareDigits:
    """Return the digits of a column that may be drawn again.

    A cell changes by at most five steps, and by at most `share` of the column's standard deviation. If the user names
    an `amount`, in the column's unit, that limit applies instead. Raises `Skip` with the reason if the column has no
    such digits.
    """
    cells = table.column(column)
    if not table.is_numeric(column):
        raise Skip("it holds texts")
    written = {row: number for row, cell in enumerate(cells) if (number := WrittenNumber.parse(cell)) is not None}
    if len(written) < 0.95 * sum(not table.is_missing(cell) for cell in cells):
        raise Skip("its numbers are not written in plain digits, 15 at most")
    decimals = _decimals(written)
    numbers = {row: number for row, number in written.items() if number.decimals == decimals}
    distinct = len({number.units for number in numbers.values()})
    if distinct < LEAST_DISTINCT_NUMBERS:
        raise Skip(f"it has {distinct} distinct values, and {LEAST_DISTINCT_NUMBERS} are needed")
    _check_naming(table, column, numbers)
    found = [float(number.units) for number in numbers.values()]
    step = _step(numbers)
    first = {row_cells: row for row, row_cells in reversed(list(enumerate(table.rows)))}  # the first of equal rows
    _check_grid([numbers[row] for row in first.values() if row in numbers], step)
    spread = pstdev(found)
    wanted = min(MOST_DEFAULT_STEPS, math.floor(share * spread / step))
    if amount is not None:
        wanted = min(MOST_STEPS_OF_AMOUNT, int(amount.scaleb(decimals) / step))
    if not wanted:
        smallest = f"{Decimal(step).scaleb(-decimals):f}"
        limit = f"the tolerance of {amount}" if amount is not None else f"{share:.0%} of its standard deviation"
        raise Skip(f"its smallest step, {smallest}, is more than {limit}")
    return SpareDigits(column, decimals, step, wanted, numbers, cells)


def _decimals(written: Mapping[int, WrittenNumber]) -> int:
    """Return the number of decimals up to the digit to draw: the largest number that a fifth of the cells have."""
    counts = Counter(number.decimals for number in written.values())
    least = LEAST_SHARE_OF_DECIMALS * len(written)
    return max((places for places, times in counts.items() if times >= least), default=0)


def _step(numbers: Mapping[int, WrittenNumber]) -> int:
    """Return the largest of 1, 2, 5, 10, 20, 25, … units such that nearly all numbers are multiples of it."""
    units = [number.units for number in numbers.values() if number.units]
    sizes = [base * int(f"1{'0' * zeros}") for zeros in range(MOST_EXACT_DIGITS) for base in (1, 2, 5, 25)]
    return max(size for size in sizes if sum(one % size == 0 for one in units) >= LEAST_SHARE_ON_STEPS * len(units))


def _check_naming(table: Table, column: str, numbers: Mapping[int, WrittenNumber]) -> None:
    """Raise `Skip` if a column names things or orders the rows."""
    units = [number.units for _, number in sorted(numbers.items())]
    pairs = list(pairwise(units))
    if all(one <= other for one, other in pairs) or all(one >= other for one, other in pairs):
        raise Skip("the rows are sorted by it")
    if any(number.decimals for number in numbers.values()):
        return
    dense = max(units) - min(units) < 2 * len(units)
    if len(set(units)) >= LEAST_SHARE_OF_IDENTIFIERS * len(units) and dense:
        raise Skip("it numbers the rows")
    words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).casefold())
    if NAMES & set(words) or any(len(number.whole) > 1 and number.whole[0] == "0" for number in numbers.values()):
        raise Skip("it holds codes")
    if column in entities(table):
        raise Skip("it names things")


def _check_grid(numbers: Sequence[WrittenNumber], step: int) -> None:
    """Raise `Skip` if hardly any number is one step from a repeated number: such numbers are probably codes."""
    counts = Counter(number.units for number in numbers)
    known = sorted(counts)

    def has_neighbour(units: int) -> bool:
        return any(known[bisect_left(known, other) % len(known)] == other for other in (units - step, units + step))

    repeated = sum(times for times in counts.values() if times > 1) / len(numbers)
    close = sum(times for units, times in counts.items() if has_neighbour(units)) / len(numbers)
    if repeated > MOST_SHARE_OF_REPEATS and close < MOST_SHARE_OF_REPEATS * repeated:
        raise Skip("its values repeat, and most lack a neighbouring value, as codes do")
