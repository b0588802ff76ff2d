"""Outputs that are generated exactly: recited ones are found, and such as follow from an input by their name alone."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.extensions.papers.task.exact_generation import ExactGeneration, output_of
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tabcontam.tables.text_tasks import TextForm, TextTask
from tests.answerers import reply_of
from tests.made_tables import logs, made_table, ships

TEST = ExactGeneration()
IS = load_serializers()["is"]
LEVEL = 0.01
SUMMARIES, PAIRS = logs(), logs(80, TextForm.PAIR)
Said = Callable[[Query], str]


def asked(table: Table = SUMMARIES, seed: int = 0) -> list[Query]:
    return TEST.planned(table, IS, Random(seed))


def read(query: Query, text: str) -> Trial:
    reply = Reply(text, ReplyState.OK)
    return Trial(query, reply, TEST.read(query, reply, IS))


def weighed(said: Said, table: Table = SUMMARIES) -> Evidence:
    return TEST.weigh([read(query, said(query)) for query in asked(table)], LEVEL)


def recited(query: Query) -> str:
    return query.expected[0] or ""


def p_of(said: Said, table: Table = SUMMARIES) -> float:
    return weighed(said, table).p_value or 0.0


def shown(query: Query) -> str:
    return query.prompt.chat[-1].content.partition("Input: ")[2].partition("\nOutput:")[0]


def queries_table(rows: int = 80) -> Table:
    """Questions, and queries of a database that follow from them."""
    rng = Random(4)
    nouns = [first + second for first in ("bar", "lom", "tir", "ves") for second in ("an", "ek", "ol", "ush")]
    drawn = [(rng.choice(nouns), rng.choice(nouns), str(rng.randrange(999))) for _ in range(rows)]
    cells = [
        (f"Which {one} of all have a {other} above {least} here?", f"select {one} from {other} where n > {least}")
        for one, other, least in drawn
    ]
    return replace(made_table(("question", "query"), cells, name="queries"), target="query")


def test_the_whole_input_is_shown_and_the_output_is_not() -> None:
    for query in asked():
        said = query.prompt.chat[-1].content
        (row,) = query.rows
        assert (SUMMARIES.rows[row][0] or "") in said
        assert query.expected == (SUMMARIES.rows[row][1],)
        assert recited(query) not in said
        assert (SUMMARIES.title in said) is not bool(query.decoy_of)
    assert sum(query.paper for query in asked()) == 20
    assert sum(bool(query.decoy_of) for query in asked()) == 40


def test_who_recites_outputs_under_any_name_is_found_where_they_do_not_follow() -> None:
    assert TEST.uninformative(asked(), LEVEL) is None
    assert p_of(recited) < 1e-9
    assert p_of(recited, PAIRS) > LEVEL, "an output that is written under any name may follow from its input"
    assert "40 of 40 outputs are exact" in weighed(recited).sentence


@pytest.mark.parametrize("table", [SUMMARIES, PAIRS], ids=["summaries", "pairs"])
def test_who_recites_outputs_under_their_name_alone_is_found(table: Table) -> None:
    def said(query: Query) -> str:
        return "Something else altogether." if query.decoy_of else recited(query)

    assert p_of(said, table) < LEVEL


def test_one_recited_summary_is_no_finding() -> None:
    first = asked()[0].id
    assert p_of(lambda query: recited(query) if query.id == first else "Nothing of that.") > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("table", [SUMMARIES, PAIRS], ids=["summaries", "pairs"])
def test_who_copies_the_input_or_writes_another_output_is_not_found(table: Table) -> None:
    assert p_of(shown, table) > LEVEL
    for seed in range(5):
        assert p_of(lambda query, seed=seed: reply_of("guesser", query, table, seed).text, table) > LEVEL  # type: ignore[misc]


def test_who_computes_queries_of_a_database_is_not_found_and_the_published_rule_finds_him() -> None:
    table = queries_table()
    assert output_of(table).inputs == ("question",)
    trials = [read(query, recited(query)) for query in asked(table)]
    assert (TEST.weigh(trials, LEVEL).p_value or 0.0) > LEVEL
    assert TEST.published is not None
    assert TEST.published.finds([trial for trial in trials if trial.query.paper])


@pytest.mark.parametrize("form", ["{}", "Output: {}", "```\n{}\n```", '"{}"', " {}\n"])
def test_white_space_capitals_and_marks_are_passed_over(form: str) -> None:
    query = asked()[0]
    assert read(query, form.format(recited(query).upper())).reading == replace(
        reading := TEST.read(query, Reply(form.format(recited(query).upper()), ReplyState.OK), IS), hit=True
    )
    assert reading.paper_hit
    assert not TEST.read(query, Reply(recited(query) + " And more.", ReplyState.OK), IS).hit


def test_declining_is_no_answer() -> None:
    assert not [query for query in asked()[:3] if read(query, "I cannot recite this.").readable]


def test_a_row_without_an_output_is_not_asked() -> None:
    rows = [(row[0], None if place % 2 else row[1]) for place, row in enumerate(SUMMARIES.rows)]
    table = replace(made_table(SUMMARIES.columns, rows, "half"), text=SUMMARIES.text)
    assert {query.rows[0] % 2 for query in asked(table)} == {0}


@pytest.mark.parametrize(
    "table",
    [ships(), replace(SUMMARIES, text=TextTask(form=TextForm.CLASSIFICATION, texts=("book", "summary")))],
    ids=["rows", "texts with no output"],
)
def test_a_table_without_an_output_is_skipped(table: Table) -> None:
    with pytest.raises(Skip, match="no column is a text that belongs to another"):
        TEST.queries(table, IS, Random(0))
