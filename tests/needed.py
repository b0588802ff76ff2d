"""Packages that not every machine has, imported when a test first uses them: to collect tests must cost little."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


class Needed:
    """A module that is imported at the first use of one of its names; none can be set, and none is private."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks every name of a test module whether it is a fixture
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def needed(name: str) -> Any:
    """Return the module of that name, not imported yet; skip the tests of the test module where it is not installed."""
    try:
        there = find_spec(name) is not None
    except ModuleNotFoundError:  # the package that would hold it
        there = False
    if not there:
        pytest.skip(f"{name} is not installed", allow_module_level=True)
    return Needed(name)
