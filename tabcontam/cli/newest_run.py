"""The newest run, which commands at a terminal use by default. A script must name its run: others may add runs."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def on_terminal() -> bool:
    """Return whether a person uses this process: input and output are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def last_run(command: str) -> "Path | None":
    """Return the newest run's folder, and print it on standard error; None without a terminal. Raises `UsageError`."""
    if not on_terminal():
        return None
    from tabcontam.runs.last_run import last_run

    found = last_run()
    print(f"{command} of {found}", file=sys.stderr)
    return found.folder
