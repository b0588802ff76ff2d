"""The part of a large table that the controls read: a sample of its rows, with all rows that queries use."""

from collections.abc import Collection, Iterable
from itertools import chain
from random import Random

from tabcontam.evidence.base import Query
from tabcontam.groups import grouped
from tabcontam.models.thresholds import EXCERPT_ROWS_AFTER, EXCERPT_ROWS_BEFORE, MOST_ROWS_BEGINNING_ALIKE
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.table import Table
from tabcontam.tables.thresholds import MOST_ROWS_READ_WHOLE, SAMPLED_BLOCK, SAMPLED_ROWS


def drawn_places(rows: int) -> tuple[int, ...] | None:
    """Return the indices of the rows, out of `rows`, that a control reads for any queries; None if it reads all."""
    if rows <= MOST_ROWS_READ_WHOLE:
        return None
    blocks = Random(f"excerpt of {rows}").sample(range(-(-rows // SAMPLED_BLOCK)), SAMPLED_ROWS // SAMPLED_BLOCK)
    return tuple(
        place
        for block in sorted(blocks)
        for place in range(block * SAMPLED_BLOCK, min(rows, (block + 1) * SAMPLED_BLOCK))
    )


def places_read(table: Table, queries: Iterable[Query]) -> tuple[int, ...] | None:
    """Return the indices of the rows that an exposed control reads for these queries; None if it reads all rows.

    These are the drawn rows, all rows that a query asks about or shows, the rows around them in the file, and the rows
    with the same beginning. So the beginning of an asked row is continued as in the whole file.
    """
    rows = len(table.rows)
    drawn = drawn_places(rows)
    if drawn is None:
        return None
    named = {place for query in queries for place in (*query.rows, query.row) if place is not None}
    asked = frozenset(place for place in named if 0 <= place < rows)

    def places() -> tuple[int, ...]:
        near = chain.from_iterable(
            range(max(0, place - EXCERPT_ROWS_BEFORE), min(rows, place + EXCERPT_ROWS_AFTER + 1)) for place in asked
        )
        return tuple(sorted({*drawn, *near, *_beginning_alike(table, asked)}))

    return cached_fact(table, ("excerpt", asked), places)


def _beginning_alike(table: Table, asked: frozenset[int]) -> set[int]:
    """Return rows that share an asked row's first cells: enough cells to get `MOST_ROWS_BEGINNING_ALIKE` or fewer."""
    found: set[int] = set()
    groups: list[Collection[int]] = [range(len(table.rows))]
    for column in table.columns:
        cells = table.column(column)
        parts = chain.from_iterable(grouped(group, cells.__getitem__).values() for group in groups)
        with_asked = [part for part in parts if not asked.isdisjoint(part)]
        found.update(*(part for part in with_asked if len(part) <= MOST_ROWS_BEGINNING_ALIKE))
        groups = [part for part in with_asked if len(part) > MOST_ROWS_BEGINNING_ALIKE]
    return found
