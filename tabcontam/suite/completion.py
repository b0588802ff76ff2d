"""Tests 7 to 9: can the LLM complete rows of the table?"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.datasets import Table
from tabcontam.decide.values import completion_line, first_line
from tabcontam.errors import Skip
from tabcontam.serializers import Serializer
from tabcontam.suite import prompts
from tabcontam.suite.base import Kind, Measurement, Prompt, Query, Trial
from tabcontam.suite.checks import determined_rows, shown_rows
from tabcontam.suite.facts import once
from tabcontam.suite.rows import OneCellTest, RowTest, without_missing
from tabcontam.suite.words import measured

EXAMPLES = 4
REPEATS = 5
GIVE_UP = 50  # rows without fitting examples before a cell is skipped
Allowed = Callable[[int, int], bool]  # whether an example may stand beside an asked row
Ask = Callable[[int, Sequence[int]], Query]  # the query about a row beside these examples


@dataclass(frozen=True)
class IncompleteCompletion(RowTest):
    """Given four full rows and one that lacks its last three features, the LLM must complete it.

    Test 7 of Ronval et al. 2024, section 3.1. All rows are random, as in the text, and drawn anew for each of the five
    queries of the authors' code. A row is asked only if no other row has the shown cells with another answer, and no
    example shows the asked values.

    Passed if at least half of the rows are completed: the rule of the authors' last code; the text asks for one.

    Example: `... The Ticket is A/5 21171, The Fare is` goes on with `7.25, The Cabin is , The Embarked is S`.
    """

    id: ClassVar[str] = "incomplete_completion"
    number: ClassVar[int | None] = 7
    kind: ClassVar[Kind] = Kind.MEMORIZATION
    shows_rows: ClassVar[bool] = True
    claim: ClassVar[str] = "cut rows were completed with the values of the file"
    max_tokens: ClassVar[int] = 256
    removed: int = 3

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Five queries. Raises `Skip` where no row is determined by its shown cells."""
        first = len(table.columns) - self.removed
        if first < 1:
            raise Skip(f"too few features: {self.removed} are asked and one must be shown")
        candidates = determined_rows(table, range(first), range(first, len(table.columns)))
        asked = tuple(table.columns[first:])

        def prompt(row: int, examples: Sequence[int]) -> Prompt:
            cells = table.rows[row]
            return prompts.incomplete_row(
                title=table.title,
                rows=[serializer.row(table.columns, table.rows[index]) for index in examples],
                shown=serializer.row(table.columns[:first], cells[:first]),
                asked=asked,
                prefix=serializer.prefix(table.columns, cells, first),
            )

        def query(row: int, examples: Sequence[int]) -> Query:
            write = partial(prompt, row, examples)
            return Query("", write, asked, table.rows[row][first:], self.max_tokens, rows=(*examples, row))

        def allowed(row: int, example: int) -> bool:
            return table.rows[example][first:] != table.rows[row][first:]

        return _numbered(self.id, _asked(table, rng, candidates, allowed, query))

    def published_line(self, text: str) -> str:
        """The first line."""
        return first_line(text)

    def judge(self, trials: Sequence[Trial], planned: int) -> Measurement:
        """Detected if at least half of the planned rows are hits."""
        return measured(trials, needed=planned / 2, claim=self.claim)


@dataclass(frozen=True)
class FullCompletion(RowTest):
    """Given the dataset's name, its features and its first four rows, the LLM must write the next row.

    Test 8 of Ronval et al. 2024, section 3.1; one query. It presumes that the published order is what the LLM saw, so
    the rows are those of the file, in its order; the authors' code shuffles iris, wine and thyroid. Where the fifth row
    repeats one of the four, the next five rows of the file are taken; that query is not the paper's.

    Passed if all values of the row are right.

    Example: the first four rows of iris go on with `The sepal length (cm) is 5.0, The sepal width (cm) is 3.6, ...`.
    """

    id: ClassVar[str] = "full_completion"
    number: ClassVar[int | None] = 8
    kind: ClassVar[Kind] = Kind.MEMORIZATION
    shows_rows: ClassVar[bool] = True
    claim: ClassVar[str] = "next rows were written as in the file"
    max_tokens: ClassVar[int] = 512

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """One query. Raises `Skip` where every five rows in a row repeat themselves."""
        starts = range(0, len(table.rows) - EXAMPLES, EXAMPLES + 1)
        start = next((start for start in starts if self._fit(table, start)), None)
        if once(table, "enumerates domain", table.enumerates_domain):
            raise Skip("the table lists every combination of its values in order: the next row follows from the rows")
        if start is None:
            raise Skip(f"no {EXAMPLES + 1} rows in a row of which the last differs from the others")
        shown = range(start, start + EXAMPLES)
        expected = table.rows[start + EXAMPLES]

        def prompt() -> Prompt:
            rows = [serializer.row(table.columns, table.rows[index]) for index in shown]
            return prompts.next_row(table.title, table.columns, rows)

        query = Query(f"{self.id}-0", prompt, table.columns, expected, self.max_tokens, start == 0, tuple(shown))
        return [without_missing(query, table)]

    def published_line(self, text: str) -> str:
        """The first line, or the second after a short one."""
        return completion_line(text)

    def _fit(self, table: Table, start: int) -> bool:
        following = table.rows[start + EXAMPLES]
        return following not in table.rows[start : start + EXAMPLES]


@dataclass(frozen=True)
class FeatureCompletion(OneCellTest):
    """Given the dataset's name, features, four random rows and a fifth that lacks one feature, the LLM must name it.

    Test 9 of Ronval et al. 2024, section 3.1; five queries, all rows random and all with different values of the
    feature, as in the text (the authors' code shows no examples and asks the first five rows). The feature is the one
    of the authors' code where it can be asked: it needs five values, and rows whose features up to it fit no other
    answer, since a base model sees no more of the row. So the first column (PassengerId of titanic, in their code) is
    never asked; the feature of most values is asked instead.

    Passed if one of the values is right.

    Example: `... The Survived is 0, The Pclass is 3, The Name is` goes on with `Braund, Mr. Owen Harris`.
    """

    id: ClassVar[str] = "feature_completion"
    number: ClassVar[int | None] = 9
    kind: ClassVar[Kind] = Kind.MEMORIZATION
    shows_rows: ClassVar[bool] = True
    claim: ClassVar[str] = "removed values were named as in the file"
    max_tokens: ClassVar[int] = 64

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """Five queries. Raises `Skip` where no feature can be asked."""
        column, candidates = self._feature(table)
        feature = table.columns[column]
        others = [index for index in range(len(table.columns)) if index != column]

        def prompt(row: int, examples: Sequence[int]) -> Prompt:
            cells = table.rows[row]
            return prompts.missing_feature(
                title=table.title,
                features=table.columns,
                rows=[serializer.row(table.columns, table.rows[index]) for index in examples],
                shown=serializer.row([table.columns[i] for i in others], [cells[i] for i in others]),
                asked=feature,
                prefix=serializer.prefix(table.columns, cells, column),
            )

        def query(row: int, examples: Sequence[int]) -> Query:
            write = partial(prompt, row, examples)
            return Query("", write, (feature,), (table.rows[row][column],), self.max_tokens, rows=(*examples, row))

        def allowed(row: int, example: int) -> bool:
            return table.rows[example][column] != table.rows[row][column]

        return _numbered(self.id, _asked(table, rng, candidates, allowed, query, distinct=column))

    def published_line(self, text: str) -> str:
        """The first line."""
        return first_line(text)

    def _feature(self, table: Table) -> tuple[int, list[int]]:
        """The column to ask, and the rows in which it can be asked."""
        hinted = (table.hints or {}).get(self.id, ())
        by_values = sorted(table.columns[1:], key=lambda name: -len(table.distinct(name)))
        for name in dict.fromkeys([*(name for name in hinted if name in by_values), *by_values]):
            column = table.columns.index(name)
            if len(table.distinct(name)) > EXAMPLES:
                rows = determined_rows(table, range(column), [column])
                if len(rows) >= REPEATS:
                    return column, rows
        raise Skip(f"no feature has {EXAMPLES + 1} values and rows whose features before it fit no other answer")


def _asked(
    table: Table,
    rng: Random,
    candidates: Sequence[int],
    allowed: Allowed,
    ask: Ask,
    distinct: int | None = None,
) -> list[Query]:
    """Queries about random candidates, each with random examples that are allowed beside it.

    With `distinct`, the examples also differ among themselves in that column. Raises `Skip` where none can be made.
    """
    queries: list[Query] = []
    count = min(EXAMPLES, len(table.rows) - 1)
    for row in rng.sample(candidates, min(len(candidates), REPEATS + GIVE_UP)):
        examples = shown_rows(table, rng, count, row, allowed, distinct)
        if examples is not None:
            queries.append(without_missing(ask(row, examples), table))
        if len(queries) == REPEATS:
            break
    if not queries:
        raise Skip(
            "no row has shown cells that fit no other answer"
            if not candidates
            else "every draw of examples shows the asked values"
        )
    return queries


def _numbered(test: str, queries: Iterable[Query]) -> list[Query]:
    return [replace(query, id=f"{test}-{number}") for number, query in enumerate(queries)]
