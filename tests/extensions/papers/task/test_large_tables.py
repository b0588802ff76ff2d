"""Tests that look for rows of a table, where the table is large: the columns that number its rows, and its sample."""

from pathlib import Path
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.evidence.registry import by_id
from tabcontam.extensions.papers.task.written_rows import order_of
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import load_table
from tests.tables.large.test_large import ROWS, small, table_of, written  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("small")


@pytest.mark.slow
def test_a_column_that_numbers_the_rows_is_known_as_such(tmp_path: Path) -> None:
    rng = Random(15)
    rows = [
        [str(1000 + 2 * place), rng.choice("abcdefgh"), str(rng.random()), rng.choice("yn")] for place in range(ROWS)
    ]
    table = load_table(str(written(tmp_path / "a.csv", ["id", "x", "y", "target"], rows)), target="target")
    assert table.places != range(len(table.rows))
    assert "id" not in order_of(table).columns
    rows[-1][0] = "7"
    other = load_table(str(written(tmp_path / "b.csv", ["id", "x", "y", "target"], rows * 3)), target="target")
    assert "id" in order_of(other).columns


@pytest.mark.slow
@pytest.mark.parametrize("test", ["task_examples", "sampling"])
def test_rows_that_may_be_any_of_the_file_are_not_looked_for_in_a_sample(tmp_path: Path, test: str) -> None:
    table = load_table(str(written(tmp_path / "a.csv", *table_of(24))), target="target")
    with pytest.raises(Skip, match=r"any of the file's 900 rows, but only \d+ are kept"):
        by_id()[test].queries(table, load_serializer("is"), Random(1))
