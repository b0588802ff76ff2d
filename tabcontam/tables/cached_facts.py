"""Facts about a whole table or column, computed once and used again with every serializer and seed."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

Fact = TypeVar("Fact")
Arguments = ParamSpec("Arguments")


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


Owner = TypeVar("Owner", bound=FactOwner)


def computed_once(find: Callable[Concatenate[Owner, Arguments], Fact]) -> Callable[Concatenate[Owner, Arguments], Fact]:
    """Make a function compute its result once for each table or column, its first argument, and further arguments."""

    @wraps(find)
    def cached(owner: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Fact:
        key = (find.__module__, find.__qualname__, *args, *kwargs.items())
        return cached_fact(owner, key, lambda: find(owner, *args, **kwargs))

    return cached
