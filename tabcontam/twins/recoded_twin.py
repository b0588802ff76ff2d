"""The recoded twin: the same information in other letters."""

from collections.abc import Sequence

import numpy as np

from tabcontam.reading.answer_text import value_key
from tabcontam.tables.table import Cell
from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.moves import decimals
from tabcontam.twins.thresholds import UNIT_FACTORS
from tabcontam.twins.twin_sample import TwinSample


class RecodedTwin(Twin):
    """Features and categories have other names, numbers other units.

    Keeps: the class; the order of a feature's numbers, and the ratios of their distances; which cells are equal or
    missing; the question and its answers. So a learner that sees only the recoded rows does as well as one that sees
    the table's.

    Changes: features are called X1, X2, … and the values of a feature A, B, C, …, both in a shuffled order. The numbers
    of each feature are multiplied by one factor.

    Cannot show memory: a model that knows what the names mean does worse without them, even if it has recalled no row.
    """

    kind = "recoded"
    like = False
    relearned = True

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        columns = [
            (_rescaled if sample.table.is_numeric(name) else _renamed)(sample, cells, rng)
            for name, cells in zip(sample.features, zip(*sample.rows, strict=True), strict=True)
        ]
        names = [f"X{number}" for number in range(1, len(columns) + 1)]
        order = rng.permutation(len(columns))
        return self._of_each(sample, names, (columns[place][: sample.twins] for place in order))


def _rescaled(sample: TwinSample, cells: Sequence[Cell], rng: np.random.Generator) -> list[Cell]:
    factor = float(rng.choice(UNIT_FACTORS))
    known = {str(cell) for cell in cells if not sample.table.is_missing(cell)}
    digits = decimals(known) + 4  # different numbers stay different
    powers = any("e" in cell.lower() for cell in known)
    scaled: dict[Cell, str] = {
        cell: f"{float(cell) * factor:.15g}" if powers else f"{float(cell) * factor:.{digits}f}".rstrip("0").rstrip(".")
        for cell in known
    }
    return [None if sample.table.is_missing(cell) else scaled[cell] for cell in cells]


def _renamed(sample: TwinSample, cells: Sequence[Cell], rng: np.random.Generator) -> list[Cell]:
    keys = sorted({value_key(str(cell)) for cell in cells if not sample.table.is_missing(cell)})
    names = dict(zip(keys, (_letters(int(place)) for place in rng.permutation(len(keys))), strict=True))
    return [None if sample.table.is_missing(cell) else names[value_key(str(cell))] for cell in cells]


def _letters(number: int) -> str:
    """Return the name of a value by its number from 0: A, B, …, Z, AA, AB, ….

    >>> _letters(0), _letters(26)
    ('A', 'AA')
    """
    text = ""
    while number >= 0:
        number, letter = number // 26 - 1, number % 26
        text = chr(ord("A") + letter) + text
    return text
