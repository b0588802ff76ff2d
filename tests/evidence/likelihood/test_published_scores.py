"""Loss, zlib, Min-K% and Min-K%++ of rows beside a twin's: what is counted, and the faults of others that are not ours.

| fault of others | here |
|---|---|
| Min-K%: three passes over each text, and the first token counted | `test_all_scores_lay_the_same_texts_before_an_llm_unlike_in_min_k`, `test_the_first_token_counts_for_nothing` |
| Min-K%++: divides by a deviation of nearly 0 | `test_a_deviation_of_nothing_outweighs_no_other_token_unlike_in_min_k_plus_plus` |
| Min-K%++: its moments are of another LLM where none are told | `test_without_the_distribution_nothing_is_scored` |
| Min-K%: of few tokens none is taken | `test_of_few_tokens_the_least_likely_one_is_taken` |
| CoDeC: a row is its last tokens, however the text before it is cut | `test_the_row_is_found_behind_what_stands_before_it_by_its_characters_unlike_in_codec` |
| CoDeC: rows of eleven tokens or fewer are passed over; its share has no interval | `test_short_rows_are_not_passed_over_as_in_codec`, `test_the_evidence_is_an_auc_with_its_interval_unlike_in_codec_and_no_verdict` |
| ReCaLL: rows that may have been read stand among the shots | `test_no_row_of_the_table_stands_before_another_in_recall` |
| Min-K%: larger here and smaller there means seen | `test_one_who_read_the_rows_ranks_them_first_in_every_score` |
"""  # noqa: E501

import asyncio
import math
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from tabcontam.asking.query_plan import sheet_of
from tabcontam.config import RunConfig
from tabcontam.evidence.base import RANKS, Evidence, Passage, Query, ReplyState, Scores, Test, Token, Trial
from tabcontam.evidence.likelihood.in_context import AFTER, Codec, Recall
from tabcontam.evidence.likelihood.paired_score import PairedScore
from tabcontam.evidence.likelihood.published_scores import Loss, MinK, MinKPlusPlus, Perplexity, Zlib
from tabcontam.evidence.registry import all_tests
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.models.base import ModelRequest
from tabcontam.models.known.control import open_control
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tabcontam.tables.twin_tables import twin_rows
from tests.made_tables import ships

IS = load_serializers()["is"]
ALONE: Sequence[PairedScore] = (Loss(), Zlib(), MinK(), MinKPlusPlus())
BEHIND: Sequence[PairedScore] = (Recall(), Codec())
Told = tuple[str, float] | tuple[str, float, float, float]  # a token's text, nats that it takes, mean and deviation


def read(test: Test, tokens: Sequence[Told], *cells: str | None, above: str = "") -> float | None:
    """What is read of a row's tokens."""
    columns = ("age", "job", "city")[: len(cells)]
    query = Query("q", lambda: Passage(above + IS.row(columns, cells)), columns, cells, 1)
    scores = Scores(tuple(Token(text, -nats, *moments) for text, nats, *moments in tokens), ReplyState.OK)
    parsed = test.read(query, scores, IS).parsed
    return None if parsed is None else float(str(parsed).split()[0])


ROW: Sequence[Told] = [("The", 9.0), (" age is", 9.0), (" 39", 4.0), (", The job is", 9.0), (" co", 1.0), ("ok", 2.0)]


def test_the_tokens_of_values_alone_count() -> None:
    assert read(Loss(), ROW, "39", "cook") == pytest.approx((4 + 1 + 2) / 3)


def test_zlib_is_the_loss_by_the_bytes_of_the_packed_row() -> None:
    packed = len(zlib.compress(b"The age is 39, The job is cook"))
    assert read(Zlib(), ROW, "39", "cook") == pytest.approx(1000 * 7 / 3 / packed, abs=1e-5)


def test_min_k_is_the_mean_of_the_least_likely_fifth_rounded_down() -> None:
    letters = "abcdefghijklmn"
    tokens: list[Told] = [("The age is ", 0.0), *((letter, float(nats)) for nats, letter in enumerate(letters))]
    assert read(MinK(), tokens, letters) == pytest.approx((13 + 12) / 2)  # of 14 tokens 2.8 are a fifth


def test_of_few_tokens_the_least_likely_one_is_taken() -> None:
    assert read(MinK(), ROW, "39", "cook") == 4.0


def test_the_first_token_counts_for_nothing() -> None:
    """Where a server scores none it is 0, which is no log-probability."""
    assert read(Loss(), [("The age is 3", 0.0), ("9", 2.0)], "39") == 2.0
    assert read(Loss(), [("The age is 39", 0.0)], "39") is None


def test_min_k_plus_plus_is_in_deviations_below_the_mean() -> None:
    assert read(MinKPlusPlus(), [("The age is ", 0.0, -1.0, 1.0), ("39", 6.1, -1.1, 2.0)], "39") == pytest.approx(2.5)


def test_a_deviation_of_nothing_outweighs_no_other_token_unlike_in_min_k_plus_plus() -> None:
    told = read(MinKPlusPlus(), [("The age is ", 0.0, -1.0, 1.0), ("39", 1e-9, -1e-9, 0.0)], "39")
    assert told == pytest.approx(0.0, abs=1e-6)
    assert read(MinKPlusPlus(), [("The age is ", 0.0, -1.0, 1.0), ("39", 2.0, 0.0, 1e-12)], "39") == pytest.approx(200)


def test_without_the_distribution_nothing_is_scored() -> None:
    assert read(MinKPlusPlus(), [("The age is ", 0.0), ("39", 1.0)], "39") is None


def test_a_split_letter_is_one_token_with_the_moments_of_both() -> None:
    tokens: list[Told] = [("The age is ", 0.0), ("é", 3.0, -1.0, 3.0), ("", 5.0, -2.0, 4.0)]
    assert read(Loss(), tokens, "é") == 8.0
    with_moments: list[Told] = [("The age is ", 0.0, 0.0, 1.0), *tokens[1:]]
    assert read(MinKPlusPlus(), with_moments, "é") == pytest.approx((8 - 3) / 5)


@pytest.mark.parametrize("test", ALONE, ids=lambda test: test.id)
def test_scores_of_another_text_are_not_read(test: PairedScore) -> None:
    assert read(test, [("The age is ", 1.0, 0.0, 1.0), ("40", 1.0, 0.0, 1.0)], "39") is None
    assert read(test, [("The age is ", 1.0, 0.0, 1.0), ("39", math.inf, 0.0, 1.0)], "39") is None


@cache
def planned(test: Test) -> Sequence[Query]:
    return sheet_of(test, ships(), IS, RunConfig()).written


def test_all_scores_lay_the_same_texts_before_an_llm_unlike_in_min_k() -> None:
    """So that a text that several tests score is asked once: identical questions of a plan are."""
    texts = {query.question for query in planned(Perplexity())}
    for test in ALONE:
        assert {query.question for query in planned(test)} == texts
    for test in BEHIND:
        own = planned(test)
        assert {query.question for query in own if not query.id.endswith(AFTER)} == texts
        assert len(own) == 2 * len(texts)


def test_they_are_asked_by_their_names_and_by_their_mark() -> None:
    assert {test.id for test in all_tests() if RANKS in test.marks} == {
        test.id for test in (Perplexity(), *ALONE, *BEHIND)
    }
    assert not any(test.decides or not test.on_request for test in (*ALONE, *BEHIND))


def test_no_row_of_the_table_stands_before_another_in_recall() -> None:
    """Members among the shots would make the score one of the shots."""
    behind = [query for query in planned(Recall()) if query.id.endswith(AFTER)]
    above = {question.text.removesuffix(IS.row(query.asked, query.expected)) for query in behind
             if isinstance(question := query.question, Passage)}  # fmt: skip
    assert len(above) == 1
    lines = above.pop().splitlines()
    real = {IS.row(ships().columns, row) for row in ships().rows}
    compared = {IS.row(ships().columns, cells) for _, cells in twin_rows(ships(), "perplexity")}
    assert len(lines) == 7
    assert not real & set(lines)
    asked = {question.text for query in planned(Loss()) if isinstance(question := query.question, Passage)}
    assert not asked & set(lines)
    assert compared  # the twin that rows are compared with is another one
    assert all(len(query.rows) <= 1 for query in behind)


def test_what_codec_shows_before_a_row_is_another_row_and_the_same_for_its_twin() -> None:
    own = planned(Codec())
    for first in range(0, len(own), 4):
        row, twin, after, twin_after = own[first : first + 4]
        place, context = after.rows
        assert (row.rows, twin_after.rows) == ((place,), (context,))
        assert ships().rows[place] != ships().rows[context]
        above = IS.row(ships().columns, ships().rows[context]) + "\n"
        assert after.question == Passage(above + IS.row(row.asked, row.expected))
        assert twin_after.question == Passage(above + IS.row(twin.asked, twin.expected))


def test_the_row_is_found_behind_what_stands_before_it_by_its_characters_unlike_in_codec() -> None:
    """Not by the number of its last tokens, which is another where the line's end and the row share one."""
    tokens: list[Told] = [("The age is 12, The job is smith", 9.0), ("\nThe age is ", 9.0), ("39, The job", 6.0)]
    found = read(
        Codec(), [*tokens, (" is c", 5.0), ("ook", 3.0)], "39", "cook", above="The age is 12, The job is smith\n"
    )
    assert found == pytest.approx((5 / 5 + 3) / 4)


def test_the_first_value_is_left_out_before_and_behind() -> None:
    assert read(Recall(), ROW, "39", "cook") == pytest.approx((1 * 2 / 3 + 2) / 4)


def test_short_rows_are_not_passed_over_as_in_codec() -> None:
    assert read(Codec(), [("The age is 3", 1.0), (", The job is ", 1.0), ("x", 2.0)], "3", "x") == 2.0


def weighed(test: PairedScore, *pairs: tuple[float | None, float | None]) -> Evidence:
    """Of pairs of losses; None where a side was not scored."""
    trials = []
    for number, sides in enumerate(pairs):
        for decoy_of, nats in zip(("", f"q{number}"), sides, strict=True):
            query = Query(f"q{number}{'-twin' * bool(decoy_of)}", lambda: Passage(IS.row(("age",), ("39",))), ("age",),
                          ("39",), 1, decoy_of=decoy_of)  # fmt: skip
            tokens = (Token("The age is ", 0.0), Token("39", -(nats or 0.0)))
            scores = Scores((), ReplyState.FAILED, "gone") if nats is None else Scores(tokens, ReplyState.OK)
            trials.append(read_trial(test, Trial(query, scores), IS))
    return test.weigh(trials, 0.01)


def test_the_evidence_is_an_auc_with_its_interval_unlike_in_codec_and_no_verdict() -> None:
    evidence = weighed(Loss(), (1.0, 2.0), (2.0, 4.0), (3.0, 3.5), (2.0, 1.5), (9.0, None))
    assert evidence.measured.value == evidence.score == pytest.approx((4 - 0.5 + 2.5 + 2 + 2.5 + 0) / 16, abs=0.2)
    assert (evidence.measured.expected, evidence.p_value) == (0.5, None)
    low, high = evidence.interval or (1, 0)
    assert 0 < low < evidence.measured.value < high < 1
    assert (evidence.hits, evidence.asked, evidence.answered) == (3, 5, 4)
    assert "3 of 4 rows rank before their own twin's row; 1 of 5 pairs were not scored" in evidence.sentence
    assert "2.00 nats a token in rows, 2.75 in the twin's: -0.75 [" in evidence.sentence


def test_nothing_scored_is_no_evidence() -> None:
    evidence = weighed(Loss(), (None, None), (None, 2.0))
    assert (evidence.answered, evidence.interval, evidence.score) == (0, None, None)


def of_control(kind: str, test: Test, table: Table) -> Evidence:
    """What the scores of a control weigh."""
    queries = test.planned(table, IS, seeded(table, 0, test.draws_as))[:120]
    model = open_control(kind, [IS]).prepare(table, queries)

    async def scored() -> list[Trial]:
        return [Trial(query, await model.score(ModelRequest(query.question, query.max_tokens))) for query in queries]

    return test.weigh([read_trial(test, trial, IS) for trial in asyncio.run(scored())], 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("test", [Loss(), Zlib(), MinK()], ids=lambda test: test.id)
def test_one_who_read_the_rows_ranks_them_first_in_every_score(test: PairedScore) -> None:
    """And one who read a twin does not, whichever way the score itself points."""
    exposed, unexposed = (of_control(kind, test, ships()) for kind in ("exposed", "unexposed"))
    assert exposed.interval is not None
    assert unexposed.interval is not None
    assert exposed.interval[0] > 0.9
    assert unexposed.interval[0] < 0.5 < unexposed.interval[1]


def test_of_what_stands_before_a_row_both_texts_have_to_be_scored() -> None:
    """The ratio of ReCaLL and the gain of CoDeC, as they are made of what was read."""
    found = {"q": 0.4, f"q{AFTER}": 0.6, "other": 0.4}
    assert Recall().score_of("q", found) == pytest.approx(1.5)
    assert Codec().score_of("q", found) == pytest.approx(-0.2)
    assert Recall().score_of("other", found) is None
    assert Codec().score_of("other", found) is None
    assert Recall().score_of("q", {"q": 0.0, f"q{AFTER}": 0.6}) is None
    assert (Recall.toward, Codec.toward) == (1, -1)  # what was read loses more by other rows, and gains less
    assert Codec().more([(-0.2, 0.1), (0.1, 0.2)], {}).endswith("for 50% of rows and 0% of the twin's")


def test_the_rows_are_drawn_from_the_seed() -> None:
    table = replace(ships(), rows=tuple(reversed(ships().rows)), sha256="f" * 64)
    for test in (*ALONE, *BEHIND):
        first, again = (
            [query.expected for query in test.queries(each, IS, seeded(each, 0, test.draws_as)) if not query.decoy_of]
            for each in (ships(), table)
        )
        assert first == again
        assert first != [query.expected for query in test.queries(table, IS, Random(1)) if not query.decoy_of]
