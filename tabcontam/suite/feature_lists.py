"""Tests 1 and 2: does the LLM know the names of the features?"""

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.datasets import Table
from tabcontam.errors import Skip
from tabcontam.serializers import Serializer
from tabcontam.suite import prompts
from tabcontam.suite.base import Kind, Query
from tabcontam.suite.checks import drawn, hidden, rendered
from tabcontam.suite.words import WordTest

MAX_TOKENS = 256
FEWEST = 2  # names to be left; a single one such as `target` is too easily guessed


@dataclass(frozen=True)
class FeatureListInformed(WordTest):
    """Given the dataset's name and some of its features, the LLM must name the others.

    Test 1 of Ronval et al. 2024, section 3.1. Three queries show five random features each, as the authors' code does;
    tables of few features show fewer, so that two remain. Other than there, a name that the prompt gives away
    (`sepal width` where `sepal length` and `petal width` are shown) is not expected, two others must be left, and the
    draws are seeded.

    Passed if, by Algorithm 1, one answer holds an expected name that is no English word, or all of them if all are.

    Example: `Dataset: Adult Census Income / Features: sex, race, income,` goes on with `fnlwgt`.
    """

    id: ClassVar[str] = "feature_list_informed"
    number: ClassVar[int | None] = 1
    kind: ClassVar[Kind] = Kind.KNOWLEDGE
    shows_rows: ClassVar[bool] = False
    claim: ClassVar[str] = "answers name features of the table that the prompt does not"
    repeats: int = 3
    shown: int = 5

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """One query a subset. Raises `Skip` where every subset gives the rest away."""
        count = min(self.shown, len(table.columns) - 2)
        if count < 1:
            raise Skip("too few features: some must be shown and two be left to name")
        return [self._query(table, count, number, rng) for number in range(self.repeats)]

    def _query(self, table: Table, count: int, number: int, rng: Random) -> Query:
        def draw() -> Query | None:
            shown = _open_ended(table.columns, rng.sample(table.columns, count))
            write = partial(prompts.feature_list, table.title, shown)
            expected = hidden((name for name in table.columns if name not in shown), rendered(write()))
            if len(expected) < FEWEST:
                return None
            return Query(f"{self.id}-{number}", write, (), expected, MAX_TOKENS)

        return drawn(draw, "the features that are shown give the names of all others away")


@dataclass(frozen=True)
class FeatureListUninformed(WordTest):
    """Given the dataset's name alone, the LLM must name its features.

    Test 2 of Ronval et al. 2024, section 3.1; one query. Names that the dataset's own name gives away are not expected.

    Passed if, by Algorithm 1, the answer holds an expected name that is no English word, or all of them if all are.

    Example: `Dataset: Titanic / Features:` goes on with `PassengerId, Survived, Pclass`.
    """

    id: ClassVar[str] = "feature_list_uninformed"
    number: ClassVar[int | None] = 2
    kind: ClassVar[Kind] = Kind.KNOWLEDGE
    shows_rows: ClassVar[bool] = False
    claim: ClassVar[str] = "answers name features of the table"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """One query. Raises `Skip` where the dataset's name gives every feature away."""
        write = partial(prompts.feature_list, table.title, ())
        expected = hidden(table.columns, rendered(write()))
        if not expected:
            raise Skip("the dataset's name gives the names of all features away")
        return [Query(f"{self.id}-0", write, (), expected, MAX_TOKENS)]


def _open_ended(columns: tuple[str, ...], shown: list[str]) -> list[str]:
    """The shown names, last one whose successor in the table is not shown: a list that is to be continued."""
    for name in shown:
        following = columns.index(name) + 1
        if following < len(columns) and columns[following] not in shown:
            return [*(other for other in shown if other != name), name]
    return shown
