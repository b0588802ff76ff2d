"""The baseline's prediction of a hidden cell: the probability of each value.

The baseline represents any model that does not remember the row. It knows the schema, the other rows of the table and
all that the prompt shows, but not the queried row. Its probabilities are the null model of the row tests: the model's
answers are fixed, and the hidden cells are drawn from these probabilities. A model that is right no more often than
under this null model has shown no memory of the row.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2
from typing import Any

from tabcontam.baseline.rounded_numbers import RoundedPrediction, chain
from tabcontam.baseline.thresholds import MOST_LISTED_VALUES
from tabcontam.reading.answer_text import same_value, value_key
from tabcontam.tables.table import Cell


@dataclass(frozen=True)
class CellPrediction:
    """The probability of each value of a hidden cell."""

    values: Mapping[str, float]  # the probability of each likely value, spelled as in the table
    rest: float  # upper bound of the probability of each other value
    missing: float = 0.0  # the probability that the cell is empty
    coarser: tuple[RoundedPrediction, ...] = ()  # probabilities of the number with one digit fewer, two fewer, ...
    silent: str | None = None  # answer of the silent predictor, which learned from all other rows

    @cached_property
    def _keys(self) -> dict[str, float]:
        keys = dict(zip(map(value_key, self.values), self.values.values(), strict=True))
        if len(keys) < len(self.values):  # two spellings of one value
            keys = dict.fromkeys(keys, 0.0)
            for value, probability in self.values.items():
                keys[value_key(value)] += probability
        return keys

    @classmethod
    def read(cls, stored: Any) -> "CellPrediction":
        """Return the prediction from the JSON of `fields`. Raises an error for any other JSON."""
        values, rest, missing, silent = stored["values"], stored["rest"], stored["missing"], stored.get("silent")
        chances = (rest, missing, *values.values())
        if min(chances) < 0 or max(chances) > 1:
            raise ValueError("a probability is not between 0 and 1")
        if not rest:
            raise ValueError("the probability of values that are not listed is 0")
        if not isinstance(silent, str | None):
            raise ValueError("the silent predictor's answer is not a text")
        return cls(values, rest, missing, tuple(map(RoundedPrediction.read, stored.get("coarser", ()))), silent)

    def fields(self) -> dict[str, object]:
        """Return the prediction for JSON, without empty fields."""
        fields: dict[str, object] = {"values": dict(self.values), "rest": self.rest, "missing": self.missing}
        if self.coarser:
            fields["coarser"] = [one.fields() for one in self.coarser]
        return fields if self.silent is None else fields | {"silent": self.silent}

    def chance_of(self, answer: str) -> float:
        """Return the probability that this answer is the hidden cell's value, or an upper bound if it is not listed."""
        return max(self._keys.get(value_key(answer), 0.0), self.rest)

    def chances(self, answer: str) -> tuple[float, ...]:
        """Return the probabilities that the answer is right: in all digits, and if possible in one and two fewer."""
        found = [min(1.0, self.chance_of(answer))]
        for key, one in zip(self._rounded(answer), self.coarser, strict=True):
            chance = one.rest if key is None else max(one.values.get(key, 0.0), one.rest)
            found.append(min(1.0, max(found[-1], chance)))
        return tuple(found)

    def precision(self, answer: str, truth: str) -> int | None:
        """Return the index in `chances` of the finest precision at which the answer equals the truth.

        It is 0 for all digits and 1 for one digit fewer; None if they differ at every precision.
        """
        if same_value(answer, truth):
            return 0
        pairs = zip(self._rounded(answer), self._rounded(truth), strict=True)
        return next((place for place, (key, other) in enumerate(pairs, 1) if key is not None and key == other), None)

    def _rounded(self, text: str) -> list[str | None]:
        return chain(text, [one.places for one in self.coarser]) if self.coarser else []

    def sure(self, answer: str) -> "CellPrediction":
        """Return this prediction, but with probability 1 for `answer` at every precision."""
        key = value_key(answer)
        others = {value: chance for value, chance in self.values.items() if value_key(value) != key}
        rounded = zip(self.coarser, self._rounded(answer), strict=True)
        coarser = tuple(
            one if place is None else replace(one, values={**one.values, place: 1.0}) for one, place in rounded
        )
        return replace(self, values={**others, answer: 1.0}, coarser=coarser)

    @cached_property
    def likeliest(self) -> str | None:
        """The value with the largest probability; None if no value is listed."""
        return max(self.values, key=lambda value: self._keys[value_key(value)], default=None)

    @property
    def surest(self) -> float:
        """The probability of the likeliest value, or `rest` if no value is listed."""
        return max(self._keys.values(), default=self.rest)


def bits(chance: float) -> float:
    """Return the surprisal of a right answer in bits: -log2 of the baseline's probability `chance`."""
    return -log2(chance)


def marginal(cells: Iterable[Cell], missing: Iterable[str] = ()) -> CellPrediction:
    """Return the prediction of one more cell by the frequencies of n `cells`. A new value has probability 1 / (n + 1).

    `missing` are marks of missing cells besides None.
    """
    marks = set(missing)
    known = list(cells)
    counts = Counter(cell for cell in known if cell is not None and cell not in marks)
    total = len(known) + 1
    values = {value: count / total for value, count in counts.most_common(MOST_LISTED_VALUES)}
    return CellPrediction(values, 1 / total, (len(known) - counts.total()) / total)
