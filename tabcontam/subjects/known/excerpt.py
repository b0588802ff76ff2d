"""What the controls read of a large table: a sample of its rows in which all are that anybody is asked about."""

from collections.abc import Collection, Iterable
from itertools import chain
from random import Random

from tabcontam.evidence.base import Query
from tabcontam.groups import grouped
from tabcontam.tables.facts import cached_fact
from tabcontam.tables.large.excerpt import BLOCK, READ_WHOLE, SAMPLED
from tabcontam.tables.table import Table

BEFORE, AFTER = 5, 10  # rows of the file that are read beside each row that is asked about or shown
ALIKE = 20  # rows that begin as such a row does: so many are read as well, and of more the sample has its share


def drawn_places(rows: int) -> tuple[int, ...] | None:
    """The places of the rows that are read of so many whatever is asked; None where all are read."""
    if rows <= READ_WHOLE:
        return None
    blocks = Random(f"excerpt of {rows}").sample(range(-(-rows // BLOCK)), SAMPLED // BLOCK)
    return tuple(place for block in sorted(blocks) for place in range(block * BLOCK, min(rows, (block + 1) * BLOCK)))


def places_read(table: Table, queries: Iterable[Query]) -> tuple[int, ...] | None:
    """The places of the rows that who has a table reads of it, to be asked these queries; None where all are read.

    Beside those that are drawn they are all rows that a query asks about or shows, the rows of the file around them,
    and the rows that begin as they do: so a text that begins as such a row goes on as it does in the whole file.
    """
    rows = len(table.rows)
    drawn = drawn_places(rows)
    if drawn is None:
        return None
    named = {place for query in queries for place in (*query.rows, query.row) if place is not None}
    asked = frozenset(place for place in named if 0 <= place < rows)

    def places() -> tuple[int, ...]:
        near = chain.from_iterable(range(max(0, place - BEFORE), min(rows, place + AFTER + 1)) for place in asked)
        return tuple(sorted({*drawn, *near, *_beginning_alike(table, asked)}))

    return cached_fact(table, ("excerpt", asked), places)


def _beginning_alike(table: Table, asked: frozenset[int]) -> set[int]:
    """The rows with the first cells of an asked one, by as few cells as it takes for at most `ALIKE` to have them."""
    found: set[int] = set()
    groups: list[Collection[int]] = [range(len(table.rows))]
    for column in table.columns:
        cells = table.column(column)
        parts = chain.from_iterable(grouped(group, cells.__getitem__).values() for group in groups)
        with_asked = [part for part in parts if not asked.isdisjoint(part)]
        found.update(*(part for part in with_asked if len(part) <= ALIKE))
        groups = [part for part in with_asked if len(part) > ALIKE]
    return found
