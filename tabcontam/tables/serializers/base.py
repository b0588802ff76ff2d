"""The base class of all serializers. They write rows as text, read them back without loss, and read answers."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import ClassVar

from tabcontam.tables.table import Cell

LINE_BREAK = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # where str.splitlines() cuts
SPELLED = {"\n": "\\n", "\r": "\\r"}  # line breaks with an escape of their own
UNESCAPED = {"n": "\n", "r": "\r"}


@dataclass(frozen=True)
class Serializer(ABC):
    """A rule that writes a row as one line of text. `source` is the user's own file that defines it, "" if shipped.

    If its rows do not name the features, a `header` above the rows names them. `closing` is the text after the last
    value of a row.
    """

    name: str
    about: str
    source: str = field(default="", compare=False, kw_only=True)
    form: ClassVar[str]
    names_features: ClassVar[bool] = True
    closing: ClassVar[str] = ""

    @abstractmethod
    def before(self, columns: Sequence[str]) -> list[str]:
        """Return the text before each value of a row."""

    @abstractmethod
    def value(self, cell: Cell, following: str = "") -> str:
        """Return a value as written in a row; `following` is the text after it in the row, "" at the end."""

    def row(self, columns: Sequence[str], cells: Sequence[Cell]) -> str:
        """Return the row as one line of text."""
        return "".join(chain.from_iterable(self._pieces(columns, cells))) + self.closing

    def places(self, columns: Sequence[str], cells: Sequence[Cell]) -> list[tuple[int, int]]:
        """Return the start and the end of each written value in the text of the row."""
        found, end = [], 0
        for before, value in self._pieces(columns, cells):
            start = end + len(before)
            end = start + len(value)
            found.append((start, end))
        return found

    def prefix(self, columns: Sequence[str], cells: Sequence[Cell], first_asked: int) -> str:
        """Return the row's text up to the value of feature number `first_asked`, which a model would write next.

        It has no final space, since base models begin words with a space.
        """
        shown = "".join(chain.from_iterable(self._pieces(columns, cells)[:first_asked]))
        return shown + _before(self, tuple(columns))[first_asked].rstrip()

    def _pieces(self, columns: Sequence[str], cells: Sequence[Cell]) -> list[tuple[str, str]]:
        """Return for each value of a row the text before it, and the written value."""
        before = _before(self, tuple(columns))
        written = map(self.value, cells, [*before[1:], ""])
        return list(zip(before, written, strict=True))

    @abstractmethod
    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        """Return the cells of a serialized row. Raises ValueError where `text` is not a row of these columns."""

    @abstractmethod
    def read(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """Return the values of asked features found anywhere in an answer; None is a missing value."""

    @abstractmethod
    def read_on(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """Return the values of asked features in an answer that continues a prompt: it begins with the first value.

        If only one feature is asked, it is always in the result.
        """

    @abstractmethod
    def shown_in(self, text: str, asked: Sequence[str]) -> bool:
        """Return whether a text contains rows of these features in this form."""

    def header(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the lines above the rows; empty if the rows name their features."""
        return ()

    def rows(self, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
        """Return the texts of consecutive rows; the first text begins with the header."""
        texts = [self.row(columns, row) for row in rows]
        return ["\n".join((*self.header(columns), texts[0])), *texts[1:]] if texts else []

    def alone(self, columns: Sequence[str], cells: Sequence[Cell]) -> str:
        """Return the text of a single row, with its header above it."""
        return self.rows(columns, [cells])[0]

    def cuts(self, line: str) -> Iterator[list[Cell]]:
        """Yield each possible split of an answer's line into cells; nothing if rows of this form name the features."""
        return iter(())

    def spaced(self, line: str) -> str:
        """Return an answer's line with spaces between its values, as the published algorithm expects."""
        return line


@lru_cache(maxsize=64)  # most rows of a plan have equal columns
def _before(serializer: Serializer, columns: tuple[str, ...]) -> list[str]:
    return serializer.before(columns)


def quoted(text: str) -> str:
    """Return `text` as a JSON string on one line."""
    line = json.dumps(text, ensure_ascii=False)
    return LINE_BREAK.sub(lambda match: f"\\u{ord(match.group()):04x}", line)


@dataclass(frozen=True)
class Escapes:
    """Escapes that keep a cell on one line. Only `marks`, line breaks and what looks like an escape get a backslash."""

    marks: str = ""
    more: str = ""  # more letters that may follow a backslash unchanged

    def write(self, cell: str) -> str:
        """Return the cell with its escapes."""
        special = LINE_BREAK.search(cell) or self._pattern.search(cell) or any(mark in cell for mark in self.marks)
        return self.write_all(cell) if special else cell

    def write_all(self, cell: str) -> str:
        """Return the cell with a backslash before every character that may have one."""
        text = re.sub(rf"[\\{re.escape(self.marks + self.more)}]", r"\\\g<0>", cell)
        return LINE_BREAK.sub(lambda match: SPELLED.get(match.group(), f"\\u{ord(match.group()):04x}"), text)

    def read(self, text: str) -> str:
        """Return the original cell of a text with these escapes."""

        def plain(match: re.Match[str]) -> str:
            letter, code = match.groups()
            return chr(int(code, 16)) if code else UNESCAPED.get(letter, letter)

        return self._pattern.sub(plain, text) if "\\" in text else text

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"\\(?:([nr\\{re.escape(self.marks + self.more)}])|u([0-9a-f]{{4}}))")
