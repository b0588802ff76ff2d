"""What is found out about a table, or one of its columns, as a whole, found once: for every serializer and seed."""

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar, cast

Fact = TypeVar("Fact")


class HasFacts(Protocol):
    """What facts are kept with: a table, a column."""

    @property
    def facts(self) -> dict[Hashable, object]:
        """The facts that are known by now."""


def cached_fact(of: HasFacts, key: Hashable, find: Callable[[], Fact]) -> Fact:
    """What `find` returns, kept under `key` for as long as the table or column is there."""
    if key not in of.facts:
        of.facts[key] = find()
    return cast("Fact", of.facts[key])
