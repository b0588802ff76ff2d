"""Rows as lines of a CSV file: `39,State-gov,77516`, below a line of feature names."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from tabcontam.reading.numbers import is_number
from tabcontam.tables.serializers.base import Escapes, LineRows
from tabcontam.tables.table import Cell

ESCAPES = Escapes()
FIELD = re.compile(r'"((?:[^"]|"")*)"(?=,|$)|([^,]*)', re.DOTALL)
TIGHT = re.compile(r",(?! )")  # no comma within a text


@dataclass(frozen=True)
class CsvRows(LineRows):
    r"""A row as Python's csv.writer writes it. A missing value is empty, an empty text `""`, a line break `\n`."""

    form: ClassVar[str] = "csv"

    def before(self, columns: Sequence[str]) -> list[str]:
        return ["", *("," for _ in columns[1:])]

    def value(self, cell: Cell, following: str = "") -> str:
        if not cell:
            return "" if cell is None else '""'
        text = ESCAPES.write(cell)
        return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text

    def header(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (self.row(columns, columns),)

    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        cells = _fields(text)
        if len(cells) != len(columns):
            raise ValueError(f"{len(cells)} fields for {len(columns)} columns")
        return tuple(cells)

    def read_on(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """Return the cells of the first line. If one feature is asked, return its field, which may contain `, `."""
        line = next(iter(text.splitlines()), "").strip()
        if len(asked) > 1:
            return next((dict(zip(asked, cut, strict=True)) for cut in self.cuts(line) if len(cut) == len(asked)), {})
        match = FIELD.match(line)
        if match and match.group(1) is not None:
            return {asked[0]: ESCAPES.read(match.group(1).replace('""', '"'))}
        field = line if is_number(line) else TIGHT.split(line, maxsplit=1)[0]  # 1,234 is a number
        return {asked[0]: ESCAPES.read(field.strip()) or None}

    def shown_in(self, text: str, asked: Sequence[str]) -> bool:
        """Return whether a line of the text is a header that names these features."""
        return any(set(asked) <= set(_fields(line)) for line in text.splitlines() if "," in line)

    def cuts(self, line: str) -> Iterator[list[Cell]]:
        """Yield the cells as a CSV reader splits them; if no quotes, also the pieces between commas without a space."""
        rows = csv.reader([line], skipinitialspace=True)
        with suppress(csv.Error):  # a field is longer than the reader's limit
            cells = _cells(next(rows, []))
            yield cells
            if cells and cells[-1] is None:
                yield cells[:-1]  # the line ends with a comma
            if cells and cells[0] is None:
                yield cells[1:]  # the line repeats the prompt's last comma
        if ", " in line and '"' not in line:
            yield _cells(TIGHT.split(line))


def _cells(fields: Sequence[str]) -> list[Cell]:
    return [ESCAPES.read(field.strip()) or None for field in fields]


def _fields(text: str) -> list[Cell]:
    """Return the cells of a line that `row` wrote. Raises ValueError for another text."""
    cells: list[Cell] = []
    position = 0
    while True:
        match = FIELD.match(text, position)
        if match is None:
            raise ValueError(f"no field at character {position}")
        inside, plain = match.groups()
        cells.append(ESCAPES.read(plain) or None if inside is None else ESCAPES.read(inside.replace('""', '"')))
        position = match.end() + 1
        if position > len(text):
            return cells
