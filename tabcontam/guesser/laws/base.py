"""What a law between columns gives: values that follow from shown cells, each with the probability that it is right."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tabcontam.guesser.columns import Floats, Ints
from tabcontam.guesser.fit import Fit


@dataclass(frozen=True, eq=False)
class Follows:
    """The values that follow from shown cells, with their probabilities: for each predicted row, by key.

    `left` is the probability that is left in each row for all other predictors.
    """

    values: list[dict[str, float]]
    left: Floats

    @classmethod
    def of(cls, values: list[dict[str, float]]) -> "Follows":
        """These values; what they leave of each row's probability is for the others."""
        return cls(values, np.array([1 - sum(one.values()) for one in values], dtype=np.float64))

    def at(self, places: Ints) -> "Follows":
        """The same for the predicted rows at these places."""
        return Follows([self.values[place] for place in places.tolist()], self.left[places])


Law = Callable[[Fit], list[Follows]]
"""Looks for laws of one kind in the rows that a fit learns from, and says what follows in those that it predicts."""
