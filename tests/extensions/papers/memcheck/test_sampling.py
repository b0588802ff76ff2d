"""Sampling of Bordt et al.: which draws are rows of the table, which are none, and which are no draws at all."""

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tabcontam.asking.trial_file import trial_line, trial_of
from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Trial
from tabcontam.evidence.checks import rendered
from tabcontam.extensions.papers.memcheck.sampling import Sampling
from tabcontam.extensions.papers.thresholds import SAMPLED_ROWS, SAMPLING_TEMPERATURE
from tabcontam.models.base import PromptForm
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Cell, Table
from tests.answerers import reply_of
from tests.made_tables import made_table, ships

TEST = Sampling()
CSV = load_serializers()["csv"]
LEVEL = 0.05
SHIPS = ships(120)


def queries(table: Table = SHIPS, seed: int = 0) -> Sequence[Query]:
    return TEST.planned(table, CSV, Random(seed))


def read(query: Query, text: str, state: ReplyState = ReplyState.OK) -> Trial:
    reply = Reply(text, state)
    return Trial(query, reply, TEST.read(query, reply, CSV))


def weighed(texts: Sequence[str], table: Table = SHIPS) -> Evidence:
    """The evidence of one who gives these answers; the other queries are not asked."""
    return TEST.weigh([read(query, text) for query, text in zip(queries(table), texts, strict=False)], LEVEL)


def line(row: Sequence[Cell]) -> str:
    return CSV.row(SHIPS.columns[: len(row)], row)


def changed(row: int, *places: int) -> list[Cell]:
    """A row with other cells at these places."""
    return ["77.125" if place in places else cell for place, cell in enumerate(SHIPS.rows[row])]


def test_twenty_five_draws_name_the_dataset_and_its_features_and_show_no_row() -> None:
    asked = queries()
    assert len(asked) == SAMPLED_ROWS == len({query.prompt.sample for query in asked})
    assert len({query.prompt.chat for query in asked}) == 1
    for query in asked:
        assert query.prompt.temperature == SAMPLING_TEMPERATURE
        assert query.prompt.sample > 0
        said = rendered(query.prompt)
        assert SHIPS.title in said
        assert ",".join(SHIPS.columns) in said
        assert query.rows == ()
        assert not any(line(row) in said for row in SHIPS.rows)
    again = {query.prompt.sample for query in queries(seed=1)}
    assert not again & {query.prompt.sample for query in asked}, "another seed draws anew"


def test_a_draw_is_a_row_by_its_values_and_counts_once() -> None:
    own = line(SHIPS.rows[3])
    spelt = f"Here is one row:\n```\n{own.replace('yes', 'YES')}\n```"
    evidence = weighed([own, spelt, line(SHIPS.rows[4]), line(changed(5, 2)), line(changed(6, 1, 2))])
    assert (evidence.measured.value, evidence.hits, evidence.asked, evidence.answered) == (2, 2, 5, 5)
    assert evidence.score == 2 / 5
    assert evidence.p_value is None
    assert "1 repeat another draw, 1 differ from a row in one cell" in evidence.sentence
    trials = [read(query, own) for query in queries()]
    assert TEST.published.hits(trials) == SAMPLED_ROWS, "the paper counts the same row again"
    assert TEST.published.finds(trials) is None


def test_the_header_is_no_draw_and_of_several_rows_the_first_is() -> None:
    rows = f"{line(SHIPS.columns)}\n{line(changed(5, 1, 2))}\n{line(SHIPS.rows[3])}"
    assert weighed([rows]).hits == 0
    assert weighed([f"{line(SHIPS.columns)}\n{line(SHIPS.rows[3])}"]).hits == 1
    assert weighed([line(SHIPS.columns)]).answered == 0


def test_a_number_before_a_draw_is_none_of_its_cells_unless_rows_begin_so() -> None:
    row = line(SHIPS.rows[3])
    for said in (f"1. {row}", f"1,{row}", f"- {row}", f"Its columns:\n1) {row}"):
        assert weighed([said]).hits == 1, said
    clubs = tuple((f"{place}. FC", f"a{place * 7 % 31}", f"b{place * 5 % 29}") for place in range(60))
    table = replace(SHIPS, columns=("club", "town", "sort"), rows=clubs, target=None)
    assert weighed([line(clubs[4]), line(("FC", *clubs[5][1:]))], table).hits == 1


def test_a_missing_cell_is_one_however_it_is_marked() -> None:
    place = next(place for place, row in enumerate(SHIPS.rows) if None in row)
    for mark in ("", "NA", "missing"):
        assert weighed([line([mark if cell is None else cell for cell in SHIPS.rows[place]])]).hits == 1
    assert weighed([line(["77" if cell is None else cell for cell in SHIPS.rows[place]])]).hits == 0


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("I'm sorry, but I cannot recall the contents of this file.", ReplyState.OK),
        ("That depends, I think, on much, as the year, the port, the owner, and so on.", ReplyState.OK),
        ("a, b", ReplyState.OK),
        ("", ReplyState.EMPTY),
        ("", ReplyState.REFUSED),
        (line(SHIPS.rows[0])[:-2], ReplyState.TRUNCATED),
        (line(SHIPS.rows[0]), ReplyState.TRUNCATED),
    ],
)
def test_what_is_no_row_is_no_answer_and_no_miss(text: str, state: ReplyState) -> None:
    first, second = queries()[:2]
    evidence = TEST.weigh([read(first, text, state), read(second, line(SHIPS.rows[1]))], LEVEL)
    assert (evidence.asked, evidence.answered, evidence.hits, evidence.score) == (2, 1, 1, 1.0)
    assert "1 of 2 answers hold no row" in evidence.sentence


def test_a_row_that_was_over_before_the_cut_is_a_draw() -> None:
    query, text = queries()[0], f"{line(SHIPS.rows[0])}\n12,"
    assert TEST.complete(query, text, CSV)
    assert not TEST.complete(query, line(SHIPS.rows[0]), CSV)
    assert TEST.weigh([read(query, text, ReplyState.TRUNCATED)], LEVEL).hits == 1


@pytest.mark.parametrize(("kind", "least", "most"), [("oracle", 25, 25), ("memoriser:0.5", 6, 19), ("guesser", 0, 0)])
def test_who_remembers_rows_draws_them_and_who_guesses_does_not(kind: str, least: int, most: int) -> None:
    asked = queries()
    evidence = TEST.weigh([read(query, reply_of(kind, query, SHIPS).text) for query in asked], LEVEL)
    assert evidence.answered == SAMPLED_ROWS
    assert least <= evidence.hits <= most


def test_a_trial_that_was_written_down_is_weighed_again_without_the_table() -> None:
    cell = {"llm": "x", "dataset": "ships", "edition": "1", "serializer": "csv", "test": TEST.id}
    asked = queries()
    trials = [read(query, line(SHIPS.rows[place // 2])) for place, query in enumerate(asked)]
    lines = [json.loads(json.dumps(trial_line(cell, PromptForm.CHAT, trial, paper_rules=False))) for trial in trials]
    assert all(not held["not_expected"] for held in lines[1:]), "the rows are carried once"
    again = [read(trial_of(held).query, held["reply"]) for held in lines]
    assert TEST.weigh(again, LEVEL) == TEST.weigh(trials, LEVEL)
    assert TEST.weigh(trials, LEVEL).hits == 13
    assert TEST.weigh(trials[1:], LEVEL).answered == 0, "without the rows nothing is known"
    lines[0]["not_expected"] = ["no rows"]
    with pytest.raises(ValueError, match=r"base85|rows"):
        TEST.weigh([read(trial_of(lines[0]).query, lines[0]["reply"])], LEVEL)


def test_rows_that_may_be_known_are_no_finds() -> None:
    table = made_table(SHIPS.columns, SHIPS.rows)
    known = replace(made_table(SHIPS.columns, SHIPS.rows), known=(table.rows[:40],))
    assert weighed([line(table.rows[3])], table).hits == 1
    assert weighed([line(table.rows[3]), line(table.rows[50])], known).hits == 1


def test_a_table_whose_rows_anybody_hits_is_skipped() -> None:
    every = [(a, b, c) for a in "abcde" for b in "fghij" for c in "klmno"]
    with pytest.raises(Skip, match="a count of rows shows nothing"):
        queries(made_table(("one", "two", "three"), every))
    some = Random(0).sample(every, 60)
    with pytest.raises(Skip, match="a count of rows shows nothing"):
        queries(made_table(("one", "two", "three"), some))
    with pytest.raises(Skip, match="too few different rows"):
        queries(made_table(("one", "two"), [("a", str(row % 9)) for row in range(50)]))
    assert queries(made_table(("one", "two"), [(str(row), str(row * row)) for row in range(120)]))
