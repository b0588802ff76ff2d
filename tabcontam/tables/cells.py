"""Cells of a table: the source's own strings, or None; how columns are named, and which cells mark what is missing."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Rows = tuple[tuple[str | None, ...], ...]
RENAMED = 4  # columns that a line names
BY = "\N{MULTIPLICATION SIGN}"

MARKS = frozenset({"?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"})


@dataclass(frozen=True)
class How:
    """How a file was read: as what, such as `CSV: ';', UTF-8, header in line 3`, and which columns were renamed."""

    kind: str = ""
    renamed: tuple[str, ...] = ()

    def line(self, rows: int, columns: int) -> str:
        """Return the line of a plan and a report for a table of this size; empty where nothing is known."""
        if not self.kind:
            return ""
        count = ", ".join(self.renamed[:RENAMED])
        more = f" and {len(self.renamed) - RENAMED:,} more" if len(self.renamed) > RENAMED else ""
        renamed = f"; columns renamed: {count}{more}" if count else ""
        shape = f"{_counted(rows, 'row')} {BY} {_counted(columns, 'column')}"
        return f"read as {self.kind}, {shape}{renamed}"


UNKNOWN = How()


class Contents(tuple[tuple[str, ...], Rows]):
    """The names of the columns and the rows below them, with `how` they were read."""

    how: How

    def __new__(cls, columns: tuple[str, ...], rows: Rows, how: How = UNKNOWN) -> "Contents":
        """Columns that have their names."""
        made = super().__new__(cls, (columns, rows))
        made.how = how
        return made


def contents(header: Sequence[str], rows: Rows, kind: str) -> Contents:
    """The columns by their header, each with a name of its own, the rows, and as what they were read."""
    names = column_names(header)
    pairs = zip(map(str.strip, header), names, strict=True)
    renamed = [f"{old!r} to {new!r}" if old else f"one without a name to {new!r}" for old, new in pairs if old != new]
    return Contents(names, rows, How(kind, tuple(renamed) if any(map(str.strip, header)) else ()))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def rows_of(records: Iterable[Sequence[str]]) -> Rows:
    """Rows of these fields; an empty one is a missing cell. Equal cells are one text: so they are compared fast."""
    cells: dict[str, str | None] = {"": None}
    return tuple(tuple(map(cells.setdefault, record, record)) for record in records)


def column_names(header: Sequence[str]) -> tuple[str, ...]:
    """A name for each column: `column 3` for an empty one, `price (2)` for the second `price`."""
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
    """The usual marks of a missing value that occur: the words of `MARKS`, blank cells, and a dash among numbers."""
    marks: set[str] = set()
    for cells in columns:
        values = {cell for cell in cells if cell is not None}
        marks |= {value for value in values if value in MARKS or not value.strip()}
        if "-" in values and len(values) > 1 and all(map(is_number, values - marks - {"-"})):
            marks.add("-")
    return frozenset(marks)


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number as files write one."""
    try:
        return math.isfinite(float(cell)) and "_" not in cell  # Python reads 1_000, a table does not
    except ValueError:
        return False


def shortest(value: float) -> str:
    """A number in the fewest digits that tell it from others, a whole one without a point: 3, 0.1, 1e-07."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
