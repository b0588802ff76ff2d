"""Who knows a rule and no row is not accused, who remembers rows is found: a slice of the skill benchmark."""

from functools import cache
from random import Random
from unittest.mock import patch

import pytest

from benchmarks import skill
from benchmarks.skill import KINDS, MEMORISER, SELDOM, SOLVER, Counts, counted, measured
from benchmarks.skills.answerers import shown_cells
from benchmarks.skills.made import Made, arranged
from tests.golden.rates import check

# whoever solves the first two is accused where cells are guessed by how often they occur
SOLVED = ("orders", "staff", "grids")
RUNS = 2  # in one of which who remembers is asked
CELLS = ("incomplete_completion", "feature_completion")
FALLIBLE = {  # rules that are right mostly
    "orders": {"price"},
    "units": {"cm"},
    "birthdays": {"player"},
    "players": {"player"},
}
# what nothing follows from surely: neighbours, hidden sources, and what a tenth of the rows break
UNSURE = ("spectra", "months alone", "running totals", "channels", "genes", "rates of zones")
LONG = ("genes",)  # which are made as channels are, in a quarter of a minute


@cache
def counts(kind: str) -> Counts:
    with patch.object(skill, "SILENT", ()):  # predictors are asked by the benchmark, and by test_attacks.py
        return measured(kind, 0, RUNS, asked_in=CELLS)


@cache
def made(kind: str, number: int) -> Made:
    return made_anew(kind, number)


def made_anew(kind: str, number: int) -> Made:
    rng = Random(f"{kind} {number}")
    return arranged(KINDS[kind].make(rng, number), rng, number)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOLVED)
def test_a_solver_is_not_accused(kind: str) -> None:
    check("skill", "solver accused", *counted([counts(kind)], [SOLVER]))
    check("skill", "one in twenty accused", *counted([counts(kind)], [SELDOM]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOLVED)
def test_who_remembers_a_quarter_of_the_rows_is_found(kind: str) -> None:
    found, runs = counted([counts(kind)], [MEMORISER])
    assert runs == 1
    check("skill", "memoriser of a quarter found", found, runs)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.real and name not in UNSURE])
def test_the_rules_of_a_made_table_hold_in_its_rows(kind: str) -> None:
    for number in range(3):
        assert followed(kind, made(kind, number)), number


def followed(kind: str, one: Made) -> int:
    """How many cells of every seventh row follow from others, by rules that each of them keeps."""
    count = 0
    for row in range(0, len(one.table.rows), 7):
        cells = shown_cells(one.table, row)
        for name in set(one.rules) - FALLIBLE.get(kind, set()):
            follows = one.derived({other: cell for other, cell in cells.items() if other != name}).get(name)
            assert follows in (None, cells[name]), one.table.name
            count += follows is not None
        if row > 3:
            after = one.after([shown_cells(one.table, before) for before in range(row - 4, row)])
            count += sum(cells.get(name) == cell for name, cell in after.items())
    return count


@pytest.mark.slow
@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.real and name not in LONG])
def test_a_table_is_the_same_each_time_and_another_for_another_number(kind: str) -> None:
    first = made(kind, 0).table
    assert made_anew(kind, 0).table == first
    assert made(kind, 1).table.rows != first.rows


def test_there_are_thirty_kinds_and_more() -> None:
    assert len(KINDS) > 30
