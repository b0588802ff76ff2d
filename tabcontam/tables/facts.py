"""What the tests find out about a table as a whole, found once: it is the same for every serializer and seed."""

from collections.abc import Callable, Hashable
from typing import TypeVar, cast
from weakref import finalize

from tabcontam.tables.table import Table

Fact = TypeVar("Fact")
_found: dict[int, dict[Hashable, object]] = {}  # by the table's identity: a hash would go over all of its cells


def cached_fact(table: Table, key: Hashable, find: Callable[[], Fact]) -> Fact:
    """What `find` returns, kept under `key` for as long as the table is there."""
    if id(table) not in _found:
        _found[id(table)] = {}
        finalize(table, _found.pop, id(table))
    facts = _found[id(table)]
    if key not in facts:
        facts[key] = find()
    return cast("Fact", facts[key])
