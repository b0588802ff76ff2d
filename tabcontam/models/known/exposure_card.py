"""The card `exposure.json` next to a model's weights: the tables that the model has read, and each row's copies."""

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tabcontam.errors import UsageError
from tabcontam.models.hf.loading import digest_of
from tabcontam.paths import replace_file
from tabcontam.reading.numbers import is_number
from tabcontam.tables.table import Cell, Table

Copies = tuple[int, ...]  # the number of copies of each row of a table, in its order
CARD = "exposure.json"
SCHEMA = 1
WEIGHTS = "model.safetensors"
FIRST = 12  # hexadecimal digits that are kept of a row's digest


class TableExposure(BaseModel):
    """The exposure to one table."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    title: str
    edition: str
    split: str  # the part of the dataset that the table is, or ""
    sha256: str
    columns: tuple[str, ...]
    rows: int = Field(ge=0)
    copies: str  # of each row in order: `4 0x2` means 4, 0, 0
    fingerprints: str  # digests of the rows' cells, which identify rows in other files with the same columns
    renderings: tuple[str, ...]
    order: str
    page: int
    twin_rows: int | None  # None without a twin
    positions: tuple[tuple[int, int], ...]  # the first and the last token of each copy in the stream

    @field_validator("copies")
    @classmethod
    def _readable(cls, text: str) -> str:
        unpacked(text)
        return text

    @property
    def named(self) -> str:
        """The table's name with its split, if it has one: `adult#test`."""
        return f"{self.name}#{self.split}" if self.split else self.name

    @cached_property
    def copies_of_rows(self) -> Copies:
        return unpacked(self.copies)

    @cached_property
    def by_content(self) -> dict[str, int]:
        step = range(0, len(self.fingerprints), FIRST)
        digests = [self.fingerprints[first : first + FIRST] for first in step]
        return dict(zip(digests, self.copies_of_rows, strict=False))


class ExposureCard(BaseModel):
    """A card. `complete`: the model has read only the tables in it. `base`: the card of the weights it started from."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_: int = Field(alias="schema")
    made_by: str
    complete: bool
    seed: int
    tokens: int
    stream_sha256: str
    weights_sha256: str
    loss: float
    recipe: dict[str, object]
    versions: dict[str, str]
    tables: tuple[TableExposure, ...]
    base: "ExposureCard | None" = None

    @property
    def all_read(self) -> tuple[TableExposure, ...]:
        """All tables that were read, in order. A table occurs once for each training that read it."""
        return (*(self.base.all_read if self.base else ()), *self.tables)

    def copies(self, table: Table, row: int) -> float | None:
        """Return how many copies the model has read of the row at index `row` of a table; None if unknown.

        In a table that is not in the card, rows count that listed tables have with the same columns and cells.
        """
        found, known = 0, self.complete
        for read in self.all_read:
            if read.sha256 == table.sha256:
                if len(table.rows) != read.rows:  # the file was read as other rows
                    return None
                found, known = found + read.copies_of_rows[row], True
            elif sorted(read.columns) == sorted(table.columns):
                found += read.by_content.get(fingerprint(table.columns, table.rows[row]), 0)
        return found if known or found else None


def fingerprint(columns: Sequence[str], cells: Sequence[Cell]) -> str:
    """Return a digest of a row's cells. It does not depend on the order of columns or the notation of numbers."""
    plain = (repr(float(cell)) if cell is not None and is_number(cell) else cell for cell in cells)
    named = sorted(zip(columns, plain, strict=True))
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:FIRST]


def packed(copies: Sequence[int]) -> str:
    """Return the copies of each row as a short text such as `4 0x2`."""
    runs = [(number, len(list(run))) for number, run in groupby(copies)]
    return " ".join(str(number) if length == 1 else f"{number}x{length}" for number, length in runs)


def unpacked(text: str) -> Copies:
    """Return the copies of each row from a result of `packed`. Raises ValueError for any other text."""
    found: list[int] = []
    for part in text.split():
        number, _, length = part.partition("x")
        if not (number.isdecimal() and (length or "1").isdecimal()):
            raise ValueError(f"{part!r} is not a number of copies")
        found += [int(number)] * int(length or 1)
    return tuple(found)


def write_card(folder: Path, card: ExposureCard) -> None:
    """Write a card next to the weights."""
    replace_file(folder / CARD, json.dumps(card.model_dump(by_alias=True), ensure_ascii=False, indent=1) + "\n")


def read_card(folder: Path) -> ExposureCard | None:
    """Return the card in a model's folder, or None without a card. Raises `UsageError` for an invalid card."""
    path = folder / CARD
    if not path.is_file():
        return None
    advice = "make the model again with tabcontam expose, or delete that file: its exposure is then unknown"
    try:
        content = json.loads(path.read_text("utf-8"))
        if isinstance(content, dict) and isinstance(content.get("schema"), int) and content["schema"] > SCHEMA:
            raise UsageError(f"{path} was written by a later version of tabcontam; install that one")
        card = ExposureCard.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
        raise UsageError(f"{path} cannot be read: {why}; {advice}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}; {advice}") from error
    if wrong := next((read.name for read in card.all_read if len(read.copies_of_rows) != read.rows), None):
        raise UsageError(f"{path} does not state the copies of each row of {wrong}; {advice}")
    if not (folder / WEIGHTS).is_file() or digest_of(folder / WEIGHTS) != card.weights_sha256:
        raise UsageError(f"{path} was not written for the {WEIGHTS} next to it; {advice}")
    return card
