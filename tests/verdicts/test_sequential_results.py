"""What a result is called whose table was asked in turns and decided by the answers to other tests."""

import pytest

from tabcontam.calibration.power_study import planned
from tabcontam.evidence.base import Reply, ReplyState, Test, Trial, Verdict
from tabcontam.evidence.rows.completion_tests import FeatureCompletion
from tabcontam.tables.serializers import load_serializers
from tabcontam.verdicts.sequential_results import result_in_turns
from tabcontam.verdicts.sequential_test import SequentialOutcome
from tests.made_tables import ships


@pytest.mark.slow
def test_a_test_that_was_stopped_by_a_finding_of_others_says_so_and_is_not_clean() -> None:
    serializer = load_serializers()["is"]
    test: Test = FeatureCompletion()
    (cell,) = planned(ships(300), [test], serializer, 0, 0.01).cells
    asked = [Trial(query, Reply("no such value", ReplyState.OK)) for query in cell.written[:3]]
    read = [Trial(each.query, each.reply, test.read(each.query, each.reply, serializer)) for each in asked]
    for trials in (read, []):
        found = result_in_turns(cell.name, test, trials, len(cell.written), SequentialOutcome(5, 20, detected=True))
        assert found.verdict is Verdict.UNINFORMATIVE
        assert found.decision.reason == "the table was decided after 5 of 20 queries of its row tests"
    ended = result_in_turns(cell.name, test, read, len(cell.written), None, "HTTP 500")
    assert (ended.verdict, ended.decision.reason) == (
        Verdict.NO_ANSWER,
        "the run ended before the table was decided: HTTP 500",
    )
