"""Which cells the guesser can draw others for: of features whose values recur, in rows that are like no other."""

from collections import Counter
from collections.abc import Sequence

from tabcontam.tables.table import Table

REPEATED = 0.5  # of a feature's cells whose value other rows hold too, for a feature of texts to be drawn


def can_be_drawn(table: Table, feature: str) -> bool:
    """Whether a feature has values that can stand in several rows: numbers, or texts that mostly do. No key has."""
    counts = Counter(table.column(feature))
    if len(counts) <= 2:
        return False
    if table.is_numeric(feature):
        return len(counts) < len(table.rows)
    return sum(times for times in counts.values() if times > 1) >= REPEATED * len(table.rows)


def alone(table: Table, feature: str, rows: Sequence[int]) -> list[int]:
    """Those of the rows that no other row of the table is like in all other features."""
    place = table.columns.index(feature)
    others = [(*row[:place], *row[place + 1 :]) for row in table.with_beside]
    counts = Counter(others)
    return [row for row in rows if counts[others[row]] == 1]
