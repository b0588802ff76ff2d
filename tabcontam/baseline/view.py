"""All rows of a table for the counting predictors: the sample has few rows with a large table's rare values."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tabcontam.baseline.coded_columns import Column, Ints
from tabcontam.baseline.thresholds import (
    FEW_VALUES,
    MOST_PROBED_ROWS,
    MOST_ROWS_OF_SMALL_TABLE,
    THINNED_ROWS,
    THINNED_RUN,
)


@dataclass(frozen=True, eq=False)
class View:
    """The columns over all rows, and the indices of rows to learn from and of rows to predict.

    A predicted row may be among `learned`: it is left out when it is itself predicted.
    """

    target: Column
    shown: tuple[Column, ...]
    learned: Ints
    predicted: Ints

    @property
    def large(self) -> bool:
        """True if there are many rows to learn from."""
        return len(self.learned) > MOST_ROWS_OF_SMALL_TABLE

    @cached_property
    def of_many_numbers(self) -> list[Column]:
        """The shown columns of many distinct numbers, those with most first."""
        many = (one for one in self.shown if one.numbers is not None and one.distinct > FEW_VALUES)
        return sorted(many, key=lambda one: (-one.distinct, one.name))

    @cached_property
    def probed(self) -> Ints:
        """Indices into `learned` of the rows that test a rule: all rows, or evenly chosen rows if there are many."""
        return np.arange(0, len(self.learned), max(1, len(self.learned) // MOST_PROBED_ROWS))

    @cached_property
    def thinned(self) -> "View":
        """The view with evenly chosen runs of the rows to learn from, for comparing columns of a large table."""
        every = len(self.learned) // THINNED_ROWS
        chosen = np.arange(len(self.learned)) // THINNED_RUN % max(1, every) == 0
        return replace(self, learned=self.learned[chosen]) if every > 1 else self
