"""The example membership test: the model distinguishes rows of the table from perturbed copies of rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import ClassVar, NamedTuple

from tabcontam.errors import Skip
from tabcontam.evidence.base import RONVAL, Evidence, Prompt, PublishedRule, Query, Trial
from tabcontam.evidence.checks import draw_until_valid
from tabcontam.evidence.mixins import ShortenedTest, WordedTest
from tabcontam.evidence.rows.choice_test import ChoiceTest, discrimination, valid_answers
from tabcontam.evidence.thresholds import MEMBERSHIP_ROWS, PUBLISHED_MEMBERSHIP_ROWS
from tabcontam.tables.known_rows import not_known
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table


class Swap(NamedTuple):
    """A row whose value in one column comes from another row, or from itself if the row stays unchanged."""

    row: int
    column: int
    donor: int

    def cells(self, table: Table) -> tuple[Cell, ...]:
        """Return the cells of the row after the swap."""
        row, cell = table.rows[self.row], table.rows[self.donor][self.column]
        return (*row[: self.column], cell, *row[self.column + 1 :])


class MembershipTest(WordedTest, ChoiceTest):
    """A test that shows a row and its altered copy with their labels, and asks whether a third row is original."""

    max_tokens: ClassVar[int] = 4

    def query(
        self,
        table: Table,
        serializer: Serializer,
        number: int,
        asked: Swap,
        label: tuple[str, bool],
        example: Callable[[], Swap],
    ) -> Query:
        """Return the query about the asked row, with an example of another row.

        Raises `Skip` if no example can be drawn.

        `label` has the right answer, and whether the example's original precedes its copy.
        """
        cells = asked.cells(table)

        def draw() -> Swap | None:
            copy = example()
            same = table.rows[copy.row] == table.rows[asked.row] or copy.cells(table) == cells
            return None if same else copy

        copy = draw_until_valid(draw, "every row that could be shown equals the asked one")
        write = partial(self._prompt, table, serializer, copy, asked, label[1])
        rows = (copy.row, copy.donor, asked.donor, asked.row)
        choices = ("Yes", "No")
        return Query(f"{self.id}-{number}", write, choices, label[:1], self.max_tokens, rows=rows, row=asked.row)

    def _prompt(self, table: Table, serializer: Serializer, copy: Swap, asked: Swap, yes_first: bool) -> Prompt:
        """Return the prompt: an example row in its true and its altered form, followed by the asked row."""
        rows = (table.rows[copy.row], copy.cells(table), asked.cells(table))
        original, altered, last = (serializer.alone(table.columns, row) for row in rows)
        examples = [(original, "Yes"), (altered, "No")]
        return self.prompts.is_member(table.title, examples if yes_first else examples[::-1], last)


@dataclass(frozen=True)
class Membership(ShortenedTest, MembershipTest):
    """Shown a row and its perturbed copy, each labelled as such, the model must say whether another row is original.

    Measures: the AUC of the answers; 0.5 is chance, whatever the share of Yes. The AUC depends on whether rows look
    plausible as much as on whether rows were seen.

    Queries: 40 random rows, half of them perturbed; with `--queries paper` 100 rows, as in the paper. In a perturbed
    row, one feature has the value of another row, as in the paper's text. The authors' code swaps the values of all
    features except three, and leaves rows with missing values unchanged. A perturbed row is never a row of the table.

    Null: random answers. The result has a score with a 95 % interval, the share of Yes and d', and no verdict.

    Published rule: none; the paper reports the share of right answers.

    Needs: three rows or more, and a model that understands a question. The controls are not asked.

    Cannot show: that rows were seen, since a model can notice without memory that a swapped value does not fit.
    `matched_membership` can show it.

    Source: example membership of Ronval et al. 2024, section 3.1; its scores are in their Table 2.

    Example: `Row: The age is 39, ... / Part of the dataset:` is continued with `Yes`.
    """

    id: ClassVar[str] = "membership"
    measure: ClassVar[str] = "membership"
    published = PublishedRule("answers are right (half of them by chance)", share=None, source=RONVAL)
    rows: int = MEMBERSHIP_ROWS  # rows that are asked, half of them perturbed

    def as_published(self) -> "Membership":
        return replace(self, rows=PUBLISHED_MEMBERSHIP_ROWS)

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        candidates = not_known(table, by_content(table))
        count = min(self.rows, len(candidates), len(table.rows) - 1) // 2 * 2
        if count < 2:
            raise Skip("too few rows: the test shows one and asks about two")
        asked = rng.sample(candidates, count)

        def example() -> Swap:
            return perturbed(table, rng.choice(by_content(table)), rng)

        queries = []
        for number, (place, label) in enumerate(zip(asked, balanced(count, rng), strict=True)):
            row = Swap(place, 0, place) if label[0] == "Yes" else perturbed(table, place, rng)
            queries.append(self.query(table, serializer, number, row, label, example))
        return queries

    def weigh(self, trials: Sequence[Trial], level: float) -> Evidence:
        """Return the AUC of the answers, without a p-value: a model can also recognize a row because it is likely."""
        half = len(valid_answers(trials)) / 2
        return discrimination(trials, "a coin", half, f"a coin gets {half:g} right")


def balanced(count: int, rng: Random) -> list[tuple[str, bool]]:
    """Return labels, each with whether the example for Yes comes first. Blocks of four have all four combinations."""
    four = [("Yes", True), ("No", False), ("Yes", False), ("No", True)]
    labels: list[tuple[str, bool]] = []
    while len(labels) < count:
        block = four[: count - len(labels)]
        rng.shuffle(block)
        labels += block
    return labels


def perturbed(table: Table, index: int, rng: Random) -> Swap:
    """Return a swap of one value after which the row is not in the table. Raises `Skip` if all draws are in it."""

    def draw() -> Swap | None:
        column, other = table.columns.index(rng.choice(sorted(table.columns))), rng.choice(by_content(table))
        before, after = table.rows[index][column], table.rows[other][column]
        swap = Swap(index, column, other)
        blank = table.is_missing(before) and table.is_missing(after)  # another missing mark is no change
        return None if blank or table.is_row(swap.cells(table)) else swap

    return draw_until_valid(draw, "every swap of one value makes another row of the table")
