"""Tables made for tests: every name and value in them is invented."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from random import Random

from tabcontam.evidence.base import RequiredInput, Test
from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.table import Cell, DrawnCell, Table
from tabcontam.tables.text_tasks import TextForm, TextTask

KINDS = ("Zwibarge", "Quolthopper", "Brintle-sloop", "Vexcutter")
PORTS = ("Ostrimouth", "Kelvarra", "Dunnithorpe", "Wexlow", "Pelquay")


@lru_cache(maxsize=32)  # what is found out about a table is kept with it
def ships(rows: int = 200, seed: int = 0, private: bool = False) -> Table:
    """Ships of an invented register: words that no dictionary has, numbers, commas and missing cells."""
    rng = Random(seed)
    return Table(
        name="ships",
        title="Harbour Register of Zand",
        edition="made-up",
        sha256=f"{seed:064x}",
        columns=("hullNo", "shipKind", "length_m", "master", "homePort", "crewCnt", "tolldue"),
        rows=tuple(ship(index, rng) for index in range(rows)),
        names=("Harbour Register of Zand", "Zand Register"),
        target="tolldue",
        question=ClassificationQuestion("Does this ship owe a toll?", {"yes": "Yes", "no": "No"}),
        private=private,
    )


def made_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], name: str = "made") -> Table:
    """A table of these rows, with nothing else said about it."""
    return Table(
        name=name,
        title=f"Table {name}",
        edition="made-up",
        sha256=sha256(repr(rows).encode()).hexdigest(),
        columns=tuple(columns),
        rows=tuple(map(tuple, rows)),
        names=(name,),
        target=None,
        question=None,
    )


@lru_cache(maxsize=1)
def wide(rows: int = 600, words: int = 30) -> Table:
    """The register with many more columns of words."""
    table, rng = ships(rows), Random("wide")
    names = [["".join(rng.choices("bdfgklmnprstvz", k=7)) for _ in range(6)] for _ in range(words)]
    more = [[rng.choice(own) for own in names] for _ in table.rows]
    columns = (*table.columns, *(f"escort{number}" for number in range(words)))
    return replace(table, columns=columns, rows=tuple((*row, *own) for row, own in zip(table.rows, more, strict=True)))


def planted(table: Table, cells: int = 200) -> Table:
    """A register of ships with the cells that its owner drew: the lengths of the first ships."""
    place = table.columns.index("length_m")

    def cell(row: int) -> DrawnCell:
        metres, hundredths = str(table.rows[row][place]).split(".")
        first = int(hundredths) // 10 * 10
        return DrawnCell(row, "length_m", tuple(f"{metres}.{first + digit:02}" for digit in range(10)))

    return replace(table, drawn_cells=tuple(map(cell, range(min(cells, len(table.rows))))))


def with_withheld(table: Table, seed: int = 3) -> Table:
    """A table of which chance withheld every other row before it was published."""
    rows = Random(seed).sample(table.rows, len(table.rows))
    half = len(rows) // 2
    return replace(table, rows=tuple(rows[:half]), withheld=tuple(rows[half:]))


def by_length(table: Table) -> Table:
    """A register of ships in which a long ship owes a toll, so that models can learn who does."""
    length, toll = table.columns.index("length_m"), table.columns.index("tolldue")
    owes = ["yes" if float(str(row[length])) > 40 else "no" for row in table.rows]
    rows = ((*row[:toll], one, *row[toll + 1 :]) for row, one in zip(table.rows, owes, strict=True))
    return replace(table, rows=tuple(rows))


def as_needed(test: Test, table: Table) -> Table:
    """The table with what has to be given for a test to be asked about it."""
    if test.only_with is RequiredInput.KEY:
        return planted(table)
    if test.id == "exact_generation":
        return logs(len(table.rows))
    if test.id in ("memory_share", "log_loss_share", "bordt_versions"):
        return by_length(table)
    return with_withheld(table) if test.only_with is RequiredInput.WITHHELD else table


@lru_cache(maxsize=4)
def logs(rows: int = 80, form: TextForm = TextForm.SENTENCE) -> Table:
    """Log books of invented words, each with a summary in other words."""
    rng = Random(rows)
    parts = [first + second for first in ("mar", "tol", "ven", "sil", "pra", "dor", "kal") for second in "aeiouy"]

    def text(words: int) -> str:
        return " ".join(rng.choice(parts) + rng.choice(parts) for _ in range(words)).capitalize() + "."

    table = made_table(("book", "summary"), [(text(30), text(16)) for _ in range(rows)], name="logs")
    return replace(table, text=TextTask(form=form, texts=("book", "summary")))


def ship(index: int, rng: Random) -> tuple[Cell, ...]:
    """One row of the register."""
    return (
        f"{1000 + 7 * index + rng.randrange(7)}",
        rng.choice(KINDS),
        f"{rng.uniform(8, 90):.2f}",
        f"{rng.choice(('Orlo', 'Mirt', 'Bexa'))} {rng.choice(('Vantz', 'Quill, jr.', 'Thoom'))} {index}",
        rng.choice((*PORTS, None)),
        str(rng.randrange(2, 60)),
        rng.choice(("yes", "no")),
    )
