"""Readers without memory, which judge the order of a table's rows as a model does: none of them may find it."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.evidence.order.order_signs import LAGS, ColumnCells, Ints
from tabcontam.evidence.thresholds import MOST_PAIRED_VALUES, ZLIB_LEVEL
from tabcontam.statistics.rank_sums import signed_rank_tail


@dataclass(frozen=True)
class Preference:
    """The preference of a reader without memory, and its p-value when it is asked as a model is."""

    reader: str
    p_value: float


def strongest(
    columns: Sequence[ColumnCells],
    shards: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    text: Callable[[int], str],
) -> Preference:
    """Return the reader to which the file's order stands out most, its p-value corrected for the number of readers.

    A shard is its rows in the file's order and in the other order; `text` writes a row.
    """
    gains: dict[str, list[float]] = {}
    for orders in shards:
        for reader, (own, other) in _scores(columns, np.array(orders), text).items():
            gains.setdefault(reader, []).append(own - other)
    every = [Preference(reader, min(1.0, len(gains) * signed_rank_tail(own))) for reader, own in gains.items()]
    return min(every, key=lambda one: one.p_value, default=Preference("", 1.0))


def _scores(columns: Sequence[ColumnCells], places: Ints, text: Callable[[int], str]) -> Mapping[str, list[float]]:
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
