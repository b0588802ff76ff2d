"""Providers of other packages: entry points of the group `tabcontam.providers`.

The name of an entry point is the provider, its object a function of what follows the colon and of the run's
`Settings` that gives a `Model`. A package is imported when its provider is asked for; what is wrong with one never
keeps the others from working.
"""

import re
from collections.abc import Collection
from importlib import metadata
from typing import Any

from tabcontam.errors import UsageError

GROUP = "tabcontam.providers"
NAME = re.compile(r"[a-z][a-z0-9_.-]*")


def plugins(built_in: Collection[str]) -> tuple[dict[str, metadata.EntryPoint], list[str]]:
    """The providers of other packages by name, and a line for each that cannot be taken."""
    found: dict[str, metadata.EntryPoint] = {}
    left_out: list[str] = []
    try:
        points = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, package(point)))
    except Exception as error:  # another package's damaged metadata
        return {}, [f"providers of other packages cannot be listed: {_reason(error)}"]
    for point in points:
        if not NAME.fullmatch(point.name):
            left_out.append(_complaint(point, "a provider's name is made of a-z, 0-9, '.', '_' and '-'"))
        elif point.name in built_in:
            left_out.append(_complaint(point, "tabcontam has a provider of that name"))
        elif point.name in found:
            left_out.append(_complaint(point, f"the package {package(found[point.name])} has one of that name"))
        else:
            found[point.name] = point
    return found, left_out


def package(point: metadata.EntryPoint) -> str:
    """The name of the package that offers it."""
    stated = point.dist.metadata["Name"] if point.dist is not None else None
    return stated or point.value.partition(":")[0].partition(".")[0]


def load(point: metadata.EntryPoint) -> Any:
    """The provider's function. Raises `UsageError` in one line, whatever its import raises."""
    try:
        opener = point.load()
    except (Exception, SystemExit) as error:
        raise UsageError(f"{_which(point)} cannot be loaded: {_reason(error)}") from error
    if not callable(opener):
        raise UsageError(f"{_which(point)} cannot be loaded: {point.value} is no function")
    return opener


def open_plugin(point: metadata.EntryPoint, model: str, settings: object) -> Any:
    """The LLM that it gives. Raises `UsageError` in one line, whatever it raises."""
    opener = load(point)
    try:
        opened = opener(model, settings)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"{_which(point)} failed: {_reason(error)}") from error
    if not hasattr(opened, "generate"):
        raise UsageError(f"{_which(point)} failed: it gave no model")
    return opened


def _reason(error: BaseException) -> str:
    """An exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def _complaint(point: metadata.EntryPoint, why: str) -> str:
    return f"{_which(point)} is left out: {why}"


def _which(point: metadata.EntryPoint) -> str:
    return f"provider {point.name!r} of the package {package(point)}"
