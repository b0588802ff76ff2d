"""What the tests find out about a table as a whole, found once: it is the same for every serializer and seed."""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from tabcontam.tables.table import Table

Fact = TypeVar("Fact")


def cached_fact(table: "Table", key: Hashable, find: Callable[[], Fact]) -> Fact:
    """What `find` returns, kept under `key` for as long as the table is there."""
    if key not in table.facts:
        table.facts[key] = find()
    return cast("Fact", table.facts[key])
