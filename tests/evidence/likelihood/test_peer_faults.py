"""Faults that other tools for the same evidence have or had, one test each, named after what went wrong there.

These are tested elsewhere, from the side of the part that they belong to:

| tool | what went wrong | tested by |
|---|---|---|
| LLMSanitize | rows were drawn from all over before their order was asked | order/test_row_order.py |
| Oren et al. | the deviation was too small; sorted tables were found; each row began anew | the same file |
| Oren et al. | a text a pass, though all of a shard have a beginning in common | models/hf/test_endings.py |
| Min-K% | three passes for three scores of one text | test_published_scores.py |
| Min-K%++, DC-PDD | divided by a deviation of nought | test_published_scores.py |
| CoDeC | tokens were counted from the end; short rows were left out; no interval | test_published_scores.py |
| Dataset Inference | p-values of new splits of the same rows were taken for independent ones | test_inference.py |
| Time Travel | one share for all rows; an unpaired bootstrap | tests/extensions/papers/guided |
| Time Travel | a judge that was shown no pair which does not match | evidence/test_judging.py |
| DCQ | failed with a single letter; distractors that are told by their style | rows/quiz/test_levels.py, test_quiz.py |
| benbench | a beginning was cut into other tokens; answers that end early were read from the wrong end | models/hf |
| tabmemcheck | all of its faults | tests/test_peer_faults.py, tests/extensions/papers/memcheck |
"""

from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Reply, ReplyState, Test, Trial, Verdict
from tabcontam.evidence.likelihood.cell_replacement import replace_cell
from tabcontam.evidence.likelihood.last_digits import Digits
from tabcontam.evidence.likelihood.paired_score import PairedScore
from tabcontam.evidence.likelihood.published_scores import Loss, MinK, MinKPlusPlus, Zlib
from tabcontam.evidence.likelihood.scored_rows import ValueToken
from tabcontam.evidence.likelihood.surrogate_rank import SampledRank, SurrogateRank
from tabcontam.evidence.order.row_order import RowOrder, published_p_value
from tabcontam.evidence.questions import Token
from tabcontam.reading.answer_text import value_key
from tabcontam.statistics.auc import independent
from tabcontam.statistics.rank_sums import rank_sum_tail
from tabcontam.tables.serializers import load_serializers
from tabcontam.verdicts.decisions import without_evidence
from tests.made_tables import made_table, ships

SERIALIZERS = load_serializers()
IS = SERIALIZERS["is"]
ODD = ["a: b", "1,5", 'say "no"', "Zoë ♞", "-0", "1e-3", "", "NaN"]


@pytest.mark.parametrize("form", SERIALIZERS)
def test_rows_that_differ_in_digits_alone_are_two_rows_unlike_in_llmsanitize(form: str) -> None:
    """Its cleaners kept letters alone: of two rows of numbers the same text was left."""
    asked = replace_cell(SERIALIZERS[form], ("age", "weight"), ("39", "77516"), 1, ["77516", "209642", "77517"])
    assert len(set(asked.endings)) == 3
    for ending, number in zip(asked.endings, ["77516", "209642", "77517"], strict=True):
        assert number in asked.beginning + ending


@pytest.mark.parametrize("score", [Loss(), Zlib(), MinK(), MinKPlusPlus()], ids=lambda score: str(score.id))
def test_all_scores_speak_for_the_likelier_row_unlike_in_tab_mia_and_in_calibration_mismatch(
    score: PairedScore,
) -> None:
    """Min-K% and Min-K%++ had opposite signs in the one, and Min-K% another sign than was stated in the other."""

    def of(nats: float) -> float:
        tokens = [ValueToken(Token(str(digit), -nats - digit / 10, -1.0, 0.5), digit, 1) for digit in range(10)]
        found = score.score(tokens, "0123456789")
        assert found is not None
        return score.toward * found

    assert of(0.5) > of(2.0)


def test_an_auc_is_of_scores_and_not_of_decisions_by_them_unlike_in_de_cop() -> None:
    """It took the AUC of what was above the best threshold of the tested values themselves."""
    own, others = [1.0, 3.0, 5.0], [0.0, 2.0, 4.0]
    assert independent(own, others).value == pytest.approx(6 / 9)
    best = max(independent([float(one > at) for one in own], [float(one > at) for one in others]).value for at in own)
    assert best != pytest.approx(6 / 9)


@pytest.mark.slow
def test_an_answer_is_held_against_the_cell_that_was_hidden_unlike_in_llmsanitize() -> None:
    """TS-guessing held what was said of a masked wrong option against the right one."""
    test, table = SampledRank(samples=1), ships(180)
    for query in test.planned(table, IS, Random(0))[:20]:
        assert query.row is not None
        own = table.rows[query.row][table.columns.index(query.asked[0])] or ""
        others = [
            cell for name, cell in zip(table.columns, table.rows[query.row], strict=True) if name != query.asked[0]
        ]
        assert query.expected == (own,)
        assert test.read(query, Reply(own, ReplyState.OK), IS).hit
        for other in others:
            if other and value_key(other) != value_key(own):
                assert not test.read(query, Reply(other, ReplyState.OK), IS).hit


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("cell", ODD)
def test_a_cell_with_separators_in_it_is_one_cell_unlike_in_tab_mia(form: str, cell: str) -> None:
    """It cut at ": " and wrote CSV without quotes."""
    one = SERIALIZERS[form]
    asked = replace_cell(one, ("name", "note", "size"), ("x", "y", "3"), 1, ["y", cell])
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
    test, table = SurrogateRank(), ships()
    first = [query.id for query in test.planned(table, IS, Random(3))]
    Random().random()
    assert [query.id for query in test.planned(table, IS, Random(3))] == first


@pytest.mark.parametrize("state", [ReplyState.REFUSED, ReplyState.EMPTY, ReplyState.FAILED])
def test_a_refusal_is_no_miss_unlike_in_tabmemcheck(state: ReplyState) -> None:
    """It counted what was refused as rows that are not known: an LLM that declines was clean."""
    test = SurrogateRank().in_words(3)
    assert test is not None
    refused = Reply("", state, "content filter")
    queries = test.planned(ships(), IS, Random(0))
    trials = [Trial(query, refused, test.read(query, refused, IS)) for query in queries]
    assert without_evidence(test.weigh(trials, 0.01), trials, test, 0.01).verdict is Verdict.NO_ANSWER
