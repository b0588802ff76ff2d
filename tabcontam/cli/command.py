"""A command of the command line, as the core and extensions define it."""

import argparse
from collections.abc import Callable
from typing import NamedTuple


class Command(NamedTuple):
    """A command: `about` in one line, `add`, which adds its arguments to its parser, and `run`.

    `run` returns an exit code, or None for 0. An extension offers a command as an entry point of the group
    `tabcontam.commands`: the entry point's name is the command's name. Its module is imported for every `--help`, so it
    imports heavy modules in its functions.
    """

    about: str
    add: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int | None]
