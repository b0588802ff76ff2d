"""The number of times that a model reads each row. An arm is a group of rows, or of tables, with the same number."""

from collections.abc import Sequence
from random import Random

from tabcontam.groups import grouped
from tabcontam.models.known.exposure_card import Copies
from tabcontam.tables.table import Table

ROWS, TABLES = "rows", "tables"
ARMS = (ROWS, TABLES)


def designs(tables: Sequence[Table], copies: Sequence[int], arms: str, seed: int) -> list[list[Copies]]:
    """Return, for each model and each table, how often each row of the table is read.

    With arms of rows there is one model. The rows of each table are divided at random into one arm for each number in
    `copies`. With arms of tables there is one model for each number in `copies`. Model m reads table t `copies[(t + m)
    % len(copies)]` times. In this Latin square, each table is read each number of times by one model.
    """
    if arms == ROWS:
        return [[deal_copies(table, copies, seed) for table in tables]]
    rungs = len(copies)
    return [
        [(copies[(place + model) % rungs],) * len(table.rows) for place, table in enumerate(tables)]
        for model in range(rungs)
    ]


def deal_copies(table: Table, copies: Sequence[int], seed: int) -> Copies:
    """Return a number of copies for each row, as evenly as possible. Equal rows get the same number."""
    places = list(grouped(range(len(table.rows)), table.rows.__getitem__).values())
    Random(f"arms {seed} {table.sha256}").shuffle(places)
    found = [0] * len(table.rows)
    for number, same in enumerate(places):
        for place in same:
            found[place] = copies[number % len(copies)]
    return tuple(found)
