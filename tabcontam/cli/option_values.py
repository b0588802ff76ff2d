"""Converters of option values from text to their types. argparse prints the error line for an invalid value."""

import argparse
from typing import TYPE_CHECKING

from tabcontam.verdicts.rules import PAPER

if TYPE_CHECKING:  # importing one of these modules takes as long as starting Python
    from decimal import Decimal
    from pathlib import Path

    from tabcontam.asking.run_shards import RunShard
    from tabcontam.verdicts.rules import Queries

SUMMARY = "cnuaspAN"


def path(text: str) -> "Path":
    """Return the path of a file or folder."""
    from pathlib import Path

    return Path(text)


def folder(text: str) -> "Path":
    """Return the path of a folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return path(text)


def summary(text: str) -> str:
    """Return the letters that follow -r, which choose the outcomes in the summary."""
    if strange := [letter for letter in text if letter not in SUMMARY]:
        raise argparse.ArgumentTypeError(f"{strange[0]!r} is not one of {SUMMARY}")
    return text


def shard(text: str) -> "RunShard":
    """Return one part of a run, such as 3/8: the third of eight."""
    from tabcontam.asking.run_shards import RunShard

    try:
        return RunShard.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def positive(text: str) -> int:
    """Return a whole number above 0."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def queries(text: str) -> "Queries":
    """Return a whole number above 0, or the word that stands for the paper's number of queries."""
    if text == PAPER:
        return PAPER
    try:
        return positive(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, nor {PAPER}") from None


def shots(text: str) -> tuple[int, ...]:
    """Return whole numbers of 0 or more, sorted and without repeats. They are separated by commas in `text`."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers of shots; write for example 0,4,16")
    return tuple(sorted(set(map(int, parts))))


def draws(text: str) -> int:
    """Return a whole number from 1 to 5."""
    number = positive(text)
    if number > 5:
        raise argparse.ArgumentTypeError(f"{text!r} is more than 5: each draw asks about another fifth of the table")
    return number


def level(text: str) -> float:
    """Return a number between 0 and 1."""
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return share


def temperature(text: str) -> float:
    """Return a sampling temperature above 0 and at most 2."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and at most 2")
    return number


def dollars(text: str) -> "Decimal":
    """Return a sum of US dollars above 0."""
    from decimal import Decimal, InvalidOperation

    try:
        found = Decimal(text)
    except InvalidOperation:
        found = Decimal(0)
    if not found.is_finite() or found <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a sum of US dollars above 0")
    return found


def copies(text: str) -> tuple[int, ...]:
    """Return whole numbers separated by commas."""
    parts = [part.strip() for part in text.split(",")]
    if strange := [part for part in parts if not part.isdecimal()]:
        raise argparse.ArgumentTypeError(f"{strange[0]!r} is not a whole number; write for example 0,1,4,16")
    return tuple(map(int, parts))
