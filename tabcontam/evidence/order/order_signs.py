"""Signs that distinguish the order of rows from the reverse without memory, such as columns that rise or fall.

A reader of rows one after the other needs no memory to find such an order the likelier one. So it is looked for column
by column: a column that shows the direction has to be held still. Readers without memory then judge what is left.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.coded_columns import column, with_words
from tabcontam.evidence.thresholds import LEAST_SHARED_CELLS, MOST_COMPARED_COLUMNS, MOST_PAIRED_VALUES, ZLIB_LEVEL
from tabcontam.statistics.rank_sums import signed_rank_tail
from tabcontam.tables.table import Table

LAGS = {1: "neighbours", 2: "every second row", 3: "every third row", 4: "every fourth row"}  # row distances

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Orders = NDArray[np.int64]  # rows, by order, shard and place


@dataclass(frozen=True)
class OrderDirection:
    """The `p_value` with which a column's file order stands out among others, and the `sign` by which it does."""

    column: str
    p_value: float
    sign: str


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """The cells of a column, or one word of each: equal cells share a code, and a larger cell has a larger rank.

    `values` are codes that equal cells of other columns share too. `column` is the table's column that holds the cells.
    """

    column: str
    codes: Ints
    ranks: Floats
    values: Ints

    @cached_property
    def distinct(self) -> int:
        """The number of different cells."""
        return len(np.unique(self.codes))


def read_cells(table: Table, names: Sequence[str]) -> list[ColumnCells]:
    """Return the columns of a table that vary, and single words of those that hold many texts.

    Ranks go by size or, for texts, by the last number in them or by the alphabet; missing cells come first.
    """
    found: list[ColumnCells] = []
    known: dict[str, int] = {}
    for name in names:
        for one in with_words([column(name, table.column(name), table.missing)]):
            if one.distinct < 2:
                continue
            size = one.codes.astype(np.float64) if one.order_in_text is None else one.order_in_text
            values = np.array([known.setdefault(key, len(known)) for key in one.keys], dtype=np.int64)
            found.append(ColumnCells(name, one.codes, _ranks(np.where(np.isfinite(size), size, -np.inf)), values))
    return found


def _ranks(size: Floats) -> Floats:
    """Return ranks from 0 to 1; equal sizes share their mean."""
    _, inverse, counts = np.unique(size, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray(((ends - (counts + 1) / 2) / max(1, len(size) - 1))[inverse], dtype=np.float64)


def standing_out(columns: Sequence[ColumnCells], orders: Orders, turned: Orders) -> list[OrderDirection]:
    """Return how far the first order stands out for each column, and last for all columns together, named "".

    An order is scored by many signs, each less that of the `turned` order, in standard deviations of the difference
    over all orders: neighbours that are alike are alike backwards, too. The largest score counts, in either direction,
    and its p-value is the share of orders with one as large. So the p-value is exact whatever the signs.
    """
    found, together = [], np.zeros(len(orders))
    for one in columns:
        pairs = zip(_signs(one, columns, orders), _signs(one, columns, turned), strict=True)
        scores = {sign: _standardised(values - backwards) for (sign, values), (_, backwards) in pairs}
        largest = np.max([np.abs(values) for values in scores.values()], axis=0)
        together += largest
        sign = max(scores, key=lambda name: abs(float(scores[name][0])))
        found.append(OrderDirection(one.column, float((largest >= largest[0] - 1e-9).mean()), sign))
    return [*found, OrderDirection("", float((together >= together[0] - 1e-9).mean()), "all columns together")]


def _standardised(values: Floats) -> Floats:
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 1e-9 else np.zeros(len(values))


def _signs(one: ColumnCells, columns: Sequence[ColumnCells], orders: Orders) -> Iterator[tuple[str, Floats]]:
    """Yield each sign by which an order is scored in one column: its name, and a number for each order."""
    codes, ranks = one.codes[orders], one.ranks[orders]
    places = np.arange(orders.shape[2]) - (orders.shape[2] - 1) / 2
    yield "its values rise or fall", (ranks @ places).sum(axis=1)
    yield "its values rise or fall from row to row", np.sign(np.diff(ranks, axis=2)).sum(axis=(1, 2))
    for lag, which in LAGS.items():
        if lag >= orders.shape[2]:
            continue
        where = f"{which} {'is' if lag > 1 else 'are'} alike or unlike"
        equal = (codes[:, :, lag:] == codes[:, :, :-lag]).sum(axis=(1, 2)).astype(np.float64)
        near = -np.abs(ranks[:, :, lag:] - ranks[:, :, :-lag]).sum(axis=(1, 2))
        few = one.distinct <= MOST_PAIRED_VALUES
        yield where, equal if few else near
        yield f"{where} in {'size' if few else 'equal values'}", near if few else equal
    if 2 < one.distinct <= MOST_PAIRED_VALUES:
        yield "the same values follow each other", _pairs(np.unique(one.codes, return_inverse=True)[1][orders])
    others = [other for other in columns if other is not one and one.distinct > MOST_PAIRED_VALUES]
    handed = [other for other in others if np.isin(one.values, other.values).mean() >= LEAST_SHARED_CELLS]
    for other in handed[:MOST_COMPARED_COLUMNS]:
        same = one.values[orders][:, :, 1:] == other.values[orders][:, :, :-1]
        yield f"its cell stands in {other.column} of the row before", same.sum(axis=(1, 2)).astype(np.float64)


def _pairs(codes: Ints) -> Floats:
    """Return how often the same value follows the same value: the squared counts of all pairs, summed."""
    many = int(codes.max()) + 1
    pairs = codes[:, :, :-1] * many + codes[:, :, 1:]
    flat = pairs.reshape(len(pairs), -1) + np.arange(len(pairs))[:, None] * many**2
    counts = np.bincount(flat.ravel(), minlength=len(pairs) * many**2).reshape(len(pairs), -1)
    return np.asarray((counts.astype(np.float64) ** 2).sum(axis=1))


def strongest(
    columns: Sequence[ColumnCells],
    shards: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    text: Callable[[int], str],
) -> tuple[str, float]:
    """Return the reader without memory to which the file's order stands out most, and its p-value, corrected for all.

    A shard is its rows in the file's order and in the other order; `text` writes a row.
    """
    gains: dict[str, list[float]] = {}
    for orders in shards:
        for reader, (own, other) in _scores(columns, np.array(orders), text).items():
            gains.setdefault(reader, []).append(own - other)
    every = [(reader, min(1.0, len(gains) * signed_rank_tail(own))) for reader, own in gains.items()]
    return min(every, key=lambda one: one[1], default=("", 1.0))


def _scores(columns: Sequence[ColumnCells], places: Ints, text: Callable[[int], str]) -> dict[str, list[float]]:
    """Return how likely each reader finds each order, in any unit."""
    alike, rising = np.zeros(len(places)), np.zeros(len(places))
    for one in columns:
        values, own = (one.codes if one.distinct <= MOST_PAIRED_VALUES else one.ranks)[places], one.ranks[places]
        rising += np.sign(np.diff(own, axis=1)).sum(axis=1)
        for lag in LAGS:
            if lag < places.shape[1]:
                apart = np.abs(values[:, lag:] - values[:, :-lag])
                alike -= (np.minimum(apart, 1) if one.distinct <= MOST_PAIRED_VALUES else apart).sum(axis=1) / lag
    written = {int(row): text(int(row)) for row in places[0]}
    packed = [-len(zlib.compress("\n".join(written[row] for row in order).encode(), ZLIB_LEVEL)) for order in places]
    return {
        "rows that are like those before them": [round(float(score), 9) for score in alike],
        "values that rise": [round(float(score), 9) for score in rising],
        "texts that zlib packs well": [float(score) for score in packed],
    }
