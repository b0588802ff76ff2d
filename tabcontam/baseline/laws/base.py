"""The predictions of a law between columns: values that follow from shown cells, each with its probability."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tabcontam.baseline.coded_columns import Floats, Ints
from tabcontam.baseline.fit import Fit


@dataclass(frozen=True, eq=False)
class LawPredictions:
    """The values that follow from shown cells, as a dict of probabilities by key (value) for each predicted row.

    `left` is the probability that each row leaves to other predictors.
    """

    values: list[dict[str, float]]
    left: Floats

    @classmethod
    def of(cls, values: list[dict[str, float]]) -> "LawPredictions":
        """Return predictions of these values that leave the rest of each row's probability to other predictors."""
        return cls(values, np.array([1 - sum(one.values()) for one in values], dtype=np.float64))

    def at_places(self, places: Ints) -> "LawPredictions":
        """Return the predictions for the predicted rows at these indices."""
        return LawPredictions([self.values[place] for place in places.tolist()], self.left[places])


Law = Callable[[Fit], list[LawPredictions]]
"""A search for laws of one kind in a fit's training rows. It returns predictions for the predicted rows."""
