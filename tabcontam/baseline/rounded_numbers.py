"""Numbers rounded to fewer digits: the precisions of a column, and the evidence in an answer of each precision.

An answer with fewer digits than the table is less evidence, but not none. The precisions are fixed by the column alone,
before anything is answered: all its digits, one fewer and two fewer. Each counts with a weight that is fixed as well,
so none is chosen after a look at the answer. A cell's evidence is the weighted sum, over the precisions at which the
answer is the true value's, of one divided by the baseline's probability of that: a mixture of likelihood ratios, which
has a mean of one at most under the null model.
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

WEIGHTS = {0: (1.0,), 1: (0.85, 0.15), 2: (0.8, 0.15, 0.05)}  # of all digits and of fewer, by number of coarser ones


@dataclass(frozen=True)
class RoundedPrediction:
    """The probability of each value of a hidden cell after rounding to `places` decimals; below 0 to tens and so on.

    `values` are keys of rounded values. All probabilities are upper bounds; no other value has more than `rest`.
    """

    places: int
    values: Mapping[str, float]
    rest: float

    @classmethod
    def read(cls, stored: Any) -> "RoundedPrediction":
        """Return the instance that was written as JSON. Raises an error for anything else."""
        places, values, rest = stored["places"], dict(stored["values"]), stored["rest"]
        if not isinstance(places, int) or not all(0 <= chance <= 1 for chance in (rest, *values.values())) or not rest:
            raise ValueError("the places or probabilities of rounded values are not valid")
        return cls(places, values, rest)

    def fields(self) -> dict[str, object]:
        """Return the probabilities for JSON."""
        return {"places": self.places, "values": dict(self.values), "rest": self.rest}

    def likelier(self, left: float) -> "RoundedPrediction":
        """Return the probabilities after other values are ruled out, so that only `left` of the probability remains."""
        values = {value: min(1.0, chance / max(left, chance)) for value, chance in self.values.items()}
        return RoundedPrediction(self.places, values, min(1.0, self.rest / max(left, self.rest)))

    @cached_property
    def surest(self) -> float:
        """The largest of the probabilities."""
        return max(self.rest, *self.values.values()) if self.values else self.rest


def chain(text: str, places: Sequence[int]) -> list[str | None]:
    """Return a number rounded to each of these places in turn, each from the last rounding's result; halves go up.

    So numbers that are equal at one place are equal at all coarser ones. Any other text gives None at each place.
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
    """Return the places to which a column's numbers may be rounded, by the keys of its values; none for most columns.

    The finest digit is that of nearly all values. Where rounding leaves few values, chance often hits them.
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
    """Return the weighted sums of reciprocal chances, for answers right in all digits, in one fewer and so on.

    `chances` are the baseline's probabilities that the truth is the answer at each of these precisions, the finest
    first.
    """
    parts = [weight / chance for weight, chance in zip(WEIGHTS[len(chances) - 1], chances, strict=True)]
    return [sum(parts[place:]) for place in range(len(parts))]


def worths(chances: Sequence[float]) -> list[float]:
    """Return log2 of these ratios, none below 0 if there are several precisions."""
    if len(chances) == 1:
        return [-log2(chances[0])]
    return [max(0.0, log2(ratio)) for ratio in ratios(chances)]
