"""The token limit of an answer has room for the longest row, and is that of earlier runs where this is enough."""

from dataclasses import replace
from random import Random

import pytest

from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.answer_length import MOST, answer_tokens, tokens_in
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializers
from tabcontam.tables.table import Table
from tests.made_tables import ships

SERIALIZERS = load_serializers()
SHIPS = ships(60)


def wide(columns: int = 120, rows: int = 60) -> Table:
    rng = Random(5)
    cells = tuple(tuple(f"{rng.gauss(50, 20):.2f}" for _ in range(columns)) for _ in range(rows))
    names = tuple(f"sensor_{number}" for number in range(columns))
    return replace(SHIPS, columns=names, rows=cells, target=None, question=None)


@pytest.mark.slow
@pytest.mark.parametrize("serializer", list(SERIALIZERS))
def test_every_row_of_a_wide_table_fits_even_where_each_digit_is_a_token(serializer: str) -> None:
    table, form = wide(), SERIALIZERS[serializer]
    limit = answer_tokens(table, form, table.columns, 512)
    assert 512 < limit <= MOST
    for row in table.rows:
        written = form.row(table.columns, row)
        assert limit >= tokens_in(written) > sum(letter.isdigit() for letter in written)


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_the_limit_says_nothing_about_the_row_that_is_asked() -> None:
    for test in ("incomplete_completion", "full_completion", "feature_completion"):
        queries = by_id()[test].planned(wide(30), SERIALIZERS["is"], seeded(wide(30), 0, test))
        assert len({query.max_tokens for query in queries}) == 1


@pytest.mark.parametrize(
    ("test", "limit"), [("incomplete_completion", 256), ("full_completion", 512), ("feature_completion", 64)]
)
@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_an_ordinary_table_keeps_its_limit_and_so_its_stored_replies(test: str, limit: int) -> None:
    queries = by_id()[test].planned(replace(SHIPS), SERIALIZERS["is"], seeded(SHIPS, 0, test))
    assert {query.max_tokens for query in queries} == {limit}


def test_a_cell_without_end_asks_for_no_more_than_an_llm_can_write() -> None:
    table = replace(SHIPS, columns=("text",), rows=(("9" * 100_000,), ("a",), (None,)), target=None, question=None)
    assert answer_tokens(table, SERIALIZERS["is"], table.columns, 64) == MOST
