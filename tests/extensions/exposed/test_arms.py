"""Rows are dealt into arms of one size, whole tables by a Latin square, and the same seed deals the same."""

from collections import Counter
from dataclasses import replace

from tabcontam.extensions.exposed.recipe import ROWS, TABLES, deal_copies, designs
from tests.made_tables import ships


def test_as_many_rows_are_dealt_to_each_number_of_copies_as_can_be() -> None:
    found = Counter(deal_copies(ships(50), (0, 4, 16), seed=0))
    assert set(found) == {0, 4, 16}
    assert max(found.values()) - min(found.values()) <= 1


def test_the_same_seed_deals_the_same_and_another_deals_otherwise() -> None:
    assert deal_copies(ships(50), (0, 4), seed=1) == deal_copies(ships(50), (0, 4), seed=1)
    assert deal_copies(ships(50), (0, 4), seed=1) != deal_copies(ships(50), (0, 4), seed=2)


def test_rows_with_the_same_cells_are_in_one_arm() -> None:
    table = ships(40)
    twice = replace(table, rows=table.rows + table.rows)
    copies = deal_copies(twice, (0, 1, 2, 3), seed=0)
    assert copies[:40] == copies[40:]


def test_arms_of_rows_make_one_model() -> None:
    tables = [ships(30), ships(20, seed=1)]
    (model,) = designs(tables, (0, 8), ROWS, seed=0)
    assert [len(copies) for copies in model] == [30, 20]


def test_arms_of_tables_are_a_latin_square() -> None:
    tables = [ships(5, seed=number) for number in range(3)]
    square = [[copies[0] for copies in model] for model in designs(tables, (0, 4, 16), TABLES, seed=0)]
    assert square == [[0, 4, 16], [4, 16, 0], [16, 0, 4]]
    assert all(len(set(copies)) == 1 for model in designs(tables, (0, 4, 16), TABLES, seed=0) for copies in model)
