"""What somebody sees of an altered row who computes, or who knows what goes with what: laws between a row's cells.

A classifier that is shown cells as ranks multiplies no two of them, and does not know that Fresno is in California. So
the laws that a guesser looks for are looked for here as well, in both directions: whether the altered cell follows from
the others, and whether another cell follows from it together with others.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabcontam.guesser.columns import FEW, MISSING, Column, column
from tabcontam.guesser.fit import Fit
from tabcontam.guesser.frequencies import informative
from tabcontam.guesser.laws import held, with_derived
from tabcontam.tables.table import MOST_CATEGORIES, Table

SURE = 0.95  # of the rows, in which a column goes with another one: then it follows from it
USUAL = 0.8  # of the rows with the most frequent value: beyond, nothing is known of a column by naming it
CHECKED = 20  # rows that share a cell with another row, from which that is seen
TOLD = 0.2  # by so much oftener does a law hold in true rows than in altered ones that anybody tells them apart
SEEN = 0.02  # by less, a law is nothing to go by
LOOKED_AT = 300  # rows in which a law is looked for, and in which it is seen whether it is one
REVERSED = 12  # other columns at most that may follow from the altered one, those that tell most about it
HINTS = 3  # laws, and columns that a value goes with, that a classifier is told of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    """Rows, and altered copies of them in which one column has the cell of another row, their donor."""

    table: Table
    column: str
    rows: Sequence[int]
    donors: Sequence[int]

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Each column: first the cells of the rows as they are, then those of their copies."""
        found = {}
        for name in sorted(self.table.columns):
            cells = self.table.column(name)
            copied = self.donors if name == self.column else self.rows
            found[name] = column(name, [cells[row] for row in (*self.rows, *copied)], self.table.missing)
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


def goes_with(table: Table, name: str, rows: Sequence[int]) -> str | None:
    """What another column says of a feature, in words; None where it says too little.

    Each of its cells goes with one value of the feature, in 95 % of the rows that share theirs with another row. Or it
    is a text that is another one in most rows, and the feature a category: what such texts are names of is not learned
    from the table, but may be known (the country of a city, the weekday of a date).
    """
    taken = {one: column(one, [table.column(one)[row] for row in rows], table.missing) for one in sorted(table.columns)}
    target = taken.pop(name)
    open_to_guesses = max(Counter(target.keys).values()) < USUAL * len(rows)
    for one in with_derived(taken.values()) if open_to_guesses else ():
        shared, agreeing = _agreeing(one, target)
        if shared >= CHECKED and agreeing >= SURE * shared:
            return f"{name} goes with {one.name}"
    for other, one in () if table.is_numeric(name) else taken.items():
        unlike = _agreeing(one, target)[0] < np.count_nonzero(one.codes) / 2
        if unlike and not table.is_numeric(other) and one.distinct > MOST_CATEGORIES:
            return f"{other} may tell {name}"
    return None


def _agreeing(one: Column, target: Column) -> tuple[int, int]:
    """How many rows share their cell of a column with another row, and in how many most of these have the target's."""
    pairs = [pair for pair in zip(one.keys, target.keys, strict=True) if pair[0] != MISSING]
    alike, both = Counter(shown for shown, _ in pairs), Counter(pairs)
    shared = [pair for pair in pairs if alike[pair[0]] > 1]
    return len(shared), sum(both[pair] - 1 > (alike[pair[0]] - 1) / 2 for pair in shared)


def seen_by(copies: Copies) -> str | None:
    """The column by which whoever knows a law sees that a row is altered; None where none does.

    It is the altered column, where it follows from the others, or another one that follows from it.
    """
    return next((name for name, hint in copies.laws if hint.more >= TOLD), None)


def hints_of(copies: Copies, reference: Sequence[int]) -> list[Hint]:
    """The laws that hold oftenest in the true rows and not in the copies, and the texts that go with the altered cell.

    What goes with a text is counted in the `reference` rows.
    """
    hints = [hint for _, hint in copies.laws]
    texts = [name for name, one in copies.columns.items() if one.numbers is None and one.distinct > FEW + 1]
    hints += [_together(copies, name, reference) for name in texts if name != copies.column]
    return sorted((hint for hint in hints if hint.more > SEEN), key=lambda hint: -hint.more)[:HINTS]


def _together(copies: Copies, name: str, reference: Sequence[int]) -> Hint:
    """Whether the altered column's cell is what most other rows have that share this column's: 1, else 0."""
    cells, texts = copies.table.column(copies.column), copies.table.column(name)
    alike, both = Counter(texts[row] for row in reference), Counter((texts[row], cells[row]) for row in reference)
    beside = [texts[row] for row in copies.rows]
    others = np.array([alike[text] - 1 for text in beside])
    true = np.array([both[text, cells[row]] - 1 for text, row in zip(beside, copies.rows, strict=True)])
    false = np.array([both[text, cells[row]] for text, row in zip(beside, copies.donors, strict=True)])
    return Hint((true > others / 2).astype(np.float64), (false > others / 2).astype(np.float64))
