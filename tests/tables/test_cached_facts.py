"""What is found out about a table: once for each table, and forgotten with it."""

import gc
import weakref
from dataclasses import replace

from tabcontam.evidence.checks import determined_rows
from tabcontam.tables.cached_facts import cached_fact, table_fact
from tabcontam.tables.table import Table
from tests.made_tables import made_table, ships


def test_a_fact_is_found_once_for_each_table_and_key() -> None:
    table, other, asked = replace(ships()), replace(ships()), list[str]()

    def find() -> int:
        asked.append("")
        return len(asked)

    asks = ((table, "a"), (table, "a"), (table, "b"), (other, "a"))
    assert [cached_fact(each, key, find) for each, key in asks] == [1, 1, 2, 3]


def test_facts_are_forgotten_with_their_table() -> None:
    table = replace(ships())
    found = cached_fact(table, "rows", lambda: weakref.WeakSet[object]())
    forgotten = weakref.ref(found)
    del table, found
    gc.collect()
    assert forgotten() is None


def test_each_table_has_its_own_determined_rows() -> None:
    """Tables that are made one after the other often stand at the same address."""
    for rows in range(2, 30):
        assert determined_rows(replace(ships(rows)), [0], [1]) == list(range(rows))


def test_rows_that_differ_in_the_answer_alone_are_not_determined() -> None:
    table = replace(ships(4), columns=("a", "b"), rows=(("1", "x"), ("2", "x"), ("1", "y"), ("2", "x")))
    assert determined_rows(table, [0], [1]) == [1, 3]
    assert determined_rows(table, [0, 1], [1]) == [0, 1, 2, 3]


def test_a_function_computes_its_result_once_for_each_owner_and_argument() -> None:
    found: list[tuple[Table, int]] = []

    @table_fact
    def width(table: Table, more: int) -> int:
        found.append((table, more))
        return len(table.columns) + more

    one, other = made_table(("a", "b"), [("1", "2")]), made_table(("a",), [("1",)])
    assert [width(one, 1), width(one, 1), width(one, 2), width(other, 1), width(one, more=2)] == [3, 3, 4, 2, 4]
    assert len(found) == 4
