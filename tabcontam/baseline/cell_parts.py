"""Pieces of cells that may predict a hidden cell together with another cell: a day, or the first letter of a code.

A day and a currency determine an exchange rate, a year and a country a population. Neither the piece alone nor two
whole cells determine such a value.
"""

from collections.abc import Iterator

import numpy as np

from tabcontam.baseline.coded_columns import Column, Floats, cached_by_column, column
from tabcontam.baseline.laws.calendar import DAY, calendar, dates_of
from tabcontam.baseline.thresholds import FIRST_CHARACTERS, LAST_CHARACTERS, LONGEST_PIECED_TEXT, MOST_UNSPLIT_VALUES


@cached_by_column
def parts(one: Column) -> tuple[Column, ...]:
    """Return a column for each piece of this column's dates, texts or codes, such as a date's month."""
    if one.distinct <= MOST_UNSPLIT_VALUES:
        return ()
    return tuple(more for more in (*_of_dates(one), *_of_texts(one)) if 1 < more.distinct < one.distinct)


def _of_dates(one: Column) -> Iterator[Column]:
    read = None if one.numbers is not None else dates_of(one)
    if read is None or read.size not in ("day", "moment"):
        return
    year, month, _ = calendar(read.days)
    found: dict[str, Floats] = {"day": read.days} if read.size == "moment" else {}
    found |= {"month of year": 12 * year + month, "year": year, "month": month, "weekday": np.mod(read.days, 7)}
    if read.size == "moment":
        found["hour"] = np.floor(np.mod(read.seconds, DAY) / 3600)
    for name, numbers in found.items():
        cells = [str(int(number)) if np.isfinite(number) else None for number in numbers.tolist()]
        yield column(f"{one.name} {name}", cells)


def _of_texts(one: Column) -> Iterator[Column]:
    if one.numbers is not None and not one.size_of_codes:
        return
    if sum(map(len, one.texts.values())) > LONGEST_PIECED_TEXT * len(one.texts) or dates_of(one) is not None:
        return
    for name, sizes in (("first", FIRST_CHARACTERS), ("last", LAST_CHARACTERS)):
        for size in sizes:
            cut = slice(size) if name == "first" else slice(-size, None)
            pieces = {key: text[cut] for key, text in one.texts.items() if len(text) > size}
            yield column(f"{one.name} {name} {size} characters", [pieces.get(key) for key in one.keys])
