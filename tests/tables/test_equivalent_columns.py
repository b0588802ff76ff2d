"""Columns that say the same in other values are found by the rows in which both stand, and never by chance."""

from tabcontam.tables.entities import reduce_table
from tests.made_tables import made_table

DOGS = [
    (name, f"{age}", f"{age * 7} years", f"{place % 3}")
    for place, (name, age) in enumerate((f"dog {number}", number % 9) for number in range(60))
]
COLUMNS = ("name", "age", "as a human", "litter")


def test_the_first_of_the_columns_stays_and_tells_the_others() -> None:
    found = reduce_table(made_table(COLUMNS, DOGS, "dogs"))
    assert found.table.columns == ("name", "age", "litter")
    assert found.table.rows[8] == ("dog 8", "8", "2")
    assert found.left_out["age"]["as a human"]["8"] == "56 years"
    assert set(found.left_out) == {"age"}


def test_one_row_that_says_otherwise_makes_them_two_columns() -> None:
    table = made_table(COLUMNS, [("old one", "8", "60 years", "0"), *DOGS[1:]], "dogs")
    assert reduce_table(table).table is table


def test_columns_hardly_a_cell_of_which_stands_twice_are_not_taken_to_say_the_same() -> None:
    rows = [(f"{number}", f"{number * 3.7:.2f}", f"{number % 2}") for number in range(60)]
    table = made_table(("key", "weight", "side"), rows, "keys")
    assert reduce_table(table).table is table
