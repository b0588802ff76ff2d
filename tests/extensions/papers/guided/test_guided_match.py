"""Guided match: the ten guided queries of guided completion, what is exact, and Algorithm 2 by the words there are."""

from dataclasses import replace
from random import Random

import pytest

from tabcontam.asking.query_plan import sheet_of
from tabcontam.config import PAPER, RunConfig
from tabcontam.evidence.base import Query, Reply, ReplyState, Trial, Verdict
from tabcontam.evidence.completion_pairs import CompletionJudgement, Likeness
from tabcontam.extensions.papers.guided import cut_instances
from tabcontam.extensions.papers.guided.guided_completion import GuidedCompletion
from tabcontam.extensions.papers.guided.guided_match import GuidedMatch
from tabcontam.tables.serializers import load_serializers
from tabcontam.verdicts.result_building import build_result
from tabcontam.verdicts.result_types import ResultKey
from tests.extensions.papers.guided.test_guided_test import quickly
from tests.extensions.papers.guided.texts import news
from tests.made_tables import ships

IS = load_serializers()["is"]
TEST = GuidedMatch()
NAME = ResultKey("llm", "courier", "1", "is", TEST.id)
EXACT, NEAR, NONE = Likeness


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guesser that is fitted to nothing, where only the drawing matters."""
    monkeypatch.setattr(cut_instances, "predict_rows", quickly)
    monkeypatch.setattr(cut_instances, "least_sure", lambda table, columns, count: columns[:count])


def queries() -> list[Query]:
    return list(TEST.planned(news(), IS, Random(0)))


def trial(query: Query, text: str, word: Likeness | None = None, state: ReplyState = ReplyState.OK) -> Trial:
    reply = Reply(text, state)
    reading = TEST.read(query, reply, IS)
    return Trial(query, reply, reading, judged=CompletionJudgement(word, "judge") if word else None)


def judged(words: list[Likeness | None], state: ReplyState = ReplyState.OK) -> list[Trial]:
    """A trial for each word: exact ones recite the piece, and one without a word was not judged."""
    return [
        trial(
            query,
            query.expected[0] or "" if word is EXACT else "something else",
            None if word is EXACT else word,
            state,
        )
        for query, word in zip(queries(), words, strict=True)
    ]


def paper(trials: list[Trial]) -> Verdict | None:
    return build_result(NAME, TEST, trials, len(trials), PAPER, 0.01).decision.paper_verdict


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("table", [news(), ships(300)], ids=["texts", "rows"])
def test_it_asks_the_ten_of_guided_completion_in_the_same_words(table: object) -> None:
    own = sheet_of(TEST, table, IS, RunConfig()).written  # type: ignore[arg-type]
    others = sheet_of(GuidedCompletion(), table, IS, RunConfig()).written  # type: ignore[arg-type]
    assert len(own) == 10
    assert {query.prompt for query in own} == {query.prompt for query in others if query.paper and not query.decoy_of}
    assert {query.max_tokens for query in own} == {others[0].max_tokens}


def test_an_exact_match_is_a_hit_and_what_goes_on_is_none() -> None:
    query = queries()[0]
    true = query.expected[0] or ""
    assert trial(query, f' "{true}"\n').reading.hit  # type: ignore[union-attr]
    assert not trial(query, f"{true} And so on.").reading.hit  # type: ignore[union-attr]
    assert trial(query, true.upper()).reading.hit  # type: ignore[union-attr]


@pytest.mark.usefixtures("quick")
def test_a_row_is_exact_where_every_hidden_cell_is_the_same() -> None:
    query = TEST.planned(ships(300), IS, Random(0))[0]
    cells = dict(zip(query.asked, query.expected, strict=True))
    other = dict(reversed(cells.items()))
    assert trial(query, ", ".join(f"The {name} is {cell}" for name, cell in other.items())).reading.hit  # type: ignore[union-attr]
    wrong = cells | {query.asked[-1]: "nothing like it"}
    one = trial(query, ", ".join(f"The {name} is {cell}" for name, cell in wrong.items()))
    assert not one.reading.hit  # type: ignore[union-attr]
    (compared,) = TEST.compared([one])
    assert compared.cells == tuple(cells.values())
    assert compared.shown
    assert all(cell in compared.expected for cell in compared.cells if cell)


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ([EXACT, *[None] * 9], Verdict.CONTAMINATED),
        ([NEAR, NEAR, *[None] * 8], Verdict.CONTAMINATED),
        ([NEAR, *[NONE] * 9], Verdict.NOT_DETECTED),
        ([NONE] * 10, Verdict.NOT_DETECTED),
        ([NEAR, *[NONE] * 8, None], Verdict.NO_ANSWER),
        ([None] * 10, Verdict.NO_ANSWER),
    ],
)
def test_algorithm_2_and_no_word_is_never_clean(words: list[Likeness | None], verdict: Verdict) -> None:
    assert paper(judged(words)) is verdict


@pytest.mark.parametrize("state", [ReplyState.REFUSED, ReplyState.EMPTY, ReplyState.FAILED])
def test_an_llm_that_does_not_answer_is_not_clean(state: ReplyState) -> None:
    assert paper(judged([NONE] * 10, state)) is Verdict.NO_ANSWER
    assert TEST.compared(judged([NONE] * 10, state)) == []


def test_who_declines_is_not_clean() -> None:
    said = [trial(query, "I'm sorry, I cannot reproduce this text.") for query in queries()]
    assert paper(said) is Verdict.NO_ANSWER


def test_nothing_is_decided_by_the_calibrated_rules() -> None:
    cell = build_result(NAME, TEST, judged([EXACT] * 10), 10, "calibrated", 0.01)
    assert (cell.verdict, cell.evidence.score, cell.evidence.hits) == (None, 1.0, 10)
    assert cell.decision.paper_verdict is Verdict.CONTAMINATED
    assert not TEST.row_test


def test_a_completion_that_is_still_to_come_can_be_planned_for() -> None:
    query = queries()[0]
    (compared,) = TEST.compared([Trial(query, Reply("", ReplyState.OK))])
    assert compared.expected == query.expected[0]
    assert compared.shown
    assert replace(compared, completion=compared.expected).exact
