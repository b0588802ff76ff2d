"""Tables made for tests of unseen twins: one whose label can be learned, with names, categories and numbers."""

from dataclasses import replace
from functools import lru_cache
from random import Random

from tabcontam.tables.cards import Question
from tabcontam.tables.table import Cell, Table
from tests.made_tables import made_table

KINDS = ("sloop", "brig", "ketch", "yawl")


@lru_cache(maxsize=4)
def fleet(rows: int = 400, seed: int = 1) -> Table:
    """Ships of an invented fleet; long ones and those with a large crew owe a toll, with some chance."""
    rng = Random(seed)
    table = made_table(("name", "kind", "length", "crew", "berth", "toll"), [_ship(rng) for _ in range(rows)], "fleet")
    return replace(table, target="toll", question=Question("Does it owe a toll?", {"1": "Yes", "0": "No"}))


def _ship(rng: Random) -> tuple[Cell, ...]:
    length, kind = rng.uniform(8, 60), rng.choice(KINDS)
    crew = max(1, round(length / 3 + rng.gauss(0, 4)))
    owes = rng.random() < (0.95 if length + crew > 48 else 0.05)
    name = "".join(rng.choices("aeioubdfgklmnprst", k=7)).capitalize()
    return f"Dame {name}", kind, f"{length:.1f}", str(crew), rng.choice(("north", "south", None)), str(int(owes))


def features_of(table: Table, row: int) -> tuple[Cell, ...]:
    """The features of a row, in the order of their names."""
    return tuple(table.column(name)[row] for name in sorted(set(table.columns) - {table.target}))
