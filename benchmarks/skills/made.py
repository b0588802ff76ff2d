"""What a table of the skill benchmark is: its rows, and the rules by which a clever reader knows cells of them."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, DivisionByZero, InvalidOperation
from itertools import combinations
from random import Random

from tabcontam.tables.table import Cell, Table

Cells = Mapping[str, str]
Rule = Callable[[Cells], str | None]  # a cell from others of its row; KeyError where one that it needs is not shown
Rules = Mapping[str, Rule | Sequence[Rule]]
NextRow = Callable[[Sequence[Cells]], Cells]  # what follows from the rows before
ASKED = 3  # of the last columns, together
LOOKED_AT = 120  # choices of them
ORDERS = ("most follow from the others", "as made", "mixed")
NOT_TO_BE_HAD = (KeyError, ValueError, IndexError, StopIteration, DivisionByZero, InvalidOperation)


@dataclass(frozen=True, eq=False)
class Made:
    """A table with its rules: by column, those from which its cell follows, the first that can be used counts."""

    table: Table
    rules: Mapping[str, Sequence[Rule]] = field(default_factory=dict)
    next_row: NextRow | None = None

    def derived(self, shown: Cells) -> dict[str, str]:
        """The cells that follow from the shown ones, those included that follow from such as follow."""
        known = dict(shown)
        open_columns = [name for name in self.rules if name not in known]
        found = True
        while found:
            found = False
            for name in list(open_columns):
                value = self._by_rule(name, known)
                if value is not None:
                    known[name], found = value, True
                    open_columns.remove(name)
        return {name: value for name, value in known.items() if name not in shown}

    def _by_rule(self, name: str, known: Cells) -> str | None:
        for rule in self.rules[name]:
            try:
                if (value := rule(known)) is not None:
                    return value
            except NOT_TO_BE_HAD:
                continue
        return None

    def after(self, rows: Sequence[Cells]) -> dict[str, str]:
        """The cells of the next row that follow from the rows before it, in the order of the file."""
        if self.next_row is None:
            return {}
        try:
            begun = dict(self.next_row(rows))
        except NOT_TO_BE_HAD:
            return {}
        return begun | self.derived(begun)


@dataclass(frozen=True)
class Kind:
    """A kind of table: `make` makes one of the given number by a seeded generator.

    `few` says why a memory of a quarter of the rows cannot be found, where that is so: fewer than twenty rows, or all
    columns follow from one. In a kind with `facts` several columns are facts of the world, which no guesser knows: who
    is tested is judged beside a reference that knows the same facts and no row, as by `--reference`.
    """

    name: str
    about: str
    make: Callable[[Random, int], Made]
    few: str = ""
    facts: bool = False
    real: bool = False  # the table is one of the world, which there is once


def table_of(name: str, rows: Sequence[Mapping[str, Cell]]) -> Table:
    """The table of these rows, as a user's file would be."""
    columns = tuple(rows[0])
    cells = tuple(tuple(row[column] for column in columns) for row in rows)
    digest = hashlib.sha256(repr((columns, cells)).encode()).hexdigest()
    title = name.replace("_", " ")
    return Table(f"{name}.csv", title, digest[:12], digest, columns, cells, names=(title,), private=True)


def made(
    name: str, rows: Sequence[Mapping[str, Cell]], rules: Rules | None = None, next_row: NextRow | None = None
) -> Made:
    """A table of which columns follow from others by rules, and something of a row from those before it."""
    several = {column: [rule] if callable(rule) else list(rule) for column, rule in (rules or {}).items()}
    return Made(table_of(name, rows), several, next_row)


def arranged(made: Made, rng: Random, number: int) -> Made:
    """The table of this number with its columns in one of three orders, since the last three are asked together.

    They are those of which most follow from the others, the ones that the table was made with, or any.
    """
    columns = made.table.columns
    if number % len(ORDERS) == 1:
        return made
    mixed = rng.sample(columns, len(columns))
    last = _following(made, rng) if number % len(ORDERS) == 0 else ()
    columns = tuple(name for name in (columns if last else mixed) if name not in last) + last
    places = [made.table.columns.index(name) for name in columns]
    rows = [{made.table.columns[place]: row[place] for place in places} for row in made.table.rows]
    return Made(table_of(made.table.title.replace(" ", "_"), rows), made.rules, made.next_row)


def _following(made: Made, rng: Random) -> tuple[str, ...]:
    """The three columns of which most cells follow from the other columns."""
    columns = made.table.columns
    several = list(combinations(columns, ASKED))
    several = sorted(rng.sample(several, min(len(several), LOOKED_AT)), key=several.index)
    rows = [dict(zip(columns, row, strict=True)) for row in made.table.rows[:3]]

    def right(hidden: tuple[str, ...]) -> tuple[int, int]:
        shown = [{name: cell for name, cell in row.items() if name not in hidden and cell} for row in rows]
        follows = [made.derived(one) for one in shown]
        found = sum(one.get(name) == row[name] for one, row in zip(follows, rows, strict=True) for name in hidden)
        return found, sum(map(columns.index, hidden))  # of equal ones the last

    return max(several, key=right)


def filled(cells: Cells, rules: Rules, names: Iterable[str]) -> dict[str, str]:
    """The cells with those of further columns, one after another, by the first rule of each."""
    whole = dict(cells)
    for name in names:
        rule = rules[name]
        whole[name] = (rule if callable(rule) else rule[0])(whole) or ""
    return whole


def to(value: Decimal | float | int | str, decimals: int = 2) -> str:
    """A number with so many decimals, a half rounded up."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))


def num(cells: Cells, name: str) -> Decimal:
    """The number in a cell. Raises KeyError where it is not shown."""
    return Decimal(cells[name])


def total(cells: Cells, names: Iterable[str]) -> Decimal:
    """The sum of cells. Raises KeyError where one is not shown."""
    return sum((Decimal(cells[name]) for name in names), Decimal(0))


def measured(rng: Random, mean: float, deviation: float, decimals: int = 1) -> str:
    """A number that is measured: normal, with so many decimals."""
    return to(rng.gauss(mean, deviation), decimals)


def code(rng: Random, digits: int) -> str:
    """A number of so many digits that means nothing."""
    return str(rng.randrange(10 ** (digits - 1), 10**digits))


def looked_up(facts: Mapping[str, str], column: str) -> Rule:
    """The rule of who knows a fact by what a column says."""
    return lambda cells: facts.get(cells[column])
