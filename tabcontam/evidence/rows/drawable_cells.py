"""Rules for the cells that the baseline can draw again: the feature's values recur, and no other row is the same."""

from collections import Counter
from collections.abc import Sequence

from tabcontam.evidence.thresholds import LEAST_REPEATED_SHARE
from tabcontam.tables.table import Table


def can_be_drawn(table: Table, feature: str) -> bool:
    """Return whether several rows can have a feature's value: numbers, or texts that mostly recur; no identifiers."""
    counts = Counter(table.column(feature))
    if len(counts) <= 2:
        return False
    if table.is_numeric(feature):
        return len(counts) < len(table.rows)
    return sum(times for times in counts.values() if times > 1) >= LEAST_REPEATED_SHARE * len(table.rows)


def rows_unlike_others(table: Table, feature: str, rows: Sequence[int]) -> list[int]:
    """Return those of `rows` that no other row of the table equals in all other features."""
    place = table.columns.index(feature)
    others = [(*row[:place], *row[place + 1 :]) for row in table.all_stored]
    counts = Counter(others)
    return [row for row in rows if counts[others[row]] == 1]
