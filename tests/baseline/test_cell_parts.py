"""Pieces of cells that rows may share."""

from random import Random

from tabcontam.baseline.cell_parts import parts
from tabcontam.baseline.coded_columns import column


def test_the_pieces_of_a_moment_are_its_day_its_month_and_its_hour() -> None:
    cells = [f"2021-0{row % 3 + 1}-{row % 28 + 1:02d} {row % 24:02d}:{row % 60:02d}:00" for row in range(200)]
    found = {one.name: one.distinct for one in parts(column("time", cells))}
    assert found == {"time day": 84, "time month of year": 3, "time month": 3, "time weekday": 7, "time hour": 24}


def test_the_pieces_of_a_code_are_its_first_and_last_characters() -> None:
    rng = Random(1)
    cells = [f"{rng.choice('ABC')}{rng.randrange(1000, 10_000)}" for _ in range(300)]
    found = {one.name: one.distinct for one in parts(column("code", cells))}
    assert found["code first 1 characters"] == 3
    assert found["code last 1 characters"] == 10


def test_numbers_few_values_and_long_texts_have_no_pieces() -> None:
    rng = Random(2)
    assert parts(column("amount", [f"{rng.uniform(0, 900):.2f}" for _ in range(200)])) == ()
    assert parts(column("kind", [rng.choice("abcd") for _ in range(200)])) == ()
    assert parts(column("text", [f"{rng.random()} and so on, to be read in a long text" for _ in range(200)])) == ()
