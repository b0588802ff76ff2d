"""Rows of other tables with which recognition by rows is compared: tables of scikit-learn, and made-up tables.

No row comes from a user's file. The rows are the same on every machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from tabcontam.evidence.knowledge.decoys import other_cards
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.editions import shipped_table
from tabcontam.tables.row_draws import by_content
from tabcontam.tables.table import Cell, Table

Values = tuple[str, ...] | tuple[float, float, int]  # words, or smallest and largest number and decimals

# Tables that were never published. Each feature has its words, or its range and decimals.
MADE: Sequence[Mapping[str, Values]] = (
    {
        "loan_no": (1000, 9999, 0),
        "branch": ("Harbour", "Mill Road", "Northgate", "Old Town"),
        "reader": ("adult", "child", "student"),
        "shelf": ("fiction", "maps", "music", "science", "travel"),
        "days_kept": (1, 60, 0),
        "fine": (0, 9, 2),
    },
    {
        "crate": (1, 400, 0),
        "orchard": ("east slope", "river", "upper"),
        "variety": ("Bramley", "Cox", "Egremont", "Russet"),
        "weight_kg": (8, 24, 1),
        "bruised": ("no", "yes"),
        "grade": ("A", "B", "juice"),
    },
    {
        "bus": (1, 60, 0),
        "driver": ("Amsel", "Birk", "Corde", "Dahl", "Ember"),
        "stop": ("Bridge", "Clinic", "Market", "School", "Station"),
        "boarding": (0, 40, 0),
        "delay_min": (-3, 25, 0),
        "weather": ("dry", "fog", "rain", "snow"),
    },
    {
        "kiln": ("K1", "K2", "K3"),
        "glaze": ("ash", "celadon", "cobalt", "tenmoku"),
        "peak_temp": (980, 1310, 0),
        "hours": (6, 30, 1),
        "pieces": (4, 90, 0),
        "cracked": (0, 12, 0),
    },
)


@dataclass(frozen=True)
class Stranger:
    """A table other than the asked one: its features and its rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def drawn(self, count: int, rng: Random) -> list[tuple[Cell, ...]]:
        """Return `count` of its rows at random, or all of them if there are fewer."""
        return rng.sample(self.rows, min(count, len(self.rows)))


def strangers(table: Table) -> list[Stranger]:
    """Return other tables: one of scikit-learn and a made-up one in turns, then the rest of the longer list."""
    names = {card.name for card in other_cards(table)}
    carried = [one for name, one in _carried().items() if name in names]
    made = list(_made())
    turns = min(len(carried), len(made))
    pairs = [one for pair in zip(carried, made, strict=False) for one in pair]
    return [*pairs, *carried[turns:], *made[turns:]]


def mixed(table: Table, stranger: Stranger, kept: Sequence[str], count: int, rng: Random) -> tuple[Stranger, list[int]]:
    """Return a stranger with the features `kept` of the table, and the table's rows from which its cells come.

    One feature in three comes from the table, if the stranger has enough features for the other two. Each cell is from
    a random row.
    """
    order = by_content(table)
    others = [name for name in stranger.columns if name not in kept]
    columns = [*kept, *others[: 2 * len(kept)]]
    rng.shuffle(columns)
    rows, shown = [], []
    for row in stranger.drawn(count, rng):
        cells = dict(zip(stranger.columns, row, strict=True))
        for name in kept:
            place = rng.choice(order)
            cells[name] = table.column(name)[place]
            shown.append(place)
        rows.append(tuple(cells[name] for name in columns))
    return Stranger(tuple(columns), tuple(rows)), shown


@cache
def _carried() -> Mapping[str, Stranger]:
    """Return the tables that are shipped with scikit-learn, by the names of their cards."""
    lines = {name: shipped_table(card.editions[0].loader or "") for name, card in load_cards().items()}
    return {name: Stranger(table[0], table[1:]) for name, table in lines.items() if table is not None}


@cache
def _made() -> Sequence[Stranger]:
    rng = Random("strangers")

    def cell(values: Values) -> str:
        if isinstance(values[0], str):
            return str(rng.choice(values))
        low, high, decimals = values
        return f"{rng.uniform(float(low), float(high)):.{int(decimals)}f}"

    return [Stranger(tuple(each), tuple(tuple(map(cell, each.values())) for _ in range(200))) for each in MADE]
