"""Splits of a table by the dates of its rows: the rows before a month and the rows after it.

If a card's rows describe events over time, the card names the column of their dates. `before-2023-10` and
`after-2023-10` are splits of its table. A model with training data up to that month may have read the first split, and
cannot have read the second. Rows of the month itself are in neither split. A table without row dates is in one split as
a whole, if its card states when the data were released and completed.
"""

import re
from dataclasses import replace
from datetime import datetime

from tabcontam.errors import UsageError
from tabcontam.tables.table import Table

BEFORE, AFTER = "before", "after"
SPLIT = re.compile(r"(before|after)-(\d{4}-(?:0[1-9]|1[0-2]))")
OF_CUTOFF = re.compile(r"(before|after)-cutoff")  # instead of a month: the one in which the model's training data end


def is_dated(split: str) -> bool:
    """Return whether a split is one by dates, such as `before-2023-10`."""
    return SPLIT.fullmatch(split.casefold()) is not None


def part_of(table: Table, split: str) -> Table:
    """Return the rows of a split by dates. Raises `UsageError` for any other split, and for a table without dates."""
    found = SPLIT.fullmatch(split.casefold())
    if found is None:
        raise UsageError(
            f"unknown split {split!r} of {table.name}; its rows have dates: write {table.name}#after-YYYY-MM or "
            f"#before-YYYY-MM, or #after-cutoff"
        )
    sides, _ = sides_of(table, found[2])
    return sides[found[1]]


def sides_of(table: Table, month: str) -> tuple[dict[str, Table], int]:
    """Return the rows before a month (YYYY-MM) and after it, each as a table, and the number of rows of that month.

    Both tables have all columns and keep the order of the rows. Raises `UsageError` if neither the rows' dates nor the
    card's dates show on which side of the month the table is.
    """
    if not table.dates.dated_by and (whole := _side_of(table, month)):
        parts = {side: replace(table, rows=(), split=f"{side}-{month}") for side in (BEFORE, AFTER)}
        return {**parts, whole: replace(parts[whole], rows=table.rows)}, 0
    months = months_of(table)
    rows: dict[str, list[tuple[str | None, ...]]] = {BEFORE: [], AFTER: []}
    for row, own in zip(table.rows, months, strict=True):
        if own != month:
            rows[BEFORE if own < month else AFTER].append(row)
    parts = {side: replace(table, rows=tuple(own), split=f"{side}-{month}") for side, own in rows.items()}
    return parts, len(table.rows) - sum(map(len, rows.values()))


def _side_of(table: Table, month: str) -> str:
    """Return the side of `month` that a whole table is on, by its release and completion dates; "" if unclear."""
    first, last = table.dates.released[: len(month)], (table.dates.completed or table.dates.released)[: len(month)]
    if first and first > month[: len(first)]:
        return AFTER
    return BEFORE if last and last < month[: len(last)] else ""


def months_of(table: Table) -> list[str]:
    """Return the month of each row, as YYYY-MM. Raises `UsageError` if any row has no date."""
    if not table.dates.dated_by:
        span = " to ".join(filter(None, (table.dates.released, table.dates.completed)))
        stated = f", and the table is of {span}" if span else ""
        problem = f"the rows of {table.name} have no dates{stated}"
        raise UsageError(f"{problem}; name a dataset whose card has dated_by, or no split")
    if table.dates.dated_by not in table.columns:
        raise UsageError(f"{table.name} has no column {table.dates.dated_by!r}; correct dated_by in its card")
    found = []
    for number, cell in enumerate(table.column(table.dates.dated_by), 1):
        if table.dates.of_names:
            if not (day := table.dates.of_names.get(cell or "")):
                problem = f"row {number} of {table.name} has {cell!r} in {table.dates.dated_by}"
                raise UsageError(f"{problem}, and the card's dates do not have it; add it")
            found.append(day[: len("YYYY-MM")])
            continue
        try:
            found.append(f"{datetime.strptime(cell or '', table.dates.dated_as):%Y-%m}")
        except ValueError:
            problem = f"row {number} of {table.name} has {cell!r} in {table.dates.dated_by}"
            raise UsageError(
                f"{problem}, which is no date of the form {table.dates.dated_as}; correct dated_as in its card"
            ) from None
    return found
