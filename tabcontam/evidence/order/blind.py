"""Readers without memory, who rank the orders of a table's rows as an LLM does that is asked: none may be found."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from tabcontam.evidence.order.neighbours import FEW, LAGS, Cells, Ints
from tabcontam.statistics.ranks import rank_sum_tail

LEVEL = 0.05  # that the readers share
COMPRESSED = 9  # zlib's best
Orders = Sequence[tuple[int, ...]]  # of the rows of one shard, the file's first


@dataclass(frozen=True)
class Preference:
    """What a reader goes by, and the p-value that it has where it is asked as an LLM."""

    reader: str
    p_value: float


def strongest(
    columns: Sequence[Cells], shards: Sequence[Orders], text: Callable[[int], str], rng: Random
) -> Preference:
    """The reader to whom the file's orders stand out the most, its p-value corrected for how many readers there are.

    `text` writes a row; a shard with a single order says nothing.
    """
    several = [orders for orders in shards if len(orders) > 1]
    found: dict[str, list[int]] = {}
    for orders in several:
        places = np.array(orders)
        for reader, scores in _scores(columns, places, text).items():
            found.setdefault(reader, []).append(_rank(scores, rng))
    of = [len(orders) for orders in several]
    every = [Preference(reader, min(1.0, len(found) * rank_sum_tail(ranks, of))) for reader, ranks in found.items()]
    return min(every, key=lambda one: one.p_value, default=Preference("", 1.0))


def _rank(scores: Sequence[float], rng: Random) -> int:
    own, *others = scores
    return 1 + sum(score > own for score in others) + rng.randint(0, sum(score == own for score in others))


def _scores(columns: Sequence[Cells], places: Ints, text: Callable[[int], str]) -> Mapping[str, list[float]]:
    """How likely each reader finds each order, in any unit."""
    alike, rising = np.zeros(len(places)), np.zeros(len(places))
    for one in columns:
        values, own = (one.codes if one.distinct <= FEW else one.ranks)[places], one.ranks[places]
        rising += np.sign(np.diff(own, axis=1)).sum(axis=1)
        for lag in LAGS:
            if lag < places.shape[1]:
                apart = np.abs(values[:, lag:] - values[:, :-lag])
                alike -= (np.minimum(apart, 1) if one.distinct <= FEW else apart).sum(axis=1) / lag
    written = {int(row): text(int(row)) for row in places[0]}
    packed = [-len(zlib.compress("\n".join(written[row] for row in order).encode(), COMPRESSED)) for order in places]
    return {
        "rows that are like those before them": [round(float(score), 9) for score in alike],
        "values that rise": [round(float(score), 9) for score in rising],
        "texts that can be packed": [float(score) for score in packed],
    }
