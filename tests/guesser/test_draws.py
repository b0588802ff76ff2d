"""What is drawn for a cell comes from the distribution of the cell itself, in the table's own writing."""

from random import Random
from statistics import fmean

import pytest

from tabcontam.guesser.draws import NEAR, can_be_drawn, drawn
from tabcontam.statistics.ranks import rank_sum_tail
from tabcontam.tables.table import Cell, Table
from tests.made_tables import made_table

COUNT = 19


def shop(rows: int, seed: int = 0, decimals: int = 2) -> Table:
    """Prices that go with the kind, and a colour that goes with nothing."""
    rng = Random(seed)
    kinds = [rng.choice("abc") for _ in range(rows)]
    cells: list[tuple[Cell, ...]] = [
        (f"{number}", kind, f"{rng.gauss(10 * ord(kind) - 960, 3):.{decimals}f}", rng.choice(["red", "blue", "green"]))
        for number, kind in enumerate(kinds)
    ]
    return made_table(("number", "kind", "price", "colour"), cells)


def test_the_real_cell_ranks_among_the_draws_as_any_of_them() -> None:
    """By a scorer that knows the column's middle alone, and so ranks in the same way what is drawn and what is not."""
    tails = []
    for seed in range(12):
        table, rng, ranks = shop(120, seed, decimals=0), Random(seed), []
        for row, one in drawn(table, "price", range(120), COUNT).items():
            middle = fmean(float(cell) for cell in table.column("price") if cell)
            values = [abs(float(value) - middle) for value, times in one.times.items() for _ in range(times)]
            own = abs(float(table.column("price")[row] or "nan") - middle)
            better, same = sum(value < own for value in values), sum(value == own for value in values)
            ranks.append(1 + better + rng.randint(0, same))
        assert len(ranks) > 100
        tails.append(rank_sum_tail(ranks, [COUNT + 1] * len(ranks)))
    assert min(tails) > 0.005
    assert max(tails) < 0.995


def test_draws_follow_what_the_guesser_knows() -> None:
    table = shop(120, decimals=0)
    found = drawn(table, "price", range(120), COUNT)
    for row, one in found.items():
        assert sum(one.times.values()) == COUNT
        assert abs(fmean(float(value) for value in one.times) - (10 * ord(table.column("kind")[row] or "") - 960)) < 9
        assert table.column("price")[row] in one.values
        assert len(one.near) == NEAR
        assert one.bits > 1


def test_numbers_are_written_as_the_column_writes_them() -> None:
    fixed = drawn(shop(200, decimals=1), "price", range(200), COUNT)
    assert {len(value.partition(".")[2]) for one in fixed.values() for value in one.values} == {1}
    plain = shop(200, decimals=1)
    rows = [(*row[:2], f"{float(row[2] or 0):g}", *row[3:]) for row in plain.rows]
    texts = [
        value
        for one in drawn(made_table(plain.columns, rows), "price", range(200), COUNT).values()
        for value in one.values
    ]
    assert not any(text.endswith(".0") for text in texts)


def test_a_column_that_writes_its_numbers_in_two_ways_draws_what_stands_in_other_rows() -> None:
    table = shop(200, decimals=0)
    rows = [(*row[:2], row[2] if number % 2 else f"{row[2]}.0", *row[3:]) for number, row in enumerate(table.rows)]
    mixed = made_table(table.columns, rows)
    values = {value for one in drawn(mixed, "price", range(200), COUNT).values() for value in one.values}
    assert values
    assert values <= set(mixed.column("price"))


def test_what_nobody_could_name_is_not_drawn() -> None:
    table = made_table(("name", "n"), [(f"name {number} of {number * 7}", str(number % 4)) for number in range(60)])
    assert drawn(table, "name", range(60), COUNT) == {}
    assert can_be_drawn(table, "name") == 0
    assert can_be_drawn(table, "n") == 1
    assert can_be_drawn(shop(120), "number") == 1
    assert drawn(shop(12), "price", range(12), COUNT) == {}
    assert drawn(table, "n", [], COUNT) == {}


def test_missing_cells_are_neither_asked_nor_drawn() -> None:
    table = shop(150, decimals=0)
    rows: list[tuple[Cell, ...]] = [
        (*row[:2], None if number % 3 == 0 else row[2], row[3]) for number, row in enumerate(table.rows)
    ]
    found = drawn(made_table(table.columns, rows), "price", range(150), COUNT)
    assert found
    assert all(row % 3 for row in found)
    assert all(value and value != "None" for one in found.values() for value in (*one.values, *one.near))


def test_the_draws_of_a_table_are_the_same_each_time_and_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    table = shop(100)
    turned = made_table(table.columns, table.rows[::-1])
    one, other = drawn(table, "colour", range(100), COUNT), drawn(turned, "colour", range(100), COUNT)
    assert [found.times for found in one.values()] == [found.times for found in reversed(other.values())]
