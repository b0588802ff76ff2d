"""Feature completion of Bordt et al., as CSV: which cells are asked, and how their values are read."""

from collections.abc import Sequence
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.checks import rendered
from tabcontam.extensions.papers.memcheck.csv_completion_tests import CsvFeatureCompletion
from tabcontam.tables import row_draws
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests.answerers import reply_of
from tests.made_tables import made_table, ships

TEST = CsvFeatureCompletion()
IS = load_serializers()["is"]
CSV = load_serializers()["csv"]
LEVEL = 0.05
SHIPS = ships(120)


def queries(table: Table, seed: int = 0) -> Sequence[Query]:
    return TEST.planned(table, IS, row_draws.seeded(table, seed, TEST.id))


def read(query: Query, text: str) -> Reading:
    return TEST.read(query, Reply(text, ReplyState.OK), IS)


def test_twenty_five_rows_are_asked_without_the_feature_of_most_values() -> None:
    table = SHIPS
    asked = queries(table)
    assert len(asked) == 25 == len({query.row for query in asked})
    assert {query.asked for query in asked} == {("master",)}, "hullNo is the first column, which no base model can name"
    for query in asked:
        assert len(query.rows) == 6
        assert all(query.expected[0] != table.rows[row][3] for row in query.rows[:-1])
        assert str(query.expected[0]) not in rendered(query.prompt)
        assert query.prompt.completion.startswith(",".join(table.columns) + "\n")


@pytest.mark.slow
def test_numbers_are_compared_as_numbers() -> None:
    """The authors' package holds `22.0` for another value than `22`, and `.28` for another than `0.28`."""
    rng = Random(1)
    rows = [(f"p{place}", f".{rng.randrange(100, 999)}", f"{rng.randrange(9)}.0") for place in range(200)]
    query = queries(made_table(("name", "share", "grade"), rows))[0]
    assert query.asked == ("share",)
    value = query.expected[0] or ""
    for text in (value, f"0{value}", f"share = 0{value}", f"0{value}0"):
        reading = read(query, text)
        assert (reading.hit, reading.paper_hit) == (True, True), text
    assert not read(query, f"1{value}").paper_hit


def test_the_beginning_of_the_row_may_stand_before_the_value() -> None:
    for query in queries(SHIPS):
        begun = query.prompt.completion.rpartition("\n")[2]
        value = CSV.value(query.expected[0])
        for said in (f"{begun}{value}", f"The row:\n{begun}{value},7"):
            assert read(query, said).hit, said
            assert read(query, said).paper_hit
        assert not read(query, f"{begun}Nobody").hit


def test_answers_of_which_none_can_be_read_are_no_error() -> None:
    """The authors' package raises KeyError where no answer has the feature's name in it."""
    asked = queries(SHIPS)
    texts = ["I cannot recall the rows of this file, sorry."] * len(asked)
    trials = [
        Trial(query, Reply(text, ReplyState.OK), read(query, text)) for query, text in zip(asked, texts, strict=True)
    ]
    evidence = TEST.weigh(trials, LEVEL)
    assert (evidence.answered, evidence.hits) == (0, 0)
    assert TEST.published is not None
    assert TEST.published.hits(trials) == 0


def test_a_table_without_a_feature_of_many_values_is_skipped() -> None:
    with pytest.raises(Skip):
        queries(made_table(("a", "b"), [(str(place % 3), str(place % 4)) for place in range(60)]))


def test_who_remembers_half_is_found_and_who_guesses_is_not() -> None:
    table = SHIPS
    asked = queries(table)
    for kind, found in {"memoriser:0.5": True, "guesser": False, "decliner": False}.items():
        replies = [reply_of(kind, query, table) for query in asked]
        trials = [Trial(query, reply, read(query, reply.text)) for query, reply in zip(asked, replies, strict=True)]
        p_value = TEST.weigh(trials, LEVEL).p_value
        assert (p_value is not None and p_value <= LEVEL) is found, kind
