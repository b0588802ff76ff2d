"""Converters of option values from text to their types. argparse prints the error line for an invalid value."""

import argparse
from collections.abc import Callable
from typing import Any

from tabcontam.config import COUNT, PATH, SHARE, Kind


def typed(kind: Kind[Any]) -> Callable[[str], Any]:
    """Return the converter of typed text to a kind of value."""

    def read(text: str) -> Any:
        try:
            return kind.read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


path, level, positive = typed(PATH), typed(SHARE), typed(COUNT)


def shots(text: str) -> tuple[int, ...]:
    """Return whole numbers of 0 or more, sorted and without repeats. They are separated by commas in `text`."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers of shots; write for example 0,4,16")
    return tuple(sorted(set(map(int, parts))))


def draws(text: str) -> int:
    """Return a whole number from 1 to 5."""
    number: int = positive(text)
    if number > 5:
        raise argparse.ArgumentTypeError(f"{text!r} is more than 5: each draw asks about another fifth of the table")
    return number


def copies(text: str) -> tuple[int, ...]:
    """Return whole numbers separated by commas."""
    parts = [part.strip() for part in text.split(",")]
    if strange := [part for part in parts if not part.isdecimal()]:
        raise argparse.ArgumentTypeError(f"{strange[0]!r} is not a whole number; write for example 0,1,4,16")
    return tuple(map(int, parts))
