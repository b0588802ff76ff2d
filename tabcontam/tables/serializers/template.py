"""Rows written by a template, such as those of the paper.

A row is one line, with `{specifier}{feature}{value_separator}{value}` for each feature, joined by `{feature_separator}`
(Ronval et al. 2024, section 3.3). A value is written unchanged if it can be read back, and otherwise as a JSON string.
A missing value is written as nothing.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

from tabcontam.tables.serializers.base import LINE_BREAK, Serializer, quoted
from tabcontam.tables.table import Cell
from tabcontam.tables.thresholds import LONGEST_FEATURE_NAME

BEFORE = r"^|[,;.:|({\[]|[-*\u2022]\s|\d[.)]\s"  # ends of the text before a feature's name, besides the separator


@dataclass(frozen=True)
class TemplateRows(Serializer):
    """A row of `specifier`, name, `value_separator` and value for each feature, joined by `feature_separator`."""

    specifier: str
    value_separator: str
    feature_separator: str
    form: ClassVar[str] = "template"

    def before(self, columns: Sequence[str]) -> list[str]:
        starts = [self.start(column) for column in columns]
        return [*starts[:1], *(self.feature_separator + start for start in starts[1:])]

    def lead(self, column: str) -> str:
        """Return a feature's text before its value, without final space, since base models begin words with a space."""
        return self.start(column).rstrip()

    def value(self, cell: Cell, following: str = "") -> str:
        if cell is None:
            return ""
        ambiguous = not cell or cell.startswith('"') or LINE_BREAK.search(cell) is not None
        if not ambiguous and following:
            ambiguous = (cell + following).find(following) != len(cell)
        return quoted(cell) if ambiguous else cell

    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        cells: list[Cell] = []
        before, position = self.before(columns), 0
        for column, start, following in zip(columns, before, [*before[1:], ""], strict=True):
            if not text.startswith(start, position):
                raise ValueError(f"no feature {column!r} at character {position}")
            position += len(start)
            if text.startswith('"', position):
                value, position = json.JSONDecoder().raw_decode(text, position)
                cells.append(str(value))
                continue
            end = text.find(following, position) if following else len(text)
            if end < 0:
                raise ValueError(f"no {following!r} after character {position}")
            cells.append(text[position:end] or None)
            position = end
        return tuple(cells)

    def read(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """Return the values of asked features that an answer names, anywhere in its text; None is a missing value."""
        found = {}
        for feature in asked:
            if match := _naming(self, feature).search(text):
                found[feature] = self._loose_cell(text, match.end())
        return found

    def read_on(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        return self.read(self.start(asked[0]) + text.removeprefix(" "), asked)

    def shown_in(self, text: str, asked: Sequence[str]) -> bool:
        """Return whether the text contains the first feature in the form in which a row names it."""
        return self.lead(asked[0]) in text

    @cached_property
    def _next_feature(self) -> re.Pattern[str]:
        separator, value = re.escape(self.feature_separator), re.escape(self.value_separator.rstrip())
        name = rf"(?:(?!{separator}).){{1,{LONGEST_FEATURE_NAME}}}?"
        return re.compile(rf"{separator}{re.escape(self.specifier)}{name}{value}|[\n\r]")

    def start(self, column: str) -> str:
        """Return the text before a feature's value: the specifier, the name and the separator."""
        plain = column and not LINE_BREAK.search(column) and not column.startswith('"')
        return self.specifier + (column if plain else quoted(column)) + self.value_separator

    def _loose_cell(self, text: str, position: int) -> Cell:
        rest = text[position:].removeprefix(" ")
        if rest.startswith('"'):
            try:
                return str(json.JSONDecoder(strict=False).raw_decode(rest)[0])
            except ValueError:
                pass  # an answer may open a quote that it never closes
        end = self._next_feature.search(rest)
        value = (rest[: end.start()] if end else rest).strip()
        return value.lstrip(": ").removesuffix(self.feature_separator.strip()).strip() or None


@dataclass(frozen=True)
class PassageRows(TemplateRows):
    """A template whose features may be on separate lines or in sentences, each with an `end` after its value.

    TabLLM writes rows in this way (Hegselmann et al. 2023). A prompt can show such a row, but a model cannot complete
    it. So `evaluate` accepts these forms, and tests that hide a cell do not.
    """

    end: str = ""
    form: ClassVar[str] = "passage"

    def row(self, columns: Sequence[str], cells: Sequence[Cell]) -> str:
        return self._sentences.row(columns, cells) + self.end

    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        if not text.endswith(self.end):
            raise ValueError(f"no {self.end!r} at the end")
        return self._sentences.parse(text.removesuffix(self.end), columns)

    @property
    def _sentences(self) -> TemplateRows:
        """This form as a template in which each `end` is a part of the separator that follows."""
        between = self.end + self.feature_separator
        return TemplateRows(self.name, self.about, self.specifier, self.value_separator, between)


@lru_cache(maxsize=4096)  # wide tables have more names than `re` has places for patterns in its cache
def _naming(serializer: TemplateRows, feature: str) -> re.Pattern[str]:
    """Return a pattern for the text before a feature's value, which models write in different ways."""
    # Without a specifier, `Smoking: No` also ends `Hx Smoking: No`: something has to end before the name.
    own = re.escape(serializer.feature_separator.strip())
    before = r"(?<!\w)" if serializer.specifier.strip() else rf"(?:{BEFORE}|{own})\s*"
    after = "" if serializer.value_separator == serializer.value_separator.rstrip() else r"(?= |$|\n)"
    pattern = rf"{before}{re.escape(serializer.start(feature).strip())}{after}"
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)
