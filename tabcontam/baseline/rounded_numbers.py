"""Numbers rounded to fewer digits: the precisions of a column, and the evidence of an answer at each precision.

An answer with fewer digits than the table is less evidence, but still evidence. The precisions depend on the column
only and are fixed before any answer: all digits, one fewer, two fewer. Their weights are fixed too, so nothing is
chosen after a look at the answer. A cell's evidence is a weighted sum over the precisions at which the answer is right.
Each term is one divided by the baseline's probability of the rounded value. The sum is a mixture of likelihood ratios:
its mean under the null model is at most one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property, lru_cache
from math import log2
from typing import Any

from tabcontam.baseline.thresholds import (
    LEAST_ROUNDED_VALUES,
    MOST_EXACT_VALUES,
    MOST_FINER_SHARE,
    MOST_MISSING_DIGITS,
    MOST_ROUNDED_DIGITS,
)
from tabcontam.reading.answer_text import value_key
from tabcontam.reading.numbers import is_finite

WEIGHTS = {0: (1.0,), 1: (0.85, 0.15), 2: (0.8, 0.15, 0.05)}  # for all digits and fewer, by number of coarser places


@dataclass(frozen=True)
class RoundedPrediction:
    """The probability of each value of a hidden cell, rounded to `places` decimals; -1 is tens.

    `values` maps keys of rounded values to upper bounds of their probabilities. `rest` is the bound of any other value.
    """

    places: int
    values: Mapping[str, float]
    rest: float

    @classmethod
    def read(cls, stored: Any) -> "RoundedPrediction":
        """Return the prediction from the JSON of `fields`. Raises an error for any other JSON."""
        places, values, rest = stored["places"], dict(stored["values"]), stored["rest"]
        if not isinstance(places, int) or not all(0 <= chance <= 1 for chance in (rest, *values.values())) or not rest:
            raise ValueError("the places or probabilities of rounded values are not valid")
        return cls(places, values, rest)

    def fields(self) -> dict[str, object]:
        """Return the probabilities for JSON."""
        return {"places": self.places, "values": dict(self.values), "rest": self.rest}

    def likelier(self, left: float) -> "RoundedPrediction":
        """Return the probabilities after values are ruled out so that only `left` of the probability remains."""
        values = {value: min(1.0, chance / max(left, chance)) for value, chance in self.values.items()}
        return RoundedPrediction(self.places, values, min(1.0, self.rest / max(left, self.rest)))

    @cached_property
    def surest(self) -> float:
        """The largest of the probabilities."""
        return max(self.rest, *self.values.values()) if self.values else self.rest


def chain(text: str, places: Sequence[int]) -> list[str | None]:
    """Return a number rounded to each of these places in turn, each from the previous result; halves round up.

    So numbers that are equal at one place are equal at all coarser places. Other texts give None at each place.
    """
    return list(_chain(value_key(text), tuple(places)))


@lru_cache(maxsize=200_000)
def _chain(key: str, places: tuple[int, ...]) -> tuple[str | None, ...]:
    if not is_finite(key):
        return (None,) * len(places)
    number = Decimal(key)
    if abs(number.adjusted()) > MOST_ROUNDED_DIGITS:
        return (None,) * len(places)
    found = []
    for place in places:
        number = number.quantize(Decimal(1).scaleb(-place), rounding=ROUND_HALF_UP)
        found.append(value_key(str(number)))
    return tuple(found)


def coarser_places(keys: Collection[str]) -> tuple[int, ...]:
    """Return the places to which a column's numbers may be rounded, from its keys; for most columns none.

    The finest digit is the last digit of nearly all values. Places with few rounded values, easily hit by chance, are
    omitted.
    """
    numbers = [key for key in set(keys) if is_finite(key)]
    if len(numbers) <= MOST_EXACT_VALUES or len(numbers) < 0.95 * len(set(keys)) - 1:
        return ()
    digits = sorted(-int(Decimal(key).normalize().as_tuple().exponent) for key in numbers)
    finest = digits[int((1 - MOST_FINER_SHARE) * (len(digits) - 1))]
    places = tuple(finest - fewer for fewer in range(1, MOST_MISSING_DIGITS + 1))
    if max(abs(Decimal(key).adjusted()) for key in numbers) > MOST_ROUNDED_DIGITS:
        return ()
    rounded = [len({_chain(key, places)[number] for key in numbers}) for number in range(MOST_MISSING_DIGITS)]
    return tuple(place for place, left in zip(places, rounded, strict=True) if left >= LEAST_ROUNDED_VALUES)


def ratios(chances: Sequence[float]) -> list[float]:
    """Return the evidence of an answer that is right in all digits, in one fewer only, and so on.

    `chances` are the baseline's probabilities that the answer is right at each of these precisions, finest first.
    """
    parts = [weight / chance for weight, chance in zip(WEIGHTS[len(chances) - 1], chances, strict=True)]
    return [sum(parts[place:]) for place in range(len(parts))]


def worths(chances: Sequence[float]) -> list[float]:
    """Return log2 of `ratios`; with several precisions, at least 0."""
    if len(chances) == 1:
        return [-log2(chances[0])]
    return [max(0.0, log2(ratio)) for ratio in ratios(chances)]
