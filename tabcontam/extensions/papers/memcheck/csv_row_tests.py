"""The base of the row tests of Bordt et al.: rows in prompts and answers are lines of a CSV file."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import ClassVar

from tabcontam.evidence.answering import AnswerKind, CellAnswers, shown_value
from tabcontam.evidence.base import READ, Prompt, Query, Reading, Reply
from tabcontam.evidence.mixins import FeatureTest, ResampledTest
from tabcontam.evidence.rows.answer_cells import sorts_of, values_bare
from tabcontam.evidence.rows.answered_rows import CellReference
from tabcontam.evidence.rows.row_test import CellTest
from tabcontam.reading.answer_readers import possible_cells
from tabcontam.reading.answer_text import is_mark, plain, same_value, value_key
from tabcontam.reading.numbers import is_number
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.tables.serializers import Serializer, load_serializers
from tabcontam.tables.table import Cell, Table

BORDT = "bordt2024"  # Bordt, Nori, Rodrigues, Nushi and Caruana 2024, "Elephants Never Forget"
MARKS = frozenset({"tabmemcheck"})
SIGNS = ";\t|"  # separators in files without commas
NUMBERED = re.compile(r"^\s*(?:[-*\u2022]|\(?\d+[.):])\s+")  # marks at the start of a line of a list


@cache
def csv_serializer() -> Serializer:
    """Return the serializer of the rows: comma-separated values, one row a line."""
    return load_serializers()["csv"]


@dataclass(frozen=True)
class RawAnswers(CellAnswers):
    """Answers with cells of a row as a line of a CSV file, or with a single cell as in such a line."""

    def text(self, query: Query, values: Sequence[Cell], prompt: Prompt | None = None) -> str:
        one = len(query.asked) < 2
        return csv_serializer().value(shown_value(values[0])) if one else csv_serializer().row(query.asked, values)


class RawTest(ResampledTest, CellReference, FeatureTest, CellTest):
    """A row test with rows as lines of a CSV file, whatever the run's serializer is.

    The published count is the number of answers that equal the file's row, value by value: the authors' package has no
    rule that decides. Two details differ from the package: an answer that contains other text besides the expected one
    does not count, and `.28` equals 0.28.
    """

    own_marks: ClassVar[frozenset[str]] = MARKS
    on_request: ClassVar[bool] = True
    shows_rows: ClassVar[bool] = False  # the format is fixed
    holds: ClassVar[bool] = False
    answering: ClassVar[AnswerKind] = RawAnswers()

    def complete(self, query: Query, text: str, serializer: Serializer) -> bool:
        return super().complete(query, text, csv_serializer())

    def cells(self, query: Query, text: str, serializer: Serializer) -> dict[str, Cell]:
        """Return the asked cells in an answer; a whole row may have other separators than commas."""
        found = super().cells(query, text, serializer)
        if found or len(query.asked) < 2:
            return found
        sorts = sorts_of(query, serializer)
        row = first_row(text, len(query.asked), partial(may_be_row, names=query.asked, sorts=sorts))
        if row is None:
            return found
        return possible_cells(values_bare(dict(zip(query.asked, row, strict=True)), sorts), sorts, lambda cell: False)

    def read(self, query: Query, reply: Reply, serializer: Serializer) -> Reading:
        """Return the cells in the answer and, for the published count, whether they are all right."""
        reading = super().read(replace(query, paper=False), reply, csv_serializer())
        return replace(reading, paper_hit=query.paper and reply.state in READ and self.exact(query, reply.text))

    def exact(self, query: Query, text: str) -> bool:
        """Return whether the first row in an answer equals the file's, including missing values."""
        row = first_row(text, len(query.asked))
        return row is not None and all(map(agrees, row, query.expected))


def cuts(line: str) -> Iterator[list[Cell]]:
    """Return all ways to cut a line into cells: at commas, and at separators that files may have instead."""
    return chain(csv_serializer().cuts(line), other_cuts(line))


def other_cuts(line: str) -> Iterator[list[Cell]]:
    """Yield the cells of a line between semicolons, tabs or bars, without their quotes."""
    for sign in filter(line.__contains__, SIGNS):
        with suppress(csv.Error):  # a cell may exceed the reader's limit
            for fields in csv.reader([line], delimiter=sign, skipinitialspace=True):
                yield [field.strip() or None for field in fields]


def first_row(
    text: str, width: int, counted: Callable[[Sequence[Cell]], bool] = lambda cells: True
) -> list[Cell] | None:
    """Return the cells of the first line of an answer with `width` cells, or None if there is no such line.

    If no line has `width` cells, a line with one more may begin with a whole number that counts the lines. Then
    `counted` decides whether the cells after the number may be a row, since a comma within a cell also makes one more
    cell.
    """
    every = _every_cut(text)
    whole = next((cells for cells in every if len(cells) == width), None)
    return whole or next(filter(counted, without_counts(every, width)), None)


def widths(text: str) -> set[int]:
    """Return the numbers of cells in lines of an answer: all widths for which `first_row` finds a row."""
    every = _every_cut(text)
    return {len(cells) for cells in every} | {len(cells) - 1 for cells in every if counts_lines(cells)}


def _every_cut(text: str) -> list[list[Cell]]:
    return [cells for line in plain(text).splitlines() for cells in cuts(line.strip())]


def may_be_row(cells: Sequence[Cell], names: Sequence[str], sorts: Mapping[str, FeatureValues]) -> bool:
    """Return whether cells may belong to these features: numbers where the features have numbers."""
    every = zip(names, cells, strict=True)
    return all(cell is None or is_mark(cell) or is_number(cell) for name, cell in every if sorts[name].numeric)


def without_counts(every: Iterable[list[Cell]], width: int) -> Iterator[list[Cell]]:
    """Return the cells of lines with `width` cells after a first whole number, which counts the lines."""
    return (cells[1:] for cells in every if len(cells) == width + 1 and counts_lines(cells))


def counts_lines(cells: Sequence[Cell]) -> bool:
    """Return whether the first cell of a line is a whole number, which may count the lines."""
    return bool(cells) and (cells[0] or "").isdigit()


def agrees(cell: Cell, expected: Cell) -> bool:
    """Return whether an answer's cell equals the expected one; None is a missing value, which has several marks."""
    return is_mark(cell) if expected is None else same_value(cell, expected)


def cell_key(cell: Cell) -> Cell:
    """Return the key that equal cells share in any notation; None for a missing cell."""
    return None if cell is None or is_mark(cell) else value_key(cell)


def shown_text(query: Query) -> str:
    """Return a query's prompt as text: its completion if there is one, else its last message."""
    prompt = query.prompt
    return prompt.completion or prompt.chat[-1].content


def lists_rows(query: Query, likely: Iterable[str] = ()) -> bool:
    """Return whether shown rows or likely answers themselves begin with a mark of a list."""
    return any(map(NUMBERED.match, (*shown_text(query).splitlines(), *likely)))


def last_shown(query: Query) -> str:
    """Return the last line of a query's prompt."""
    return shown_text(query).rstrip("\n").rpartition("\n")[2]


def dataset_in_prompt(table: Table) -> tuple[str, str]:
    """Return a dataset's name in prompts, with its split if there is one, and the header of its file."""
    split = f", {table.split} split" if table.split else ""
    return f"{table.title}{split}", "\n".join(csv_serializer().header(table.columns))


def lines_of(table: Table, rows: Sequence[int]) -> list[str]:
    """Return these rows of a table as lines of a CSV file, without its header."""
    return [csv_serializer().row(table.columns, table.rows[row]) for row in rows]
