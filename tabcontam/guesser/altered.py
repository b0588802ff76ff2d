"""What a law between a row's cells makes of an altered one: rows, copies of them, and how much oftener it holds where.

The laws are looked for in both directions: whether the altered cell follows from the others, and whether another cell
follows from it together with others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabcontam.guesser.columns import Column, Floats, column
from tabcontam.guesser.fit import Fit
from tabcontam.guesser.frequencies import informative
from tabcontam.guesser.laws import held, with_derived
from tabcontam.tables.table import Cell, Table

TOLD = 0.2  # by so much oftener does a law hold in true rows than in altered ones that anybody tells them apart
SEEN = 0.02  # by less, a law is nothing to go by
LOOKED_AT = 300  # rows in which a law is looked for, and in which it is seen whether it is one
REVERSED = 12  # other columns at most that may follow from the altered one, those that tell most about it


@dataclass(frozen=True, eq=False)
class Hint:
    """Something that is seen of each row as it is, and of its altered copy."""

    true: Floats
    false: Floats

    @property
    def more(self) -> float:
        """How much more of it there is in the rows as they are, on average."""
        return float(self.true.mean() - self.false.mean())


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows, and altered copies of them in which one column has other cells: those of `copied`, a cell a row."""

    table: Table
    column: str
    rows: Sequence[int]
    copied: Sequence[Cell]

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Each column: first the cells of the rows as they are, then those of their copies."""
        found = {}
        for name in sorted(self.table.columns):
            cells = self.table.column(name)
            true = [cells[row] for row in self.rows]
            found[name] = column(name, true + (list(self.copied) if name == self.column else true), self.table.missing)
        return found

    @cached_property
    def laws(self) -> list[tuple[str, Hint]]:
        """The laws that hold in true rows oftener than in copies, with the column that follows by them."""
        target, others = self.columns[self.column], [one for name, one in self.columns.items() if name != self.column]
        related = informative(target, others, np.arange(len(self.rows))[:LOOKED_AT], REVERSED)
        found = []
        for name in (self.column, *(one.name for one, _ in related)):
            if any(hint.more > SEEN for hint in self.held(name, LOOKED_AT // 2).values()):
                found += [(name, hint) for hint in self.held(name).values() if hint.more > SEEN]
        return found

    def held(self, name: str, most: int | None = None) -> dict[str, Hint]:
        """How far a column follows from the others, by each law: with `most`, in so many rows that did not teach it."""
        target = self.columns[name]
        given = tuple(with_derived(one for one in self.columns.values() if one is not target))
        size = len(self.rows)
        found: dict[str, tuple[Floats, Floats]] = {}
        for half in (0,) if most else (0, 1):
            train, other = np.arange(half, size, 2)[:LOOKED_AT], np.arange(1 - half, size, 2)[:most]
            laws = held(Fit(target, given, (), train, np.concatenate([other, other + size])))
            for law, (chances, _) in laws.items():
                true, false = found.setdefault(law, (np.zeros(size), np.zeros(size)))
                true[other], false[other] = chances[: len(other)], chances[len(other) :]
        looked_at = np.arange(1, size, 2)[:most] if most else np.arange(size)
        return {law: Hint(true[looked_at], false[looked_at]) for law, (true, false) in found.items()}


def seen_by(copies: Copies) -> str | None:
    """The column by which whoever knows a law sees that a row is altered; None where none does.

    It is the altered column, where it follows from the others, or another one that follows from it.
    """
    return next((name for name, hint in copies.laws if hint.more >= TOLD), None)


def tied(table: Table, name: str, altered: Mapping[int, str]) -> str | None:
    """The column by which whoever knows a law sees that cells of a column, by their row, have these other texts.

    None where no law tells.
    """
    return seen_by(Copies(table, name, [*altered], [*altered.values()]))
