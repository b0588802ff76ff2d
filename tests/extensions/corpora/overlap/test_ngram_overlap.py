"""What published rules make of rows: digits count, and what every row of the schema shares is told."""

from random import Random

import pytest

from tabcontam.evidence.base import Lookup, Matches, ReplyState
from tabcontam.evidence.registry import by_id
from tabcontam.extensions.corpora.overlap.row_pieces import (
    drawn_signs,
    grams,
    of_length,
    overlap,
    signs,
    usual_length,
    words,
)
from tabcontam.tables.twin_tables import twin
from tests.extensions.corpora.overlap.bodies import IS, LEVEL, as_csv, as_sentences, asked, crops, evidence, read
from tests.made_tables import made_table, ships

TEST = by_id()["ngram_overlap"]
FIRST = "age is 39, workclass is State-gov, fnlwgt is 77516, education is Bachelors, sex is Male, hours is 40"
SECOND = "age is 52, workclass is State-gov, fnlwgt is 209642, education is Bachelors, sex is Male, hours is 45"


def test_llmsanitize_rows_that_differ_in_digits_alone_are_different() -> None:
    """In LLMSanitize cleaners for GPT-2, GPT-4 and exact matches delete digits: all rows of a table become one."""
    assert words(FIRST) != words(SECOND)
    assert signs(FIRST) != signs(SECOND)
    counts = dict.fromkeys(grams(words(FIRST), 8), 1)
    own, other = (overlap(words(text), counts, 13) for text in (FIRST, SECOND))
    assert own.short == 1.0
    assert other.short < 0.4
    assert set(drawn_signs(FIRST, Random(0))) != set(drawn_signs(SECOND, Random(0)))


def test_pieces_hold_numbers_whole() -> None:
    assert words("The size is 5.10, x_y: -3.") == ("the", "size", "is", "5.10", "x", "y", "3")
    assert grams(("a", "b", "c"), 2) == ["a b", "b c"]
    assert grams(("a",), 2) == []


@pytest.mark.parametrize(
    ("lengths", "length"), [([3] * 20, 8), ([30] * 20, 13), ([*range(9, 29)], 9), ([], 13), ([10] * 99 + [2], 10)]
)
def test_the_piece_of_gpt_3_is_as_long_as_short_rows_are(lengths: list[int], length: int) -> None:
    assert usual_length(lengths) == length


def test_pieces_in_many_documents_are_left_out_by_gpt_3_alone() -> None:
    own = tuple("abcdefghijklm")
    rare, common = ({" ".join(own): times} for times in (10, 11))
    assert overlap(own, rare, 13).collides
    assert not overlap(own, common, 13).collides
    runs = dict.fromkeys(grams(own, 11), 11)
    assert overlap(own, runs, 13).in_runs == 1.0
    assert overlap(own, {grams(own, 11)[0]: 1}, 13).in_runs == 11 / 13


def test_a_row_that_is_too_short_holds_nothing() -> None:
    found = overlap(("a", "b"), {"a b": 3}, 8)
    assert (found.short, found.in_short, found.in_runs) == (0.0, 0.0, 0.0)
    assert overlap((), {}, 8).in_runs == 0.0
    assert of_length((), 8) == []


def test_a_row_that_is_shorter_than_a_piece_of_gpt_3_collides_where_all_of_it_is_found() -> None:
    """Brown et al. 2020, section 4: examples that overlap with the whole example when it is shorter than 13 words."""
    assert of_length(("a", "b"), 8) == ["a b"]
    assert overlap(("a", "b"), {"a b": 3}, 8).collides
    assert not overlap(("a", "b"), {"a b": 11}, 8).collides
    assert not overlap(("a", "b", "c"), {"a b": 3}, 8).collides
    rows = [("x" * number, f"the {number} of a long story that goes on and on, {number}") for number in range(1, 40)]
    short = made_table(("a", "b"), [*rows, ("q", "r s")], "short")
    texts = {query.expected[0]: query.question for query in asked("ngram_overlap", short) if "-signs" not in query.id}
    question = texts[IS.row(short.columns, ("q", "r s"))]
    assert isinstance(question, Lookup)
    assert "the a is q the b is r s" in question.texts  # nine words, where most rows have more than thirteen


def test_tulu_counts_words_in_pieces_and_more_than_half_of_them() -> None:
    own = tuple("abcdefghijklmnop")
    first, *_, last = grams(own, 8)
    assert overlap(own, {first: 1}, 13).in_short == 0.5
    assert overlap(own, {first: 1, last: 1}, 13).in_short == 1.0
    assert overlap(own, {first: 1, last: 1}, 13).short == 2 / 9


@pytest.mark.slow
def test_what_gpt_3_leaves_out_is_told() -> None:
    table = ships(60)
    text = as_sentences(table, table.rows)
    few, many = (evidence(table, {f"{n}": text for n in range(times)}, "ngram_overlap") for times in (10, 11))
    assert "GPT-3's rule counts 100% (" in few.sentence
    assert "leaves out" not in few.sentence
    assert "GPT-3's rule counts 0% (0% of a twin's) of the rows" in many.sentence
    assert "GPT-3's rule leaves out pieces that more than 10 documents hold" in many.sentence


def test_a_short_row_is_looked_for_whole_by_gpt_4() -> None:
    assert drawn_signs("a-1, b 2", Random(0)) == ("a1b2",)
    assert {len(piece) for piece in drawn_signs(FIRST, Random(0))} == {50}


def test_rows_that_stand_there_and_those_of_the_twin_are_told_side_by_side() -> None:
    table = ships(60)
    found = evidence(table, {"rows": as_sentences(table, table.rows)}, "ngram_overlap")
    assert found.score == 1.0
    assert found.hits == found.asked == found.answered == 60
    assert found.measured.expected is not None
    assert found.measured.expected < 0.8
    assert "100% (" in found.sentence
    assert "rows as the serializer writes them" in found.sentence
    assert "for example rows, byte " in found.sentence
    assert found.p_value is None


def test_a_page_of_the_twin_is_no_less_found_for_the_twin() -> None:
    """What the rules find of a table that is not there is what rows of its schema share."""
    table = ships(60)
    found = evidence(table, {"twin": as_sentences(table, twin(table).rows)}, "ngram_overlap")
    assert found.measured.expected is not None
    assert found.score is not None
    assert 0 < found.score < found.measured.expected


def test_rows_in_another_form_share_no_words_in_a_row() -> None:
    table = ships(60)
    assert evidence(table, {"rows": as_csv([row[::-1] for row in table.rows])}, "ngram_overlap").score == 0.0


def test_what_could_not_be_searched_is_not_clean() -> None:
    queries = asked("ngram_overlap", crops(40))
    found = TEST.weigh([read(TEST, query, Matches((), 0, ReplyState.FAILED, "gone")) for query in queries], LEVEL)
    assert (found.asked, found.answered) == (40, 0)
    assert found.score is None
    assert found.measured.expected is None
    assert "40 of 40 rows could not be searched for" in found.sentence
    assert "%" not in found.sentence


def test_pieces_of_letters_and_digits_that_were_not_searched_for_are_no_zero() -> None:
    """An index of infini-gram knows whole words alone: what it is not asked is not called absent."""
    queries, none = asked("ngram_overlap", crops(40)), Matches((), 0, ReplyState.OK)
    without = TEST.weigh([read(TEST, query, none) for query in queries if "-signs" not in query.id], LEVEL)
    assert "GPT-4's pieces of letters and digits were not searched for" in without.sentence
    assert "GPT-4's rule counts 0%" not in without.sentence
    gone = Matches((), 0, ReplyState.FAILED, "gone")
    lost = TEST.weigh([read(TEST, query, gone if "-signs" in query.id else none) for query in queries], LEVEL)
    assert "GPT-4's pieces of 40 of 40 rows could not be searched for" in lost.sentence
    assert "GPT-4's rule counts 0%" not in lost.sentence


def test_a_table_without_a_twin_is_asked_alone() -> None:
    every = made_table(("a", "b", "class"), [(a, b, a) for a in "xyz" for b in "uvw"] * 2, "all")
    queries = asked("ngram_overlap", every)
    assert queries
    for query in queries:
        question = query.question
        assert isinstance(question, Lookup)
        assert all(question.texts)
    found = TEST.weigh([read(TEST, query, Matches((), 0, ReplyState.OK)) for query in queries], LEVEL)
    assert found.answered == found.asked
    assert IS.row(every.columns, every.rows[0]) in {query.expected[0] for query in queries}
