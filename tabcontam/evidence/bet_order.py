"""The order in which the queries of a table are bet on: its tests in turns, the most informative query of each first.

A bet is fair only on cells that nothing before it has shown: neither to the model in a prompt nor to us as the truth of
an answer. So no row is bet on that an earlier query of the order asks or shows. Small tables show most of their rows
before long; therefore a query is put off if it would spoil others that are more informative.

The order follows from the cells that prompts show and from the baseline's doubt after them, never from a hidden cell.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tabcontam.evidence.base import Query, Trial
from tabcontam.evidence.thresholds import LEAST_SHARE_OF_BEST_GAIN
from tabcontam.groups import grouped

Key = TypeVar("Key", bound=Hashable)
Place = tuple[int, int]  # of a query: the number of its test, and its own


def in_turns(queries: Mapping[Key, Sequence[Query]]) -> dict[Key, tuple[Query, ...]]:
    """Return the queries of several tests about one table, in their old order, each with its turn.

    A query that is not bet on, since an earlier one spoils it or the chance of a right answer is unknown, has no turn.
    """
    order = {place: turn for turn, place in enumerate(_order(list(queries.values())))}
    return {
        key: tuple(replace(query, turn=order.get((test, number))) for number, query in enumerate(own))
        for test, (key, own) in enumerate(queries.items())
    }


def in_turn(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that are bet on, in their turns."""
    return sorted((trial for trial in trials if trial.query.turn is not None), key=lambda trial: trial.query.turn or 0)


def _order(tests: Sequence[Sequence[Query]]) -> list[Place]:
    left = {
        (test, number): query
        for test, own in enumerate(tests)
        for number, query in enumerate(own)
        if query.chance and query.row is not None
    }
    about = grouped(left, lambda place: left[place].row)
    spoils = {
        place: [other for row in {*query.rows, query.row} for other in about.get(row, ()) if other != place]
        for place, query in left.items()
    }

    def gain(place: Place) -> float:
        return left[place].unsure - sum(left[other].unsure for other in spoils[place] if other in left)

    order: list[Place] = []
    rounds = 0
    while left:
        best = [max(own, key=gain) for own in grouped(left, lambda place: place[0]).values()]
        most = max(map(gain, best))
        # a test waits if its queries spoil more than they reveal, and every second time if they reveal little
        least = min(0.0, most) if rounds % 2 else min(most, LEAST_SHARE_OF_BEST_GAIN * most)
        rounds += 1
        for place in best:
            if place in left and gain(place) >= least:
                order.append(place)
                for gone in (place, *spoils[place]):
                    left.pop(gone, None)
    return order
