"""Faults that other tools for the same evidence have or had, one test each, named after what went wrong there."""

from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Reply, State, Test, Trial, Verdict
from tabcontam.evidence.likelihood.digits import Digits
from tabcontam.evidence.likelihood.planted import Planted
from tabcontam.evidence.likelihood.replaced import replaced
from tabcontam.evidence.likelihood.surrogate_rank import SurrogateRank
from tabcontam.evidence.order.row_order import RowOrder
from tabcontam.evidence.order.sharded_t import published_p_value
from tabcontam.reading.words import english
from tabcontam.statistics.ranks import rank_sum_tail
from tabcontam.tables.serializers import load_serializers
from tabcontam.verdicts.decisions import without_evidence
from tests.made_tables import made_table, planted, ships

SERIALIZERS = load_serializers()
IS = SERIALIZERS["is"]
ODD = ["a: b", "1,5", 'say "no"', "Zoë ♞", "-0", "1e-3", "", "NaN"]


@pytest.mark.parametrize("form", SERIALIZERS)
def test_rows_that_differ_in_digits_alone_are_two_rows_unlike_in_llmsanitize(form: str) -> None:
    """Its cleaners kept letters alone: of two rows of numbers the same text was left."""
    asked = replaced(SERIALIZERS[form], ("age", "weight"), ("39", "77516"), 1, ["77516", "209642", "77517"])
    assert len(set(asked.endings)) == 3
    for ending, number in zip(asked.endings, ["77516", "209642", "77517"], strict=True):
        assert number in asked.beginning + ending


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("cell", ODD)
def test_a_cell_with_separators_in_it_is_one_cell_unlike_in_tab_mia(form: str, cell: str) -> None:
    """It cut at ": " and wrote CSV without quotes."""
    one = SERIALIZERS[form]
    asked = replaced(one, ("name", "note", "size"), ("x", "y", "3"), 1, ["y", cell])
    read = one.parse(asked.beginning + asked.endings[1], ("name", "note", "size"))
    assert [value or "" for value in read] == ["x", cell, "3"]
    assert one.parse(asked.beginning + asked.endings[0], ("name", "note", "size")) == ("x", "y", "3")


@pytest.mark.parametrize("rank", [1, 10, 100])
def test_a_rank_among_a_hundred_has_a_p_value_unlike_in_the_exposure_rank_tool(rank: int) -> None:
    """It compared a share with 0.1, and counted rows below that against 85 %: neither says how often it errs."""
    assert rank_sum_tail([rank], [100]) == pytest.approx(rank / 100)
    assert 0 < rank_sum_tail([1] * 300, [100] * 300) < 1e-300


def test_a_small_tail_is_not_nought_unlike_in_oren() -> None:
    """It took the p-value as 1 less the distribution function, which is 1 from eight deviations on."""
    p_value = published_p_value([10 + number % 3 for number in range(50)])
    assert p_value is not None
    assert 0 < p_value < 1e-40


@pytest.mark.parametrize("test", [SurrogateRank(), Digits(), RowOrder()], ids=lambda test: str(test.id))
@pytest.mark.parametrize("rows", [1, 2])
def test_a_table_of_a_row_or_two_is_skipped_with_the_reason(test: Test, rows: int) -> None:
    """Rows that were too few or too short fell out of the count of several tools without a word."""
    table = made_table(("a", "b"), [(f"12{row}.5", f"{row}") for row in range(rows)])
    with pytest.raises(Skip):
        test.planned(table, IS, Random(0))


def test_the_same_seed_asks_the_same_whoever_asked_before() -> None:
    """Rows that were drawn from a global state were others in each run of several tools."""
    table = planted(ships(), 30)
    first = [query.id for query in Planted().planned(table, IS, Random(3))]
    Random().random()
    assert [query.id for query in Planted().planned(table, IS, Random(3))] == first


@pytest.mark.parametrize("state", [State.REFUSED, State.EMPTY, State.FAILED])
def test_a_refusal_is_no_miss_unlike_in_tabmemcheck(state: State) -> None:
    """It counted what was refused as rows that are not known: an LLM that declines was clean."""
    test = Planted().in_words(None)
    assert test is not None
    refused = Reply("", state, "content filter")
    queries = test.planned(planted(ships(), 30), IS, Random(0))
    trials = [Trial(query, refused, test.read(query, refused, IS, english())) for query in queries]
    assert without_evidence(test.weigh(trials, 0.01), trials, test, 0.01).verdict is Verdict.NO_ANSWER
