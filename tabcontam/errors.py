"""What a user can mend: one line that says what is wrong and what to type instead.

UsageError          a bad name, file, key or option; exit code 4
Unavailable         a good name, for which something is missing here; a run goes on without it
NothingSelected     a `-k` or `-m` that matches no test; exit code 5
Skip                a cell that cannot be measured, with the reason; verdict `skipped`
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes, as pytest's."""

    DONE = 0  # of `gate`: clean
    CONTAMINATED = 1  # of `gate` and `run --gate` alone
    INTERRUPTED = 2
    INTERNAL_ERROR = 3
    USAGE = 4
    NOTHING_SELECTED = 5
    CANNOT_TELL = 6  # of `gate` and `run --gate` alone


class UsageError(Exception):
    """A bad input. Its text is the one line shown on standard error; `code` is the exit code."""

    code = 4


class Unavailable(UsageError):
    """The name is right, but what it needs is not there: a key, a package, a running server, a model still served."""


class NothingSelected(UsageError):
    """`-k` and `-m` match no test."""

    code = Exit.NOTHING_SELECTED


class Skip(Exception):
    """A cell that cannot be measured on this table or with this LLM; its text is the reason."""


def one_line(error: Exception, longest: int = 300) -> str:
    """What went wrong, in one line of at most so many characters."""
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


# The options of a run whose name in Python is not that of the command line with other dashes.
LETTERS = {"tests": "-k", "marks": "-m", "stop_at_first": "-x"}
SWITCHED_OFF = ("controls", "cache", "header")  # `--no-controls` is `controls=False`
SWITCHED_ON = (
    "batch",
    "send_rows",
    "until_decided",
    "retry_unanswered",
    "last_failed",
    "stop_at_first",
    "memory_share",
    "incomplete",
)
_python = ContextVar("_python", default=False)


@contextmanager
def spoken_in_python() -> Iterator[None]:
    """Errors that are made meanwhile name options as arguments of `tabcontam.run`: whoever reads them typed those."""
    before = _python.set(True)
    try:
        yield
    finally:
        _python.reset(before)


def option(word: str, *values: object) -> str:
    """How the user writes an option, by its name in Python: `--send-rows` is `send_rows=True` there.

    With values it is written with them: `--llm a --llm b` is `llm=['a', 'b']`.
    """
    if _python.get():
        if not values and word in (*SWITCHED_ON, *SWITCHED_OFF):
            return f"{word}={word in SWITCHED_ON}"
        return f"{word}={list(values) if len(values) > 1 else values[0]!r}" if values else f"{word}="
    import shlex

    name = f"--no-{word}" if word in SWITCHED_OFF else LETTERS.get(word, f"--{word.replace('_', '-')}")
    return " ".join(f"{name} {shlex.quote(str(value))}" for value in values) or name


def option_name(word: str) -> str:
    """As `option`, where the line is about the option: `--reference` is `reference` in Python."""
    return word if _python.get() else option(word)


def near(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known names that look like this one, the nearest first."""
    from rapidfuzz import process

    return [match[0] for match in process.extract(name, list(known), limit=limit, score_cutoff=65)]


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that does not exist, with the nearest names that do."""
    names = list(known)
    found = near(name, names)
    advice = f"did you mean {' or '.join(found)}?" if found else f"known: {', '.join(names)}"
    return UsageError(f"unknown {kind} {name!r}; {advice}")


def several(word: str, typed: str, known: Callable[[str], object]) -> UsageError | None:
    """The error for names in one text with commas between, of which one is known by itself; else None."""
    names = _apart(typed)
    return UsageError(f"{typed!r} is several names; write {option(word, *names)}") if any(map(known, names)) else None


def unknown_one_or_several(word: str, kind: str, typed: str) -> UsageError | None:
    """The error for a text with commas between that means nothing as a whole, and of which no part does; else None."""
    names = _apart(typed)
    one_by_one = f"; if it is several names, write {option(word, *names)}"
    return UsageError(f"unknown {kind} {typed!r}{one_by_one}") if names else None


def _apart(typed: str) -> list[str]:
    """The names between the commas of a text; none where it is no list of names."""
    names = [name.strip() for name in typed.split(",")]
    return names if len(names) > 1 and all(names) else []
