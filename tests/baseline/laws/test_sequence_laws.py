"""The next row of a file: steps, growth, calendars, grids and groups of rows, from the four rows before."""

from collections.abc import Sequence
from datetime import date, timedelta
from random import Random

import pytest

from tabcontam.baseline.table_predictions import predict_rows
from tabcontam.tables.table import Cell
from tests.baseline.test_table_predictions import table_of

ROWS = range(30, 130)


def known(columns: dict[str, Sequence[Cell]], asked: Sequence[str], rows: Sequence[int] = ROWS) -> float:
    """The mean chance that the guesser gives to the cells of the next rows."""
    table = table_of({name: list(cells) for name, cells in columns.items()})
    found = predict_rows(table, asked, [], rows, before=True)
    chances = [found[row].cells[name].chance_of(table.column(name)[row] or "") for row in rows for name in asked]
    return sum(chances) / len(chances)


def growth(rate: float, step: int) -> list[Cell]:
    """Panels of 14 years of constant growth, rounded to a step, one after another."""
    rng, found = Random(4), list[Cell]()
    while len(found) < 140:
        level = rng.randrange(2_000, 9_000) * step
        found += [str(round(level * rate**year / step) * step) for year in range(14)]
    return found


def noise(count: int = 140) -> list[Cell]:
    rng = Random(5)
    return [str(rng.randrange(10**6)) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 100])
def test_constant_growth_is_known_as_the_column_is_rounded(step: int) -> None:
    inside = [row for row in ROWS if row % 14 > 3]
    assert known({"level": growth(1.03, step), "lot": noise()}, ["level"], inside) > 0.6


@pytest.mark.slow
def test_days_follow_each_other_with_and_without_weekends() -> None:
    first = date(2021, 3, 1)
    days = [first + timedelta(days=day) for day in range(200)]
    whole = [day.isoformat() for day in days[:140]]
    working = [day.strftime("%d.%m.%Y") for day in days if day.weekday() < 5][:140]
    assert known({"day": whole, "lot": noise()}, ["day"]) > 0.9
    assert known({"day": working, "lot": noise()}, ["day"]) > 0.9


@pytest.mark.slow
def test_three_rows_a_subject_are_known() -> None:
    subjects = [f"S-{100 + row // 3}" for row in range(140)]
    visits = [str(1 + row % 3) for row in range(140)]
    assert known({"subject": subjects, "visit": visits, "lot": noise()}, ["subject", "visit"]) > 0.9


@pytest.mark.slow
def test_a_grid_is_known() -> None:
    rows = [(str(a), str(10 * b)) for a in range(12) for b in range(12)][:140]
    columns: dict[str, Sequence[Cell]] = {"a": [a for a, _ in rows], "b": [b for _, b in rows], "lot": noise()}
    assert known(columns, ["a", "b"]) > 0.85


def test_alternating_and_repeating_cells_are_known() -> None:
    shifts = [("early", "late", "night", "free")[row % 4] for row in range(140)]
    assert known({"shift": shifts, "lot": noise()}, ["shift"]) > 0.9


def test_noise_follows_from_no_row_before() -> None:
    assert known({"lot": noise(), "other": noise()[::-1]}, ["lot"]) < 0.02
