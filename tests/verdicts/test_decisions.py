"""What a cell is called whose p-value is no finding: the words of design.md are never folded into another."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tabcontam.calibration.power_study import planned
from tabcontam.config import CALIBRATED
from tabcontam.evidence import base
from tabcontam.evidence.base import Query, Reply, ReplyState, Trial, Verdict
from tabcontam.evidence.knowledge.feature_lists import FeatureListInformed
from tabcontam.evidence.knowledge.recognition import RecognitionFeatures
from tabcontam.evidence.mixins import LearningTest
from tabcontam.evidence.rows.completion_tests import FeatureCompletion, FullCompletion, IncompleteCompletion
from tabcontam.evidence.rows.matched_membership import MatchedMembership
from tabcontam.tables.serializers import load_serializers
from tabcontam.verdicts.decisions import Decision, level, published, without_evidence
from tabcontam.verdicts.result_building import build_result, conclude
from tests.made_tables import ships

SERIALIZER = load_serializers()["is"]
SHIPS = ships(300)
REFUSED = Reply("", ReplyState.REFUSED, "content filter")


def decided(
    test: base.Test, reply: Callable[[int, Query], Reply], level: float = 0.001, alpha: float = 0.01
) -> Decision:
    """What a cell of ships is called by itself with these replies."""
    (cell,) = planned(SHIPS, [test], SERIALIZER, 0, alpha).cells
    trials = [Trial(query, reply(number, query)) for number, query in enumerate(cell.written)]
    read = [Trial(each.query, each.reply, test.read(each.query, each.reply, SERIALIZER)) for each in trials]
    return without_evidence(test.weigh(read, level), read, test, level)


@pytest.mark.parametrize("test", [FeatureListInformed(), RecognitionFeatures()], ids=lambda test: test.id)
def test_refused_decoys_are_named_as_the_reason(test: base.Test) -> None:
    """It read `no readable answer to 0 of 3 queries (0: none was asked)`."""
    decision = decided(test, lambda _, query: REFUSED if query.decoy_of else Reply("age, sex", ReplyState.OK))
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
    return Reply(text, ReplyState.OK)


@pytest.mark.slow
def test_a_cell_whose_answered_queries_could_not_have_told_is_not_clean() -> None:
    """Half of 60 answered is enough to be read, but not to tell a model that remembers half of the rows."""
    decision = decided(MatchedMembership(), lambda number, _: answer("Yes" if number % 2 else "I do not know."))
    assert decision.verdict is Verdict.NO_ANSWER
    assert decision.reason is not None
    assert decision.reason.startswith("30 of 60 queries without a readable answer: ")


def test_to_decline_to_name_a_dataset_is_an_answer() -> None:
    decision = decided(RecognitionFeatures(), lambda n, query: answer("I cannot say." if query.decoy_of else "Titanic"))
    assert decision.verdict is Verdict.NOT_DETECTED


@pytest.mark.slow
def test_what_the_published_rules_asked_without_power_is_uninformative() -> None:
    """Their queries are asked all the same; judged again by the calibrated rules such a cell was called clean."""
    decision = decided(
        IncompleteCompletion(), lambda _, query: answer(SERIALIZER.row(query.asked, ["1", "2", "3"])), 1e-300
    )
    assert decision.verdict is Verdict.UNINFORMATIVE


ROW_TESTS = [IncompleteCompletion(), FullCompletion(), FeatureCompletion()]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [6, 10, 19])
@pytest.mark.parametrize("test", ROW_TESTS, ids=lambda test: test.id)
def test_a_table_below_twenty_rows_is_uninformative_with_its_reason(test: base.Test, rows: int) -> None:
    """Memory and guessing look alike there: 8 of 8 answerers that knew a rule were called contaminated."""
    (cell,) = planned(ships(rows), [test], SERIALIZER, 0, 0.01).cells
    assert cell.skip is None
    assert cell.uninformative == f"in a table of {rows} different rows memory looks like prediction; 20 are needed"
    assert cell.queries == ()


@pytest.mark.parametrize("test", ROW_TESTS, ids=lambda test: test.id)
def test_a_table_below_twenty_rows_stays_uninformative_when_the_published_rules_asked_it(test: base.Test) -> None:
    """`rescore` judges such a folder by what its trials hold: they have no null, and no answer is evidence."""
    (cell,) = planned(ships(12), [test], SERIALIZER, 0, 0.01).cells
    assert cell.written
    trials = [Trial(query, answer(SERIALIZER.row(query.asked, query.expected))) for query in cell.written]
    read = [Trial(each.query, each.reply, test.read(each.query, each.reply, SERIALIZER)) for each in trials]
    assert all(trial.reading and trial.reading.hit for trial in read)
    found = build_result(cell.name, test, read, len(read), CALIBRATED, 0.01)
    (concluded,) = conclude([found], CALIBRATED, 0.01)
    assert concluded.verdict is Verdict.UNINFORMATIVE
    assert concluded.decision.paper_verdict is Verdict.CONTAMINATED


def test_repeated_rows_make_no_table_large_enough() -> None:
    table = replace(ships(15), rows=ships(15).rows * 4)
    (cell,) = planned(table, [IncompleteCompletion()], SERIALIZER, 0, 0.01).cells
    assert cell.uninformative is not None
    assert "a table of 15 different rows" in cell.uninformative
    assert IncompleteCompletion().too_small(20) is None
    assert not isinstance(FeatureListInformed(), LearningTest)


def test_the_cells_of_a_family_share_its_level() -> None:
    assert [level(0.05, cells) for cells in (0, 1, 10)] == [0.05, 0.05, 0.005]


def test_as_published_a_few_texts_among_failed_calls_are_no_answer() -> None:
    """Each of the failed ones may have held what was looked for."""
    test: base.Test = RecognitionFeatures()
    assert test.published is not None
    (cell,) = planned(SHIPS, [test], SERIALIZER, 0, 0.01).cells
    queries = [query for query in cell.written if not query.decoy_of]
    failed, said = Reply("", ReplyState.FAILED, "HTTP 500"), Reply("I do not know it", ReplyState.OK)
    trials = [Trial(query, failed if number else said) for number, query in enumerate(queries)]
    read = [Trial(each.query, each.reply, test.read(each.query, each.reply, SERIALIZER)) for each in trials]
    assert len(read) > 2
    assert published(test.published, read).verdict is Verdict.NO_ANSWER
    assert published(test.published, read[:1]).verdict is Verdict.NOT_DETECTED
