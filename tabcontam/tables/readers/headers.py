"""The header, which is the record that names a table's columns, and the lines above it, such as a title or comments."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tabcontam.errors import UsageError, option
from tabcontam.tables.readers.base import TextFormat
from tabcontam.tables.readers.dialects import usual_width
from tabcontam.tables.table_contents import MARKS, is_number
from tabcontam.tables.thresholds import MOST_SECOND_HEADER_RECORDS, SAMPLE_RECORDS

YEARS = range(1800, 2101)
Record = Sequence[str]

_DIGITS = re.compile(r"\d+")
_UNIT = re.compile(r"[^\W\d_]|%")  # letters, or per cent: dashes are missing cells
_COMMENT = re.compile(r"\s*#.*\w")  # and not a column named `#`


@dataclass(frozen=True)
class HeaderPlace:
    """The number of records above the header, or above the first row if the table has no header."""

    above: int
    header: bool


def find_head(records: Sequence[Record], form: TextFormat, where: Callable[[int], str]) -> HeaderPlace:
    """Return the place of the header among a table's first `records`.

    A record above the header is left out only if it is a comment or has fewer cells than most records. The record below
    must have names that differ in kind from the cells of their columns. `where` returns a record's place in words.
    Raises `UsageError` if a title cannot be distinguished from a header, and if units are below the header.
    """
    if form.header_line is not None or form.header:
        return HeaderPlace(0, True)
    # the line `sep=;` names the delimiter to a spreadsheet program
    begin = records[0][0].strip().strip('"').lower() if len(records) > 1 else ""
    first = int(begin in ("sep=", "sep") and not any(map(str.strip, records[0][1:])))
    if form.header is False:
        return HeaderPlace(first, False)
    width = usual_width(records)
    usual = usual_width([_filled(record) for record in records if len(record) == width])
    start = next((place for place in range(first, len(records)) if _is_full(records[place], width, usual)), first)
    even = [record for record in records[start:] if len(record) == width]
    above = records[first:start]
    if above and not _is_names(even, weakly=all(len(_filled(record)) <= 1 or _is_comment(record) for record in above)):
        whole = [record for record in records[first:] if len(record) == width]
        if any(len(record) != width for record in above) or not _is_of_table(above, even):
            filled = len(_filled(above[0]))
            cells = "1 cell" if filled == 1 else f"{filled} cells"
            raise UsageError(
                f"{where(first)} has {cells}, and the table has {width} columns, so that this may be a title or a part "
                f"of the header; name the header's line with {option('header_line', 'N')}, or remove the lines above "
                "the table"
            )
        start, even = first, whole
    header = len(records[start]) == width and has_header(even)
    if header and (below := _second_header(even[1:])):
        texts = " and ".join(map(repr, below[:2]))
        raise UsageError(
            f"{where(start)}: the line below the header has {texts} where all later rows have numbers; remove this "
            f"line if it holds units or a second header, or keep it as a row with {option('header_line', 'N')}"
        )
    return HeaderPlace(start, header)


def has_header(records: Sequence[Record]) -> bool:
    """Return whether the first record names the columns.

    A column votes if all cells below the first have digits. If the first cell is unlike these cells, the vote is for a
    name; if it is similar, for data. If the votes are equal, a first cell that occurs again in its column counts as
    data.
    """
    first, rest = records[0], records[1:SAMPLE_RECORDS]
    if not rest or _counts_up(first):
        return True
    votes = 0
    repeated = False
    for index, cell in enumerate(first):
        others = _others(rest, index)
        if others and not _is_missing(cell):
            votes += _vote(cell, others)
            repeated = repeated or cell in others
    return votes > 0 if votes else not repeated


def _filled(record: Record) -> list[str]:
    return [cell for cell in record if cell.strip()]


def _is_full(record: Record, width: int, usual: int) -> bool:
    """Return whether a record has enough filled cells for a header or a row."""
    filled = len(_filled(record))
    return len(record) == width and filled * 2 > usual and (filled > 1 or usual <= 1) and not _is_comment(record)


def _is_comment(record: Record) -> bool:
    return _COMMENT.match(record[0]) is not None


def _is_of_table(above: Sequence[Record], even: Sequence[Record]) -> bool:
    """Return whether the short records `above` belong to the table, as rows or as an incomplete header."""
    if len(above) == 1 and (len(above[0]) == 2 or not above[0][0].strip() or _is_comment(above[0])):
        return True

    def fits(record: Record) -> bool:
        columns = ((cell, _others(even, index)) for index, cell in enumerate(record) if not _is_missing(cell))
        return any(cell in others or (others and _vote(cell, others) < 0) for cell, others in columns)

    return all(map(fits, above))


def _is_names(even: Sequence[Record], *, weakly: bool) -> bool:
    """Return whether the first of these records certainly names the columns of the other records.

    Each column with cells needs a name, and no name may be like the cells below it. At least one name must also differ
    clearly: it is no number above numbers, or has no digit above cells with digits. If `weakly`, it is also enough that
    two columns with repeated values have names that do not occur below.
    """
    if len(even) < 2:
        return False
    first, rest = even[0], even[1:SAMPLE_RECORDS]
    names = _filled(first)
    used = [place for place in range(1, len(first)) if sum(1 for row in rest if row[place].strip()) * 2 >= len(rest)]
    if any(not first[place].strip() for place in used):
        return False
    years = _years(first)
    strong, weak = int(bool(years)), 0
    for place, cell in enumerate(first):
        others = set() if place in years or not cell.strip() else _others(rest, place)
        vote = _vote(cell, others) if others else 0
        if vote < 0 or cell in others:
            return False
        strong += vote
        weak += 0 < len(others) * 4 <= len(rest)
    return strong > 0 or (weakly and weak > 1 and len(set(names)) == len(names))


def _years(first: Record) -> set[int]:
    """Return the column numbers of three or more consecutive years."""
    numbers = [int(cell) if cell.isascii() and cell.isdecimal() else 0 for cell in first]
    steps = [place for place, (one, other) in enumerate(pairwise(numbers)) if one in YEARS and other == one + 1]
    return {place for step in steps for place in (step, step + 1)} if len(steps) > 1 else set()


def _second_header(rows: Sequence[Record]) -> list[str]:
    """Return the texts, such as units, in the first rows of columns in which all later rows have numbers."""
    for size in range(1, MOST_SECOND_HEADER_RECORDS + 1):
        heads, rest = rows[:size], rows[size:SAMPLE_RECORDS]
        if len(rest) < MOST_SECOND_HEADER_RECORDS:
            return []
        columns = [place for place in range(len(rows[0])) if (own := _others(rest, place)) and all(map(is_number, own))]
        cells = [row[place] for row in heads for place in columns if not _is_missing(row[place])]
        alone = len(_filled(heads[0])) == 1
        if len(columns) > 1 and (len(cells) > 1 or (cells and alone)) and all(map(_UNIT.search, cells)):
            return cells
    return []


def _others(rest: Sequence[Record], index: int) -> set[str]:
    return {record[index] for record in rest if not _is_missing(record[index])}


def _is_missing(cell: str) -> bool:
    return not cell.strip() or cell.strip() in MARKS


def _vote(cell: str, others: set[str]) -> int:
    """Return a column's vote on its first cell: 1 for a name, -1 for data, 0 for neither."""
    if not all(map(_DIGITS.search, others)):
        return 0
    if not _DIGITS.search(cell):
        return 1
    numbers = all(map(is_number, others))
    if (numbers and is_number(cell)) or _shape(cell) in set(map(_shape, others)):
        return -1
    return 1 if numbers else 0


def _shape(cell: str) -> str:
    return _DIGITS.sub("9", cell)


def _counts_up(first: Record) -> bool:
    """Return whether the first record's numbers name columns: consecutive years, or 0, 1, 2 and so on."""
    numbers = [int(cell) for cell in first if cell.isascii() and cell.isdecimal()]
    if len(numbers) < 3 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return False
    years = numbers[0] >= YEARS.start and numbers[-1] < YEARS.stop
    return years or (numbers[0] == 0 and all(cell.isdecimal() or not cell for cell in first))
