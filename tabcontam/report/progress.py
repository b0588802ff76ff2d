"""Progress on standard error: a bar with an ETA on a terminal, plain lines otherwise."""

import sys
import time
from typing import TYPE_CHECKING

from tabcontam.suite.base import Reply, State

if TYPE_CHECKING:
    from rich.progress import Progress

EVERY = 10.0  # seconds between plain lines


class Bar:
    """A progress bar of all queries of a run, for a terminal."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._unanswered = 0

    def begin(self, queries: int) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.add_task("asking", total=queries)
        self._bar.start()

    def known(self, queries: int) -> None:
        """So many queries had an answer before."""
        if self._bar:
            self._bar.advance(self._bar.task_ids[0], queries)

    def at(self, llm: str, dataset: str) -> None:
        """Name what is asked now."""
        from rich.markup import escape

        if self._bar:
            self._bar.update(self._bar.task_ids[0], description=escape(f"{llm} {dataset}"))

    def answered(self, reply: Reply) -> None:
        """Advance by one."""
        if self._bar:
            self._bar.advance(self._bar.task_ids[0])

    def end(self) -> None:
        """Take the bar away."""
        if self._bar:
            self._bar.stop()


class Lines:
    """Plain lines: what is asked now, and the count every few seconds."""

    def __init__(self) -> None:
        self._queries = self._done = self._failed = 0
        self._last = time.monotonic()

    def begin(self, queries: int) -> None:
        """Say how many queries are planned."""
        self._queries = queries
        self._say(f"{queries} queries planned")

    def known(self, queries: int) -> None:
        """Say how many had an answer before."""
        self._done += queries
        if queries:
            self._say(f"{queries} of them are answered already")

    def at(self, llm: str, dataset: str) -> None:
        """Say what is asked now."""
        self._say(f"asking {llm} about {dataset}")

    def answered(self, reply: Reply) -> None:
        """Count, and say so from time to time."""
        self._done += 1
        self._failed += reply.state is State.FAILED
        if time.monotonic() - self._last > EVERY:
            failed = f", {self._failed} failed" if self._failed else ""
            self._say(f"{self._done} of {self._queries} answered{failed}")

    def end(self) -> None:
        """Nothing is left to take away."""

    def _say(self, line: str) -> None:
        self._last = time.monotonic()
        print(line, file=sys.stderr, flush=True)


class Silent(Lines):
    """Nothing at all, for `-q` and for library use."""

    def _say(self, line: str) -> None:
        return


def progress(quiet: bool) -> "Bar | Lines":
    """What suits standard error."""
    if quiet:
        return Silent()
    return Bar() if sys.stderr.isatty() else Lines()
