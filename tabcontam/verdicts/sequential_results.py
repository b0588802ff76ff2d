"""The results of a table whose tests were asked in turns, query by query, until its verdict was clear."""

from collections.abc import Sequence

from tabcontam.config import CALIBRATED
from tabcontam.evidence.base import Test, Trial, Verdict
from tabcontam.evidence.bet_order import in_turn
from tabcontam.evidence.rows.repeated_answers import without_repeats
from tabcontam.verdicts.decisions import Decision, unanswered
from tabcontam.verdicts.reference_correction import Reference
from tabcontam.verdicts.result_building import build_result
from tabcontam.verdicts.result_types import Result, ResultKey
from tabcontam.verdicts.sequential_test import SequentialOutcome
from tabcontam.verdicts.thresholds import ALPHA, LEAST_READ_SHARE


def result_in_turns(
    name: ResultKey,
    test: Test,
    trials: Sequence[Trial],
    planned: int,
    decided: SequentialOutcome | None,
    ended: str = "",
    reference: Reference | None = None,
) -> Result:
    """Return the result of one test of a table that was asked in turns, from the read trials of this test.

    E replaces the p-value and the interval. `decided` is None if the run ended before the table was decided.
    """
    trials = without_repeats(test, trials)
    result = build_result(name, test, trials, planned, CALIBRATED, ALPHA, ended, reference, in_turns=True)
    decision = _in_turns(result, trials, decided, ended)
    return result.changed(
        verdict=decision.verdict,
        reason=decision.reason,
        paper_verdict=result.decision.paper_verdict if len(trials) == planned else None,
        cut_short=decided is None,
        p_value=None,
        interval=None,
        interval_of=None,
        without={},
        sequential=True,
        decided_after=decided.asked if decided else None,
        detectable_share=decided.share if decided else None,
    )


def again_in_turns(
    result: Result, results: Sequence[Result], test: Test, trials: Sequence[Trial], reference: Reference | None
) -> Result:
    """Return a test's result, judged again from the trials of a past run that asked the table's tests in turns."""
    asked = result.decided_after
    if asked is None:
        return result_in_turns(result.key, test, in_turn(trials), result.queries, None, "", reference)
    own = [one for one in results if one.sequential and (one.llm, one.table) == (result.llm, result.table)]
    planned = sum(one.queries for one in own)
    unread = asked < planned and result.verdict is Verdict.NO_ANSWER
    detected = asked < planned and result.evidence.detectable_share is None and not unread
    weighed = [trial for trial in in_turn(trials) if (trial.query.bet.turn or 0) < asked]
    decided = SequentialOutcome(asked, planned, detected, result.evidence.detectable_share, unread=unread)
    return result_in_turns(result.key, test, weighed, result.queries, decided, "", reference)


def _in_turns(result: Result, trials: Sequence[Trial], decided: SequentialOutcome | None, ended: str) -> Decision:
    """Return the decision on one of the tests asked in turns, if the bets on its answers show no memory."""
    if decided is None:
        return Decision(Verdict.NO_ANSWER, f"the run ended before the table was decided{ended and f': {ended}'}")
    if decided.detected or (not trials and not decided.unread):
        stopped = f"the table was decided after {decided.asked} of {decided.planned} queries of its row tests"
        return Decision(Verdict.UNINFORMATIVE, stopped)
    if decided.unread or result.evidence.answered < LEAST_READ_SHARE * len(trials):
        return Decision(Verdict.NO_ANSWER, unanswered(trials))
    if decided.share is None:
        return Decision(Verdict.UNINFORMATIVE, "even a model that remembers all rows could have been missed")
    return Decision(Verdict.NOT_DETECTED)
