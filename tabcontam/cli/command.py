"""A command of the command line, as the core and extensions define it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tabcontam.entry_points import load_object

if TYPE_CHECKING:
    import argparse


class Command(NamedTuple):
    """A command: `about` in one line, `add`, which adds its arguments to its parser, and `run`.

    `run` returns an exit code, or None for 0. An extension offers a command as an entry point of the group
    `tabcontam.commands`: the entry point's name is the command's name. `--help` imports the module that the entry point
    names, so this module should be light: `later` names functions of another one.
    """

    about: str
    add: "Callable[[argparse.ArgumentParser], None]"
    run: "Callable[[argparse.Namespace], int | None]"


def later(place: str) -> Callable[[Any], Any]:
    """Return a function that imports the function MODULE:NAME when it is called, and calls it."""
    return lambda given: load_object(place)(given)
