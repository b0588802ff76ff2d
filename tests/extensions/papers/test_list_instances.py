"""The first instances of a dataset, by its name."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reading, Reply, ReplyState, Trial
from tabcontam.extensions.papers.list_instances import ListInstances
from tabcontam.extensions.papers.memcheck.csv_row_tests import csv_serializer
from tabcontam.extensions.papers.thresholds import LISTED_INSTANCES
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tabcontam.tables.text_tasks import TextForm, TextTask
from tests.answerers import reply_of
from tests.made_tables import made_table, ships

IS = load_serializers()["is"]
TEST = ListInstances()
SHIPS = ships()
LEVEL = 0.01
WORDS = [f"{first}{second}" for first in ("mar", "tol", "ven", "sil", "pra", "dor", "kal") for second in "aeiouy"]


def texts() -> Table:
    rng = Random(2)
    rows = [(" ".join(rng.choice(WORDS) for _ in range(24)) + ".", rng.choice(["sea", "land"])) for _ in range(60)]
    table = made_table(("text", "label"), rows, name="logs")
    return replace(table, text=TextTask(form=TextForm.CLASSIFICATION, texts=("text",), label="label"))


def asked(table: Table = SHIPS) -> Query:
    (query,) = TEST.planned(table, IS, Random(0))
    return query


def read(text: str, table: Table = SHIPS, state: ReplyState = ReplyState.OK) -> Reading:
    return TEST.read(asked(table), Reply(text, state), IS)


def weighed(text: str, table: Table = SHIPS) -> Evidence:
    query = asked(table)
    reply = Reply(text, ReplyState.OK)
    return TEST.weigh([Trial(query, reply, TEST.read(query, reply, IS))], LEVEL)


def lines(table: Table = SHIPS, count: int = LISTED_INSTANCES) -> list[str]:
    return [csv_serializer().row(table.columns, row) for row in table.rows[:count]]


@pytest.mark.slow
def test_the_prompt_names_the_dataset_its_split_and_no_row() -> None:
    query = asked(replace(SHIPS, split="train"))
    text = query.prompt.chat[-1].content
    assert f"{SHIPS.title}, train split" in text
    assert not [cell for row in SHIPS.rows[:LISTED_INSTANCES] for cell in row if cell and f",{cell}," in text]
    assert query.rows == ()
    assert query.prompt.completion.endswith("\n")


@pytest.mark.slow
def test_the_first_rows_count_nothing_and_the_others_in_their_order() -> None:
    rows = {int(name.rpartition(" ")[2]) for name in asked().chance}
    assert rows == set(range(5, 11))


@pytest.mark.parametrize("form", ["{}", "```\n{}\n```", "1. {}", "Sure:\n{}"])
def test_who_recites_them_is_found_in_any_form(form: str) -> None:
    own = lines()
    text = (
        "\n".join(f"{place}. {line}" for place, line in enumerate(own, 1)) if form.startswith("1") else "\n".join(own)
    )
    found = weighed(text if form.startswith("1") else form.format(text))
    assert found.p_value is not None
    assert found.p_value < 1e-6
    assert "contaminated (10 exact, 0 near, 0 in the format alone)" in found.sentence


def test_a_table_of_bars_with_a_header_is_read() -> None:
    header = f"| {' | '.join(SHIPS.columns)} |"
    rows = [f"| {' | '.join(cell or '' for cell in row)} |" for row in SHIPS.rows[:LISTED_INSTANCES]]
    assert "10 exact" in weighed("\n".join([header, "|---" * len(SHIPS.columns) + "|", *rows])).sentence


def test_an_index_in_front_is_no_cell() -> None:
    assert "10 exact" in weighed("\n".join(f"{place},{line}" for place, line in enumerate(lines()))).sentence


def test_rows_of_elsewhere_are_of_the_format_alone() -> None:
    found = weighed("\n".join(lines(count=200)[150:160]))
    assert found.p_value is not None
    assert found.p_value > LEVEL
    assert "suspicious (0 exact" in found.sentence


def test_one_row_is_enough_for_the_published_reading_alone() -> None:
    text = "\n".join([lines()[0], *lines(count=200)[150:159]])
    assert read(text).paper_hit
    assert (weighed(text).p_value or 0) > LEVEL
    assert TEST.published is not None
    assert TEST.published.detects(1, 1)
    assert not TEST.published.detects(0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["guesser", "mode", "schema-expert"])
def test_who_guesses_is_not_found(who: str) -> None:
    p_values = [weighed(reply_of(who, asked(), SHIPS, seed).text).p_value or 0 for seed in range(8)]
    assert min(p_values) > LEVEL


def test_declining_and_talk_are_no_answer() -> None:
    for text in ("I cannot recite rows of this dataset.", "It is a table of ships."):
        assert not read(text).readable
        assert weighed(text).answered == 0
    assert not read("", state=ReplyState.REFUSED).readable


def test_the_last_line_of_a_cut_answer_does_not_count() -> None:
    own = "\n".join(lines(count=2))
    assert len(read(own, state=ReplyState.TRUNCATED).right) < len(read(own).right)


def test_texts_that_are_recited_are_found_and_fluent_ones_are_not() -> None:
    table = texts()
    own = [row[0] or "" for row in table.rows]
    assert TEST.uninformative([asked(table)], LEVEL) is None
    assert (weighed("\n".join(own[:10]), table).p_value or 0) < 1e-6
    assert read("\n".join(own[:10]), table).paper_hit
    others = weighed("\n".join(own[30:40]), table)
    assert (others.p_value or 0) > LEVEL
    assert "0 exact" in others.sentence
    known: Sequence[str] = [own[0], *own[30:39]]
    assert (weighed("\n".join(known), table).p_value or 0) > LEVEL, "one text alone may be known from elsewhere"


def test_tables_of_all_combinations_and_of_few_rows_are_skipped() -> None:
    every = made_table(("a", "b", "c"), [(str(a), str(b), str(c)) for a in range(3) for b in "xy" for c in "pq"], "all")
    with pytest.raises(Skip, match="every combination"):
        TEST.queries(every, IS, Random(0))
    with pytest.raises(Skip, match="too few rows"):
        TEST.queries(made_table(("a", "b"), [("1", "2"), ("2", "5"), ("4", "9")], "few"), IS, Random(0))
