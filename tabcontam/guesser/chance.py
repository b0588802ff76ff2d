"""The guesser: what the best cheap predictor makes of a hidden cell, which knows all but the row.

It knows the schema, the other rows and everything that the prompt shows. Its distribution is the null of the row tests:
the model's replies stay as they are, the hidden cells are drawn anew from it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log2
from typing import Any

from tabcontam.reading.reading import value_key

Cell = str | None

LISTED = 64  # values of a guess that have a probability of their own


@dataclass(frozen=True)
class Guess:
    """A hidden cell's distribution: the probability of each likely value, and the most that any other value has.

    Values are written as in the table; `missing` is the probability that there is none, and what is left that of the
    values not listed.
    """

    values: Mapping[str, float]
    rest: float
    missing: float = 0.0

    @cached_property
    def _keys(self) -> dict[str, float]:
        keys: dict[str, float] = {}
        for value, probability in self.values.items():
            key = value_key(value)
            keys[key] = keys.get(key, 0.0) + probability
        return keys

    @classmethod
    def read(cls, held: Any) -> "Guess":
        """The guess that `fields` wrote. Raises an error for anything else."""
        values, rest, missing = held["values"], held["rest"], held["missing"]
        if not all(isinstance(chance, float) and 0 <= chance <= 1 for chance in (rest, missing, *values.values())):
            raise ValueError("no probability")
        if not rest:
            raise ValueError("a value is ruled out")
        return cls(values, rest, missing)

    def fields(self) -> dict[str, object]:
        """The guess for JSON."""
        return {"values": dict(self.values), "rest": self.rest, "missing": self.missing}

    def of(self, answer: str) -> float:
        """The probability that the hidden cell is this answer, or a bound on it for a value that is not listed."""
        return max(self._keys.get(value_key(answer), 0.0), self.rest)

    @cached_property
    def likeliest(self) -> str | None:
        """The likeliest value; None where none is listed."""
        return max(self.values, key=lambda value: self._keys[value_key(value)], default=None)

    @property
    def surest(self) -> float:
        """The probability of the likeliest value."""
        return max(self._keys.values(), default=self.rest)


def bits(chance: float) -> float:
    """What a recalled cell is worth: -log2 of the guesser's probability of it."""
    return -log2(chance)


def marginal(cells: Iterable[Cell], missing: Iterable[str] = ()) -> Guess:
    """The frequencies of a column's values, for one more cell of it: a value that none has is one in n + 1."""
    marks = set(missing)
    known = list(cells)
    counts = Counter(cell for cell in known if cell is not None and cell not in marks)
    total = len(known) + 1
    values = {value: count / total for value, count in counts.most_common(LISTED)}
    return Guess(values, 1 / total, (len(known) - counts.total()) / total)
