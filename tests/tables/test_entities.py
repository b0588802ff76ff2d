"""Which columns are known of the same entity, and count as one."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from time import perf_counter

import pytest

from tabcontam.tables.entities import entities, entities_and_keys
from tabcontam.tables.table import Cell, Table, load_table

SHIPS = load_table("iris")


def made(**columns: Sequence[Cell]) -> Table:
    rows = tuple(zip(*columns.values(), strict=True))
    return replace(SHIPS, columns=tuple(columns), rows=rows, target=None, question=None, missing=frozenset({"?"}))


def names(rows: int) -> list[Cell]:
    return [f"Player {Random(row).random():.9f}" for row in range(rows)]


def days(rows: int) -> list[Cell]:
    return [f"19{60 + row % 40}-{1 + row % 12:02}-{1 + row // 7 % 28:02} {row}" for row in range(rows)]


def measured(rows: int, digits: int = 4) -> list[Cell]:
    return [f"{Random(-row - 1).random() * 1000:.{digits}f}" for row in range(rows)]


def test_unique_names_and_dates_are_of_one_entity_and_measured_numbers_are_not() -> None:
    table = made(name=names(150), born=days(150), height=measured(150), weight=measured(150, 5))
    assert entities(table) == dict.fromkeys(("name", "born"), ("name", "born"))


def test_numbers_with_a_unit_are_measured_and_codes_with_letters_are_not() -> None:
    rng = Random(3)
    prices = [f"${rng.randrange(900, 90_000):,}" for _ in range(150)]
    weights = [f"{rng.uniform(1, 900):.2f} kg" for _ in range(150)]
    table = made(name=names(150), price=prices, weight=weights, code=[f"K{100 + row}" for row in range(150)])
    assert entities(table) == dict.fromkeys(("name", "code"), ("name", "code"))


def test_a_column_of_few_values_is_of_no_entity() -> None:
    """A name tells the club, but no club tells the name."""
    table = made(name=names(150), born=days(150), club=[f"club {row % 20}" for row in range(150)])
    assert "club" not in entities(table)


def test_values_that_come_again_together_are_of_one_entity_be_they_numbers() -> None:
    city = [row * 7 % 13 for row in range(200)]
    table = made(
        city=[f"city {number}" for number in city],
        latitude=[f"{40 + number * 0.37:.2f}" for number in city],
        sold=[str(Random(row).randrange(50)) for row in range(200)],
    )
    assert set(entities(table)) == {"city", "latitude"}


def test_columns_that_are_nearly_constant_do_not_determine_each_other() -> None:
    """Whoever always says 0 is right in 95 rows of 100, and knows nothing by it."""
    rng = Random(3)
    gain, loss = ([rng.choice("123") if rng.random() < 0.05 else "0" for _ in range(500)] for _ in range(2))
    assert entities(made(gain=gain, loss=loss)) == {}


def test_rows_that_stand_there_twice_determine_nothing() -> None:
    twice = [*measured(60), *measured(60)]
    table = made(length=twice, width=[f"{float(cell or 0) ** 0.5:.3f}" for cell in twice[::-1]][::-1], kind=["a"] * 120)
    assert entities(table) == {}


def test_numbers_name_something_only_where_they_look_like_identifiers() -> None:
    codes = [f"{10_000_000 + 7919 * row}" for row in range(80)]
    table = made(isbn=codes, title=names(80), pages=[str(90 + 3 * row) for row in range(80)])
    assert set(entities(table)) == {"isbn", "title"}


def test_a_long_text_names_nothing() -> None:
    notes = [f"note {row}: {'seen at the gate and written down by the keeper ' * 2}" for row in range(60)]
    assert entities(made(note=notes, name=names(60))) == {}


@pytest.mark.parametrize("cells", [[None] * 40, ["?"] * 40, ["same"] * 40])
def test_columns_without_two_values_are_of_no_entity(cells: list[Cell]) -> None:
    assert entities(made(empty=cells, other=cells)) == {}


def test_a_few_slips_and_missing_cells_change_nothing() -> None:
    country: list[Cell] = [f"country {row % 15}" for row in range(300)]
    code: list[Cell] = [f"c{row % 15}" for row in range(300)]
    code[7], code[100], country[50], country[51] = "c3", "c9", None, "?"
    assert set(entities(made(country=country, code=code, area=measured(300)))) == {"country", "code"}


def families(*, numbered: bool = False, members: int = 3) -> Table:
    """Tickets that a few share, with the fare and more often than not the same class; ages that nobody shares."""
    rng, rows = Random(5), []
    for family in range(100):
        fare, where = f"{rng.uniform(5, 90):.2f}", rng.choice("CQS")
        for _ in range(rng.randrange(members) + 1):
            ticket = str(40 + family) if numbered else f"T/{family}"
            rows.append((ticket, fare, where if rng.random() < 0.7 else rng.choice("CQS"), str(rng.randrange(90))))
    return made(**dict(zip(("ticket", "fare", "port", "age"), map(list, zip(*rows, strict=True)), strict=True)))


def test_what_a_shared_key_tells_is_one_with_the_key_where_keys_count() -> None:
    """Who has read a sister's row knows the fare, and may know the port; of her age nothing."""
    table = families()
    assert "port" not in entities(table)
    assert entities_and_keys(table) == dict.fromkeys(("ticket", "fare", "port"), ("ticket", "fare", "port"))


def test_a_number_that_rows_share_and_what_many_share_are_no_keys() -> None:
    for table in (families(numbered=True), families(members=12)):
        assert "port" not in entities_and_keys(table)


def test_a_key_tells_nothing_that_two_rows_have_in_common_by_chance() -> None:
    rng = Random(4)
    keys = [f"key {row // 2}" for row in range(300)]
    table = made(key=keys, often=[rng.choice("aaaaaaaab") for _ in keys], never=[rng.choice("abc") for _ in keys])
    assert entities_and_keys(table) == {}


@pytest.mark.slow
def test_the_columns_of_a_large_table_are_looked_at_in_a_moment() -> None:
    rng = Random(5)
    columns = {f"c{size}": [str(rng.randrange(size)) for _ in range(50_000)] for size in range(20, 3_000, 200)}
    table = made(**columns)
    began = perf_counter()
    assert entities(table) == {}
    assert perf_counter() - began < 5
