"""Sentences hold numbers as people read them."""

from dataclasses import replace

from tabcontam.evidence.base import Prompt, Query, Reading, Reply, ReplyState, Trial, UnreadReason
from tabcontam.evidence.number_wording import describe_p_value, format_small_number
from tabcontam.verdicts.decisions import answers_read, unanswered


def unread(state: ReplyState, detail: str = "", text: str = "", why: UnreadReason | None = None) -> Trial:
    query = Query("q", lambda: Prompt((), "", ""), ("a",), ("1",), 4)
    return Trial(
        query, Reply(text, state, detail), Reading(None, hit=False, paper_hit=False, readable=False, unread=why)
    )


def read() -> Trial:
    return replace(unread(ReplyState.OK), reading=Reading("1", hit=False, paper_hit=False, readable=True))


def test_a_count_that_guessing_never_reaches_has_no_exponent() -> None:
    assert [format_small_number(number) for number in (0.0, 7.2e-09, 0.0102, 0.71, 9.8, 12.4, 137.2)] == [
        "0", "under 0.01", "0.01", "0.71", "9.8", "12", "137",
    ]  # fmt: skip


def test_a_p_value_too_small_for_a_float_is_not_called_zero() -> None:
    assert describe_p_value(0.0) == "p under 1e-300"
    assert describe_p_value(4.6e-08) == "p = 4.6e-08"


def test_a_text_that_declines_is_told_from_one_that_was_not_understood() -> None:
    declined, odd = unread(ReplyState.OK, text="I cannot recall it"), unread(ReplyState.OK, text="zzz")
    assert (declined.unread, odd.unread) == ("declined", "not understood")
    assert (
        unread(ReplyState.OK, text="unbekannt", why=UnreadReason.DECLINED).unread == "declined"
    )  # the test knows it better
    assert unread(ReplyState.REFUSED, text="I cannot").unread is None  # the server's own word
    assert read().unread is None
    why = "2 not understood; 1 declined"
    assert unanswered([odd, declined, odd]) == f"no readable answer to 3 of 3 queries: {why}"


def test_a_sentence_says_how_many_answers_were_read() -> None:
    assert answers_read([read()] * 3 + [unread(ReplyState.OK)] * 12) == "3 answers were read, 12 were not"
    assert answers_read([read(), read(), unread(ReplyState.EMPTY)]) == "2 answers were read, 1 was not"
    assert answers_read([read()] * 15) == "all 15 answers were read"
    assert answers_read([read()]) == "1 answer was read"
    decoy = replace(unread(ReplyState.OK), query=replace(read().query, decoy_of="q"))
    assert answers_read([read(), read(), decoy]) == "all 2 answers were read"


def test_the_reason_of_no_answer_counts_only_where_there_are_several() -> None:
    refused = [unread(ReplyState.REFUSED, "content filter")] * 2
    assert unanswered(refused) == "no readable answer to 2 of 2 queries: refused, content filter"
    mixed = unanswered([*refused, unread(ReplyState.EMPTY)])
    assert mixed == "no readable answer to 3 of 3 queries: 2 refused, content filter; 1 empty"
