"""Example membership: can the LLM tell rows of the table from perturbed copies?"""

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar, NamedTuple

from tabcontam.datasets import Cell, Table
from tabcontam.errors import Skip
from tabcontam.serializers import Serializer
from tabcontam.suite import prompts
from tabcontam.suite.base import Capability, Kind, Prompt, Query
from tabcontam.suite.checks import drawn
from tabcontam.suite.choices import ChoiceTest
from tabcontam.suite.facts import once

Row = tuple[Cell, ...]
QUERIES = 100


class Swap(NamedTuple):
    """A row with one column's value taken from another row; from itself, where it stays as it is."""

    row: int
    column: int
    donor: int

    def cells(self, table: Table) -> Row:
        """The row as it is after the swap."""
        row, cell = table.rows[self.row], table.rows[self.donor][self.column]
        return (*row[: self.column], cell, *row[self.column + 1 :])


@dataclass(frozen=True)
class Membership(ChoiceTest):
    """Shown one row and its perturbed copy with their labels, the LLM must say whether another row is original.

    Ronval et al. 2024, section 3.1: 100 random rows, half of them perturbed. A row is perturbed as in the text: the
    value of one feature is swapped for that of another row; the authors' code swaps all but three features, and leaves
    rows with missing values as they are. A perturbed row always differs from its original and is no row of the table.

    There is no decision, only the share of right answers: 0.5 is chance. It measures whether rows look plausible as
    much as whether they were seen.

    Example: `Row: The age is 39, ... / Part of the dataset:` goes on with `Yes`.
    """

    id: ClassVar[str] = "membership"
    number: ClassVar[int | None] = None
    kind: ClassVar[Kind] = Kind.MEMBERSHIP
    needs: ClassVar[frozenset[Capability]] = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})
    shows_rows: ClassVar[bool] = True
    claim: ClassVar[str] = "rows were told right from wrong (half of them by chance)"
    max_tokens: ClassVar[int] = 4

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """100 queries, fewer for a smaller table. Raises `Skip` where no row can be perturbed."""
        known = once(table, "rows", lambda: set(table.rows))
        count = min(QUERIES, len(table.rows) - 1) // 2 * 2
        if count < 2:
            raise Skip("too few rows: one is shown and two are asked")
        asked = rng.sample(range(len(table.rows)), count)
        labels = ["Yes", "No"] * (count // 2)
        rng.shuffle(labels)
        return [
            self._query(table, serializer, known, number, row, label, rng)
            for number, (row, label) in enumerate(zip(asked, labels, strict=True))
        ]

    def _query(
        self,
        table: Table,
        serializer: Serializer,
        known: set[Row],
        number: int,
        asked: int,
        label: str,
        rng: Random,
    ) -> Query:
        swap = Swap(asked, 0, asked) if label == "Yes" else perturbed(table, asked, known, rng)
        row = swap.cells(table)

        def draw() -> Swap | None:
            example = rng.randrange(len(table.rows))
            copy = perturbed(table, example, known, rng)
            return None if table.rows[example] == table.rows[asked] or copy.cells(table) == row else copy

        copy = drawn(draw, "every row that could be shown is the asked one")
        write = partial(_prompt, table, serializer, copy, swap)
        rows = (copy.row, copy.donor, swap.donor, asked)
        return Query(f"{self.id}-{number}", write, ("Yes", "No"), (label,), self.max_tokens, rows=rows)


def _prompt(table: Table, serializer: Serializer, copy: Swap, asked: Swap) -> Prompt:
    shown = (table.rows[copy.row], copy.cells(table), asked.cells(table))
    return prompts.membership(table.title, *(serializer.row(table.columns, cells) for cells in shown))


def perturbed(table: Table, index: int, known: set[Row], rng: Random) -> Swap:
    """A swap of one feature's value for another row's that makes no row of the table. Raises `Skip`."""

    def draw() -> Swap | None:
        column, other = rng.randrange(len(table.columns)), rng.randrange(len(table.rows))
        before, after = table.rows[index][column], table.rows[other][column]
        swap = Swap(index, column, other)
        blank = table.is_missing(before) and table.is_missing(after)  # NA for nothing is no change
        return None if blank or swap.cells(table) in known else swap

    return drawn(draw, "swapping one value of a row makes another row of the table every time")
