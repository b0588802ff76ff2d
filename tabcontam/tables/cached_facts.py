"""Facts about a whole table or column, computed once and used again with every serializer and seed."""

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar, cast

Fact = TypeVar("Fact")


class FactOwner(Protocol):
    """An owner of cached facts: a table or a column."""

    @property
    def facts(self) -> dict[Hashable, object]:
        """The facts that are cached so far."""


def cached_fact(owner: FactOwner, key: Hashable, find: Callable[[], Fact]) -> Fact:
    """Return the result of `find`, computed once and stored under `key` in the facts of the table or column `owner`."""
    if key not in owner.facts:
        owner.facts[key] = find()
    return cast("Fact", owner.facts[key])
