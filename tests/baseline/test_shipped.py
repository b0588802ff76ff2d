"""What comes with the package about the default tables is what would be found out about them now."""

import json
from pathlib import Path

import pytest

from tabcontam.baseline import stored_facts
from tabcontam.runs.run import DATASETS
from tabcontam.tables.table import Table, load_table
from tests import made_tables, shipped


def near(one: object, other: object) -> bool:
    """Whether two stored facts are the same but for the last digits, in which libraries may differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(near(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(near, one, other))
    return one == other or (isinstance(one, float) and isinstance(other, float) and one == pytest.approx(other))


@pytest.mark.parametrize("name", DATASETS)
def test_nothing_is_left_to_find_out_about_a_default_table(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def computed() -> None:
        raise AssertionError("something had to be found out: run python -m tests.shipped")

    table = load_table(name)
    monkeypatch.setattr(stored_facts, "one_thread", computed)
    shipped.plan(table)
    assert stored_facts.is_shipped(table)


def test_another_table_is_found_out_about_here() -> None:
    table: Table = made_tables.ships.__wrapped__(40)
    assert not stored_facts.is_shipped(table)


@pytest.mark.slow
@pytest.mark.parametrize("name", DATASETS)
def test_it_is_what_would_be_found_now(name: str, tmp_path: Path) -> None:
    table = load_table(name)
    now = shipped.found(load_table(name), tmp_path)
    assert now.keys() == stored_facts._shipped(table).keys()
    for file, content in stored_facts._shipped(table).items():
        assert near(json.loads(content), json.loads(now[file])), f"{file} differs: run python -m tests.shipped"
