"""Laws between cells as evidence of an altered row: how much more often laws hold in rows than in altered copies.

Laws are learned in two directions: they predict the altered cell from other cells, and other cells from the altered
one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabcontam.baseline.coded_columns import Column, Floats, column
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.frequencies import informative
from tabcontam.baseline.laws import law_likelihoods, with_derived
from tabcontam.baseline.thresholds import (
    LAW_SAMPLE_ROWS,
    LEAST_LAW_EXCESS,
    LEAST_REVEALING_EXCESS,
    MOST_REVERSED_COLUMNS,
)
from tabcontam.tables.table import Cell, Table


@dataclass(frozen=True, eq=False)
class AlterationHint:
    """The probability that a law gives to one cell of each row (`true`) and of its altered copy (`false`)."""

    true: Floats
    false: Floats

    @property
    def more(self) -> float:
        """The mean probability in the rows, minus the mean probability in their copies."""
        return float(self.true.mean() - self.false.mean())


@dataclass(frozen=True, eq=False)
class AlteredCopies:
    """Rows of a table, and a copy of each that differs in `column` only: `copied` has the copies' cells in it."""

    table: Table
    column: str
    rows: Sequence[int]
    copied: Sequence[Cell]

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The columns by name. Each has the cells of the rows, followed by the cells of their copies."""
        found = {}
        for name in sorted(self.table.columns):
            cells = self.table.column(name)
            true = [cells[row] for row in self.rows]
            found[name] = column(name, true + (list(self.copied) if name == self.column else true), self.table.missing)
        return found

    @cached_property
    def laws(self) -> list[tuple[str, AlterationHint]]:
        """The laws that hold more often in rows than in copies, each with the column that it predicts."""
        target, others = self.columns[self.column], [one for name, one in self.columns.items() if name != self.column]
        related = informative(target, others, np.arange(len(self.rows))[:LAW_SAMPLE_ROWS], MOST_REVERSED_COLUMNS)
        found = []
        for name in (self.column, *(one.name for one, _ in related)):
            if any(hint.more > LEAST_LAW_EXCESS for hint in self.hints(name, LAW_SAMPLE_ROWS // 2).values()):
                found += [(name, hint) for hint in self.hints(name).values() if hint.more > LEAST_LAW_EXCESS]
        return found

    def hints(self, name: str, most: int | None = None) -> dict[str, AlterationHint]:
        """Return how well each law predicts the cells of column `name` from other columns.

        Each law is tested on `most` held-out rows and their copies, or on all rows if `most` is None.
        """
        target = self.columns[name]
        given = tuple(with_derived(one for one in self.columns.values() if one is not target))
        size = len(self.rows)
        found: dict[str, tuple[Floats, Floats]] = {}
        for half in (0,) if most else (0, 1):
            train, other = np.arange(half, size, 2)[:LAW_SAMPLE_ROWS], np.arange(1 - half, size, 2)[:most]
            laws = law_likelihoods(Fit(target, given, (), train, np.concatenate([other, other + size])))
            for law, (chances, _) in laws.items():
                true, false = found.setdefault(law, (np.zeros(size), np.zeros(size)))
                true[other], false[other] = chances[: len(other)], chances[len(other) :]
        looked_at = np.arange(1, size, 2)[:most] if most else np.arange(size)
        return {law: AlterationHint(true[looked_at], false[looked_at]) for law, (true, false) in found.items()}


def revealing_column(copies: AlteredCopies) -> str | None:
    """Return the column that a law predicts clearly better in rows than in their copies; None if there is none.

    The result is either the altered column or a column that the law predicts from the altered one.
    """
    return next((name for name, hint in copies.laws if hint.more >= LEAST_REVEALING_EXCESS), None)


def revealing_column_of(table: Table, name: str, altered: Mapping[int, str]) -> str | None:
    """Return the `revealing_column` after cells of column `name` are replaced. `altered` maps a row to its new text."""
    return revealing_column(AlteredCopies(table, name, [*altered], [*altered.values()]))
