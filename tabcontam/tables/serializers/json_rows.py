"""Rows as JSON Lines: `{"age": 39, "workclass": "State-gov"}`."""

import json
import re
from collections.abc import Sequence

from tabcontam.tables.serializers.base import Serializer, quoted
from tabcontam.tables.table import Cell

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")  # a number in JSON
NEXT = re.compile(r"\s*,\s*\"|\s*\}|[\n\r]")  # the end of a value that is not JSON
ENDED = re.compile(r"[ \t]*(?:,\s*\"|[}\]\n\r]|,?\s*$)")  # the end of JSON: not `39 years`, `1,234`, `2020-01-01`
STRICT = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=list)
LOOSE = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)


class JsonRows(Serializer):
    """A row as one JSON object. Numbers in JSON's notation have no quotes and keep their digits; null is missing."""

    form = "json"
    closing = "}"

    def before(self, columns: Sequence[str]) -> list[str]:
        return [f"{', ' if number else '{'}{quoted(name)}: " for number, name in enumerate(columns)]

    def value(self, cell: Cell, following: str = "") -> str:
        if cell is None:
            return "null"
        return cell if NUMBER.fullmatch(cell) else quoted(cell)

    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        pairs = STRICT.decode(text)
        if not isinstance(pairs, list) or [pair[0] for pair in pairs if isinstance(pair, tuple)] != list(columns):
            raise ValueError("no JSON object with these names, in their order")
        values = [pair[1] for pair in pairs]
        if not all(value is None or isinstance(value, str) for value in values):
            raise ValueError("a value that is no text, number or null")
        return tuple(values)

    def read(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """Return the values of asked features, if an answer has their names in quotes anywhere in its text."""
        found = {}
        for feature in asked:
            if match := re.search(rf"{re.escape(quoted(feature))}\s*:", text, re.IGNORECASE):
                found[feature] = _cell(text[match.end() :])
        return found

    def read_on(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        return self.read(f"{quoted(asked[0])}: {text}", asked)

    def shown_in(self, text: str, asked: Sequence[str]) -> bool:
        """Return whether the text contains the first feature as a JSON name."""
        return f"{quoted(asked[0])}:" in text

    def spaced(self, line: str) -> str:
        """Return the values, separated by a comma and a space. A line that is not JSON is returned without quotes."""
        start = line.find("{")
        try:
            pairs = STRICT.raw_decode(line, start)[0] if start >= 0 else None
        except (ValueError, RecursionError):
            pairs = None
        if not isinstance(pairs, list):
            return re.sub(r'["{}]', " ", line)
        return ", ".join("" if value is None else str(value) for _, value in pairs)


def _cell(text: str) -> Cell:
    """Return the value at the beginning of a text: a JSON value, or the text before the next name."""
    rest = text.lstrip()
    try:
        value, end = LOOSE.raw_decode(rest)
    except (ValueError, RecursionError):
        value, end = None, 0
    if end and not isinstance(value, list | dict) and ENDED.match(rest, end):
        return None if value is None else str(value).strip() or None
    following = NEXT.search(rest)
    return (rest[: following.start()] if following else rest).strip().strip('"') or None
