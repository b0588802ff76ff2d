"""Strata of rows that may change places: rows with the same values in the columns that show the file's order.

If a column's values distinguish the file's order from its reverse, a model needs no memory to find the file's order
likelier. So these values stay in place, and only rows with equal values change places. The search is repeated until no
column distinguishes the two orders.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma
from operator import ne

import numpy as np

from tabcontam.errors import Skip
from tabcontam.evidence.order.order_signs import ColumnCells, Floats, Ints, OrderDirection, read_cells, standing_out
from tabcontam.evidence.thresholds import COMPARED_ORDERS, MOST_LEAST_P_VALUE, VISIBLE_ORDER_LEVEL
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.table import Cell, Table

NUMBERED = re.compile(r"(\D*)(\d{1,15})(\D*)")
TOGETHER = "all columns together distinguish it from the reverse"
SORTED = "it is sorted"

Shards = tuple[tuple[int, ...], ...]  # row numbers of each shard, in the order of the file


@dataclass(frozen=True, eq=False)
class Strata:
    """The rows of each shard (run of consecutive rows) that may change places: rows with the same class.

    `numbering` lists the places of columns that only number the rows: their cells stay in place. `fixed` maps the
    columns in which rows that change places have equal values to the reason.
    """

    classes: Ints
    numbering: tuple[int, ...]
    fixed: Mapping[str, str]

    def turned(self, shard: tuple[int, ...], rows: Sequence[Sequence[Cell]]) -> tuple[int, ...] | None:
        """Return a shard in reverse order, as far as its rows may change places, or None if this changes no cell."""
        places: dict[int, list[int]] = {}  # for each class, the places in the shard of its rows
        for place, row in enumerate(shard):
            places.setdefault(int(self.classes[row]), []).append(place)
        order = list(shard)
        for own in places.values():
            for place, other in zip(own, reversed(own), strict=True):
                order[place] = shard[other]

        def content(row: int) -> list[Cell]:  # all cells except those that number the row, which stay in place
            return [cell for place, cell in enumerate(rows[row]) if place not in self.numbering]

        return tuple(order) if any(map(ne, map(content, shard), map(content, order))) else None


def strata_of(table: Table, shards: Shards, examined: Shards, seed: int) -> Strata:
    """Return the strata of some shards of a table.

    The columns that show the order are found in the shards `examined`, which have the same length and include more rows
    of the table. Raises `Skip` if the order is determined, or if too few rows may change places.
    """
    if table.enumerates_domain:
        raise Skip(f"{table.name} lists every combination of its features' values: its order is determined")
    numbering, columns = ordered_columns(table)
    fixed: dict[str, str] = {}
    codes: dict[int, Ints] = {}  # the codes that rows of one class share, by the number of the column
    for number, one in enumerate(columns):
        if _sorted(one.ranks):
            if one.distinct == len(table.rows):
                raise Skip(f"{table.name} is sorted by {one.column}, which no two rows share: its order is determined")
            fixed[one.column], codes[number] = SORTED, one.codes
    rng, places = np.random.default_rng(seed), np.array(examined)
    while True:
        classes = _classes(len(table.rows), codes.values())
        found = Strata(classes, numbering, fixed)
        turning = sum(found.turned(shard, table.rows) is not None for shard in shards)
        if 0.5**turning > MOST_LEAST_P_VALUE:  # the p-value if all shards are likelier in the file's order
            raise Skip(_ordered(table, fixed))
        out = _standing_out(columns, _orders(places, classes, rng), classes)
        if codes.keys() >= {number for number, _ in out}:
            return found
        fixed |= {standing.column: standing.sign for _, standing in out}
        codes |= {number: columns[number].codes for number, _ in out}


def ordered_columns(table: Table) -> tuple[tuple[int, ...], list[ColumnCells]]:
    """Return the places of the columns that number the rows, and the cells of all other columns."""

    def find() -> tuple[tuple[int, ...], list[ColumnCells]]:
        steps = np.diff(np.array(table.places))
        numbering = [place for place, name in enumerate(table.columns) if _numbers(table.column(name), steps)]
        others = [name for place, name in enumerate(table.columns) if place not in numbering]
        return tuple(numbering), read_cells(table, others)

    return cached_fact(table, "order of columns", find)


def _numbers(cells: Sequence[Cell], steps: Ints) -> bool:
    """Return whether cells number the rows: the number grows by a constant step, and the text around it is constant.

    `steps` has for each row after the first how many rows it is below the row before it in the file.
    """
    if len(cells) < 3 or cells[0] == cells[1] or not all(NUMBERED.fullmatch(cell or "") for cell in cells[:3]):
        return False  # most columns end here
    matches = [match for cell in cells if (match := NUMBERED.fullmatch(cell or ""))]
    if len(matches) < len(cells):
        return False
    numbers, around = [int(match[2]) for match in matches], {(match[1], match[3]) for match in matches}
    return len(around) == 1 and bool((np.diff(np.array(numbers)) == (numbers[1] - numbers[0]) * steps).all())


def _sorted(ranks: Floats) -> bool:
    """Return whether numbers only rise or only fall, and more regularly than by chance."""
    steps = np.diff(ranks)
    if not ((steps >= 0).all() or (steps <= 0).all()):
        return False
    orders = lgamma(len(ranks) + 1) - sum(lgamma(same + 1) for same in Counter(ranks.tolist()).values())
    return exp(-orders) < MOST_LEAST_P_VALUE


def _standing_out(columns: Sequence[ColumnCells], orders: Ints, classes: Ints) -> list[tuple[int, OrderDirection]]:
    """Return the columns, by number, that distinguish the first order from its reverse.

    If only all columns together distinguish the two, return the strongest column.
    """
    if not columns:
        return []
    *own, together = standing_out(columns, orders, _turned(orders, classes))
    level = max(VISIBLE_ORDER_LEVEL / len(own), 1 / COMPARED_ORDERS)
    found = [(number, one) for number, one in enumerate(own) if one.p_value <= level]
    if found or together.p_value > VISIBLE_ORDER_LEVEL:
        return found
    number = min(range(len(own)), key=lambda place: own[place].p_value)
    return [(number, OrderDirection(own[number].column, together.p_value, TOGETHER))]


def _turned(orders: Ints, classes: Ints) -> Ints:
    """Return the orders in reverse, as far as rows may change places. A class has the same places in all orders."""
    found = np.empty_like(orders)
    for number, shard in enumerate(orders[0]):
        for own in np.unique(classes[shard]):
            places = np.flatnonzero(classes[shard] == own)
            found[:, number, places] = orders[:, number, places[::-1]]
    return found


def _classes(rows: int, codes: Iterable[Ints]) -> Ints:
    """Return a class for each row: rows with equal codes have the same class."""
    classes = np.zeros(rows, dtype=np.int64)
    for own in codes:
        both = classes * (int(own.max()) + 1) + own
        classes = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return classes


def _orders(places: Ints, classes: Ints, rng: np.random.Generator) -> Ints:
    """Return the file's order of the shards' rows, and random orders in which only rows of one class change places."""
    flat = places.ravel()
    shard = np.repeat(np.arange(len(places)), places.shape[1])
    label = np.unique(shard * (int(classes.max()) + 1) + classes[flat], return_inverse=True)[1]
    orders = np.empty((COMPARED_ORDERS, len(flat)), dtype=np.int64)
    orders[0] = np.arange(len(flat))
    orders[1:, np.argsort(label, kind="stable")] = np.argsort(
        label + rng.random((COMPARED_ORDERS - 1, len(flat))), axis=1
    )
    return np.asarray(flat[orders].reshape(COMPARED_ORDERS, *places.shape))


def _ordered(table: Table, fixed: Mapping[str, str]) -> str:
    """Return why too few rows may change places."""
    most_named = 3  # columns that a reason names
    if not fixed:
        return f"{table.name} has too few rows that differ: hardly any other order of them differs from the file's"
    named = [f"{column} ({why})" for column, why in list(fixed.items())[:most_named]]
    more = f" and {len(fixed) - most_named} more" if len(fixed) > most_named else ""
    return (
        f"the order of {table.name} follows from {', '.join(named)}{more}, which a reader sees without memory; "
        "too few rows that share these values could change places"
    )
