"""What the guesser says about a hidden cell: how probable each value is.

The guesser stands for everybody who does not remember the row: it knows the schema, the other rows of the table and all
that the prompt shows, but not the row that is asked. Its probabilities are the null of the row tests: the answers of
the LLM stay as they are, and the hidden cells are drawn from these probabilities again and again; an LLM that does no
better than that has shown no memory of the row.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2
from typing import Any

from tabcontam.guesser.rounding import Rounded, chain
from tabcontam.reading.reading import same_value, value_key
from tabcontam.tables.table import Cell

LISTED = 64  # values at most that a guess gives a probability of their own


@dataclass(frozen=True)
class Guess:
    """How probable each value of a hidden cell is."""

    values: Mapping[str, float]  # the likely values, as the table writes them, each with its probability
    rest: float  # no other value is more probable than this
    missing: float = 0.0  # the probability that the cell is empty
    coarser: tuple[Rounded, ...] = ()  # the same of a number with fewer digits, one fewer first
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
        return cls(values, rest, missing, tuple(map(Rounded.read, held.get("coarser", ()))), silent)

    def fields(self) -> dict[str, object]:
        """The guess for JSON; what it does not have is left out."""
        fields: dict[str, object] = {"values": dict(self.values), "rest": self.rest, "missing": self.missing}
        if self.coarser:
            fields["coarser"] = [one.fields() for one in self.coarser]
        return fields if self.silent is None else fields | {"silent": self.silent}

    def of(self, answer: str) -> float:
        """The probability that the hidden cell holds this answer; of a value that is not listed, an upper bound."""
        return max(self._keys.get(value_key(answer), 0.0), self.rest)

    def chances(self, answer: str) -> tuple[float, ...]:
        """The probabilities that the hidden cell is this answer: in all digits, and in one and two fewer, if it can be.

        None is smaller than the one before it, and none is above 1.
        """
        found = [min(1.0, self.of(answer))]
        for key, one in zip(self._rounded(answer), self.coarser, strict=True):
            chance = one.rest if key is None else max(one.values.get(key, 0.0), one.rest)
            found.append(min(1.0, max(found[-1], chance)))
        return tuple(found)

    def precision(self, answer: str, truth: str) -> int | None:
        """In how many digits fewer than all, as a place in `chances`, an answer is the true value; None where in none.

        The order is that of `chances`, so that 0 says that the two are one value.
        """
        if same_value(answer, truth):
            return 0
        pairs = zip(self._rounded(answer), self._rounded(truth), strict=True)
        return next((place for place, (key, other) in enumerate(pairs, 1) if key is not None and key == other), None)

    def _rounded(self, text: str) -> list[str | None]:
        return chain(text, [one.places for one in self.coarser]) if self.coarser else []

    def sure(self, answer: str) -> "Guess":
        """The guess in which this answer has chance 1, in fewer digits too, and any other the chance that it had."""
        key = value_key(answer)
        others = {value: chance for value, chance in self.values.items() if value_key(value) != key}
        rounded = zip(self.coarser, self._rounded(answer), strict=True)
        coarser = tuple(
            one if place is None else replace(one, values={**one.values, place: 1.0}) for one, place in rounded
        )
        return replace(self, values={**others, answer: 1.0}, coarser=coarser)

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
