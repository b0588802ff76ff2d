"""A table that is asked query by query: found soon, let go where memory would have been found, never called clean."""

import asyncio
from collections.abc import Sequence
from functools import cache

import pytest

from tabcontam.asking.query_plan import PlannedResult, RunSource, plan
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Trial
from tabcontam.evidence.mixins import BettingTest
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.models.base import ModelRequest
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.tables.serializers import load_serializers
from tabcontam.verdicts.sequential_test import SequentialOutcome, SequentialTest
from tabcontam.verdicts.thresholds import MOST_UNREAD_ANSWERS
from tests.made_tables import ships

TESTS = [by_id()[test] for test in ("incomplete_completion", "full_completion", "feature_completion")]
LEVEL = 0.01


@cache
def cells() -> Sequence[PlannedResult]:
    subject = RunSource(SimulatedModel("oracle"))
    return plan([subject], [ships()], [load_serializers()["is"]], TESTS, RunConfig(until_decided=True))


def decided(
    kind: str, share: float = 0.25, level: float = LEVEL, silent: int = 0
) -> tuple[SequentialOutcome, SequentialTest, list[int]]:
    """How it ends with an answerer, who declines the first so many queries; and how many were asked at a time."""
    queries = sorted(
        ((cell, query) for cell in cells() for query in cell.queries), key=lambda slot: slot[1].bet.turn or 0
    )
    asked = [query for _, query in queries]
    model, decliner = (SimulatedModel(who).prepare(ships(), asked) for who in (kind, "decliner"))
    betting = [(cell.test, query) for cell, query in queries if isinstance(cell.test, BettingTest)]
    deciding = SequentialTest(betting, level, share, lambda test, trial: trial)
    rounds: list[int] = []
    while needed := deciding.next:
        rounds.append(len(needed))
        for cell, query in queries[len(deciding.trials) :][: len(needed)]:
            who = decliner if len(deciding.trials) < silent else model
            reply = asyncio.run(who.generate(ModelRequest(query.prompt, query.max_tokens)))
            deciding.add(read_trial(cell.test, Trial(query, reply), cell.serializer))
    assert deciding.decided is not None
    return deciding.decided, deciding, rounds


def test_who_remembers_all_is_found_after_a_few() -> None:
    found, _, rounds = decided("oracle")
    assert found.detected
    assert found.verdict_reached
    assert found.asked <= 5
    assert rounds == [found.asked]  # all at once: fewer could not have been enough
    assert found.planned > 60


def test_who_remembers_some_is_found_later() -> None:
    all_rows, half = decided("oracle")[0], decided("memoriser:0.5")[0]
    assert half.detected
    assert all_rows.asked < half.asked <= 30


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["guesser", "mode", "schema-expert"])
def test_who_guesses_is_let_go_with_the_power_stated(kind: str) -> None:
    found, _, rounds = decided(kind)
    assert (found.detected, found.not_detected, found.share) == (False, True, 0.25)
    assert 10 < found.asked <= 60
    assert len(rounds) > 1


@pytest.mark.slow
def test_more_power_asks_for_more_queries_and_a_stricter_level_for_more_evidence() -> None:
    quarter, tenth = decided("guesser")[0], decided("guesser", share=0.1)[0]
    assert quarter.asked < tenth.asked
    assert tenth.share is not None
    assert decided("oracle", level=1e-12)[0].asked > decided("oracle")[0].asked


@pytest.mark.slow
def test_a_share_that_no_number_of_queries_would_find_ends_with_the_least_that_is() -> None:
    found, _, _ = decided("guesser", share=0.005)
    assert found.asked == found.planned
    assert not found.verdict_reached
    assert found.share is not None
    assert 0.01 < found.share < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["decliner", "refuser", "empty", "fails"])
def test_who_gives_nothing_readable_is_no_answer_and_not_asked_for_long(kind: str) -> None:
    found, _, _ = decided(kind)
    assert (found.unread, found.detected, found.not_detected, found.share) == (True, False, False, None)
    assert found.asked == MOST_UNREAD_ANSWERS


@pytest.mark.slow
def test_what_could_not_be_read_is_no_sign_that_nothing_is_remembered() -> None:
    assert decided("guesser", silent=10)[0].asked >= decided("guesser")[0].asked + 5
    assert decided("oracle", silent=10)[0].detected
