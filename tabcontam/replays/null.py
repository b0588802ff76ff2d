"""The null of recorded rows: what a guesser makes of a hidden cell who knows the table, but not the prompt.

No prompt is recorded and no row number. The row is found in the edition by its values, and is no part of what is
guessed from: the frequencies of the column, those given the asked cells before it, those among the rows that are
nearest to what was shown of the row, and where the fifth row is asked the cells of the first four.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tabcontam.cards import Card, Edition, find_card
from tabcontam.datasets import Cell, Table, load_table
from tabcontam.decide.chance import Guess, bits, marginal
from tabcontam.decide.reading import value_key
from tabcontam.edition_files import edition_bytes
from tabcontam.errors import UsageError

PAPER_EDITION = "paper"
PRINTED = 46  # characters of a long value that pandas prints
SHOWN = 4  # the first rows of the file stand in a query about the next one
NEAR = 20  # neighbours whose cells may hold the asked one
FAR = 2.0  # standard deviations beyond which two numbers are not less alike
FEW = 30  # rows that agree with the asked cells so far: fewer are no measure
Values = Mapping[str, Cell]
Order = TypeVar("Order", float, str)


@dataclass(frozen=True)
class Hidden:
    """An asked cell: the most that any way of guessing gives each value, and how sure they are of it on the whole.

    `typical` is the chance of a cell as uncertain as their mixture: 2 to the power of minus its entropy.
    """

    guess: Guess
    typical: float


KNOWN = Hidden(Guess({}, 1.0), 1.0)


@dataclass(frozen=True)
class Known:
    """An edition at hand, its rows found by their printed values."""

    table: Table

    def place(self, values: Values) -> int | None:
        """Where the row stands that has these values; None where none does."""
        return self._places.get(tuple(self._printed(values.get(name)) for name in self.table.columns))

    def row(self, place: int) -> dict[str, Cell]:
        """The row's cells, None for missing ones."""
        cells = dict(zip(self.table.columns, self.table.rows[place], strict=True))
        return {name: None if self.table.is_missing(cell) else cell for name, cell in cells.items()}

    def guesses(self, place: int, asked: Sequence[str], beside: bool) -> dict[str, Hidden]:
        """Each asked cell of a row, given the rest of the row and the asked ones before it.

        `beside`: the query shows four rows, which are the first ones where the fifth is asked.
        """
        others = [row for row in range(len(self.table.rows)) if row != place]
        near = self._near(place, asked)
        alike = others
        found: dict[str, Hidden] = {}
        for name in asked:
            options = [self._frequencies(name, rows) for rows in (others, alike, near) if rows]
            if beside and place == SHOWN:  # elsewhere the authors shuffled the rows
                before = {cell for cell in self.table.column(name)[place - SHOWN : place] if cell is not None}
                options.append(Guess(dict.fromkeys(before, self._kept[name]), 0))
            found[name] = KNOWN if name in self._numbering else _hidden(options)
            keys = self._keys[name]
            near = [row for row in near if keys[row] == keys[place]]
            agree = [row for row in alike if keys[row] == keys[place]]
            if len(agree) < FEW:
                agree = [row for row in others if keys[row] == keys[place]]
            alike = agree if len(agree) >= FEW else others
        return found

    def _frequencies(self, name: str, rows: Sequence[int]) -> Guess:
        column = self.table.column(name)
        return marginal([column[row] for row in rows], self.table.missing)

    def _near(self, place: int, asked: Sequence[str]) -> list[int]:
        """The rows whose cells are nearest to the row's, the asked ones aside; none where nothing else is shown."""
        if set(asked) >= set(self.table.columns):
            return []
        distances = np.zeros(len(self.table.rows))
        for name in self.table.columns:
            if name not in asked:
                cells = self._measures[name]
                apart = np.abs(cells - cells[place]) if self.table.is_numeric(name) else cells != cells[place]
                distances += np.minimum(np.nan_to_num(apart, nan=1.0), FAR)
        distances[place] = np.inf
        order = np.argsort(distances, kind="stable")[: min(NEAR, len(distances) - 1)]
        return [int(row) for row in order]

    @cached_property
    def _measures(self) -> dict[str, NDArray[np.float64]]:
        """Each column as numbers: in standard deviations, or a number for each category."""

        def measured(name: str) -> NDArray[np.float64]:
            keys = self._keys[name]
            if not self.table.is_numeric(name):
                number_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
                return np.array([number_of[key] for key in keys], dtype=float)
            cells = np.array([float(key) if key else np.nan for key in keys])
            return cells / (float(np.nanstd(cells)) or 1.0)

        return {name: measured(name) for name in self.table.columns}

    @cached_property
    def _kept(self) -> dict[str, float]:
        """How often a cell repeats one of the rows before it, by column."""

        def share(keys: Sequence[str]) -> float:
            repeats = sum(keys[row] in keys[row - SHOWN : row] for row in range(SHOWN, len(keys)))
            return repeats / max(len(keys) - SHOWN, 1)

        return {name: share(keys) for name, keys in self._keys.items()}

    @cached_property
    def _numbering(self) -> frozenset[str]:
        """The columns that only count the rows: they rise from each row to the next, as 1, 2, 3 and 0001_01 do."""

        def counts(name: str) -> bool:
            cells = [str(cell) for cell in self.table.column(name) if not self.table.is_missing(cell)]
            if len(cells) < len(self.table.rows):
                return False
            return _rises(list(map(float, cells))) if self.table.is_numeric(name) else _rises(cells)

        return frozenset(filter(counts, self.table.columns))

    @cached_property
    def _keys(self) -> dict[str, list[str]]:
        return {name: self._each(name, value_key) for name in self.table.columns}

    @cached_property
    def _places(self) -> dict[tuple[str, ...], int]:
        columns = [self._each(name, self._printed) for name in self.table.columns]
        rows = list(zip(*columns, strict=True))
        return {row: place for place, row in reversed(list(enumerate(rows)))}  # the first of equal rows

    def _each(self, name: str, key: Callable[[str], str]) -> list[str]:
        column = self.table.column(name)
        keys = {cell: "" if cell is None or self.table.is_missing(cell) else key(cell) for cell in set(column)}
        return [keys[cell] for cell in column]

    def _printed(self, cell: Cell) -> str:
        """What is left of a cell in print, whatever way a number is written."""
        return "" if cell is None or self.table.is_missing(cell) else value_key(cell[:PRINTED])


def known_edition(dataset: str, columns: Sequence[str]) -> Known | str:
    """The edition that has these columns, the paper's own first; or why there is none. Nothing is fetched."""
    card = find_card(dataset)
    if card is None:
        return "not recorded: no card tells what the table holds"
    for edition in sorted(card.editions, key=lambda edition: edition.name != PAPER_EDITION):
        table = _at_hand(card, edition)
        if table is not None and set(table.columns) == set(columns):
            return Known(_in_words(table, edition))
    return f"not recorded: no edition of {card.name} with these features is on this machine"


def _at_hand(card: Card, edition: Edition) -> Table | None:
    try:
        edition_bytes(card, replace(edition, addresses=()))
    except UsageError:
        return None
    return load_table(f"{card.name}@{edition.name}")


def _in_words(table: Table, edition: Edition) -> Table:
    """The table with the names of its classes, as the authors write the numbers that scikit-learn has for them."""
    if edition.loader is None or table.question is None or table.question.threshold is not None:
        return table
    index = table.columns.index(str(table.target))
    answers = table.question.answers
    rows = tuple((*row[:index], answers.get(str(row[index]), row[index]), *row[index + 1 :]) for row in table.rows)
    return replace(table, rows=rows)


def _rises(values: Sequence[Order]) -> bool:
    return len(values) > 1 and all(first < second for first, second in pairwise(values))


def _hidden(options: Sequence[Guess]) -> Hidden:
    """The cell that the first option and the others, which have no word on values that they do not list, guess."""
    most: dict[str, float] = {}
    mixture: dict[str, float] = {}
    for guess in options:
        for value, chance in guess.values.items():
            most[value] = max(most.get(value, 0.0), chance)
            mixture[value] = mixture.get(value, 0.0) + chance / len(options)
    rest = options[0].rest
    unlisted = max(0.0, 1 - sum(mixture.values()))
    entropy = sum(chance * bits(chance) for chance in mixture.values() if chance) + unlisted * bits(rest)
    return Hidden(Guess(most, rest), 2.0**-entropy)
