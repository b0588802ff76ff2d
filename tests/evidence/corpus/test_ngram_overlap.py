"""What published rules make of rows: digits count, and what every row of the schema shares is told."""

from random import Random

import pytest

from tabcontam.evidence.base import Lookup, Matches, State
from tabcontam.evidence.corpus.pieces import drawn_signs, grams, overlap, signs, usual_length, words
from tabcontam.evidence.registry import by_id
from tabcontam.tables.twins import twin
from tests.evidence.corpus.bodies import IS, LEVEL, as_csv, as_sentences, asked, crops, evidence, read
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
    assert (found.short, found.collides, found.in_runs) == (0.0, False, 0.0)
    assert overlap((), {}, 8).in_runs == 0.0


def test_a_short_row_is_looked_for_whole_by_gpt_4() -> None:
    assert drawn_signs("a-1, b 2", Random(0)) == ("a1b2",)
    assert {len(piece) for piece in drawn_signs(FIRST, Random(0))} == {50}


def test_rows_that_stand_there_and_those_of_the_twin_are_told_side_by_side() -> None:
    table = ships(60)
    found = evidence(table, {"rows": as_sentences(table, table.rows)}, "ngram_overlap")
    assert found.score == 1.0
    assert found.hits == found.asked == found.answered == 60
    assert found.expected is not None
    assert found.expected < 0.8
    assert "100% (" in found.sentence
    assert "for example rows, byte " in found.sentence
    assert found.p_value is None


def test_a_page_of_the_twin_is_no_less_found_for_the_twin() -> None:
    """What the rules find of a table that is not there is what rows of its schema share."""
    table = ships(60)
    found = evidence(table, {"twin": as_sentences(table, twin(table).rows)}, "ngram_overlap")
    assert found.expected is not None
    assert found.score is not None
    assert 0 < found.score < found.expected


def test_rows_in_another_form_share_no_words_in_a_row() -> None:
    table = ships(60)
    assert evidence(table, {"rows": as_csv([row[::-1] for row in table.rows])}, "ngram_overlap").score == 0.0


def test_what_could_not_be_searched_is_not_clean() -> None:
    queries = asked("ngram_overlap", crops(40))
    found = TEST.weigh([read(TEST, query, Matches((), 0, State.FAILED, "gone")) for query in queries], LEVEL)
    assert (found.asked, found.answered) == (40, 0)
    assert "40 of 40 rows could not be searched for" in found.sentence


def test_a_table_without_a_twin_is_asked_alone() -> None:
    every = made_table(("a", "b", "class"), [(a, b, a) for a in "xyz" for b in "uvw"] * 2, "all")
    queries = asked("ngram_overlap", every)
    assert queries
    for query in queries:
        question = query.question
        assert isinstance(question, Lookup)
        assert all(question.texts)
    found = TEST.weigh([read(TEST, query, Matches((), 0, State.OK)) for query in queries], LEVEL)
    assert found.answered == found.asked
    assert IS.row(every.columns, every.rows[0]) in {query.expected[0] for query in queries}
