"""Cells drawn from the guesser: what else could stand in a row, as often as the guesser expects it there.

Who does not remember a row cannot tell its cell from the drawn ones, as far as the guesser is right about the row: the
real one and the drawn ones come from the same distribution.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log2
from typing import Any

from tabcontam.guesser.columns import MISSING, as_number
from tabcontam.guesser.kept import kept, ranks
from tabcontam.guesser.table import VERSION, chain_of, column_of
from tabcontam.tables.draws import seeded
from tabcontam.tables.facts import cached_fact
from tabcontam.tables.table import Table

NEAR = 19  # other rows whose cells are taken beside the drawn ones
GRIDDED = 1000  # steps of a number's last digit between its smallest and its largest value


@dataclass(frozen=True)
class Drawn:
    """What was drawn for one cell: the values, each with its chance, and how often each was drawn.

    `values` are as the table writes them. `near` are the cells of the rows that are most like this one in all other
    features, nearest first; they are no draws, and only say which way an LLM leans that guesses in its own way.
    """

    values: Mapping[str, float]
    times: Mapping[str, int]
    near: tuple[str, ...]
    bits: float  # how unsure the guesser is of the cell, in bits: the entropy of what it can be drawn from


def drawn(table: Table, feature: str, rows: Sequence[int], count: int) -> dict[int, Drawn]:
    """For each row whose cell could be drawn `count` draws of this feature's cell, given the row's other cells.

    Left out are rows whose cell is missing, is written otherwise than the table mostly writes the value, or is one that
    nobody could name who has not read the row; of the other rows the real cell and the draws are exchangeable as far as
    the guesser is right. The same rows of a table have the same draws. It is empty for a table of too few rows.
    """
    if not rows:
        return {}
    shown = [name for name in table.columns if name != feature]

    def find() -> list[Drawn | None]:
        chances = chain_of(table, [feature], shown, rows).chances(0)
        near = _near(table, feature, rows)
        if chances is None:
            return [None] * len(rows)
        return [
            _of_row(table, feature, row, of_row, near[row], count) for row, of_row in zip(rows, chances, strict=True)
        ]

    def write(found: Sequence[Drawn | None]) -> object:
        return [one and [list(one.values.items()), list(one.times.items()), one.near, one.bits] for one in found]

    def read(held: Any) -> list[Drawn | None]:
        return [one and _read(one, count) for _, one in zip(rows, held, strict=True)]

    rank = ranks(table)
    question = ["draws", VERSION, feature, sorted(shown), [rank[row] for row in rows], count, sorted(table.missing)]
    key = ("draws", feature, tuple(rows), count)
    found = cached_fact(table, key, lambda: kept(table, question, find, write, read))
    return {row: one for row, one in zip(rows, found, strict=True) if one is not None}


def can_be_drawn(table: Table, feature: str) -> float:
    """The share of a column's cells that one who has read the other rows could name, without a fit of the guesser."""
    one = column_of(table, feature)
    counts = Counter(one.keys)
    present = len(one.keys) - counts.pop(MISSING, 0)
    numbers = [as_number(key) for key in counts if one.numeral(key) is not None]
    if numbers and len(numbers) == len(counts) and (max(numbers) - min(numbers)) * 10**one.decimals <= GRIDDED:
        return present / len(one.keys)
    return sum(count for count in counts.values() if count > 1) / len(one.keys)


def _of_row(
    table: Table, feature: str, row: int, chances: Mapping[str, float], near: Sequence[str], count: int
) -> Drawn | None:
    """The draws of one row; None where its own cell could not be drawn."""
    own = table.column(feature)[row]
    if own is None or own not in chances:
        return None
    values = sorted(chances)
    bounds = list(accumulate(chances[value] for value in values))
    rng = seeded(table, "draws", feature, *table.rows[row])
    taken = rng.choices(values, cum_weights=bounds, k=count)
    bits = -sum(chance * log2(chance) for chance in chances.values())
    times = {value: taken.count(value) for value in dict.fromkeys(taken)}
    return Drawn({value: chances[value] for value in dict.fromkeys([own, *taken])}, times, tuple(near), bits)


def _near(table: Table, feature: str, rows: Sequence[int]) -> dict[int, list[str]]:
    """For each row the cells of this feature in the rows that share most other cells with it, nearest first."""
    import numpy as np

    others = [column_of(table, name).binned for name in table.columns if name != feature]
    cells, count = table.column(feature), len(table.rows)
    present = np.array([cell is not None and cell not in table.missing for cell in cells])
    shuffled = np.array(seeded(table, "near", feature).sample(range(count), count))
    found = {}
    for row in rows:
        alike = np.zeros(count, dtype=np.int64)
        for codes in others:
            alike += codes[:count] == codes[row]
        alike[~present] = -1
        alike[row] = -1
        nearest = shuffled[np.argsort(-alike[shuffled], kind="stable")][:NEAR]
        found[row] = [str(cells[place]) for place in nearest.tolist() if alike[place] >= 0]
    return found


def _read(held: Any, count: int) -> Drawn:
    values, times, near, bits = held
    found = Drawn(dict(values), dict(times), tuple(near), float(bits))
    whole = all(isinstance(number, int) and number > 0 for number in found.times.values())
    if not whole or sum(found.times.values()) != count or not found.times.keys() <= found.values.keys():
        raise ValueError("not so many draws")
    if not all(0 < chance <= 1 for chance in found.values.values()):
        raise ValueError("no probability")
    return found
