"""Several answers to one query: a cell counts once, at the chance that one of them is right."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import log2
from random import Random

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import BetPlace, Evidence, FeatureFacts, Query, Reply, ReplyState, Trial
from tabcontam.evidence.rows.answered_rows import answered_rows
from tabcontam.evidence.rows.completion_tests import FeatureCompletion
from tabcontam.evidence.samples import repeated, sampled_query
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships

IS = load_serializers()["is"]
TEST = FeatureCompletion()
LEVEL = 0.01
Says = Callable[[Query, Random], str]


@cache
def asked() -> tuple[Query, ...]:
    return tuple(query for query in TEST.planned(ships(), IS, Random(0)) if query.chance)


def read(query: Query, text: str) -> Trial:
    reply = Reply(text, ReplyState.OK)
    return Trial(query, reply, TEST.read(query, reply, IS))


def one_cell(*answers: str) -> list[Trial]:
    """Answers about a cell that is red, with one chance in eight; blue has a fourth."""
    base = replace(asked()[0], asked=("colour",), expected=("red",), features=FeatureFacts(), bet=BetPlace())
    query = replace(base, chance={"colour": CellPrediction({"red": 0.125, "blue": 0.25, "grey": 0.0625}, 0.01)})
    samples = repeated(query, len(answers), 1.0) if len(answers) > 1 else [query]
    return [read(sample, answer) for sample, answer in zip(samples, answers, strict=True)]


def weighed(says: Says, samples: int, seed: int) -> Evidence:
    rng = Random(seed)
    queries = [sample for query in asked() for sample in repeated(query, samples, 1.0)]
    return TEST.weigh([read(query, says(query, rng)) for query in queries], LEVEL)


def guess(query: Query, rng: Random) -> str:
    """A cell, as often as the guesser expects it; of what it does not list, anything."""
    (own,) = query.chance.values()
    values = dict(own.values)
    return rng.choices(list(values), list(values.values()))[0]


@pytest.mark.slow
def test_samples_are_one_row_and_the_best_answer_counts_at_the_chance_of_all() -> None:
    (row,) = answered_rows(one_cell("blue", "red", "blue"))
    (cell,) = row.given
    assert cell.right
    assert cell.chance == pytest.approx(0.375)
    assert cell.bits == pytest.approx(-log2(0.375), abs=0.01)


def test_the_same_answer_again_costs_nothing() -> None:
    (row,), (single,) = answered_rows(one_cell("red", "red", "Red")), answered_rows(one_cell("red"))
    assert row.given == single.given


def test_wrong_answers_make_a_right_one_worth_less() -> None:
    (row,) = answered_rows(one_cell("blue", "grey", "red", "violet"))
    (single,) = answered_rows(one_cell("red"))
    assert 0 < row.given[0].bits < single.given[0].bits
    (wrong,) = answered_rows(one_cell("blue", "grey"))
    assert (wrong.given[0].right, wrong.given[0].bits) == (False, 0.0)


def test_the_papers_own_is_the_first_answer() -> None:
    query = replace(asked()[0], paper=True)
    samples = repeated(query, 3, 0.7)
    assert [sample.paper for sample in samples] == [True, False, False]
    assert [(sample.prompt.temperature, sample.prompt.sample) for sample in samples] == [(0.7, 1), (0.7, 2), (0.7, 3)]
    assert {sampled_query(sample.id) for sample in samples} == {query.id}


@pytest.mark.slow
def test_who_guesses_anew_each_time_is_not_found_more_often() -> None:
    p_values = [weighed(guess, 5, seed).p_value or 0.0 for seed in range(40)]
    assert sum(p <= LEVEL for p in p_values) <= 1
    assert sum(p <= 0.2 for p in p_values) <= 12


@pytest.mark.slow
def test_who_remembers_now_and_then_is_found_by_several_answers_more_often() -> None:
    def says(query: Query, rng: Random) -> str:
        return str(query.expected[0]) if rng.random() < 0.08 else "unknown"

    found = {count: sum((weighed(says, count, seed).p_value or 0) <= 1e-6 for seed in range(12)) for count in (1, 8)}
    assert found[8] > found[1]


def test_a_row_counts_once_and_power_is_that_of_single_answers() -> None:
    queries = [sample for query in asked() for sample in repeated(query, 3, 1.0)]
    found = weighed(lambda query, rng: str(query.expected[0]), 3, 0)
    assert found.asked == found.answered == len(asked())
    assert found.sentence.startswith("by the best of 3 answers to each, ")
    assert TEST.uninformative(queries, LEVEL) == TEST.uninformative(list(asked()), LEVEL)
