"""Rows as JSON Lines: `{"age": 39, "workclass": "State-gov"}`."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tabcontam.tables.serializers.base import Serializer, placed, quoted
from tabcontam.tables.table import Cell

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")  # as JSON writes one
NEXT = re.compile(r"\s*,\s*\"|\s*\}|[\n\r]")  # what ends a value that is no JSON
ENDED = re.compile(r"[ \t]*(?:,\s*\"|[}\]\n\r]|,?\s*$)")  # and one that is: not `39 years`, `1,234`, `2020-01-01`
STRICT = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=list)
LOOSE = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)


@dataclass(frozen=True)
class JsonRows(Serializer):
    """A row as one JSON object. What is a number of JSON stands bare, digit for digit; null is a missing value."""

    form: ClassVar[str] = "json"

    def row(self, columns: Sequence[str], cells: Sequence[Cell]) -> str:
        """The row as one line of text."""
        return "{" + ", ".join(self._pairs(columns, cells)) + "}"

    def places(self, columns: Sequence[str], cells: Sequence[Cell]) -> list[tuple[int, int]]:
        """Where each value begins and ends, the quotes of a text with it."""
        before = [f"{', ' if number else '{'}{quoted(name)}: " for number, name in enumerate(columns)]
        return placed(before, map(self.value, cells))

    def prefix(self, columns: Sequence[str], cells: Sequence[Cell], first_asked: int) -> str:
        """The row up to the colon behind the name of its feature number `first_asked`."""
        shown = self._pairs(columns[:first_asked], cells[:first_asked])
        return "{" + ", ".join([*shown, f"{quoted(columns[first_asked])}:"])

    def value(self, cell: Cell) -> str:
        """The cell in JSON."""
        if cell is None:
            return "null"
        return cell if NUMBER.fullmatch(cell) else quoted(cell)

    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        """The cells of a serialized row. Raises ValueError where `text` is not a row of these columns."""
        pairs = STRICT.decode(text)
        if not isinstance(pairs, list) or [pair[0] for pair in pairs if isinstance(pair, tuple)] != list(columns):
            raise ValueError("no JSON object with these names, in their order")
        values = [pair[1] for pair in pairs]
        if not all(value is None or isinstance(value, str) for value in values):
            raise ValueError("a value that is no text, number or null")
        return tuple(values)

    def read(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """The asked features that an answer names in quotes, wherever they stand in its text."""
        found = {}
        for feature in asked:
            match = re.search(rf"{re.escape(quoted(feature))}\s*:", text, re.IGNORECASE)
            if match:
                found[feature] = _cell(text[match.end() :])
        return found

    def read_on(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """The same of an answer that continues a prompt, so begins with the value of the first asked feature."""
        return self.read(f"{quoted(asked[0])}: {text}", asked)

    def shown_in(self, text: str, asked: Sequence[str]) -> bool:
        """Whether the first of the features stands in the text as a name in JSON."""
        return f"{quoted(asked[0])}:" in text

    def apart(self, line: str) -> str:
        """The values, with a comma and a space between them; of what is no JSON all but the quotes."""
        start = line.find("{")
        try:
            pairs = STRICT.raw_decode(line, start)[0] if start >= 0 else None
        except (ValueError, RecursionError):
            pairs = None
        if not isinstance(pairs, list):
            return re.sub(r'["{}]', " ", line)
        return ", ".join("" if value is None else str(value) for _, value in pairs)

    def _pairs(self, columns: Sequence[str], cells: Sequence[Cell]) -> list[str]:
        return [f"{quoted(name)}: {self.value(cell)}" for name, cell in zip(columns, cells, strict=True)]


def _cell(text: str) -> Cell:
    """The value that a text begins with: one of JSON, or what stands before the next name."""
    rest = text.lstrip()
    try:
        value, end = LOOSE.raw_decode(rest)
    except (ValueError, RecursionError):
        value, end = None, 0
    if end and not isinstance(value, list | dict) and ENDED.match(rest, end):
        return None if value is None else str(value).strip() or None
    following = NEXT.search(rest)
    return (rest[: following.start()] if following else rest).strip().strip('"') or None
