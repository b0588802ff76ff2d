"""Providers of other packages: entry points of the group `tabcontam.providers`.

The name of an entry point is the provider, its object a function of what follows the colon and of the run's
`Settings` that gives a `Model`. A package is imported when its provider is asked for; what is wrong with one never
keeps the others from working.
"""

from collections.abc import Collection
from importlib import metadata
from typing import Any

from tabcontam.entry_points import described, offered, package, reported
from tabcontam.errors import UsageError

GROUP = "tabcontam.providers"
__all__ = ["GROUP", "load", "open_plugin", "package", "plugins"]


def plugins(built_in: Collection[str]) -> tuple[dict[str, metadata.EntryPoint], list[str]]:
    """The providers of other packages by name, and a line for each that cannot be taken."""
    return offered(GROUP, "provider", built_in)


def load(point: metadata.EntryPoint) -> Any:
    """The provider's function. Raises `UsageError` in one line, whatever its import raises."""
    with reported(point, "provider"):
        opener = point.load()
    if not callable(opener):
        raise UsageError(f"{described(point, 'provider')} cannot be loaded: {point.value} is no function")
    return opener


def open_plugin(point: metadata.EntryPoint, model: str, settings: object) -> Any:
    """The LLM that it gives. Raises `UsageError` in one line, whatever it raises."""
    opener = load(point)
    with reported(point, "provider", "failed", passing=(UsageError,)):
        opened = opener(model, settings)
    if not hasattr(opened, "generate"):
        raise UsageError(f"{described(point, 'provider')} failed: it gave no model")
    return opened
