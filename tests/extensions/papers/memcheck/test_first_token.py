"""The first token test of Bordt et al.: how many characters are compared, and with what chance they are right."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.base import Query, Reading, Reply, ReplyState, Trial
from tabcontam.extensions.papers.memcheck.first_token import FirstToken
from tabcontam.tables import row_draws
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests.answerers import reply_of
from tests.made_tables import made_table

TEST = FirstToken()
IS = load_serializers()["is"]
LEVEL = 0.05


def queries(table: Table, seed: int = 0) -> Sequence[Query]:
    return TEST.planned(table, IS, row_draws.seeded(table, seed, TEST.id))


def read(query: Query, text: str, state: ReplyState = ReplyState.OK) -> Reading:
    return TEST.read(query, Reply(text, state), IS)


def weighed(asked: Sequence[Query], texts: Sequence[str]) -> float:
    trials = [Trial(one, Reply(text, ReplyState.OK), read(one, text)) for one, text in zip(asked, texts, strict=True)]
    value = TEST.weigh(trials, LEVEL).p_value
    assert value is not None
    return value


@cache
def catches(rows: int = 160) -> Table:
    """Catches of fish in no order: of 40 % the same kind, the others of many."""
    rng = Random(3)
    kinds = ["Bleak", *(f"{letter}lond" for letter in "ACDEFGHIKLMNOPRSTUVWZ")]
    weights = [14, *[1] * (len(kinds) - 1)]
    cells = [(rng.choices(kinds, weights)[0], str(rng.randrange(5, 90)), str(rng.randrange(400))) for _ in range(rows)]
    return made_table(("fish", "length", "weight"), cells)


@pytest.mark.slow
def test_the_beginning_of_a_row_is_read_from_a_field_a_row_and_behind_an_announcement() -> None:
    query = queries(catches())[0]
    begun = query.expected[0]
    for text in (f"{begun}lond", f"{begun}lond,12,3", f"The next row begins:\n{begun}lond", f"```\n{begun}lond\n```"):
        assert read(query, text).hit, text
    rows = query.prompt.completion.rstrip()
    assert read(query, f"{rows}\n{begun}lond,12,3").hit  # behind the rows that were shown
    assert not read(query, rows).hit
    assert "Write the first field of the row" in query.prompt.chat[-1].content
    assert not read(query, "zlond").hit


@pytest.mark.slow
def test_a_line_of_names_and_a_number_before_the_row_are_no_beginning() -> None:
    for query in queries(catches()):
        begun = query.expected[0] or ""
        row = f"{begun}lond,12,345"
        for said in (f"11. {row}", f"fish,length,weight\n{row}", f"fish,length,weight\n11. {row}"):
            assert read(query, said).hit, said


@pytest.mark.slow
def test_rows_that_begin_with_a_number_and_a_full_stop_are_read_as_they_are() -> None:
    rng = Random(5)
    clubs = [(f"{rng.randrange(1, 9)}. FC", str(rng.randrange(90)), str(rng.randrange(400))) for _ in range(160)]
    for query in queries(made_table(("club", "goals", "fans"), clubs)):
        assert read(query, f"{query.expected[0]}. FC,1,2").hit


@pytest.mark.slow
def test_so_many_characters_are_compared_that_no_half_of_the_rows_begins_alike() -> None:
    assert {query.expected[0] for query in queries(catches())} > {"B"}
    rows = [(f"no. {place * 7 % 100:02}", str(place % 9)) for place in range(60)]
    lengths = {len(query.expected[0] or "") for query in queries(made_table(("name", "grade"), rows))}
    assert lengths == {5}
    with pytest.raises(Skip, match="begin with the same"):
        queries(made_table(("kind", "weight"), [("ab"[place % 2] * 9, str(place * 7 % 101)) for place in range(200)]))


@pytest.mark.slow
def test_the_baseline_is_how_often_the_file_begins_so_and_not_how_often_the_model_says_so() -> None:
    """The authors' package counts how often the LLM says the most frequent beginning: 30 of 30 if it says no other."""
    table = catches()
    asked = queries(table)
    most = Counter(row[0] for row in table.rows).most_common(1)[0][0]
    texts = [f"{most},1,1"] * len(asked)
    hits = sum(read(one, text).hit or False for one, text in zip(asked, texts, strict=True))
    trials = [Trial(one, Reply(text, ReplyState.OK), read(one, text)) for one, text in zip(asked, texts, strict=True)]
    evidence = TEST.weigh(trials, LEVEL)
    assert evidence.expected_hits is not None
    assert 0.3 * len(asked) < evidence.expected_hits < 0.65 * len(asked), "about what the file has, raised by its error"
    assert hits < len(asked)
    assert weighed(asked, texts) > LEVEL
    assert weighed(asked, ["zzz,1,1"] * len(asked)) > LEVEL


def test_who_knows_the_rows_is_found_and_who_guesses_is_not() -> None:
    table = catches()
    asked = queries(table)
    assert weighed(asked, [reply_of("oracle", query, table).text for query in asked]) <= LEVEL
    assert weighed(asked, [reply_of("guesser", query, table).text for query in asked]) > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 7])
def test_who_counts_on_is_not_found(step: int) -> None:
    rng = Random(0)
    rows = [(str(1000 + step * place), str(rng.randrange(90))) for place in range(300)]
    table = made_table(("no", "weight"), rows)
    asked = queries(table)
    assert weighed(asked, [",".join(map(str, rows[query.row or 0])) for query in asked]) > LEVEL


def test_what_is_found_lies_in_the_first_column() -> None:
    assert {tuple(query.features.lies_in.values()) for query in queries(catches())} == {("fish",)}


def test_a_refusal_is_no_answer() -> None:
    query = queries(catches())[0]
    for text, state in (
        ("I'm sorry, but I cannot recall it.", ReplyState.OK),
        ("", ReplyState.EMPTY),
        ("A", ReplyState.TRUNCATED),
    ):
        assert not read(query, text, state).readable
