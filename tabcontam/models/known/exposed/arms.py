"""The number of times that a model reads each row: rows dealt into arms, or whole tables by a Latin square."""

from collections.abc import Sequence
from random import Random

from tabcontam.groups import grouped
from tabcontam.tables.table import Table

ROWS, TABLES = "rows", "tables"
ARMS = (ROWS, TABLES)
Copies = tuple[int, ...]  # of each row of a table, by its place there


def designs(tables: Sequence[Table], copies: Sequence[int], arms: str, seed: int) -> list[list[Copies]]:
    """Return for each model that is to be made, for each table, how often each of its rows is read.

    With arms of rows there is one model, in which the rows of each table are dealt at random into one arm for each
    number of copies. With arms of tables there is a model for each number of copies; model m reads table t as often as
    number (t + m) modulo their count, a Latin square, so that every table is read at every number by one model.
    """
    if arms == ROWS:
        return [[deal_copies(table, copies, seed) for table in tables]]
    rungs = len(copies)
    return [
        [(copies[(place + model) % rungs],) * len(table.rows) for place, table in enumerate(tables)]
        for model in range(rungs)
    ]


def deal_copies(table: Table, copies: Sequence[int], seed: int) -> Copies:
    """Return a number of copies for each row, as evenly as possible; rows with the same cells get the same number."""
    places = list(grouped(range(len(table.rows)), table.rows.__getitem__).values())
    Random(f"arms {seed} {table.sha256}").shuffle(places)
    found = [0] * len(table.rows)
    for number, same in enumerate(places):
        for place in same:
            found[place] = copies[number % len(copies)]
    return tuple(found)
