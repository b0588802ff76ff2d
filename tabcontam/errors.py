"""Errors that a user can correct. The text is one line: the mistake, and the correct input.

UsageError          a bad name, file, key or option; exit code 4
Unavailable         a good name, but something that it needs is missing here; a run continues without it
NothingSelected     a `-k` or `-m` that matches no test; exit code 5
Skip                a result that cannot be measured, with the reason; verdict `skipped`
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum


class Exit(IntEnum):
    """The exit codes, numbered as in pytest."""

    DONE = 0  # for `gate`: clean
    CONTAMINATED = 1  # only from `gate`
    INTERRUPTED = 2
    INTERNAL_ERROR = 3
    USAGE = 4
    NOTHING_SELECTED = 5
    CANNOT_TELL = 6  # only from `gate`


class UsageError(Exception):
    """A bad input. Its text is the one line shown on standard error; `code` is the exit code."""

    code = 4


class Unavailable(UsageError):
    """A valid name that needs something missing: a key, a package, a running server, a model that is still served."""


class NothingSelected(UsageError):
    """A `-k` and `-m` that match no test."""

    code = Exit.NOTHING_SELECTED


class Skip(Exception):
    """A measurement that is impossible on this table or with this LLM. The text is the reason."""


def one_line(error: Exception, longest: int = 300) -> str:
    """Return the text of an error in one line of at most `longest` characters."""
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


_python = ContextVar("_python", default=False)


@contextmanager
def name_options_in_python() -> Iterator[None]:
    """Write options in errors as arguments of `tabcontam.run`, as the caller typed them."""
    before = _python.set(True)
    try:
        yield
    finally:
        _python.reset(before)


def option(word: str, *values: object) -> str:
    """Return an option as the user writes it. For a user of Python, `--send-rows` is `send_rows=True`.

    With `values`, the text contains them: `--llm a --llm b` is `llm=['a', 'b']`.
    """
    from tabcontam.config import settings

    setting = settings().get(word)
    if _python.get():
        if not values and (setting.switch if setting else word == "incomplete"):
            return f"{word}={not (setting and setting.flag.startswith('--no-'))}"
        return f"{word}={list(values) if len(values) > 1 else values[0]!r}" if values else f"{word}="
    import shlex

    name = setting.flag if setting else f"--{word.replace('_', '-')}"
    return " ".join(f"{name} {shlex.quote(str(value))}" for value in values) or name


def option_name(word: str) -> str:
    """Return an option without a value, for a message about the option: `--reference` is `reference` in Python."""
    return word if _python.get() else option(word)


def near(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return at most `limit` known names that look like `name`, the nearest first."""
    from rapidfuzz import process

    return [match[0] for match in process.extract(name, list(known), limit=limit, score_cutoff=65)]


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that does not exist. It suggests the nearest known names."""
    names = list(known)
    found = near(name, names)
    advice = f"did you mean {' or '.join(found)}?" if found else f"known: {', '.join(names)}"
    return UsageError(f"unknown {kind} {name!r}; {advice}")


def several(word: str, typed: str, known: Callable[[str], object]) -> UsageError | None:
    """Return the error for a text of several names with commas, if at least one of the names is known; else None."""
    names = _apart(typed)
    return UsageError(f"{typed!r} is a list; write {option(word, *names)}") if any(map(known, names)) else None


def unknown_one_or_several(word: str, kind: str, typed: str) -> UsageError | None:
    """Return the error for a text with commas that is unknown, and in which no part is known; None without commas."""
    names = _apart(typed)
    one_by_one = f"; if it is a list, write {option(word, *names)}"
    return UsageError(f"unknown {kind} {typed!r}{one_by_one}") if names else None


def _apart(typed: str) -> list[str]:
    """Return the names between the commas of a text; [] if the text is not a list of names."""
    names = [name.strip() for name in typed.split(",")]
    return names if len(names) > 1 and all(names) else []
