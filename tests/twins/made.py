"""Tables made for tests of unseen twins: one whose label can be learned, with names, categories and numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.table import Cell, Table
from tests.made_tables import made_table

KINDS = ("sloop", "brig", "ketch", "yawl")
SEAS = ("North", "South", "Inner")


@lru_cache(maxsize=4)
def fleet(rows: int = 400, seed: int = 1) -> Table:
    """Ships of an invented fleet; long ones and those with a large crew owe a toll, with some chance."""
    rng = Random(seed)
    table = made_table(("name", "kind", "length", "crew", "berth", "toll"), [_ship(rng) for _ in range(rows)], "fleet")
    return replace(
        table, target="toll", question=ClassificationQuestion("Does it owe a toll?", {"1": "Yes", "0": "No"})
    )


def _ship(rng: Random) -> tuple[Cell, ...]:
    length, kind = rng.uniform(8, 60), rng.choice(KINDS)
    crew = max(1, round(length / 3 + rng.gauss(0, 4)))
    owes = rng.random() < (0.95 if length + crew > 48 else 0.05)
    name = "".join(rng.choices("aeioubdfgklmnprst", k=7)).capitalize()
    return f"Dame {name}", kind, f"{length:.1f}", str(crew), rng.choice(("north", "south", None)), str(int(owes))


@lru_cache(maxsize=4)
def harbours(each: int, count: int = 60, seed: int = 0) -> Table:
    """Ships by their home harbours, which lie in one of three seas: who knows the world knows each harbour's sea.

    A harbour has about so many rows each; the sea can be told from the salt, with some chance.
    """
    rng = Random(f"{each} {seed}")
    names = ["".join(rng.choices("aeioubdfgklmnprst", k=6)).capitalize() for _ in range(count)]
    rows = []
    for _ in range(each * count):
        name = rng.choice(names)
        salt = rng.gauss(SEAS.index(sea_of(name)), 0.8)
        rows.append((name, f"{salt:.2f}", str(rng.randrange(1, 500)), f"{rng.uniform(8, 60):.1f}", sea_of(name)))
    table = made_table(("harbour", "salt", "ships", "length", "sea"), rows, f"harbours {each} {count} {seed}")
    question = ClassificationQuestion("In which sea does its harbour lie?", {sea: sea for sea in SEAS})
    return replace(table, target="sea", question=question)


def sea_of(harbour: object) -> str:
    """The sea that a harbour lies in."""
    return SEAS[sum(map(ord, str(harbour))) % 3]


@lru_cache(maxsize=4)
def lawful(law: Callable[[float, float, float], bool], rows: int = 200, seed: int = 0) -> Table:
    """Three numbers from 0 to 9.99 with what a law says of them."""
    rng = Random(seed)
    cells = [tuple(f"{rng.uniform(0, 9.99):.2f}" for _ in range(3)) for _ in range(rows)]
    table = made_table(
        ("a", "b", "c", "y"), [(*row, str(int(law(*map(float, row))))) for row in cells], f"lawful {seed}"
    )
    return replace(table, target="y", question=ClassificationQuestion("Is it?", {"1": "Yes", "0": "No"}))


def known_by(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], law: Callable[[Mapping[str, Cell]], bool], rng: Random
) -> Table:
    """Rows with two measured numbers besides and what a law of their cells says.

    Of these numbers the one goes with the label, with some chance, and the other says nothing.
    """
    found = []
    for row in rows:
        holds = law(dict(zip(columns, row, strict=True)))
        found.append((*row, f"{rng.gauss(int(holds), 0.8):.2f}", f"{rng.uniform(8, 60):.1f}", str(int(holds))))
    table = made_table((*columns, "salt", "length", "y"), found, f"known by {', '.join(columns)}")
    return replace(table, target="y", question=ClassificationQuestion("Is it?", {"1": "Yes", "0": "No"}))


def features_of(table: Table, row: int) -> tuple[Cell, ...]:
    """The features of a row, in the order of their names."""
    return tuple(table.column(name)[row] for name in sorted(set(table.columns) - {table.target}))
