"""The run that is meant where a person names none. A script always names it: what is newest there is chance."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def on_terminal() -> bool:
    """Whether a person types here and reads here."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def last_run(command: str) -> "Path | None":
    """The folder of the newest run, which a line on standard error names with its age; None where no terminal is.

    Raises `UsageError` where there is no run.
    """
    if not on_terminal():
        return None
    from tabcontam.runs.last import last_run

    found = last_run()
    print(f"{command} of {found}", file=sys.stderr)
    return found.folder
