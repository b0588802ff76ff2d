"""Faults of tabmemcheck that concern tests we have too, each named after what went wrong there.

`tests/test_peer_faults.py` has them for the package as a whole. These are tested elsewhere:

| what went wrong | tested by |
|---|---|
| a baseline counted what the LLM says | test_first_token.py |
| an answer that holds the row was the row | test_row_completion.py |
| the best of four continuations was shown | test_header.py |
| empty answers, and fewer than nine rows, were errors | test_header.py |
| answers that do not parse were an error, and `.28` not 0.28 | test_feature_completion.py |
| a refusal was a wrong row | test_row_completion.py |
| a row with a line break in a cell was two | test_row_completion.py |
| all of these, beside the package itself | test_parity.py |
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reply, ReplyState, Test, Trial
from tabcontam.evidence.registry import all_tests
from tabcontam.evidence.rows.answer_length import MOST, tokens_in
from tabcontam.extensions.papers.memcheck.csv_completion_tests import CsvFeatureCompletion, RowCompletion
from tabcontam.extensions.papers.memcheck.csv_row_tests import MARKS, RawTest
from tabcontam.extensions.papers.memcheck.first_token import FirstToken, texts_of
from tabcontam.extensions.papers.memcheck.header import Header
from tabcontam.extensions.papers.memcheck.sampling import Sampling
from tabcontam.tables.readers.base import TextFormat
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table, load_table
from tests.answerers import reply_of
from tests.made_tables import made_table, ships

CSV = load_serializers()["csv"]
LEVEL = 0.05
OWN = [test for test in all_tests() if test.own_marks >= MARKS]


@cache
def wide(columns: int, digits: int) -> Table:
    """Measurements of many sensors, in no order."""
    rng = Random(columns)
    cells = [tuple(f"{rng.gauss(50, 20):.{digits}f}" for _ in range(columns)) for _ in range(60)]
    return made_table([f"sensor_{number}" for number in range(columns)], cells)


def queries(test: Test, table: Table) -> Sequence[Query]:
    return test.planned(table, CSV, seeded(table, 0, test.id))


@cache
def usual(test: Test) -> Sequence[Query]:
    """The queries about a table of ships, of which what is guessed cheaply is kept with no other table."""
    return queries(test, replace(ships(60)))


def weighed(test: Test, asked: Sequence[Query], replies: Sequence[Reply]) -> Evidence:
    pairs = zip(asked, replies, strict=True)
    return test.weigh([Trial(query, reply, test.read(query, reply, CSV)) for query, reply in pairs], LEVEL)


# --- files: `header=False` dropped the first row, and of a long file rows and frame differed by one


@pytest.mark.slow
def test_a_file_without_a_header_keeps_its_first_row(tmp_path: Path) -> None:
    """It took the first row for names, and dropped the next one besides where it was told that there are none."""
    path = tmp_path / "plain.csv"
    path.write_text("".join(f"{10 + 7 * row % 60},{row * row % 97},{'abc'[row % 3]}\n" for row in range(60)))
    table = load_table(str(path), form=TextFormat(header=False))
    assert table.rows[:2] == (("10", "0", "a"), ("17", "1", "b"))
    assert len(table.rows) == len(texts_of(table)) == 60
    first = queries(Header(), table)[0]
    assert first.prompt.completion == "10,0,a\n17,", "no line of names that the file does not have"
    assert first.expected[:2] == ("1", "b")


@pytest.mark.slow
def test_a_long_file_has_as_many_beginnings_as_rows(tmp_path: Path) -> None:
    """From 100,000 rows on it had one row fewer than beginnings, and stopped with an error."""
    rng = Random(1)
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "".join(f"{rng.randrange(900)},{rng.randrange(9)}\n" for _ in range(100_002)))
    table = load_table(str(path), whole=True)
    assert len(table.rows) == len(texts_of(table)) == 100_002
    sample = load_table(str(path))
    assert len(sample.rows) == len(texts_of(sample)) < sample.rows_in_file == 100_002


# --- wide tables: no delimiter was found, no query could be made, and answers were cut at a fixed length


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize(
    ("test", "table"),
    [(FirstToken(), wide(6, 100)), (CsvFeatureCompletion(), wide(48, 9)), (Header(), wide(6, 100))],
    ids=lambda one: str(getattr(one, "id", "")),
)
def test_a_wide_table_is_asked_with_room_for_the_answer(test: RawTest, table: Table) -> None:
    """Of 122 and 144 columns it said that it could not tell the delimiter, or make a query."""
    assert len(CSV.row(table.columns, table.rows[0])) > 500, "more than it asks for"
    for query in queries(test, replace(table)):
        truth = query.answering.text(query, query.answering.truth(query), query.prompt)
        assert tokens_in(truth) <= query.max_tokens or query.max_tokens >= MOST
        assert test.read(query, Reply(truth, ReplyState.OK), CSV).paper_hit


@pytest.mark.slow
def test_who_knows_a_wide_table_is_found() -> None:
    """A continuation had 500 characters, so less than a row."""
    test, table = RowCompletion(), wide(6, 100)
    asked = queries(test, table)
    assert all(tokens_in(CSV.row(query.asked, query.expected)) <= query.max_tokens for query in asked)
    found = {
        kind: weighed(test, asked, [reply_of(kind, query, table) for query in asked]).p_value
        for kind in ("oracle", "memoriser:0.5", "guesser")
    }
    assert [kind for kind, value in found.items() if value is not None and value <= LEVEL] == [
        "oracle",
        "memoriser:0.5",
    ]


@pytest.mark.slow
def test_a_row_that_is_longer_than_any_answer_counts_as_far_as_it_came() -> None:
    """What was cut was compared with the whole row, so that nobody could know it."""
    rng, test = Random(2), RowCompletion()
    rows = [(f"{rng.randrange(900)}", f"{rng.randrange(90)}", "7" * MOST + f"{place}") for place in range(60)]
    asked = queries(test, made_table(("first", "second", "digits"), rows))
    for query in asked:
        text = query.answering.text(query, query.answering.truth(query), query.prompt)
        assert tokens_in(text) > query.max_tokens == MOST
        reading = test.read(query, Reply(text[:MOST], ReplyState.TRUNCATED), CSV)
        assert set(reading.right) <= {"first", "second"}
        assert not reading.hit
        assert not reading.paper_hit


# --- limits and settings of one test that were another's


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("test", [test for test in OWN if test.id != "header"], ids=lambda test: str(test.id))
def test_the_room_for_an_answer_says_nothing_of_it(test: Test) -> None:
    """A base model was cut at the length of the right row, and a first token at its characters: `The row begins...`."""
    (limit,) = {query.max_tokens for query in usual(test)}
    assert limit >= 16


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_the_temperature_of_draws_is_that_of_draws_alone() -> None:
    """It was a setting of the whole package, and stayed where a draw stopped with an error."""
    for test in OWN:
        found = {query.prompt.temperature for query in usual(test)}
        assert found == ({0.7} if isinstance(test, Sampling) else {0.0})


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.parametrize("test", OWN, ids=lambda test: str(test.id))
def test_the_same_seed_asks_the_same(test: Test) -> None:
    """Samples and the names of features took no generator, so that nobody could ask the same again."""
    random.seed(len(usual(test)))
    again = queries(test, replace(ships(60)))
    assert [(query.id, query.prompt) for query in again] == [(query.id, query.prompt) for query in usual(test)]


@pytest.mark.slow
def test_rows_of_which_half_begin_alike_are_skipped_with_the_reason() -> None:
    """It stopped with an error: `Failed to construct valid first tokens.`"""
    table = made_table(("kind", "number"), [(("old oak", "ash tree")[place % 2], f"{place}") for place in range(60)])
    with pytest.raises(Skip, match="half of the rows begin"):
        queries(FirstToken(), table)
