"""The order of the bets on a table's queries: its tests take turns, and each bets on its most informative query first.

A bet is fair only on a cell that no earlier query has shown, neither in its prompt nor as the true answer. So there is
no bet on a row that an earlier query asks about or shows. The queries of a small table soon show most of its rows. So a
query has to wait if betting on it would exclude queries that are more informative.

The order depends on the shown cells and on the baseline's uncertainty given these, and never on a hidden cell.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tabcontam.evidence.base import Query, Trial
from tabcontam.evidence.thresholds import LEAST_SHARE_OF_BEST_GAIN
from tabcontam.groups import grouped

Key = TypeVar("Key", bound=Hashable)
Place = tuple[int, int]  # the number of a query's test, and the query's number in this test


def in_turns(queries: Mapping[Key, Sequence[Query]]) -> dict[Key, tuple[Query, ...]]:
    """Return the queries of several tests about one table, each with its `turn`, in unchanged order.

    A turn is the position among all bets on the table. A query has none if it is not bet on: an earlier query shows its
    row, or its chances are unknown.
    """
    order = {place: turn for turn, place in enumerate(_order(list(queries.values())))}
    return {
        key: tuple(
            replace(query, bet=replace(query.bet, turn=order.get((test, number)))) for number, query in enumerate(own)
        )
        for test, (key, own) in enumerate(queries.items())
    }


def in_turn(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials with a turn, in the order of their turns."""
    return sorted(
        (trial for trial in trials if trial.query.bet.turn is not None), key=lambda trial: trial.query.bet.turn or 0
    )


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
        return left[place].bet.unsure - sum(left[other].bet.unsure for other in spoils[place] if other in left)

    order: list[Place] = []
    rounds = 0
    while left:
        best = [max(own, key=gain) for own in grouped(left, lambda place: place[0]).values()]
        most = max(map(gain, best))
        # a test waits if its best query excludes more than it reveals, and in every second round if it reveals little
        least = min(0.0, most) if rounds % 2 else min(most, LEAST_SHARE_OF_BEST_GAIN * most)
        rounds += 1
        for place in best:
            if place in left and gain(place) >= least:
                order.append(place)
                for gone in (place, *spoils[place]):
                    left.pop(gone, None)
    return order
