"""What is drawn for a cell comes from the distribution of the cell itself, in the table's own writing."""

from collections import Counter
from random import Random
from statistics import fmean

import numpy as np
import pytest

from tabcontam.baseline import cell_draws
from tabcontam.baseline.cell_draws import draw_cells
from tabcontam.baseline.coded_columns import Floats, Ints
from tabcontam.baseline.thresholds import NEAREST_ROWS_LISTED
from tabcontam.statistics.rank_sums import rank_sum_tail
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
    for seed in range(4):
        table, rng, ranks = shop(120, seed, decimals=0), Random(seed), []
        for row, one in draw_cells(table, "price", range(120), COUNT).items():
            middle = fmean(float(cell) for cell in table.column("price") if cell)
            values = [abs(float(value) - middle) for value, times in one.times.items() for _ in range(times)]
            own = abs(float(table.column("price")[row] or "nan") - middle)
            better, same = sum(value < own for value in values), sum(value == own for value in values)
            ranks.append(1 + better + rng.randint(0, same))
        assert len(ranks) > 100
        tails.append(rank_sum_tail(ranks, [COUNT + 1] * len(ranks)))
    assert min(tails) > 0.005
    assert max(tails) < 0.995


def made_of(kind: str, rows: int, seed: int) -> Table:
    """Numbers that nobody has twice and that go with another column, as areas go with rooms."""
    rng = Random(seed)
    cells: list[tuple[Cell, ...]] = []
    for number in range(rows):
        size = rng.lognormvariate(3, 0.8)
        other = size * rng.uniform(2.6, 3.4) if kind == "in proportion" else 500 - 2 * size + rng.gauss(0, 9)
        cells.append((f"{number}", f"{size:.3f}", f"{other:.3f}", rng.choice(["red", "blue", "green"])))
    return made_table(("number", "size", "other", "colour"), cells)


@pytest.mark.parametrize("kind", ["in proportion", "in a line"])
def test_who_knows_how_two_numbers_go_together_has_nothing_ahead(kind: str) -> None:
    """A number that no other row has can still be expected: who computes it from the row has not read the row."""
    tails = []
    for seed in range(2):
        table, rng, ranks = made_of(kind, 120, seed), Random(seed), []
        for row, one in draw_cells(table, "other", range(120), COUNT).items():
            size = float(table.column("size")[row] or "nan")
            expected = 3 * size if kind == "in proportion" else 500 - 2 * size
            unit = expected if kind == "in proportion" else 1.0
            values = [abs(float(value) - expected) / unit for value, times in one.times.items() for _ in range(times)]
            own = abs(float(table.column("other")[row] or "nan") - expected) / unit
            ranks.append(
                1 + sum(value < own for value in values) + rng.randint(0, sum(value == own for value in values))
            )
        assert len(ranks) == 120
        tails.append(rank_sum_tail(ranks, [COUNT + 1] * len(ranks)))
    assert min(tails) > 0.005


def test_whoever_knows_what_the_guesser_knows_finds_own_cells_in_the_less_likely_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fares are a few prices, each paid for one kind: a mixture of predictors is less sure of them than it may be."""
    rng = Random(4)
    prices = {kind: [f"{rng.uniform(5, 90):.4f}" for _ in range(12)] for kind in "abc"}
    cells: list[tuple[Cell, ...]] = []
    for number in range(240):
        kind = rng.choice("abc")
        fare = rng.choice(prices[kind][:3]) if rng.random() < 0.8 else f"{rng.uniform(5, 300):.4f}"
        cells.append((f"{number}", kind, fare, rng.choice(["red", "blue"])))
    found = []

    def watched(mixed: Floats, counts: Floats, own: Ints) -> Floats:
        found.append((shares := sure(mixed, counts, own), own))
        return shares

    sure = cell_draws._sure
    monkeypatch.setattr(cell_draws, "_sure", watched)
    draw_cells(made_table(("number", "kind", "fare", "colour"), cells), "fare", range(240), COUNT)
    ((shares, own),) = found
    assert not cell_draws._given_away(shares, own)
    assert np.allclose(shares.sum(axis=1), 1)


def test_draws_follow_what_the_guesser_knows() -> None:
    table = shop(120, decimals=0)
    found = draw_cells(table, "price", range(120), COUNT)
    assert len(found) == 120
    for row, one in found.items():
        assert sum(one.times.values()) == COUNT
        assert abs(fmean(float(value) for value in one.times) - (10 * ord(table.column("kind")[row] or "") - 960)) < 9
        assert len(one.near) == NEAREST_ROWS_LISTED


def test_all_rows_together_draw_what_the_column_holds() -> None:
    """So who knows a shuffled copy of the table, or a list of its values, has nothing ahead."""
    table = shop(300, decimals=0)
    held = Counter(table.column("price"))
    taken: Counter[str] = Counter()
    for one in draw_cells(table, "price", range(300), 99).values():
        taken.update(one.times)
    assert set(taken) <= set(held)
    for value, count in held.items():
        assert abs(taken[str(value)] / 99 - count) < 1.2 + 0.15 * count


def test_equal_values_are_written_as_the_row_writes_them() -> None:
    table = shop(200, decimals=0)
    rows = [(*row[:2], row[2] if number % 2 else f"{row[2]}.0", *row[3:]) for number, row in enumerate(table.rows)]
    mixed = made_table(table.columns, rows)
    for row, one in draw_cells(mixed, "price", range(200), COUNT).items():
        own = str(mixed.rows[row][2])
        assert (own.removesuffix(".0") if own.endswith(".0") else f"{own}.0") not in one.times


def test_of_too_few_rows_nothing_is_drawn() -> None:
    assert draw_cells(shop(12), "price", range(12), COUNT) == {}
    assert draw_cells(shop(50), "price", [], COUNT) == {}


def test_missing_cells_are_neither_asked_nor_drawn() -> None:
    table = shop(150, decimals=0)
    rows: list[tuple[Cell, ...]] = [
        (*row[:2], None if number % 3 == 0 else row[2], row[3]) for number, row in enumerate(table.rows)
    ]
    found = draw_cells(made_table(table.columns, rows), "price", range(150), COUNT)
    assert sorted(found) == [row for row in range(150) if row % 3]
    assert all(value and value != "None" for one in found.values() for value in (*one.times, *one.near))


def test_the_draws_of_a_table_are_the_same_each_time_and_in_any_order() -> None:
    table = shop(100)
    turned = made_table(table.columns, table.rows[::-1])
    one, other = draw_cells(table, "colour", range(100), COUNT), draw_cells(turned, "colour", range(100), COUNT)
    assert [found.times for found in one.values()] == [found.times for found in reversed(other.values())]
