"""Signs that distinguish the order of rows from its reverse without memory, such as columns that rise or fall.

A model that reads rows one after the other needs no memory to find such an order likelier. So each column is searched
for signs, and the cells of a column with a sign stay in place. Predictors without memory are tested on the remaining
order.
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
Orders = NDArray[np.int64]  # row numbers; the axes are the order, the shard and the place in it


@dataclass(frozen=True)
class OrderDirection:
    """The direction of a column's file order: its `p_value` among other orders, and the `sign` that shows it best."""

    column: str
    p_value: float
    sign: str


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """The cells of a column, or one word of each cell: equal cells have equal codes, and larger cells larger ranks.

    Equal cells of different columns have equal `values`. `column` is the table's column from which the cells come.
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
    """Return the columns of a table with different cells, and single words of columns with many texts.

    Ranks follow size or, for texts, the last number in the text, or the alphabet; missing cells come first.
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
    """Return ranks from 0 to 1; equal sizes have their mean rank."""
    _, inverse, counts = np.unique(size, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray(((ends - (counts + 1) / 2) / max(1, len(size) - 1))[inverse], dtype=np.float64)


def standing_out(columns: Sequence[ColumnCells], orders: Orders, turned: Orders) -> list[OrderDirection]:
    """Return how much the first order differs from the others in each column and, as the last item, in all columns.

    Each order is scored by many signs. A score is the sign's number minus its number for the `turned` order, in
    standard deviations over all orders. So signs that both orders have, such as similar neighbours, cancel. The largest
    absolute score counts, and its p-value is the share of orders with a score at least as large. So the p-value is
    exact for any signs. The last item has the column "".
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
    """Yield each sign that scores orders in one column: its name, and a number for each order."""
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
    """Return for each order how regularly values follow each other: the sum of squared counts of all pairs."""
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
    """Return the predictor without memory that best recognizes the file's order, and its p-value.

    The p-value is corrected for the number of predictors. A shard is a pair: its rows in the file's order, and in the
    other order. `text` writes a row.
    """
    gains: dict[str, list[float]] = {}
    for orders in shards:
        for reader, (own, other) in _scores(columns, np.array(orders), text).items():
            gains.setdefault(reader, []).append(own - other)
    every = [(reader, min(1.0, len(gains) * signed_rank_tail(own))) for reader, own in gains.items()]
    return min(every, key=lambda one: one[1], default=("", 1.0))


def _scores(columns: Sequence[ColumnCells], places: Ints, text: Callable[[int], str]) -> dict[str, list[float]]:
    """Return each predictor's score of each order; a larger score means a likelier order."""
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
