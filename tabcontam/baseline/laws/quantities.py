"""Columns as quantities: numbers, also within a text ("$1,200.50", "12 kg"), and the form in which they are written."""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Column, Floats, as_number, cached_by_column, format_number, scaled
from tabcontam.baseline.thresholds import (
    LARGEST_NUMBER,
    LEAST_QUANTITY_SHARE,
    LONGEST_QUANTITY,
    MOST_DECIMALS,
    QUANTITY_SAMPLE_CELLS,
)
from tabcontam.reading.answer_text import value_key
from tabcontam.reading.numbers import GROUPED

IN_TWOS = re.compile(r"^[+-]?\d{1,2},\d\d,")
TWOS = re.compile(r"(?<=\d)(?=(?:\d\d)*\d{3}$)")
QUANTITY = re.compile(r"([^\d+-]{0,12}?)([+-]?\d[\d.,]*)([^\d]{0,12})")


@dataclass(frozen=True)
class NumberForm:
    """The form in which a column writes its numbers: the text around them and the decimal mark."""

    before: str = ""
    after: str = ""
    comma: bool = False  # decimal comma, with points between thousands
    grouped: bool = False  # marks between thousands
    in_twos: bool = False  # Indian style: marks after every two digits before the last three
    padded: bool = True  # all decimals are written, even zeros

    def text(self, number: str) -> str:
        """Return a plain number in the form of this column."""
        whole, _, decimals = number.lstrip("-").partition(".")
        whole = f"{int(whole):,}" if self.grouped else whole
        if self.in_twos:
            whole = TWOS.sub(",", whole.replace(",", ""))
        decimals = decimals if self.padded else decimals.rstrip("0")
        found = f"{whole}.{decimals}" if decimals else whole
        found = found.translate(str.maketrans(",.", ".,")) if self.comma else found
        return f"{self.before}{'-' if number.startswith('-') else ''}{found}{self.after}"


@dataclass(frozen=True, eq=False)
class Quantity:
    """A column's numbers, NaN where there is none, with their decimals and form.

    `form` is None for plain numbers. If `long`, the numbers have more than `decimals` decimals: their significant
    digits are compared.
    """

    name: str
    values: Floats
    decimals: int
    form: NumberForm | None = None
    long: bool = False

    def keys(self, numbers: Floats) -> list[str | None]:
        """Return the key of each number as this column writes it, for comparing answers; None where it is no number."""
        known = np.isfinite(numbers) & (np.abs(numbers) < LARGEST_NUMBER)
        if self.long:
            return [value_key(repr(float(one))) if good else None for one, good in zip(numbers, known, strict=True)]
        wholes = scaled(np.where(known, numbers, 0.0), self.decimals).tolist()
        texts = [format_number(one, self.decimals) if good else None for one, good in zip(wholes, known, strict=True)]
        form = self.form
        return [None if text is None else value_key(form.text(text) if form else text) for text in texts]


@cached_by_column
def quantity(one: Column) -> Quantity | None:
    """Return a column's numbers, or the numbers in its texts if nearly all texts contain one; otherwise None."""
    if one.numbers is not None:
        return Quantity(one.name, one.numbers, one.decimals, None, _is_long(one))
    some = list(dict.fromkeys(one.cells[:: len(one.cells) // QUANTITY_SAMPLE_CELLS + 1]))
    if sum(QUANTITY.fullmatch(cell.strip()[:LONGEST_QUANTITY]) is not None for cell in some if cell) < len(some) / 3:
        return None
    known = {key: text for key, text in one.texts.items() if len(text) <= LONGEST_QUANTITY}
    if len(known) < LEAST_QUANTITY_SHARE * max(1, len(one.texts)):
        return None
    parts = {key: found for key, text in known.items() if (found := QUANTITY.fullmatch(text.strip())) is not None}
    around = Counter((found[1].strip(), found[3].strip()) for found in parts.values())
    if not parts or len(parts) < LEAST_QUANTITY_SHARE * len(one.texts) or len(around) > 4:
        return None
    comma = _comma(tuple(found[2] for found in parts.values()))
    numbers = {key: _number(found[2], comma) for key, found in parts.items()}
    values = np.array([numbers.get(key, np.nan) if key != MISSING else np.nan for key in one.keys])
    if np.isfinite(values).sum() < LEAST_QUANTITY_SHARE * sum(key != MISSING for key in one.keys):
        return None
    mark = "," if comma else "."
    lengths = Counter(len(found[2].rpartition(mark)[2]) if mark in found[2] else 0 for found in parts.values())
    usual = Counter((found[1], found[3]) for found in parts.values()).most_common(1)[0][0]
    between = "." if comma else ","
    grouped = any(between in found[2] for found in parts.values())
    in_twos = any(IN_TWOS.search(found[2]) for found in parts.values()) and not comma
    form = NumberForm(*usual, comma, grouped, in_twos, len(lengths) == 1)
    return Quantity(one.name, values, min(MOST_DECIMALS, max(lengths)), form)


def _is_long(one: Column) -> bool:
    """Return whether a column's numbers have as many digits as a computer prints."""
    if one.decimals < MOST_DECIMALS or one.numbers is None:
        return False
    finite = one.numbers[np.isfinite(one.numbers)]
    return bool(np.mean(np.abs(finite * 10**MOST_DECIMALS - np.rint(finite * 10**MOST_DECIMALS)) > 1e-3) > 0.3)


def _comma(numbers: tuple[str, ...]) -> bool:
    """Return whether the decimal mark is a comma."""
    last = Counter("," if number.rfind(",") > number.rfind(".") else "." for number in numbers if not number.isdigit())
    thousands = all(GROUPED.fullmatch(number) for number in numbers if "," in number)
    return last[","] > last["."] and not thousands


def _number(text: str, comma: bool) -> float:
    return as_number(text.replace(".", "").replace(",", ".") if comma else text.replace(",", ""))
