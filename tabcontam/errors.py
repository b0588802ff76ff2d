"""What a user can mend: one line that says what is wrong and what to type instead.

UsageError          a bad name, file, key or option; exit code 4
Unavailable         a good name, for which something is missing here; a run goes on without it
NothingSelected     a `-k` or `-m` that matches no test; exit code 5
Skip                a cell that cannot be measured, with the reason; verdict `skipped`
"""

from collections.abc import Iterable
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
