"""What the guesser says about a hidden cell: how probable each value is.

The guesser stands for everybody who does not remember the row: it knows the schema, the other rows of the table and all
that the prompt shows, but not the row that is asked. Its probabilities are the null of the row tests: the answers of
the LLM stay as they are, and the hidden cells are drawn from these probabilities again and again; an LLM that does no
better than that has shown no memory of the row.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log2
from typing import Any

from tabcontam.reading.reading import value_key
from tabcontam.tables.table import Cell

LISTED = 64  # values at most that a guess gives a probability of their own


@dataclass(frozen=True)
class Guess:
    """How probable each value of a hidden cell is."""

    values: Mapping[str, float]  # the likely values, as the table writes them, each with its probability
    rest: float  # no other value is more probable than this
    missing: float = 0.0  # the probability that the cell is empty
    silent: str | None = None  # what a silent predictor, which learned from all rows that are not asked, would answer

    @cached_property
    def _keys(self) -> dict[str, float]:
        keys = dict(zip(map(value_key, self.values), self.values.values(), strict=True))
        if len(keys) < len(self.values):  # two ways to write one value
            keys = dict.fromkeys(keys, 0.0)
            for value, probability in self.values.items():
                keys[value_key(value)] += probability
        return keys

    @classmethod
    def read(cls, held: Any) -> "Guess":
        """The guess that `fields` wrote. Raises an error for anything else."""
        values, rest, missing, silent = held["values"], held["rest"], held["missing"], held.get("silent")
        chances = (rest, missing, *values.values())
        if min(chances) < 0 or max(chances) > 1:
            raise ValueError("no probability")
        if not rest:
            raise ValueError("a value is ruled out")
        if not isinstance(silent, str | None):
            raise ValueError("not an answer")
        return cls(values, rest, missing, silent)

    def fields(self) -> dict[str, object]:
        """The guess for JSON."""
        return {"values": dict(self.values), "rest": self.rest, "missing": self.missing, "silent": self.silent}

    def of(self, answer: str) -> float:
        """The probability that the hidden cell holds this answer; of a value that is not listed, an upper bound."""
        return max(self._keys.get(value_key(answer), 0.0), self.rest)

    def sure(self, answer: str) -> "Guess":
        """The guess in which this answer has chance 1, and any other the chance that it had."""
        key = value_key(answer)
        others = {value: chance for value, chance in self.values.items() if value_key(value) != key}
        return Guess({**others, answer: 1.0}, self.rest, self.missing)

    @cached_property
    def likeliest(self) -> str | None:
        """The value with the largest probability; None where no value is listed."""
        return max(self.values, key=lambda value: self._keys[value_key(value)], default=None)

    @property
    def surest(self) -> float:
        """The probability of that value."""
        return max(self._keys.values(), default=self.rest)


def bits(chance: float) -> float:
    """How many bits an LLM has shown to know by naming a cell's value: -log2 of the guesser's probability of it."""
    return -log2(chance)


def marginal(cells: Iterable[Cell], missing: Iterable[str] = ()) -> Guess:
    """The guess about one more cell of a column of n cells: how often each value occurs; a new one has 1 / (n + 1)."""
    marks = set(missing)
    known = list(cells)
    counts = Counter(cell for cell in known if cell is not None and cell not in marks)
    total = len(known) + 1
    values = {value: count / total for value, count in counts.most_common(LISTED)}
    return Guess(values, 1 / total, (len(known) - counts.total()) / total)
