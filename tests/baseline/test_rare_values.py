"""Rows that share a rare value with the one in question, in tables of any size."""

from random import Random

import pytest

from tabcontam.baseline.rare_values import same_rare_value
from tabcontam.tables.table import Cell
from tests.baseline.made import chances, guess_chain, view


def groups(rows: int, seed: int = 0) -> dict[str, list[Cell]]:
    """Travellers in groups of one to four, who share a cabin, in random order."""
    rng = Random(seed)
    found: list[tuple[Cell, Cell, Cell]] = []
    while len(found) < rows:
        group, cabin = f"G{len(found):05d}", f"{rng.choice('ABCDEFG')}/{rng.randrange(900)}/{rng.choice('PS')}"
        found += [(group, cabin, str(rng.randrange(80))) for _ in range(rng.randint(1, 4))]
    rng.shuffle(found)
    names = ("group", "cabin", "age")
    return {name: [row[place] for row in found] for place, name in enumerate(names)}


def with_mates(cells: dict[str, list[Cell]], rows: range) -> list[int]:
    return [row for row in rows if cells["group"].count(cells["group"][row]) > 1]


def test_the_cabin_of_a_group_is_known_by_its_other_members() -> None:
    cells = groups(300)
    rows = with_mates(cells, range(60))
    seen = view(cells, "cabin", rows, learned=range(300))  # each is left out where it is predicted
    found = chances(same_rare_value(seen), seen.target, rows)
    assert sum(chance > 0.4 for chance in found) == len(rows)


def test_a_row_is_not_its_own_kin() -> None:
    cells = groups(300)
    alone = [row for row in range(300) if cells["group"].count(cells["group"][row]) == 1][:20]
    seen = view(cells, "cabin", alone, learned=range(300))
    assert chances(same_rare_value(seen), seen.target, alone) == [0.0] * len(alone)


@pytest.mark.slow
def test_members_of_a_group_are_known_however_large_the_table() -> None:
    cells = groups(12_000)
    rows = with_mates(cells, range(150))
    guesses = guess_chain(cells, ["group", "age"], ["cabin"], rows)
    sure = [guess.chance_of(cells["cabin"][row] or "") for (guess,), row in zip(guesses, rows, strict=True)]
    assert sum(chance > 0.5 for chance in sure) > 0.95 * len(rows)


def test_a_column_of_frequent_values_has_no_kin() -> None:
    cells: dict[str, list[Cell]] = {"kind": ["a", "b"] * 100, "size": [str(row) for row in range(200)]}
    assert same_rare_value(view(cells, "size", range(10))) == []


def test_missing_cells_make_nobody_kin() -> None:
    cells: dict[str, list[Cell]] = {"group": [None] * 100 + [f"g{row // 2}" for row in range(100)]}
    cells["cabin"] = [*["X"] * 100, *(f"c{row // 2}" for row in range(100))]
    seen = view(cells, "cabin", range(10))
    assert chances(same_rare_value(seen), seen.target, range(10)) == [0.0] * 10
