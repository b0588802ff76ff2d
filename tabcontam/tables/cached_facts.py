"""Facts about a whole table or column, computed once and used again with every serializer and seed."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast

Fact = TypeVar("Fact")
Given = ParamSpec("Given")
Owner = TypeVar("Owner", bound="FactOwner")


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


def table_fact(find: Callable[Concatenate[Owner, Given], Fact]) -> Callable[Concatenate[Owner, Given], Fact]:
    """Return a function that computes each fact once: its results are stored in the facts of its first argument."""

    @wraps(find)
    def found(owner: Owner, /, *args: Given.args, **named: Given.kwargs) -> Fact:
        name = f"{find.__module__}.{find.__qualname__}"  # no function: a table can be pickled with its facts
        return cached_fact(owner, (name, args, *named.items()), lambda: find(owner, *args, **named))

    return found
