"""Simulated answers to a query: the true, the most usual, or the likeliest one. `Test.answering` has their kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, ClassVar

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.tables.serializers import DEFAULT, Serializer, in_order_of_finding, load_serializers

if TYPE_CHECKING:
    from tabcontam.evidence.base import Prompt, Query
    from tabcontam.tables.table import Cell, Table

DECOY, TWIN = "decoy", "twin"  # in the id of a query that asks about other data, or shows rows of a twin
NOT_KNOWN = "unknown"
MISSING = "missing"
USUAL_FEATURES = ("id", "age", "sex", "name", "date", "class", "income", "education")
USUAL_VALUES = ("yes", "no", "male", "female", "other", "low", "medium", "high")
USUAL_NAMES = ("Titanic", "Adult", "Iris", "MNIST", "Boston Housing")


def of_twin(query: "Query") -> bool:
    """Return whether the query is a decoy that shows rows of a twin."""
    return f"-{TWIN}-" in f"{query.id}-"


@dataclass(frozen=True)
class AnswerKind:
    """The simulated answers to one kind of query. Each method simulates a model with another degree of knowledge.

    By default, `truth` returns the expected values, and every other method returns "unknown".
    """

    of_row: ClassVar[bool] = True  # whether a model that remembers the asked row knows the answer
    by_word: ClassVar[bool] = False  # whether the answer is a list, and a model may know each item by itself

    def truth(self, query: "Query") -> "Sequence[Cell]":
        """Return the answer of a model that knows the table."""
        return query.expected

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        """Return the most usual answer, which does not depend on the prompt."""
        return [NOT_KNOWN]

    def predicted(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Return the likeliest answer of a model that has read the prompt but not the table."""
        return self.usual(query, table)

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Return the answer of a model that knows everything about the dataset except its rows."""
        return self.predicted(query, table, rng)

    def column(self, asked: str) -> str:
        """Return the table's column that holds the asked item."""
        return asked

    def places(self, query: "Query") -> Sequence[int]:
        """Return the row of each asked value, or an empty sequence if all values are cells of the one asked row."""
        return ()

    def text(self, query: "Query", values: "Sequence[Cell]", prompt: "Prompt | None" = None) -> str:
        """Return the values as text. Values that make a row are written in the form of the prompt's rows."""
        return ", ".join(map(shown_value, values))


@dataclass(frozen=True)
class WordAnswers(AnswerKind):
    """A list of words: names of features, or values of a feature. `usual_words` is the most usual answer."""

    usual_words: tuple[str, ...] = USUAL_FEATURES
    of_row: ClassVar[bool] = False
    by_word: ClassVar[bool] = True

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        return self.usual_words

    def predicted(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Return the usual words, and each expected word with the probability that it has under the null model."""
        words = [word for word in query.expected if word is not None]
        due = [word for word in words if word in query.chance and rng.random() < query.chance[word].chance_of(word)]
        return [*due, *self.usual(query, table)]

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Return the truth; for a query about another dataset, return the usual words."""
        return self.usual(query, table) if query.decoy_of else self.truth(query)


@dataclass(frozen=True)
class NameAnswers(AnswerKind):
    """The name of a dataset."""

    of_row: ClassVar[bool] = False

    def truth(self, query: "Query") -> "Sequence[Cell]":
        return query.expected[:1]

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        """Return the dataset name that models give most often: no prediction of a name is better."""
        return USUAL_NAMES[:1]

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Return the true name, also for a twin's rows; return a wrong name for features or rows of another dataset."""
        if not query.decoy_of or of_twin(query):
            return self.truth(query)
        own = {name.casefold() for name in (*table.names, table.title)}
        return [next((name for name in USUAL_NAMES if not any(name.casefold() in each for each in own)), NOT_KNOWN)]


@dataclass(frozen=True)
class ChoiceAnswers(AnswerKind):
    """One of the possible answers that the query lists."""

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        """Return the answer of the majority if it is known, else `Yes`, or else the first listed answer."""
        majority = query.chance.get("majority")
        likeliest = majority.likeliest if majority else None
        return [likeliest or next((choice for choice in query.asked if choice == "Yes"), query.asked[0])]

    def predicted(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        weights = _choices(query)
        return [max(weights, key=weights.__getitem__)] if weights else self.usual(query, table)

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Return a random answer; the probability of each answer is its chance of being right."""
        weights = _choices(query)
        return [_drawn(weights, rng)] if weights else self.usual(query, table)


@dataclass(frozen=True)
class CellAnswers(AnswerKind):
    """Cells of a row: several cells are written as a row, and a single cell as its value alone."""

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        """Return the most frequent value of each column."""
        return [next(iter(table.distinct(self.column(name))), MISSING) for name in query.asked]

    def predicted(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        return self._of_predictions(query, table, lambda prediction: prediction.likeliest or None)

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Return a random value for each cell, drawn from the baseline's prediction."""
        return self._of_predictions(
            query, table, lambda prediction: _drawn(prediction.values, rng) if prediction.values else None
        )

    def _of_predictions(
        self, query: "Query", table: "Table", value_of: Callable[[CellPrediction], str | None]
    ) -> "Sequence[Cell]":
        """Return `value_of` of each cell's prediction, or the most frequent value if the baseline predicts none."""
        found = [value_of(query.chance[name]) if name in query.chance else None for name in query.asked]
        usual = self.usual(query, table)
        return [other if value is None else value for value, other in zip(found, usual, strict=True)]

    def text(self, query: "Query", values: "Sequence[Cell]", prompt: "Prompt | None" = None) -> str:
        """Return several values as a row in the form of the prompt's rows, or a single value with escaped line ends."""
        found = (form for form in _forms() if prompt and form.shown_in(prompt.completion, query.asked))
        form = next(found, load_serializers()[DEFAULT])
        return form.value(shown_value(values[0])) if len(query.asked) < 2 else form.row(query.asked, values)


@lru_cache(maxsize=1)
def _forms() -> tuple[Serializer, ...]:
    return tuple(in_order_of_finding(load_serializers().values()))


def shown_value(value: "Cell") -> str:
    return MISSING if value is None else value


def _choices(query: "Query") -> Mapping[str, float]:
    """Return the probability of each possible answer: its own `chance`, or else the best baseline's prediction."""
    own = {choice: query.chance[choice].chance_of(choice) for choice in query.asked if choice in query.chance}
    baselines = [prediction.values for prediction in query.chance.values() if prediction.values]
    return own or (baselines[-1] if baselines else {})


def _drawn(weights: Mapping[str, float], rng: Random) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]
