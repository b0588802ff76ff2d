"""The header test of Bordt et al.: where the file's text stops, how its continuation is read, and what it weighs."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Query, Reading, Reply, ReplyState, Trial
from tabcontam.extensions.papers.memcheck.header import Header
from tabcontam.tables import row_draws
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import FileReading, Table
from tests.answerers import reply_of
from tests.made_tables import made_table, ships

TEST = Header()
IS = load_serializers()["is"]
CSV = load_serializers()["csv"]
SHIPS = ships(80)
LEVEL = 0.05


def queries(table: Table = SHIPS) -> Sequence[Query]:
    return TEST.planned(table, IS, row_draws.seeded(table, 0, TEST.id))


def read(query: Query, text: str, state: ReplyState = ReplyState.OK) -> Reading:
    return TEST.read(query, Reply(text, state), IS)


def p_value(asked: Sequence[Query], kind: str, table: Table = SHIPS) -> float | None:
    replies = [reply_of(kind, query, table) for query in asked]
    trials = [Trial(query, reply, read(query, reply.text)) for query, reply in zip(asked, replies, strict=True)]
    return TEST.weigh(trials, LEVEL).p_value


def file_of(table: Table) -> str:
    return "\n".join(CSV.row(table.columns, row) for row in (table.columns, *table.rows))


@pytest.mark.slow
def test_the_text_is_the_beginning_of_the_file_and_stops_in_four_rows() -> None:
    whole = file_of(SHIPS)
    asked = queries()
    assert [query.row for query in asked] == [1, 3, 5, 7]
    for query in asked:
        assert whole.startswith(query.prompt.completion)
        assert query.prompt.chat[-1].content.endswith(query.prompt.completion)
        assert query.prompt.completion.count("\n") == (query.row or 0) + 1


@pytest.mark.slow
def test_what_is_asked_follows_in_the_file_and_no_cell_is_asked_twice() -> None:
    whole = file_of(SHIPS)
    asked = queries()
    for query in asked:
        text = query.answering.text(query, query.answering.truth(query), query.prompt)
        assert whole.startswith(query.prompt.completion + text)
        assert read(query, text).hit
        assert read(query, text).paper_hit
    names = [name for query in asked for name in query.asked]
    assert len(names) == len(set(names))


def test_a_file_that_begins_with_a_row_has_no_line_of_names() -> None:
    asked, without = queries(), queries(replace(SHIPS, read=FileReading(header=False)))
    for query, other in zip(asked, without, strict=True):
        assert query.prompt.completion == "\n".join([*CSV.header(SHIPS.columns), other.prompt.completion])
        text = other.answering.text(other, other.answering.truth(other), other.prompt)
        assert read(other, text).hit
        assert read(other, text).paper_hit


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_a_continuation_may_have_another_delimiter_than_the_prompt(sign: str) -> None:
    query = queries()[1]
    rows = [sign.join(cell or "" for cell in row) for row in SHIPS.rows[3:6]]
    begun = query.prompt.completion.rpartition("\n")[2]
    rest = sign.join(cell or "" for cell in SHIPS.rows[3][begun.count(",") :])
    for first in (rest, rows[0]):
        found = read(query, "\n".join([first, *rows[1:]]))
        assert found.paper_hit
        assert set(found.right) == {name for name, cell in zip(query.asked, query.expected, strict=True) if cell}


def test_a_row_that_is_begun_anew_and_a_preamble_are_read() -> None:
    query = queries()[1]
    text = query.answering.text(query, query.answering.truth(query), query.prompt)
    begun = query.prompt.completion.rpartition("\n")[2]
    for said in (begun + text, f",{text}", f"Here is how it goes on:\n{text}", f"```csv\n{begun}{text}\n```"):
        assert read(query, said).paper_hit, said
        assert read(query, said).right == read(query, text).right


@pytest.mark.parametrize("shape", ["{number}. {row}", "{number},{row}", "- {row}"])
def test_rows_may_be_counted_before_them(shape: str) -> None:
    query = queries()[1]
    text = query.answering.text(query, query.answering.truth(query), query.prompt)
    rows = (query.prompt.completion.rpartition("\n")[2] + text).splitlines()
    said = "\n".join(shape.format(number=number, row=row) for number, row in enumerate(rows, 4))
    assert read(query, said).paper_hit
    assert read(query, said).right == read(query, text).right


def test_the_rest_of_the_row_is_an_answer_and_rows_behind_it_count_where_they_are_given() -> None:
    query = queries()[3]
    text = query.answering.text(query, query.answering.truth(query), query.prompt)
    first = read(query, text.partition("\n")[0])
    assert first.readable
    assert first.paper_hit
    assert not first.hit
    assert set(first.right) < set(read(query, text).right)


@pytest.mark.parametrize("text", ["", "I'm sorry, but I cannot recall this file.", "that is all I know of it"])
def test_answers_that_are_empty_or_refuse_are_no_error_and_no_miss(text: str) -> None:
    """The authors' package stops with an error where all answers are empty."""
    trials = [
        Trial(query, Reply(text, ReplyState.OK if text else ReplyState.EMPTY), read(query, text)) for query in queries()
    ]
    assert TEST.weigh(trials, LEVEL).answered == 0


@pytest.mark.parametrize("rows", [2, 4, 5, 8])
def test_a_table_of_few_rows_is_asked_or_skipped(rows: int) -> None:
    """The authors' package stops with an error below nine rows."""
    table = ships(rows)
    try:
        asked = queries(table)
    except Skip:
        assert rows < 5
        return
    assert not any(query.chance for query in asked), "too small to tell memory from guessing"
    assert [query.row for query in asked] == [row for row in (1, 3, 5, 7) if row + 1 < rows]


def test_all_four_count_and_not_the_best() -> None:
    """The authors' package keeps the longest of four continuations, which looks good by chance."""
    asked = queries()
    guess = [reply_of("guesser", query, SHIPS).text for query in asked]
    known = asked[2].answering.text(asked[2], asked[2].answering.truth(asked[2]), asked[2].prompt)

    def p_of(texts: Sequence[str]) -> float:
        trials = [
            Trial(one, Reply(text, ReplyState.OK), read(one, text)) for one, text in zip(asked, texts, strict=True)
        ]
        found = TEST.weigh(trials, LEVEL)
        assert found.asked == 3, "the first rows count for nothing"
        assert found.p_value is not None
        return found.p_value

    assert p_of(guess) > LEVEL
    assert p_of([known, *guess[1:]]) == p_of(guess), "an answer to another query"
    assert p_of([*guess[:2], known, guess[3]]) < LEVEL


def test_who_remembers_half_of_the_rows_is_found_and_who_guesses_is_not() -> None:
    found = {kind: p_value(queries(), kind) for kind in ("oracle", "memoriser:0.5", "guesser", "mode")}
    assert [kind for kind, value in found.items() if value is not None and value <= LEVEL] == [
        "oracle",
        "memoriser:0.5",
    ]


@pytest.mark.slow
def test_a_table_that_counts_on_tells_nothing() -> None:
    rows = [(str(100 + place), str(place % 12), str(3 * place), "ab"[place % 2]) for place in range(240)]
    table = made_table(("no", "month", "sum", "side"), rows)
    asked = queries(table)
    value = p_value(asked, "oracle", table)
    assert value is None or value > LEVEL
