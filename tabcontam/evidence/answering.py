"""What simulated answerers say to a query: the truth, what is usual, or a guess. A test names its `answering`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, ClassVar

from tabcontam.guesser.chance import Guess
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
    """Whether a decoy shows rows of a twin, which one who knows the schema takes for real."""
    return f"-{TWIN}-" in f"{query.id}-"


@dataclass(frozen=True)
class Answering:
    """How a simulated answerer answers one kind of query, by how much it knows of the table.

    By default it says all that is expected if it knows, and nothing of it if it does not.
    """

    of_row: ClassVar[bool] = True  # whether one who remembers the asked row knows the answer
    by_word: ClassVar[bool] = False  # whether the answer is a list of which each item may be known by itself

    def truth(self, query: "Query") -> "Sequence[Cell]":
        """The answer of one who knows the table."""
        return query.expected

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        """The most usual answer, without a look at the prompt."""
        return [NOT_KNOWN]

    def guessed(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """The best guess of one who has read the prompt and does not know."""
        return self.usual(query, table)

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """The answer of one who knows everything about the dataset but its rows."""
        return self.guessed(query, table, rng)

    def column(self, asked: str) -> str:
        """The table's column that something asked lies in."""
        return asked

    def places(self, query: "Query") -> Sequence[int]:
        """The table's row in which each asked value stands; empty where all stand in the one row that is asked."""
        return ()

    def text(self, query: "Query", values: "Sequence[Cell]", prompt: "Prompt | None" = None) -> str:
        """Values in the shape that the query asks for; rows as the prompt writes them, else in the default form."""
        return ", ".join(map(shown_value, values))


@dataclass(frozen=True)
class WordAnswers(Answering):
    """A list of words: the names of features, the values of one. `usual_words` are said of any table."""

    usual_words: tuple[str, ...] = USUAL_FEATURES
    of_row: ClassVar[bool] = False
    by_word: ClassVar[bool] = True

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        """What is said most often of any table."""
        return self.usual_words

    def guessed(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Each expected word with the chance that the null gives it: to say every one that has a chance is to know."""
        words = [word for word in query.expected if word is not None]
        due = [word for word in words if word in query.chance and rng.random() < query.chance[word].of(word)]
        return [*due, *self.usual(query, table)]

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """The truth; of other datasets what is usual."""
        return self.usual(query, table) if query.decoy_of else self.truth(query)


@dataclass(frozen=True)
class NameAnswers(Answering):
    """The name of a dataset."""

    of_row: ClassVar[bool] = False

    def truth(self, query: "Query") -> "Sequence[Cell]":
        """The first of the dataset's names."""
        return query.expected[:1]

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        """The name that is said most often; there is nothing to guess by."""
        return USUAL_NAMES[:1]

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """The truth, for a twin's rows too; of other datasets' features or rows a name that is not this one's."""
        if not query.decoy_of or of_twin(query):
            return self.truth(query)
        own = {name.casefold() for name in (*table.names, table.title)}
        return [next((name for name in USUAL_NAMES if not any(name.casefold() in each for each in own)), NOT_KNOWN)]


@dataclass(frozen=True)
class ChoiceAnswers(Answering):
    """One of the possible answers that the query lists."""

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        """The answer of the majority, where it is known; else Yes, or the first that is listed."""
        majority = query.chance.get("majority")
        likeliest = majority.likeliest if majority else None
        return [likeliest or next((choice for choice in query.asked if choice == "Yes"), query.asked[0])]

    def guessed(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """The likeliest answer."""
        weights = _choices(query)
        return [max(weights, key=weights.__getitem__)] if weights else self.usual(query, table)

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Any answer, as often as it is right."""
        weights = _choices(query)
        return [_drawn(weights, rng)] if weights else self.usual(query, table)


@dataclass(frozen=True)
class CellAnswers(Answering):
    """Cells of a row: several as a row is written, a single one bare."""

    def usual(self, query: "Query", table: "Table") -> "Sequence[Cell]":
        """The most frequent value of each column."""
        return [next(iter(table.distinct(self.column(name))), MISSING) for name in query.asked]

    def guessed(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """The likeliest value of each cell."""
        return self._of_guesses(query, table, lambda guess: guess.likeliest or None)

    def by_schema(self, query: "Query", table: "Table", rng: Random) -> "Sequence[Cell]":
        """Any value of each cell, as often as it stands there."""
        return self._of_guesses(query, table, lambda guess: _drawn(guess.values, rng) if guess.values else None)

    def _of_guesses(self, query: "Query", table: "Table", value_of: Callable[[Guess], str | None]) -> "Sequence[Cell]":
        """For each cell a value by its guess; the usual one where the guesser knows none."""
        found = [value_of(query.chance[name]) if name in query.chance else None for name in query.asked]
        usual = self.usual(query, table)
        return [other if value is None else value for value, other in zip(found, usual, strict=True)]

    def text(self, query: "Query", values: "Sequence[Cell]", prompt: "Prompt | None" = None) -> str:
        """A row in the form of the prompt's rows, or one value as it stands in a row, its line ends escaped."""
        found = (form for form in _forms() if prompt and form.shown_in(prompt.completion, query.asked))
        form = next(found, load_serializers()[DEFAULT])
        return form.value(shown_value(values[0])) if len(query.asked) < 2 else form.row(query.asked, values)


@lru_cache(maxsize=1)
def _forms() -> tuple[Serializer, ...]:
    return tuple(in_order_of_finding(load_serializers().values()))


def shown_value(value: "Cell") -> str:
    return MISSING if value is None else value


def _choices(query: "Query") -> Mapping[str, float]:
    """The probability of each possible answer: its own chance, or the best baseline's."""
    own = {choice: query.chance[choice].of(choice) for choice in query.asked if choice in query.chance}
    baselines = [guess.values for guess in query.chance.values() if guess.values]
    return own or (baselines[-1] if baselines else {})


def _drawn(weights: Mapping[str, float], rng: Random) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]
