"""Facts about a table, or one of its columns, as a whole, computed once for every serializer and seed."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

Fact = TypeVar("Fact")


def cached_fact(owner: Any, key: Hashable, find: Callable[[], Fact]) -> Fact:
    """Return the value of `find`, cached under `key` in the `facts` of a table or column as long as that exists."""
    if key not in owner.facts:
        owner.facts[key] = find()
    return cast("Fact", owner.facts[key])
