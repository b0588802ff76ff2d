"""Cells of a table: the source's own strings, or None; how columns are named, and which cells mark what is missing."""

import math
from collections.abc import Iterable, Sequence

Rows = tuple[tuple[str | None, ...], ...]
Contents = tuple[tuple[str, ...], Rows]  # the names of the columns, and the rows below them

MARKS = frozenset({"?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None"})


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
