"""Rows as lines of cells below a line of feature names: of a CSV file, and of a Markdown table."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from tabcontam.reading.numbers import is_number
from tabcontam.tables.serializers.base import Escapes, Serializer
from tabcontam.tables.table import Cell

CSV_ESCAPES, MARKDOWN_ESCAPES = Escapes(), Escapes(marks="|", more='"')
FIELD = re.compile(r'"((?:[^"]|"")*)"(?=,|$)|([^,]*)', re.DOTALL)
TIGHT = re.compile(r",(?! )")  # no comma within a text
EMPTY = '""'  # an empty text, which is no missing value
BAR = re.compile(r"((?:[^|\\]|\\.|\\$)*)(?:\||$)", re.DOTALL)


class LineRows(Serializer):
    """A form in which a row is a line of cells, below a line of feature names."""

    names_features = False

    def read(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """Return the values of asked features, found by a header in the text, or in a line with one cell for each."""
        places, width = list(range(len(asked))), len(asked)
        for line in text.splitlines():
            for cells in self.cuts(line):
                if all(name in cells for name in asked):
                    places, width = [cells.index(name) for name in asked], len(cells)
                    break
                if len(cells) == width and not all(cell is None or not cell.strip(":-") for cell in cells):
                    return {name: cells[place] for name, place in zip(asked, places, strict=True)}
        return {}

    def spaced(self, line: str) -> str:
        """Return the cells, separated by a comma and a space."""
        return ", ".join(cell or "" for cell in next(self.cuts(line), []))


class CsvRows(LineRows):
    r"""A row as Python's csv.writer writes it. A missing value is empty, an empty text `""`, a line break `\n`."""

    form = "csv"

    def before(self, columns: Sequence[str]) -> list[str]:
        return ["", *("," for _ in columns[1:])]

    def value(self, cell: Cell, following: str = "") -> str:
        if not cell:
            return "" if cell is None else EMPTY
        text = CSV_ESCAPES.write(cell)
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
            return {asked[0]: CSV_ESCAPES.read(match.group(1).replace('""', '"'))}
        field = line if is_number(line) else TIGHT.split(line, maxsplit=1)[0]  # 1,234 is a number
        return {asked[0]: CSV_ESCAPES.read(field.strip()) or None}

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
    return [CSV_ESCAPES.read(field.strip()) or None for field in fields]


def _fields(text: str) -> list[Cell]:
    """Return the cells of a line that `row` wrote. Raises ValueError for another text."""
    cells: list[Cell] = []
    position = 0
    while True:
        match = FIELD.match(text, position)
        if match is None:
            raise ValueError(f"no field at character {position}")
        inside, plain = match.groups()
        cells.append(CSV_ESCAPES.read(inside.replace('""', '"')) if plain is None else CSV_ESCAPES.read(plain) or None)
        position = match.end() + 1
        if position > len(text):
            return cells


class MarkdownRows(LineRows):
    r"""A row between bars. A missing value is blank, an empty text is `""`, a bar is `\|`, a line break is `\n`."""

    form = "markdown"
    closing = " |"

    def before(self, columns: Sequence[str]) -> list[str]:
        return ["| ", *(" | " for _ in columns[1:])]

    def value(self, cell: Cell, following: str = "") -> str:
        if not cell:
            return "" if cell is None else EMPTY
        return MARKDOWN_ESCAPES.write_all(cell) if cell == EMPTY else MARKDOWN_ESCAPES.write(cell)

    def header(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the line of feature names and the line of dashes below it."""
        return (self.row(columns, columns), "|" + "---|" * len(columns))

    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        if not (text.startswith("|") and text.endswith("|")) or len(text) < len("||"):
            raise ValueError("a row begins and ends with a bar")
        cells = [piece[1:-1] for piece in _between(text[1:-1])]
        if len(cells) != len(columns):
            raise ValueError(f"{len(cells)} cells for {len(columns)} columns")
        return tuple("" if cell == EMPTY else MARKDOWN_ESCAPES.read(cell) or None for cell in cells)

    def read_on(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """Return the cells of the first line; if one feature is asked, the text before the first bar."""
        cells = next(self.cuts(next(iter(text.splitlines()), "")), [None])
        if len(asked) == 1:
            return {asked[0]: cells[0]}
        return dict(zip(asked, cells, strict=True)) if len(cells) == len(asked) else {}

    def shown_in(self, text: str, asked: Sequence[str]) -> bool:
        """Return whether a line of the text is a header that names these features."""
        bars = (line for line in text.splitlines() if line.startswith("|"))
        return any(set(asked) <= set(next(self.cuts(line), [])) for line in bars)

    def cuts(self, line: str) -> Iterator[list[Cell]]:
        """Yield the texts between the bars; outer bars may be missing."""
        inner = line.strip().removeprefix("|")
        pieces = _between(inner)
        if len(pieces) > 1 and pieces[-1].strip() in ("", "."):
            pieces = pieces[:-1]  # after the closing bar
        yield [None if piece.strip() == EMPTY else MARKDOWN_ESCAPES.read(piece.strip()) or None for piece in pieces]


def _between(text: str) -> list[str]:
    """Return the pieces of a text between bars; escaped bars do not separate."""
    pieces = []
    position = 0
    while match := BAR.match(text, position):
        pieces.append(match.group(1))
        if match.end() == len(text) and not match.group().endswith("|"):
            break
        position = match.end()
    return pieces
