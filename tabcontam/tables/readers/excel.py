"""Sheets of Excel and LibreOffice workbooks: texts unchanged, numbers in their shortest digits, dates in ISO format.

The stored value of a cell is read, not what the workbook shows: 0.5 for 50 %, 7 for 007.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import TYPE_CHECKING, Any

from tabcontam.errors import UsageError, one_line, option
from tabcontam.tables.readers.archives import BROKEN, ZIP, read_limited
from tabcontam.tables.readers.base import (
    LARGEST,
    MOST_CELLS,
    File,
    check_cells,
    choose_part,
    missing_extra,
    too_many_cells,
)
from tabcontam.tables.readers.delimited_text import with_names
from tabcontam.tables.readers.headers import find_head
from tabcontam.tables.table_contents import Contents, shortest
from tabcontam.tables.thresholds import SAMPLE_RECORDS

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # first bytes of workbooks before 2007, and of locked workbooks since
_ROW = re.compile(rb"<[\w.-]*:?table-row\b")
_CELL = re.compile(rb"<[\w.-]*:?(?:covered-)?table-cell\b[^>]*")
_REPEATS = re.compile(rb"""-repeated\s*=\s*["']\s*([0-9]{1,9})""")
LOCKED = "EncryptedPackage".encode("utf-16-le")
# Parts of the XML in workbooks. By hand, because python-calamine reads values alone, without formulas.
_SHEET = re.compile(rb"<(?:\w+:)?sheet\b[^>]*?\br?:?id\s*=\s*[\"']([^\"']+)[\"']", re.IGNORECASE)
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\b[^>]*>")
_FIELD = re.compile(rb"""\b(Id|Target)\s*=\s*["']([^"']+)["']""")
_EXCEL_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*[^/>])?>(.*?)</(?:\w+:)?c>", re.DOTALL)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>([^<]*)</")
_TEXT = re.compile(rb"""\bt\s*=\s*["']str["']""")
_OPEN_FORMULA = re.compile(rb"<[\w.-]*:?table-cell\b[^>]*\bformula\s*=[^>]*>")
_ON_LOAD = re.compile(rb"""\bfullCalcOnLoad\s*=\s*["'](?:1|true)["']""")
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]{1,3})([0-9]{1,7})["']""")


def is_workbook(content: bytes) -> bool:
    """Return whether the bytes are a workbook or another office document."""
    if not content.startswith(ZIP):
        return content.startswith(OLE)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = {name.lower() for name in archive.namelist()}
    except BROKEN:
        return b"[Content_Types].xml" in content[:2000]
    return "[content_types].xml" in names or ("mimetype" in names and "content.xml" in names)


def read_workbook(file: File) -> Contents:
    """Return column names and rows of a sheet. An empty cell, or a cell whose formula failed, is None.

    Empty rows and columns around the table and a title above it are left out. If cells of a column are merged, each of
    them gets the value. Raises `UsageError` if python-calamine is not installed, if the workbook is locked or broken,
    if a formula has no value, and if a sheet has no table.
    """
    try:
        import python_calamine as calamine
    except ImportError:
        raise missing_extra(file.name, "a workbook", "python-calamine", "excel") from None
    if file.content.startswith(OLE) and LOCKED in file.content:
        raise _locked(file.name)
    try:
        _check_size(file)
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(file.content)) as workbook:
            sheets = [one.name for one in workbook.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
            full = []
            if file.part is None and len(sheets) > 1:  # a new workbook has empty sheets
                full = [name for name in sheets if workbook.get_sheet_by_name(name).height]
            sheet = workbook.get_sheet_by_name(choose_part(file, "sheet", full or sheets))
            _check_formulas(file, workbook.sheet_names.index(sheet.name))
            return _read(file, sheet)
    except calamine.PasswordError:
        raise _locked(file.name) from None
    except (calamine.CalamineError, calamine.ZipError, calamine.XmlError, *BROKEN) as error:
        raise UsageError(f"{file.name} is not a readable workbook: {one_line(error)}") from None


def _read(file: File, sheet: "CalamineSheet") -> Contents:
    """Return the table of a sheet: its rows from the header on, without empty rows."""
    first = sheet.start[0] + 1 if sheet.start else 1
    numbered = [(row, record) for row, record in enumerate(_records(file, sheet), first) if any(record)]
    if file.form.header_line is not None:
        numbered = [(row, record) for row, record in numbered if row >= file.form.header_line]
        if not numbered or numbered[0][0] != file.form.header_line:
            given = option("header_line", file.form.header_line)
            raise UsageError(f"{file.name} has no header in that row: {given} names a row without a cell")
    if not numbered:
        raise UsageError(f"{file.name} has no cell; give a sheet with a header line and rows")
    records = [record for _, record in numbered]
    head = find_head(records[:SAMPLE_RECORDS], file.form, lambda place: f"{file.name}, row {numbered[place][0]}")
    line = f"header in row {numbered[head.above][0]:,}" if head.header else "no header"
    kind = "Excel" if b"mimetypeapplication/vnd.oasis" not in file.content[:100] else "OpenDocument"
    return with_names(records[head.above :], head.header, file.read_as(kind, f"sheet {sheet.name!r}", line))


def _locked(name: str) -> UsageError:
    return UsageError(f"{name} is locked with a password; save it without one")


def _check_size(file: File) -> None:
    """Check the unpacked size and the number of cells of a workbook. Raises `UsageError` if they are too large.

    The reader allocates all cells between a sheet's first and last cell. A single cell in the last corner of a sheet
    would use all memory and end the process.
    """
    if not file.content.startswith(ZIP):
        return
    left = LARGEST
    with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
        for info in archive.infolist():
            if info.flag_bits & 1:
                raise _locked(file.name)
            with archive.open(info) as opened:
                content = read_limited(opened, file.name)
            left -= len(content)
            if left < 0:
                raise too_many_cells(file.name)
            name = info.filename.lower()
            cells = _area(content) if name.startswith("xl/worksheets/") else 0
            if cells > MOST_CELLS or (name == "content.xml" and _area_of_repeats(content) > MOST_CELLS):
                raise too_many_cells(file.name)


def _area(sheet: bytes) -> int:
    """Return the number of cells between an Excel sheet's first and last cell, by the cell addresses."""
    places = [(_column(place[1]), int(place[2])) for place in _PLACE.finditer(sheet)]
    if not places:
        return 0
    columns, rows = zip(*places, strict=True)
    return int((max(columns) - min(columns) + 1) * (max(rows) - min(rows) + 1))


def _area_of_repeats(sheets: bytes) -> int:
    """Return the number of cells of LibreOffice sheets, in which rows and cells may state a repeat count."""
    rows, last, widest = 0, 0, 0
    for row in _ROW.split(sheets)[1:]:
        times, column, filled = _repeats(row[: row.find(b">")]), 0, 0
        for cell in _CELL.findall(row):
            column += _repeats(cell)
            filled = column if b"value" in cell else filled
        rows += times
        last, widest = (rows if filled else last), max(widest, filled)
    return last * widest


def _repeats(tag: bytes) -> int:
    found = _REPEATS.search(tag)
    return int(found[1]) if found else 1


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _records(file: File, sheet: "CalamineSheet") -> list[list[str]]:
    """Return the rows of a sheet; a cell that is merged with cells below is repeated in their rows."""
    records = [[_written(cell) for cell in row] for row in sheet.to_python(skip_empty_area=True)]
    ranges = sheet.merged_cell_ranges or []
    check_cells(sum(last - first for (first, _), (last, _) in ranges), file.name)
    top, left = sheet.start or (0, 0)
    for (first, column), (last, _) in ranges:
        for row in range(max(first - top, 0) + 1, min(last - top + 1, len(records))):
            if 0 <= column - left < len(records[row]):
                records[row][column - left] = records[first - top][column - left]
    return records


def _written(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return shortest(cell)
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        seconds = cell.total_seconds()
        return f"{int(seconds // 3600)}:{int(seconds // 60 % 60):02}:{int(seconds % 60):02}"
    return str(cell)


def _check_formulas(file: File, number: int) -> None:
    """Check that each formula of the sheet `number` has a value. Raises `UsageError`, which names a cell, if not."""
    if lacking := _without_value(file, number):
        count = "1 formula" if len(lacking) == 1 else f"{len(lacking):,} formulas"
        where = f", the first in cell {lacking[0]}" if lacking[0] else ""
        problem = f"{file.name} stores no values for {count}{where}"
        raise UsageError(f"{problem}; open it in a spreadsheet program, save it there, and give that file")


def _without_value(file: File, number: int) -> list[str]:
    """Return the addresses of the sheet's formulas without a stored value, each "" if it is unknown.

    A program that does not compute formulas may store 0 for each. So values do not count as stored if all are 0 and all
    formulas are marked to be computed on opening.
    """
    if not file.content.startswith(ZIP):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(file.content)) as archive:

            def part(name: str) -> bytes:
                with archive.open(name) as opened:
                    return read_limited(opened, file.name)

            if "content.xml" in archive.namelist():
                return [""] * sum(b"value-type" not in tag for tag in _OPEN_FORMULA.findall(part("content.xml")))
            book = part("xl/workbook.xml")
            fields = [dict(_FIELD.findall(one)) for one in _RELATION.findall(part("xl/_rels/workbook.xml.rels"))]
            targets = {one.get(b"Id"): one.get(b"Target", b"") for one in fields}
            target = targets[_SHEET.findall(book)[number]].decode("utf-8", "replace")
            sheet = part(target.lstrip("/") if target.startswith("/") else f"xl/{target}")
    except (KeyError, IndexError, *BROKEN):  # not made like Excel's
        return []
    found = list(_formulas(sheet))
    if len(found) > 1 and _ON_LOAD.search(book) and all(value == b"0" for _, value in found):
        return [place for place, _ in found]
    return [place for place, value in found if value is None]


def _formulas(sheet: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Yield the address of each cell with a formula, and its value; None if no value is stored. "" is a value."""
    for cell in _EXCEL_CELL.finditer(sheet):
        if _FORMULA.search(cell[2]):
            value, place = _VALUE.search(cell[2]), _PLACE.search(cell[1] or b"")
            text = _TEXT.search(cell[1] or b"") is not None
            stored = value[1] if value and (value[1] or text) else b"" if text and b"<v" in cell[2] else None
            yield (place[1] + place[2]).decode() if place else "?", stored
