"""What is drawn for a cell comes from the distribution of the cell itself, in the table's own writing."""

from collections import Counter
from random import Random
from statistics import fmean

import pytest

from tabcontam.guesser.draws import NEAR, drawn
from tabcontam.statistics.ranks import rank_sum_tail
from tabcontam.tables.table import Cell, Table
from tests.made_tables import made_table

pytestmark = pytest.mark.slow  # guessers are fitted, and many tables made

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
    assert len(found) == 120
    for row, one in found.items():
        assert sum(one.times.values()) == COUNT
        assert abs(fmean(float(value) for value in one.times) - (10 * ord(table.column("kind")[row] or "") - 960)) < 9
        assert len(one.near) == NEAR


def test_all_rows_together_draw_what_the_column_holds() -> None:
    """So who knows a shuffled copy of the table, or a list of its values, has nothing ahead."""
    table = shop(300, decimals=0)
    held = Counter(table.column("price"))
    taken: Counter[str] = Counter()
    for one in drawn(table, "price", range(300), 99).values():
        taken.update(one.times)
    assert set(taken) <= set(held)
    for value, count in held.items():
        assert abs(taken[str(value)] / 99 - count) < 1.2 + 0.15 * count


def test_equal_values_are_written_as_the_row_writes_them() -> None:
    table = shop(200, decimals=0)
    rows = [(*row[:2], row[2] if number % 2 else f"{row[2]}.0", *row[3:]) for number, row in enumerate(table.rows)]
    mixed = made_table(table.columns, rows)
    for row, one in drawn(mixed, "price", range(200), COUNT).items():
        own = str(mixed.rows[row][2])
        assert (own.removesuffix(".0") if own.endswith(".0") else f"{own}.0") not in one.times


def test_of_too_few_rows_nothing_is_drawn() -> None:
    assert drawn(shop(12), "price", range(12), COUNT) == {}
    assert drawn(shop(50), "price", [], COUNT) == {}


def test_missing_cells_are_neither_asked_nor_drawn() -> None:
    table = shop(150, decimals=0)
    rows: list[tuple[Cell, ...]] = [
        (*row[:2], None if number % 3 == 0 else row[2], row[3]) for number, row in enumerate(table.rows)
    ]
    found = drawn(made_table(table.columns, rows), "price", range(150), COUNT)
    assert sorted(found) == [row for row in range(150) if row % 3]
    assert all(value and value != "None" for one in found.values() for value in (*one.times, *one.near))


def test_the_draws_of_a_table_are_the_same_each_time_and_in_any_order() -> None:
    table = shop(100)
    turned = made_table(table.columns, table.rows[::-1])
    one, other = drawn(table, "colour", range(100), COUNT), drawn(turned, "colour", range(100), COUNT)
    assert [found.times for found in one.values()] == [found.times for found in reversed(other.values())]
