"""The order of bets: tests in turns, what tells most first, and no row that something before it shows."""

from dataclasses import replace
from random import Random

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import BetPlace, Prompt, Query
from tabcontam.evidence.bet_order import in_turns
from tabcontam.evidence.mixins import BettingTest
from tabcontam.evidence.registry import all_tests
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships

GUESS = {"a": CellPrediction({"1": 0.5, "2": 0.4}, 0.1)}


def query(name: str, row: int | None, unsure: float, shown: tuple[int, ...] = ()) -> Query:
    return Query(
        name, lambda: Prompt((), "", ""), ("a",), ("1",), 1, True, shown, chance=GUESS, row=row, bet=BetPlace(unsure)
    )


def order(**tests: list[Query]) -> list[str]:
    found = [each for own in in_turns(tests).values() for each in own if each.bet.turn is not None]
    assert sorted(each.bet.turn or 0 for each in found) == list(range(len(found)))
    return [each.id for each in sorted(found, key=lambda each: each.bet.turn or 0)]


def test_the_tests_take_turns_and_each_begins_with_what_tells_most() -> None:
    first = [query("a1", 1, 3.0), query("a2", 2, 5.0)]
    second = [query("b1", 3, 4.0), query("b2", 4, 2.6)]
    assert order(a=first, b=second) == ["a2", "b1", "a1", "b2"]


def test_a_test_that_tells_little_takes_every_second_turn() -> None:
    telling = [query(f"a{number}", number, 10.0) for number in range(4)]
    little = [query(f"b{number}", 10 + number, 1.0) for number in range(3)]
    assert order(a=telling, b=little) == ["a0", "a1", "b0", "a2", "a3", "b1", "b2"]


def test_a_row_that_was_asked_or_shown_is_not_bet_on_again() -> None:
    shows = query("a1", 1, 9.0, shown=(7, 8, 1))
    spoiled, again, free = query("b1", 7, 3.0), query("b2", 1, 3.0), query("b3", 5, 3.0)
    assert order(a=[shows], b=[spoiled, again, free]) == ["a1", "b3"]


def test_what_would_spoil_more_than_it_tells_waits() -> None:
    spoiling = query("a1", 1, 4.0, shown=(2, 3, 1))
    assert order(a=[spoiling], b=[query("b1", 2, 5.0), query("b2", 3, 5.0)]) == ["b1", "b2", "a1"]


def test_what_has_no_null_or_no_row_is_not_bet_on() -> None:
    assert order(a=[replace(query("a1", 1, 4.0), chance={}), query("a2", None, 4.0)]) == []


def test_the_queries_stay_as_and_where_they_are() -> None:
    own = [query("a1", 1, 3.0), query("a2", 2, 5.0)]
    assert list(in_turns({"a": own})["a"]) == own


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_no_prompt_before_a_query_shows_its_row() -> None:
    table, serializer = ships(60), load_serializers()["is"]
    betting = [test for test in all_tests() if isinstance(test, BettingTest)]
    written = {test.id: test.planned(table, serializer, Random(0)) for test in betting}
    own = [each for queries in in_turns(written).values() for each in queries if each.bet.turn is not None]
    known: set[int] = set()
    assert len(own) > 10
    for each in sorted(own, key=lambda each: each.bet.turn or 0):
        assert each.row not in known
        known.update(each.rows, [each.row or 0])


def test_the_order_does_not_hang_on_hidden_cells() -> None:
    queries = [query("a1", 1, 3.0), query("a2", 2, 5.0, shown=(1,)), query("a3", 3, 4.0)]
    other = [replace(each, expected=("2",)) for each in queries]
    assert order(a=queries) == order(a=other)
