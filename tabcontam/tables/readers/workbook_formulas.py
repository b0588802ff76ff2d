"""Formulas of workbooks without stored values: the program that wrote the file did not compute them.

By hand, because python-calamine reads values alone, without formulas.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence

from tabcontam.errors import UsageError
from tabcontam.tables.readers.archives import BROKEN, ZIP, read_limited
from tabcontam.tables.readers.base import File

_SHEET = re.compile(rb"<(?:\w+:)?sheet\b[^>]*?\br?:?id\s*=\s*[\"']([^\"']+)[\"']", re.IGNORECASE)
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\b[^>]*>")
_FIELD = re.compile(rb"""\b(Id|Target)\s*=\s*["']([^"']+)["']""")
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*[^/>])?>(.*?)</(?:\w+:)?c>", re.DOTALL)
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Z]{1,3}[0-9]{1,7})["']""")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_VALUE = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>([^<]*)</")
_TEXT = re.compile(rb"""\bt\s*=\s*["']str["']""")
_OPEN_FORMULA = re.compile(rb"<[\w.-]*:?table-cell\b[^>]*\bformula\s*=[^>]*>")
_ON_LOAD = re.compile(rb"""\bfullCalcOnLoad\s*=\s*["'](?:1|true)["']""")


def check_formulas(file: File, number: int) -> None:
    """Check that each formula of the sheet `number` has a value. Raises `UsageError`, which names a cell, if not.

    A program that does not compute formulas may store 0 for each. So values do not count as stored if all are 0 and all
    formulas are marked to be computed on opening.
    """
    if not file.content.startswith(ZIP):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
            if "content.xml" in archive.namelist():
                tags = _OPEN_FORMULA.findall(_part(archive, "content.xml", file.name))
                _check(file.name, [""] * sum(b"value-type" not in tag for tag in tags))
                return
            book = _part(archive, "xl/workbook.xml", file.name)
            sheet = _part(archive, _place(archive, book, number, file.name), file.name)
    except (KeyError, IndexError, *BROKEN):  # not made like Excel's
        return
    found = list(_formulas(sheet))
    lacking = [place for place, value in found if value is None]
    if not lacking and _ON_LOAD.search(book) and len(found) > 1 and all(value == b"0" for _, value in found):
        lacking = [place for place, _ in found]
    _check(file.name, lacking)


def _check(name: str, lacking: Sequence[str]) -> None:
    """Raise `UsageError` if there are cells with formulas and without values; `lacking` has their addresses."""
    if lacking:
        count = "1 formula" if len(lacking) == 1 else f"{len(lacking):,} formulas"
        where = f", the first in cell {lacking[0]}" if lacking[0] else ""
        problem = f"{name} stores no values for {count}{where}"
        raise UsageError(f"{problem}; open it in a spreadsheet program, save it there, and give that file")


def _part(archive: zipfile.ZipFile, name: str, file_name: str) -> bytes:
    with archive.open(name) as opened:
        return read_limited(opened, file_name)


def _place(archive: zipfile.ZipFile, book: bytes, number: int, file_name: str) -> str:
    """Return the path in the archive of the sheet `number` of the workbook. Raises KeyError or IndexError."""
    wanted = _SHEET.findall(book)[number]
    relations = _RELATION.findall(_part(archive, "xl/_rels/workbook.xml.rels", file_name))
    fields = (dict(_FIELD.findall(one)) for one in relations)
    targets = {one.get(b"Id"): one.get(b"Target", b"") for one in fields}
    target = targets[wanted].decode("utf-8", "replace")
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _formulas(sheet: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Yield the address of each cell with a formula, and its value; None if no value is stored. "" is a value."""
    for cell in _CELL.finditer(sheet):
        if not _FORMULA.search(cell[2]):
            continue
        value = _VALUE.search(cell[2])
        text = _TEXT.search(cell[1] or b"") is not None
        stored = value[1] if value and (value[1] or text) else None
        place = _PLACE.search(cell[1] or b"")
        yield place[1].decode() if place else "?", b"" if stored is None and text and b"<v" in cell[2] else stored
