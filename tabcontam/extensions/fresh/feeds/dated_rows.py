"""Fresh rows: the rows of a dated table from a given day on, saved as a new table with a card, ready for a run.

A row counts as fresh only if its date leaves no doubt, and if no older row has the same cells. Otherwise an old row
could be reported as one that no LLM has read.
"""

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

from tabcontam.errors import UsageError, option, unknown
from tabcontam.extensions.fresh.feeds.date_ranges import DayRange, days_of
from tabcontam.paths import replace_file
from tabcontam.tables.table import Cell, Table

FRESH = "fresh"
# The forms of days and moments in ISO 8601, in `strptime`'s notation. A card names one of these forms.
FORMS = ("%Y-%m-%d", "%Y-%m", "%Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S%z")
BARE = re.compile(r"[A-Za-z0-9_-]+")  # keys that need no quotes in TOML
LEFT_OUT = {
    "older": "older than the first day, or perhaps older",
    "later": "of the end day or later, or perhaps so",
    "to_come": "dated in the future, so the date is not that of their release",
    "undated": "without a date",
    "repeated": "equal to a row that is left out",
}


@dataclass(frozen=True)
class FreshRows:
    """The fresh rows of a table, as a new table. `left_out` counts the other rows, by the keys of `LEFT_OUT`."""

    table: Table
    dated_by: str
    first: date
    last: date
    left_out: Mapping[str, int]

    def facts(self, card: Path, file: Path) -> dict[str, object]:
        """Return the facts about these rows for `--json`, with the paths of their card and their file."""
        return {
            "card": str(card),
            "file": str(file),
            "rows": len(self.table.rows),
            "first": str(self.first),
            "last": str(self.last),
            "left_out": dict(self.left_out),
        }


def fresh_rows(
    table: Table,
    since: date,
    until: date | None = None,
    *,
    dated_by: str | None = None,
    dated_as: str | None = None,
    today: date | None = None,
) -> FreshRows:
    """Return the rows with a date from `since` to before `until`, in the table's order.

    `dated_by` is the column of dates; by default the table's card names it. `dated_as` is the form of the dates in
    `strptime`'s notation (by default ISO 8601). Raises `UsageError` for a column or a date that cannot be read, and if
    fewer than two rows are fresh.
    """
    column = dated_by or table.dates.dated_by
    if not column:
        raise UsageError(
            f"the column of {table.name} that has the dates is not known; add {option('dated_by', 'COLUMN')}"
        )
    if column not in table.columns:
        raise unknown(f"column of {table.name}", column, table.columns)
    written_as = dated_as or ("" if dated_by else table.dates.dated_as)
    own = replace(table, dates=replace(table.dates, dated_by=column, dated_as=written_as))
    today = today or datetime.now(UTC).date()
    reasons = [
        _reason(days, since, until, today) if (days := _days(own, place, cell)) else "undated"
        for place, cell in enumerate(own.column(column), 1)
    ]
    at = own.columns.index(column)
    seen = {_without(row, at) for row, reason in zip(own.rows, reasons, strict=True) if reason}
    kept: list[tuple[Cell, ...]] = []
    dates: list[DayRange] = []
    counts: Counter[str] = Counter()
    for place, (row, found) in enumerate(zip(own.rows, reasons, strict=True), 1):
        reason = found or ("repeated" if _without(row, at) in seen else "")
        if reason:
            counts[reason] += 1
        else:
            kept.append(row)
            dates.append(_days(own, place, row[at]) or DayRange(since, since))
    if len(kept) < 2:
        omissions = "; ".join(f"{counts[key]:,} are {words}" for key, words in LEFT_OUT.items() if counts[key])
        raise UsageError(
            f"{table.name} has {len(kept)} rows from {since} on, and a table needs two"
            + (f": {omissions}" if omissions else "")
        )
    name = _name(table, since, until)
    fresh = replace(own, name=name, rows=tuple(kept), known=(), drawn_cells=(), withheld=(), split="")
    return FreshRows(fresh, column, min(days.first for days in dates), max(days.last for days in dates), dict(counts))


def _reason(days: DayRange, since: date, until: date | None, today: date) -> str:
    if days.first > today:
        return "to_come"
    if days.first < since:
        return "older"
    return "later" if until is not None and days.last >= until else ""


def _without(row: Sequence[Cell], place: int) -> tuple[Cell, ...]:
    return (*row[:place], *row[place + 1 :])


def _days(table: Table, place: int, cell: Cell) -> DayRange | None:
    """Return the days that a row's date can mean; None for an empty cell. Raises `UsageError` for any other cell."""
    if table.is_missing(cell) or not (cell or "").strip():
        return None
    stated = str(cell)
    if table.dates.of_names:
        if stated not in table.dates.of_names:
            where = f"row {place} of {table.name} has {stated!r} in {table.dates.dated_by}"
            raise UsageError(f"{where}, which the card's dates do not list; add it there")
        return days_of(table.dates.of_names[stated])
    try:
        if not table.dates.dated_as:
            return days_of(stated)
        day = datetime.strptime(stated, table.dates.dated_as).date()
        return DayRange(day, day)
    except (ValueError, OverflowError):
        form = f"of the form {table.dates.dated_as}" if table.dates.dated_as else "in the form of ISO 8601 (2026-03-01)"
        raise UsageError(
            f"row {place} of {table.name} has {stated!r} in {table.dates.dated_by}, which is no date {form}; "
            f"name the form of its dates: {option('dated_as', '%d/%m/%Y')}"
        ) from None


def _name(table: Table, since: date, until: date | None) -> str:
    """Return a name for the table of fresh rows that a card allows: the table's name and the first and last day."""
    own = table.title if "." in table.name else table.name  # a file's name includes its ending
    plain = re.sub(r"[^a-z0-9_-]+", "-", own.lower()).strip("-_") or "table"
    return f"{plain}-since-{since}" + (f"-until-{until}" if until else "")


def save_fresh_rows(fresh: FreshRows, folder: Path) -> tuple[Path, Path]:
    """Write the rows as CSV with a card in `folder`. Return the paths of card and CSV file. Raises `OSError`."""
    table = fresh.table
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([["" if cell is None else cell for cell in row] for row in table.rows])
    content = text.getvalue().encode("utf-8", "backslashreplace")
    file, card = folder / f"{table.name}.csv", folder / f"{table.name}.toml"
    replace_file(file, content)
    replace_file(card, _card(fresh, file.name, content))
    return card, file


def _card(fresh: FreshRows, file: str, content: bytes) -> str:
    """Return the card of the fresh rows, in the form of the cards in datasets/. It repeats the table's statements."""
    table = fresh.table
    written_as = "" if table.dates.of_names else table.dates.dated_as or _form(table.column(fresh.dated_by))
    about = {
        "name": table.name,
        "title": table.title,
        "released": str(fresh.first),
        "completed": str(fresh.last),
        "licence": "not stated",
        "public": not table.private,
        "dated_by": fresh.dated_by if table.dates.of_names or written_as else None,
        "dated_as": written_as or None,
        "target": table.target,
        "missing": sorted(mark for mark in table.missing if mark is not None),
    }
    digest = hashlib.sha256(content).hexdigest()
    edition = {"name": FRESH, "file": file, "sha256": digest, "bytes": len(content), "rows": len(table.rows)}
    parts = [_lines(about)]
    if table.dates.of_names:
        own = sorted(set(table.column(fresh.dated_by)) & table.dates.of_names.keys(), key=str)
        parts.append("[dates]\n" + _lines({str(value): table.dates.of_names[str(value)] for value in own}))
    if (question := table.question) is not None:
        asked = {"text": question.text, "threshold": question.threshold, "fair": question.fair}
        parts.append("[question]\n" + _lines(asked))
        parts.append("[question.answers]\n" + _lines(question.answers))
    if (task := table.text) is not None:
        parts.append("[text]\n" + _lines({"form": task.form.value, "texts": list(task.texts), "label": task.label}))
        if task.names:
            parts.append("[text.names]\n" + _lines(task.names))
    if table.hints:
        parts.append("[hints]\n" + _lines({test: list(names) for test, names in table.hints.items()}))
    parts.append("[[editions]]\n" + _lines(edition))
    return "\n".join(parts)


def _form(dates: Sequence[Cell]) -> str:
    """Return the one date form in which all these dates are written; empty if there is none."""
    for form in FORMS:
        try:
            for one in dates:
                datetime.strptime(one or "", form)
        except ValueError:
            continue
        return form
    return ""


def _lines(fields: Mapping[str, object]) -> str:
    return "".join(
        f"{key if BARE.fullmatch(key) else _toml(key)} = {_toml(value)}\n"
        for key, value in fields.items()
        if value is not None
    )


def _toml(value: object) -> str:
    """Return a value in TOML's notation. TOML's strings are JSON's strings with one more character escaped."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower() if isinstance(value, bool) else repr(value)
