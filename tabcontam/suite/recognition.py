"""Tests 3 and 4: does the LLM recognize the dataset?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar

from tabcontam.datasets import Table
from tabcontam.decide.answers import FILLER, NOTHING
from tabcontam.decide.reading import answer_line
from tabcontam.decide.words import Dictionary, Found, WordDecision, decide_names, stands_in
from tabcontam.errors import Skip
from tabcontam.serializers import Serializer
from tabcontam.suite import prompts
from tabcontam.suite.base import Kind, Prompt, Query
from tabcontam.suite.checks import drawn, given_away, rendered
from tabcontam.suite.words import WordTest

MAX_TOKENS = 16
EXAMPLES = 4


class RecognitionTest(WordTest):
    """Reads a name and decides it by Algorithm 1 on the dataset's names; names of other datasets do not count."""

    def decision(self, query: Query, text: str, dictionary: Dictionary, found: Found) -> WordDecision:
        """Algorithm 1 on the dataset's names; ours after the names of others are struck out."""
        names = [name for name in query.expected if name is not None]
        for other in query.not_expected if found is stands_in else ():
            text = re.sub(re.escape(other), " ", text, flags=re.IGNORECASE)
        return decide_names(text, names, dictionary, found)

    def is_answer(self, text: str) -> bool:
        """Any text may be a name, but not an announcement of one."""
        line = answer_line(text)
        return bool(line) and not FILLER.match(line) and not NOTHING.match(line)


@dataclass(frozen=True)
class RecognitionFeatures(RecognitionTest):
    """Given the list of features, the LLM must name the dataset.

    Test 3 of Ronval et al. 2024, section 3.1; one query. Features that hold one of the dataset's names (`diluted_wines`
    for Wine) are left out of the list: they alone gave T0 its only published detection.

    Passed if, by Algorithm 1, the answer holds the dataset's name or one of its aliases.

    Example: `PassengerId, Survived, Pclass, ... / Dataset:` goes on with `Titanic`.
    """

    id: ClassVar[str] = "recognition_features"
    number: ClassVar[int | None] = 3
    kind: ClassVar[Kind] = Kind.KNOWLEDGE
    shows_rows: ClassVar[bool] = False
    claim: ClassVar[str] = "answers name the dataset from its features"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """One query. Raises `Skip` where fewer than two features do not hold the name."""
        features = nameless_features(table)
        write = partial(prompts.recognition, f"A dataset has these features: {', '.join(features)}")
        shown = rendered(write())
        if any(given_away(name, shown) for name in table.names):
            raise Skip("the features' names together give the dataset's name away")
        return [Query(f"{self.id}-0", write, (), table.names, MAX_TOKENS, not_expected=table.not_names)]


@dataclass(frozen=True)
class RecognitionExamples(RecognitionTest):
    """Given four random rows, the LLM must name the dataset.

    Test 4 of Ronval et al. 2024, section 3.1; one query. The paper's text draws the rows at random, its code takes the
    first five. Features that hold the name are left out, and rows that give it away are drawn again.

    Passed if, by Algorithm 1, the answer holds the dataset's name or one of its aliases.

    Example: four rows `The PassengerId is 1, ...`, then `Dataset:` goes on with `Titanic`.
    """

    id: ClassVar[str] = "recognition_examples"
    number: ClassVar[int | None] = 4
    kind: ClassVar[Kind] = Kind.MEMORIZATION
    shows_rows: ClassVar[bool] = True
    claim: ClassVar[str] = "answers name the dataset from its rows"

    def queries(self, table: Table, serializer: Serializer, rng: Random) -> list[Query]:
        """One query. Raises `Skip` where every draw of rows gives the name away."""
        count = min(EXAMPLES, len(table.rows))
        features = nameless_features(table)

        def draw() -> Query | None:
            rows = tuple(rng.sample(range(len(table.rows)), count))
            write = partial(_prompt, table, serializer, features, rows)
            shown = rendered(write())
            if any(given_away(name, shown) for name in table.names):
                return None
            return Query(f"{self.id}-0", write, (), table.names, MAX_TOKENS, rows=rows, not_expected=table.not_names)

        return [drawn(draw, "the rows' own words hold the dataset's name")]


def _prompt(table: Table, serializer: Serializer, features: Sequence[str], rows: Sequence[int]) -> Prompt:
    places = [table.columns.index(name) for name in features]
    cells = [[table.rows[index][place] for place in places] for index in rows]
    text = "\n".join(serializer.row(features, row) for row in cells)
    return prompts.recognition(f"Rows of a dataset:\n{text}")


def nameless_features(table: Table) -> list[str]:
    """The features whose names do not hold one of the dataset's names. Raises `Skip` where fewer than two are left."""
    features = [feature for feature in table.columns if not any(given_away(name, feature) for name in table.names)]
    if len(features) < 2:
        raise Skip("the features' names hold the dataset's name")
    return features
