"""Random draws of rows that do not depend on the order of a table's rows and columns."""

from collections.abc import Sequence
from hashlib import sha256
from random import Random
from typing import TypeVar

from tabcontam.tables.cached_facts import table_fact
from tabcontam.tables.table import Table

Candidate = TypeVar("Candidate")


def by_content(table: Table) -> tuple[int, ...]:
    """Return the places of all rows, sorted by row content."""
    return _content(table)[0]


def identity(table: Table) -> str:
    """Return a digest of the table's title and content. The order of rows and columns does not change it."""
    return _content(table)[1]


def seeded(table: Table, *parts: object) -> Random:
    """Return a random generator for this table, seeded by `parts`. The order of rows and columns does not change it."""
    return Random(" ".join(map(str, (*parts, identity(table)))))


def pool(table: Table, candidates: Sequence[int], most: int) -> list[int]:
    """Return at most `most` candidates. Every seed gets these candidates, so one trained baseline serves all seeds."""
    wanted = set(candidates)
    rows = [row for row in by_content(table) if row in wanted]
    return seeded(table, "pool").sample(rows, min(most, len(rows)))


def in_random_order(rng: Random, candidates: Sequence[Candidate], first: int) -> list[Candidate]:
    """Return all candidates in random order: first `first` of them, as `rng` samples them, then the remaining ones.

    A copy of `rng` shuffles the remaining candidates, so their number does not change later draws of `rng`.
    """
    places = rng.sample(range(len(candidates)), min(first, len(candidates)))
    chosen = set(places)
    others = [place for place in range(len(candidates)) if place not in chosen]
    copied(rng).shuffle(others)
    return [candidates[place] for place in (*places, *others)]


def copied(rng: Random) -> Random:
    """Return a generator with the same state: it makes the same draws as `rng` will."""
    found = Random()
    found.setstate(rng.getstate())
    return found


@table_fact
def _content(table: Table) -> tuple[tuple[int, ...], str]:
    """Return the row places sorted by content, and a digest of the table."""
    columns = map(table.column, sorted(table.columns))
    filled = [[cell or "" for cell in cells] if None in cells else cells for cells in columns]
    rows = list(zip(*filled, strict=True))
    lines = list(map("\0".join, rows))  # sorts like the rows, and much faster, if no cell has this character
    keys = rows if sum(line.count("\0") for line in lines) > len(rows) * (len(filled) - 1) else lines
    order = tuple(sorted(range(len(rows)), key=keys.__getitem__))
    text = "".join(["\x1f".join((*rows[row], "\n")) for row in order])
    head = repr((table.title, sorted(table.columns)))
    return order, sha256((head + text).encode("utf-8", "backslashreplace")).hexdigest()
