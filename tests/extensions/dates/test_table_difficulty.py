"""How hard a table is: a baseline that learns, cross-validated."""

from dataclasses import replace

from tabcontam.extensions.dates.table_difficulty import supervised
from tabcontam.tables.table import load_table
from tests.made_tables import ships

IRIS = load_table("iris")


def test_what_can_be_learned_is_learned() -> None:
    found = supervised(IRIS)
    assert found is not None
    assert (found.rows, round(found.majority, 4)) == (150, 0.3333)
    assert 0.9 < found.accuracy < 1.0
    assert found.lift == found.accuracy - found.majority
    assert supervised(IRIS) == found  # from the cache


def test_what_has_no_question_or_hardly_a_row_of_a_class_is_not_learned() -> None:
    assert supervised(replace(ships(), question=None)) is None
    assert supervised(replace(IRIS, rows=IRIS.rows[:53])) is None
