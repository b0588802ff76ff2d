"""What a cell is called whose p-value is no finding: the words of design.md are never folded into another."""

from collections.abc import Callable

import pytest

from tabcontam.calibration.power import planned
from tabcontam.evidence import base
from tabcontam.evidence.base import Query, Reply, State, Trial, Verdict
from tabcontam.evidence.knowledge.feature_lists import FeatureListInformed
from tabcontam.evidence.knowledge.recognition import RecognitionFeatures
from tabcontam.evidence.rows.completion import IncompleteCompletion
from tabcontam.evidence.rows.matched import MatchedMembership
from tabcontam.reading.words import english
from tabcontam.tables.serializers import load_serializers
from tabcontam.verdicts.decisions import Decision, without_evidence
from tests.made_tables import ships

SERIALIZER = load_serializers()["is"]
SHIPS = ships(300)
REFUSED = Reply("", State.REFUSED, "content filter")


def decided(
    test: base.Test, reply: Callable[[int, Query], Reply], level: float = 0.001, alpha: float = 0.01
) -> Decision:
    """What a cell of ships is called by itself with these replies."""
    (cell,) = planned(SHIPS, [test], SERIALIZER, 0, alpha).cells
    trials = [Trial(query, reply(number, query)) for number, query in enumerate(cell.written)]
    read = [Trial(each.query, each.reply, test.read(each.query, each.reply, SERIALIZER, english())) for each in trials]
    return without_evidence(test.weigh(read, level), read, test, level)


@pytest.mark.parametrize("test", [FeatureListInformed(), RecognitionFeatures()], ids=lambda test: test.id)
def test_refused_decoys_are_named_as_the_reason(test: base.Test) -> None:
    """It read `no readable answer to 0 of 3 queries (0: none was asked)`."""
    decision = decided(test, lambda _, query: REFUSED if query.decoy_of else Reply("age, sex", State.OK))
    assert decision.verdict is Verdict.NO_ANSWER
    assert decision.reason is not None
    assert "decoys" in decision.reason
    assert "content filter" in decision.reason


def test_a_few_refused_decoys_do_no_harm() -> None:
    few = decided(
        RecognitionFeatures(), lambda _, query: REFUSED if query.id.endswith("decoy-1") else answer("Titanic")
    )
    assert few.verdict is Verdict.NOT_DETECTED


def answer(text: str) -> Reply:
    return Reply(text, State.OK)


def test_a_cell_whose_answered_queries_could_not_have_told_is_not_clean() -> None:
    """Half of 60 answered is enough to be read, but not to tell a model that remembers half of the rows."""
    decision = decided(MatchedMembership(), lambda number, _: answer("Yes" if number % 2 else "I do not know."))
    assert decision.verdict is Verdict.NO_ANSWER
    assert decision.reason is not None
    assert decision.reason.startswith("30 of 60 queries without a readable answer: ")


def test_to_decline_to_name_a_dataset_is_an_answer() -> None:
    decision = decided(RecognitionFeatures(), lambda n, query: answer("I cannot say." if query.decoy_of else "Titanic"))
    assert decision.verdict is Verdict.NOT_DETECTED


def test_what_the_published_rules_asked_without_power_is_uninformative() -> None:
    """Their queries are asked all the same; judged again by the calibrated rules such a cell was called clean."""
    decision = decided(
        IncompleteCompletion(), lambda _, query: answer(SERIALIZER.row(query.asked, ["1", "2", "3"])), 1e-300
    )
    assert decision.verdict is Verdict.UNINFORMATIVE
