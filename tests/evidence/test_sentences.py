"""Sentences hold numbers as people read them."""

from tabcontam.evidence.base import Prompt, Query, Reading, Reply, State, Trial
from tabcontam.evidence.sentences import few, stated
from tabcontam.verdicts.decisions import unanswered


def unread(state: State, detail: str = "") -> Trial:
    query = Query("q", lambda: Prompt((), "", ""), ("a",), ("1",), 4)
    return Trial(query, Reply("", state, detail), Reading(None, hit=False, paper_hit=False, readable=False))


def test_a_count_that_guessing_never_reaches_has_no_exponent() -> None:
    assert [few(number) for number in (0.0, 7.2e-09, 0.0102, 0.71, 9.8, 12.4, 137.2)] == [
        "0", "under 0.01", "0.01", "0.71", "9.8", "12", "137",
    ]  # fmt: skip


def test_a_p_value_too_small_for_a_float_is_not_called_zero() -> None:
    assert stated(0.0) == "p under 1e-300"
    assert stated(4.6e-08) == "p = 4.6e-08"


def test_the_reason_of_no_answer_counts_only_where_there_are_several() -> None:
    refused = [unread(State.REFUSED, "content filter")] * 2
    assert unanswered(refused) == "no readable answer to 2 of 2 queries: refused, content filter"
    mixed = unanswered([*refused, unread(State.EMPTY)])
    assert mixed == "no readable answer to 3 of 3 queries: 2 of them refused, content filter"
