"""Facts about a whole table or column, computed once and used again with every serializer and seed."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

Fact = TypeVar("Fact")


def cached_fact(owner: Any, key: Hashable, find: Callable[[], Fact]) -> Fact:
    """Return the result of `find`, computed once and stored under `key` in the facts of the table or column `owner`."""
    if key not in owner.facts:
        owner.facts[key] = find()
    return cast("Fact", owner.facts[key])
