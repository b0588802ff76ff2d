"""The reader of files of recorded answers, one JSON object a line, and its messages about bad lines."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tabcontam.errors import UsageError

Lines = Sequence[tuple[int, str]]  # each line with its number, from 1
Parsed = TypeVar("Parsed")


def read_lines(path: Path) -> Lines:
    """Return the lines of a file that are not blank. Raises `UsageError` if it has none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"cannot read the records {path}: {reason}; give a file like records.jsonl") from None
    # splitlines() would also split at U+2028 and the like, which JSON does not escape
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise UsageError(f"{path} holds no records; give a file with one JSON object a line")
    return lines


def parse_lines(
    path: Path, lines: Lines, parse: Callable[[Mapping[str, Any], int], Parsed], keys: Sequence[str]
) -> list[Parsed]:
    """Return the record of each line. `parse` gets the line's object and its number.

    Raises `UsageError` if a line is no JSON object, or if `parse` raises KeyError, TypeError, ValueError or
    SyntaxError. The message has the line's number and the `keys` that a record has.
    """
    return [_parsed(path, number, line, parse, keys) for number, line in lines]


def _parsed(
    path: Path, number: int, line: str, parse: Callable[[Mapping[str, Any], int], Parsed], keys: Sequence[str]
) -> Parsed:
    try:
        raw = json.loads(line)
        if not isinstance(raw, dict):
            raise TypeError("not a JSON object")
        return parse(raw, number)
    except json.JSONDecodeError as error:
        fault = f"not JSON ({error.msg})"
    except (RecursionError, MemoryError):  # ast raises MemoryError
        fault = "nested too deeply"
    except KeyError as error:
        fault = f"no {error.args[0]!r}"
    except (TypeError, ValueError, SyntaxError) as error:
        fault = str(error).split("\n")[0]
    raise UsageError(f"{path}, line {number}: {fault}; each line is one recorded answer: {', '.join(keys)}")


def text_of(raw: Mapping[str, Any], key: str) -> str:
    """Return the text under `key` in a record. Raises KeyError if it is missing, TypeError if it is no text."""
    if not isinstance(raw[key], str):
        raise TypeError(f"{key!r} is not a text")
    return str(raw[key])


def optional_text(raw: Mapping[str, Any], key: str) -> str | None:
    """Return the text under `key` in a record; None if missing or null. Raises TypeError for anything else."""
    return None if raw.get(key) is None else text_of(raw, key)


def count_of(raw: Mapping[str, Any], key: str) -> int:
    """Return the whole number of 0 or more under `key` in a record. Raises KeyError or TypeError."""
    if type(raw[key]) is not int or raw[key] < 0:  # Python counts True as an int
        raise TypeError(f"{key!r} is not a count")
    return int(raw[key])


def optional_number(raw: Mapping[str, Any], key: str) -> float | None:
    """Return the number under `key` in a record; None if missing or null. Raises TypeError unless it is finite."""
    given = raw.get(key)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < float("inf"):
        raise TypeError(f"{key!r} is not a number")
    return float(given)
