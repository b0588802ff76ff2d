"""Which rows are drawn: the same ones, in whatever order a table's rows and columns stand."""

from collections.abc import Sequence
from hashlib import sha256
from random import Random

from tabcontam.tables.facts import cached_fact
from tabcontam.tables.table import Table


def by_content(table: Table) -> tuple[int, ...]:
    """The rows' places, sorted by what the rows hold."""
    return cached_fact(table, "by content", lambda: _sorted(table))


def identity(table: Table) -> str:
    """A digest of the table's title and content, whatever the order of its rows and columns."""
    return cached_fact(table, "identity", lambda: _digest(table))


def seeded(table: Table, *parts: object) -> Random:
    """A generator for this table: the same for the same parts, whatever the order of its rows and columns."""
    return Random(" ".join(map(str, (*parts, identity(table)))))


def pool(table: Table, candidates: Sequence[int], most: int) -> list[int]:
    """At most so many of the candidates, the same for every seed: rows that share one fit of the guesser."""
    wanted = set(candidates)
    rows = [row for row in by_content(table) if row in wanted]
    return seeded(table, "pool").sample(rows, min(most, len(rows)))


def _cells(table: Table) -> list[tuple[str, ...]]:
    places = sorted(range(len(table.columns)), key=lambda place: table.columns[place])
    return [tuple(row[place] or "" for place in places) for row in table.rows]


def _sorted(table: Table) -> tuple[int, ...]:
    cells = _cells(table)
    return tuple(sorted(range(len(cells)), key=cells.__getitem__))


def _digest(table: Table) -> str:
    cells = _cells(table)
    digest = sha256(repr((table.title, sorted(table.columns))).encode("utf-8", "backslashreplace"))
    for row in by_content(table):
        digest.update("\x1f".join((*cells[row], "\n")).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()
