"""Rows as numbers, for learners of scikit-learn. The encoder is fitted to some rows and encodes their twins, too."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.tables.table import Cell
from tabcontam.tables.table_contents import is_number
from tabcontam.twins.thresholds import CODED_VALUES, MOST_MULTIPLIED_FEATURES
from tabcontam.twins.twin_sample import Floats, Row, TwinSample


@dataclass(frozen=True)
class Feature:
    """A feature: the centre and spread of its numbers, or a code for each of its usual values."""

    name: str
    missing: frozenset[str]
    numeric: bool
    centre: float = 0.0
    spread: float = 1.0
    codes: Mapping[str, float] | None = None

    def numbers(self, cells: Sequence[Cell]) -> Floats:
        """Return each cell as a number: its own number, or the code of its value; NaN if missing."""
        return np.array([np.nan if cell is None or cell in self.missing else self._number(cell) for cell in cells])

    def standard(self, numbers: Floats) -> Floats:
        """Return the numbers minus the centre, divided by the spread; 0 for a missing number."""
        return np.clip(np.nan_to_num((numbers - self.centre) / self.spread), -10, 10)

    # other: the code of any other value
    # farthest: largest absolute number; the square of a larger one overflows a float
    def _number(self, cell: str, *, other: float = -1.0, farthest: float = 1e50) -> float:
        if self.numeric:
            return min(max(float(cell), -farthest), farthest) if is_number(cell) else np.nan
        return (self.codes or {}).get(cell, other)


@dataclass(frozen=True)
class Encoder:
    """The encoder of all features of a sample's rows."""

    features: tuple[Feature, ...]

    @classmethod
    def of(cls, sample: TwinSample) -> "Encoder":
        columns = zip(*sample.rows, strict=True)
        return cls(tuple(_feature(sample, name, cells) for name, cells in zip(sample.features, columns, strict=True)))

    def plain(self, rows: Sequence[Row]) -> Floats:
        """Return one column for each feature, for trees: shape (rows, features), NaN if missing."""
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.features)
        return np.column_stack([one.numbers(cells) for one, cells in zip(self.features, columns, strict=True)])

    def spread_of(self, plain: Floats) -> Floats:
        """Return standardised numbers, and a 0/1 column for each usual value of other features; no NaN.

        `plain` has the rows as numbers; the result has the shape (rows, columns).
        """
        columns: list[Floats] = []
        for place, one in enumerate(self.features):
            own = plain[:, place]
            if one.numeric:
                columns.append(one.standard(own))
            else:
                columns += [(own == code).astype(np.float64) for code in (one.codes or {}).values()]
        return np.column_stack(columns) if columns else np.zeros((len(plain), 1))

    def products_of(self, plain: Floats) -> Floats:
        """Return the columns of `spread_of`; if features of numbers are few, also their squares and products of two."""
        spread = self.spread_of(plain)
        numeric = [place for place, one in enumerate(self.features) if one.numeric]
        if not 1 <= len(numeric) <= MOST_MULTIPLIED_FEATURES:
            return spread
        own = np.column_stack([self.features[place].standard(plain[:, place]) for place in numeric])
        firsts, seconds = np.triu_indices(len(numeric))
        return np.column_stack([spread, np.clip(own[:, firsts] * own[:, seconds], -10, 10)])


def for_trees(plain: Floats) -> Floats:
    """Return the numbers; columns that are NaN throughout become zeros, since trees cannot use such columns."""
    return np.where(np.isnan(plain).all(axis=0), 0.0, plain)


def _feature(sample: TwinSample, name: str, cells: Sequence[Cell]) -> Feature:
    missing = sample.table.missing
    known = [cell for cell in cells if cell is not None and cell not in missing]
    if sample.table.is_numeric(name):
        numbers = Feature(name, missing, True).numbers(known)
        return Feature(name, missing, True, float(numbers.mean()), float(numbers.std()) or 1.0)
    counts = Counter(known)
    usual = sorted((value for value in counts if counts[value] > 1), key=lambda value: (-counts[value], value))
    return Feature(name, missing, False, codes={value: float(code) for code, value in enumerate(usual[:CODED_VALUES])})
