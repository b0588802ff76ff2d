"""A row to text and back, without loss.

A serialized row is `{specifier}{feature}{value_separator}{value}` for each feature, joined by `{feature_separator}`
(Ronval et al. 2024, section 3.3), on one line. A value stands as it is, unless that could not be read back: then it
is written as a JSON string. A missing value is written as nothing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path

from tabcontam.errors import UsageError, unknown
from tabcontam.tables.table import Cell
from tabcontam.tables.toml_files import SUFFIX, checked, name_taken, read_toml, shipped_files, with_own

KIND = "serializers"
DEFAULT = "is"
LONGEST_NAME = 80  # characters of a feature's name when an answer is searched for the next feature
BEFORE = r"^|[,;.:|({\[]|[-*\u2022]\s|\d[.)]\s"  # what ends before a feature's name, beside its serializer's separator
LINE_BREAK = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # where str.splitlines() cuts


@dataclass(frozen=True)
class Serializer:
    """One way to write a row as text. `source` is the user's own file that it is from, "" for a shipped one."""

    name: str
    about: str
    specifier: str
    value_separator: str
    feature_separator: str
    source: str = field(default="", compare=False)

    def row(self, columns: Sequence[str], cells: Sequence[Cell]) -> str:
        """The row as one line of text."""
        return self.feature_separator.join(self._features(columns, cells))

    def places(self, columns: Sequence[str], cells: Sequence[Cell]) -> list[tuple[int, int]]:
        """Where each value begins and ends in the row's text, as it is written there."""
        found, end = [], 0
        for start, feature in zip(_around(self, tuple(columns))[0], self._features(columns, cells), strict=True):
            found.append((end + len(start), end + len(feature)))
            end += len(feature) + len(self.feature_separator)
        return found

    def prefix(self, columns: Sequence[str], cells: Sequence[Cell], first_asked: int) -> str:
        """The row up to its feature number `first_asked`, whose value is the natural continuation."""
        shown = self._features(columns, cells)[:first_asked]
        return self.feature_separator.join([*shown, self.lead(columns[first_asked])])

    def lead(self, column: str) -> str:
        """A feature up to its value, without trailing space: base models begin a word with its space."""
        return self.start(column).rstrip()

    def parse(self, text: str, columns: Sequence[str]) -> tuple[Cell, ...]:
        """The cells of a serialized row. Raises ValueError where `text` is not a row of these columns."""
        cells = []
        starts = [self.start(column) for column in columns]
        position = 0
        for index, start in enumerate(starts):
            if not text.startswith(start, position):
                raise ValueError(f"no feature {columns[index]!r} at character {position}")
            position += len(start)
            following = self.feature_separator + starts[index + 1] if index + 1 < len(starts) else ""
            cell, position = self._cell(text, position, following)
            cells.append(cell)
            position += len(self.feature_separator) if following else 0
        return tuple(cells)

    def read(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """The asked features that an answer names, wherever they stand in its text; None is a missing value."""
        found = {}
        for feature in asked:
            position = self._found(text, feature)
            if position is not None:
                found[feature] = self._loose_cell(text, position)
        return found

    def read_on(self, text: str, asked: Sequence[str]) -> dict[str, Cell]:
        """The same of an answer that continues a prompt, so begins with the value of the first asked feature."""
        return self.read(self.start(asked[0]) + text.removeprefix(" "), asked)

    @cached_property
    def _next_feature(self) -> re.Pattern[str]:
        separator, value = re.escape(self.feature_separator), re.escape(self.value_separator.rstrip())
        name = rf"(?:(?!{separator}).){{1,{LONGEST_NAME}}}?"
        return re.compile(rf"{separator}{re.escape(self.specifier)}{name}{value}|[\n\r]")

    def start(self, column: str) -> str:
        """What stands before a feature's value: its name, between the serializer's own words."""
        plain = column and not LINE_BREAK.search(column) and not column.startswith('"')
        return self.specifier + (column if plain else quoted(column)) + self.value_separator

    def _features(self, columns: Sequence[str], cells: Sequence[Cell]) -> list[str]:
        starts, following = _around(self, tuple(columns))
        return [start + written(cell, after) for start, cell, after in zip(starts, cells, following, strict=True)]

    def _cell(self, text: str, position: int, following: str) -> tuple[Cell, int]:
        if text.startswith('"', position):
            value, end = json.JSONDecoder().raw_decode(text, position)
            return str(value), end
        end = text.find(following, position) if following else len(text)
        if end < 0:
            raise ValueError(f"no {following!r} after character {position}")
        return text[position:end] or None, end

    def _found(self, text: str, feature: str) -> int | None:
        # Without a specifier, `Smoking: No` also ends `Hx Smoking: No`: something has to end before the name.
        own = re.escape(self.feature_separator.strip())
        before = r"(?<!\w)" if self.specifier.strip() else rf"(?:{BEFORE}|{own})\s*"
        after = "" if self.value_separator == self.value_separator.rstrip() else r"(?= |$|\n)"
        pattern = rf"{before}{re.escape(self.start(feature).strip())}{after}"
        match = re.search(pattern, text, re.IGNORECASE | re.MULTILINE)
        return match.end() if match else None

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


@lru_cache(maxsize=64)  # of a plan's rows, most have the same columns
def _around(serializer: Serializer, columns: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """What stands before each value of a row, and after it."""
    starts = [serializer.start(column) for column in columns]
    return starts, [serializer.feature_separator + start for start in starts[1:]] + [""]


def written(cell: Cell, following: str) -> str:
    """A value as it stands in a row, when `following` is the text that comes after it."""
    if cell is None:
        return ""
    ambiguous = not cell or cell.startswith('"') or LINE_BREAK.search(cell) is not None
    if not ambiguous and following:
        ambiguous = (cell + following).find(following) != len(cell)
    return quoted(cell) if ambiguous else cell


def quoted(text: str) -> str:
    """`text` as a JSON string on one line."""
    line = json.dumps(text, ensure_ascii=False)
    return LINE_BREAK.sub(lambda match: f"\\u{ord(match.group()):04x}", line)


@cache
def load_serializers() -> Mapping[str, Serializer]:
    """The shipped serializers by name, the default first."""
    found = map(from_file, shipped_files(KIND))
    return {item.name: item for item in sorted(found, key=lambda item: (item.name != DEFAULT, item.name))}


def all_serializers() -> dict[str, Serializer]:
    """The shipped serializers and the user's own that TABCONTAM_PATH offers. Raises `UsageError` as they are read."""
    return with_own(KIND, load_serializers(), _own)


def load_serializer(spec: str) -> Serializer:
    """A serializer by name, or a user's own TOML file. Raises `UsageError`."""
    if spec.endswith(SUFFIX) or "/" in spec:
        return _own(Path(spec).expanduser())
    known = all_serializers()
    if spec not in known:
        raise unknown("serializer", spec, known)
    return known[spec]


def _own(path: Path) -> Serializer:
    """The serializer in a user's own file, or the shipped one, where the file says the same under its name."""
    own = from_file(path)
    other = load_serializers().get(own.name)
    if other is not None and replace(other, about=own.about) != own:
        raise name_taken(KIND, path, own.name, other.name)
    return other or replace(own, source=str(path.resolve()))


def from_file(path: Path) -> Serializer:
    """The serializer in a TOML file. Raises `UsageError` where it is none."""
    raw = {"name": path.stem, "about": "", "specifier": "", **read_toml(path, KIND)}
    where = f"serializer {path}"
    try:
        texts: dict[str, str] = checked(Serializer, raw, where, given=("source",), blank=True)
    except ValueError as error:
        raise UsageError(str(error)) from error
    for key, text in texts.items():
        if LINE_BREAK.search(text):
            raise UsageError(f"{where}: {key} must be a text of one line")
        if key.endswith("_separator") and not text.strip():
            raise UsageError(f"{where}: {key} must hold more than spaces")
    return Serializer(**texts)
