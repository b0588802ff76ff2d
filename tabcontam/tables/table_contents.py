"""Cells of a table (the source's own strings, or None), the names of its columns, and the marks of missing values."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Rows = tuple[tuple[str | None, ...], ...]
BY = "\N{MULTIPLICATION SIGN}"

MARKS = frozenset({"?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"})


@dataclass(frozen=True)
class ReadDescription:
    """The way a file was read: its kind, such as `CSV: ';', UTF-8, header in line 3`, and the renamed columns."""

    kind: str = ""
    renamed: tuple[str, ...] = ()

    def line(self, rows: int, columns: int) -> str:
        """Return a line on how a table of this size was read, for plans and reports; "" if this is unknown."""
        listed = 4  # renamed columns that a line lists
        if not self.kind:
            return ""
        count = ", ".join(self.renamed[:listed])
        more = f" and {len(self.renamed) - listed:,} more" if len(self.renamed) > listed else ""
        renamed = f"; columns renamed: {count}{more}" if count else ""
        shape = f"{_counted(rows, 'row')} {BY} {_counted(columns, 'column')}"
        return f"read as {self.kind}, {shape}{renamed}"


UNKNOWN = ReadDescription()


class Contents(tuple[tuple[str, ...], Rows]):
    """The names of the columns, and the rows; `how` describes how they were read."""

    how: ReadDescription

    def __new__(cls, columns: tuple[str, ...], rows: Rows, how: ReadDescription = UNKNOWN) -> "Contents":
        """Return the contents for columns that already have their names."""
        made = super().__new__(cls, (columns, rows))
        made.how = how
        return made


def contents(header: Sequence[str], rows: Rows, kind: str) -> Contents:
    """Return the contents, with a distinct name for each column of the header; `kind` is the kind of file."""
    names = column_names(header)
    pairs = zip(map(str.strip, header), names, strict=True)
    renamed = [f"{old!r} to {new!r}" if old else f"one without a name to {new!r}" for old, new in pairs if old != new]
    return Contents(names, rows, ReadDescription(kind, tuple(renamed) if any(map(str.strip, header)) else ()))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def few(names: Sequence[str], most: int = 3) -> str:
    """Return the first names in quotes, and the number of the others: `'a', 'b', 'c' and 2 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def rows_of(records: Iterable[Sequence[str]]) -> Rows:
    """Return the records as rows. An empty field is None. Equal cells are one object, for fast comparison."""
    cells: dict[str, str | None] = {"": None}
    return tuple(tuple(map(cells.setdefault, record, record)) for record in records)


def column_names(header: Sequence[str]) -> tuple[str, ...]:
    """Return a name for each column: `column 3` for an empty one, `price (2)` for the second `price`."""
    names: list[str] = []
    taken = {name.strip() for name in header}
    seen: set[str] = set()
    for position, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {position}"
        number = 2
        unique = name
        while unique in seen or (unique != cell.strip() and unique in taken):
            unique, number = f"{name} ({number})", number + 1
        seen.add(unique)
        names.append(unique)
    return tuple(names)


def missing_marks(columns: Sequence[Sequence[str | None]]) -> frozenset[str]:
    """Return the marks of missing values that occur: words of `MARKS`, blank cells, and a dash among numbers."""
    marks: set[str] = set()
    for cells in columns:
        values = {cell for cell in cells if cell is not None}
        marks |= {value for value in values if value in MARKS or not value.strip()}
        if "-" in values and len(values) > 1 and all(map(is_number, values - marks - {"-"})):
            marks.add("-")
    return frozenset(marks)


def is_number(cell: str) -> bool:
    """Return whether a cell is a finite number in a notation that files use."""
    try:
        return math.isfinite(float(cell)) and "_" not in cell  # Python reads 1_000, a table does not
    except ValueError:
        return False


def shortest(value: float) -> str:
    """Return a number in the fewest digits that identify it, a whole number without a point: 3, 0.1, 1e-07."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
