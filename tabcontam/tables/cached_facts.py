"""Facts about a table, or one of its columns, as a whole, computed once for every serializer and seed."""

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar, cast

Fact = TypeVar("Fact")


class FactOwner(Protocol):
    """The owner of cached facts: a table or a column."""

    @property
    def facts(self) -> dict[Hashable, object]:
        """The facts that are cached so far."""


def cached_fact(owner: FactOwner, key: Hashable, find: Callable[[], Fact]) -> Fact:
    """Return the value of `find`, cached under `key` for as long as the table or column exists."""
    if key not in owner.facts:
        owner.facts[key] = find()
    return cast("Fact", owner.facts[key])
