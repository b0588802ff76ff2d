"""All rows of a table as predictors see them that count: a large table's rare values are in few of the fitted rows."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabcontam.guesser.columns import Column, Ints

MOST_PROBED = 1000  # rows that tell how well a rule does
THINNED = 4000  # rows by which columns are compared


@dataclass(frozen=True, eq=False)
class View:
    """The columns over all rows, the places of those that may be learned from, and of those that are predicted.

    A predicted row may be among those learned from: it is left out wherever it is predicted itself.
    """

    target: Column
    shown: tuple[Column, ...]
    learned: Ints
    predicted: Ints

    @cached_property
    def probed(self) -> Ints:
        """Places in `learned` of rows that tell how well a rule does: all of them, or evenly chosen ones of many."""
        return np.arange(0, len(self.learned), max(1, len(self.learned) // MOST_PROBED))

    @cached_property
    def thinned(self) -> "View":
        """The same with evenly chosen ones of many rows to learn from, to compare columns by."""
        every = len(self.learned) // THINNED
        return replace(self, learned=self.learned[::every]) if every > 1 else self
