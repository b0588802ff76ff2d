"""Rows of a Markdown table: `| 39 | State-gov | 77516 |`, below its header."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tabcontam.tables.serializers.base import Escapes, LineRows
from tabcontam.tables.table import Cell

ESCAPES = Escapes(marks="|", more='"')
EMPTY = '""'  # an empty text, which is no missing value
BAR = re.compile(r"((?:[^|\\]|\\.|\\$)*)(?:\||$)", re.DOTALL)


@dataclass(frozen=True)
class MarkdownRows(LineRows):
    r"""A row between bars. A missing value is blank, an empty text is `""`, a bar is `\|`, a line break is `\n`."""

    form: ClassVar[str] = "markdown"
    closing: ClassVar[str] = " |"

    def before(self, columns: Sequence[str]) -> list[str]:
        return ["| ", *(" | " for _ in columns[1:])]

    def value(self, cell: Cell, following: str = "") -> str:
        if not cell:
            return "" if cell is None else EMPTY
        return ESCAPES.write_all(cell) if cell == EMPTY else ESCAPES.write(cell)

    def header(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the line of feature names and the line of dashes below it."""
        return (self.row(columns, columns), "|" + "---|" * len(columns))

    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        if not (text.startswith("|") and text.endswith("|")) or len(text) < len("||"):
            raise ValueError("a row begins and ends with a bar")
        cells = [piece[1:-1] for piece in _between(text[1:-1])]
        if len(cells) != len(columns):
            raise ValueError(f"{len(cells)} cells for {len(columns)} columns")
        return tuple("" if cell == EMPTY else ESCAPES.read(cell) or None for cell in cells)

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
        yield [None if piece.strip() == EMPTY else ESCAPES.read(piece.strip()) or None for piece in pieces]


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
