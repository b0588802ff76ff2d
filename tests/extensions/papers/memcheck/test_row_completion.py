"""Row completion of Bordt et al.: which places are asked, what counts as the file's row, and what it weighs."""

from collections.abc import Sequence
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Evidence, Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.checks import rendered
from tabcontam.evidence.rows import completion_tests
from tabcontam.extensions.papers.memcheck.csv_completion_tests import RowCompletion
from tabcontam.extensions.papers.thresholds import CSV_ROWS_BEFORE
from tabcontam.tables import row_draws
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests.answerers import reply_of
from tests.evidence.rows.test_completion_tests import sure
from tests.evidence.rows.test_row_test import (
    test_each_value_of_the_table_is_read_however_unlikely_it_is_there as each_value_is_read,
)
from tests.made_tables import made_table, ships

TEST = RowCompletion()
IS = load_serializers()["is"]
CSV = load_serializers()["csv"]
LEVEL = 0.05
SHIPS = ships(120)


def queries(table: Table, seed: int = 0) -> Sequence[Query]:
    return TEST.planned(table, IS, row_draws.seeded(table, seed, TEST.id))


def read(query: Query, text: str, state: ReplyState = ReplyState.OK) -> Reading:
    return TEST.read(query, Reply(text, state), IS)


def weighed(asked: Sequence[Query], texts: Sequence[str]) -> Evidence:
    replies = [Reply(text, ReplyState.OK) for text in texts]
    pairs = zip(asked, replies, strict=True)
    return TEST.weigh([Trial(query, reply, read(query, reply.text)) for query, reply in pairs], LEVEL)


def line(query: Query) -> str:
    return CSV.row(query.asked, query.expected)


@pytest.mark.slow
def test_twenty_five_places_are_asked_with_the_ten_rows_before_them_as_lines_of_the_file() -> None:
    table = SHIPS
    asked = queries(table)
    assert len(asked) == 25 == len({query.row for query in asked})
    for query in asked:
        assert query.row is not None
        assert query.rows == tuple(range(query.row - CSV_ROWS_BEFORE, query.row))
        shown = "\n".join(CSV.row(table.columns, table.rows[row]) for row in query.rows)
        assert query.prompt.completion == shown + "\n"
        assert shown in query.prompt.chat[-1].content
        assert line(query) not in rendered(query.prompt)


@pytest.mark.slow
def test_a_row_may_have_its_number_as_a_field_before_it() -> None:
    for query in queries(SHIPS):
        for said in (f"11,{line(query)}", f"Here it is:\n11,{line(query)}", f"11. {line(query)}"):
            assert read(query, said).hit, said
        assert read(query, f"11,{line(query)}").paper_hit


@pytest.mark.slow
def test_a_comma_within_a_cell_makes_no_number_of_the_first_one() -> None:
    rng = Random(6)
    rows = [(str(n), f"Quill,{rng.randrange(999)}", str(rng.randrange(999)), rng.choice("mf")) for n in range(160)]
    for query in queries(made_table(("number", "name", "age", "sex"), rows)):
        number, name, age, sex = query.expected
        assert not read(query, f"{number},{name},{age},{sex}").readable, "which comma is the cell's is unknown"
        assert read(query, line(query)).hit


def test_the_dataset_is_not_named() -> None:
    for query in queries(SHIPS):
        said = rendered(query.prompt)
        assert not any(name in said for name in (*SHIPS.names, *SHIPS.columns))


@pytest.mark.slow
def test_no_place_is_asked_whose_row_is_one_of_the_ten_before() -> None:
    rows = [(str(place % 3), "same" if place % 7 else f"n{place}") for place in range(200)]
    table = made_table(("one", "two"), rows)
    for query in queries(table):
        assert table.rows[query.row or 0] not in [table.rows[row] for row in query.rows]
    with pytest.raises(Skip):
        queries(made_table(("one", "two"), [("a", "b"), ("c", "d")] * 40))


def test_a_table_of_fewer_rows_than_a_prompt_shows_is_skipped() -> None:
    with pytest.raises(Skip):
        queries(ships(CSV_ROWS_BEFORE))


def test_of_a_large_table_no_prompt_shows_a_row_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion_tests, "predict_rows", sure)
    monkeypatch.setattr(completion_tests, "least_sure", lambda table, columns, count, before=False: columns[:count])
    seen = [row for query in queries(ships(2000, 5)) for row in (*query.rows, query.row)]
    assert len(seen) == len(set(seen)) == 25 * (CSV_ROWS_BEFORE + 1)


def test_a_row_that_stands_in_another_line_is_not_exact() -> None:
    """The authors' package counts an answer that holds the row's text somewhere in it."""
    query = queries(SHIPS)[0]
    assert read(query, line(query)).paper_hit
    assert line(query).strip() in f"7{line(query)}9"
    assert not read(query, f"7{line(query)}9").paper_hit
    other = next(other for other in queries(SHIPS) if other.row != query.row)
    assert not read(query, f"{line(other)}\n{line(query)}").paper_hit, "the first row is the answer"
    assert read(query, f"Here is the next row:\n```\n{line(query)}\n```").paper_hit


@pytest.mark.parametrize("written", ["{};", '"{}";', "{}\t", "{}|", "{}, ", '"{}",'])
def test_a_row_may_be_written_as_a_file_of_another_delimiter_has_it(written: str) -> None:
    query = next(query for query in queries(SHIPS) if None not in query.expected)
    text = "".join(written.format(cell) for cell in query.expected)
    found = read(query, text[: -len(written.partition("}")[2].strip('"'))])
    assert found.readable
    assert found.paper_hit
    assert found.right == query.asked


@pytest.mark.slow
def test_values_are_compared_as_values() -> None:
    """The authors' package holds `.28` for another text than `0.28`, and `22` for another than `22.0`."""
    rows = [(f"{place}.0", f".{place % 90 + 10}", f"name {place * 37 % 101}") for place in range(50)]
    query = next(query for query in queries(made_table(("a", "b", "c"), rows)) if query.row == query.row)
    a, b, c = (cell or "" for cell in query.expected)
    assert read(query, f"{a.removesuffix('.0')},0{b},{c}").paper_hit
    assert not read(query, f"{a.removesuffix('.0')}1,0{b},{c}").paper_hit


def test_a_missing_value_has_to_be_missing_for_the_paper_and_counts_for_nothing_else() -> None:
    table = SHIPS
    query = next(query for query in queries(table, 1) if None in query.expected)
    assert read(query, line(query)).paper_hit
    cells = ["Ostrimouth" if cell is None else cell for cell in query.expected]
    assert not read(query, CSV.row(query.asked, cells)).paper_hit
    assert not read(query, line(query)).right or None not in read(query, line(query)).right


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("I'm sorry, but I cannot recall the contents of this file.", ReplyState.OK),
        ("", ReplyState.EMPTY),
        ("", ReplyState.REFUSED),
        ("12,", ReplyState.TRUNCATED),
    ],
)
def test_a_refusal_is_no_answer_and_no_miss(text: str, state: ReplyState) -> None:
    """The authors' package divides by all queries, so that whoever refuses remembers little."""
    query = queries(SHIPS)[0]
    reading = read(query, text, state)
    assert not reading.readable
    assert not reading.paper_hit
    assert TEST.weigh([Trial(query, Reply(text, state), reading)], LEVEL).answered == 0


@pytest.mark.slow
def test_cells_with_commas_quotes_and_line_breaks_stay_cells() -> None:
    rng = Random(0)
    rows = [
        (str(place), f'said "{rng.randrange(90)}", twice', f"two\nlines {rng.randrange(90)}") for place in range(120)
    ]
    table = made_table(("no", "quote", "lines"), rows)
    for query in queries(table):
        assert read(query, line(query)).right == table.columns
        assert len(query.prompt.completion.splitlines()) == CSV_ROWS_BEFORE


def test_who_remembers_half_is_found_and_who_guesses_is_not() -> None:
    table = SHIPS
    asked = queries(table)
    for kind, found in {"memoriser:0.5": True, "oracle": True, "guesser": False, "mode": False}.items():
        evidence = weighed(asked, [reply_of(kind, query, table).text for query in asked])
        assert evidence.p_value is not None
        assert bool(evidence.p_value <= LEVEL) is found, kind


def repeating(period: int, count: int = 330) -> Table:
    """Rows of which each repeats the one a period before, but for a counter and a cell in ten."""
    rng = Random(period)
    rows = [(str(1000 + place), f"v{rng.randrange(50)}", str(rng.randrange(300))) for place in range(period)]
    for place in range(period, count):
        _, word, number = rows[place - period]
        rows.append((str(1000 + place), word if rng.random() > 0.1 else f"v{rng.randrange(50)}", number))
    return made_table(("no", "word", "number"), rows)


@pytest.mark.slow
@pytest.mark.parametrize("period", [7, 10])
def test_who_copies_from_the_rows_that_are_shown_is_not_found(period: int) -> None:
    table = repeating(period)
    asked = queries(table)

    def copied(query: Query) -> str:
        row = query.row or 0
        return ",".join([str(1000 + row), *map(str, table.rows[row - period][1:])])

    evidence = weighed(asked, [copied(query) for query in asked])
    assert evidence.p_value is not None
    assert evidence.p_value > LEVEL


@pytest.mark.slow
def test_each_value_of_the_table_is_read_however_unlikely_it_is_there() -> None:
    each_value_is_read(RowCompletion())
