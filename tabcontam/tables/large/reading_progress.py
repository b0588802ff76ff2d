"""Reports of the progress of reading large files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_reporter: ContextVar[Callable[[str], None] | None] = ContextVar("told", default=None)


@contextmanager
def report_progress_to(report: Callable[[str], None]) -> Iterator[None]:
    """Call `report` with a sentence on the progress of each large file that is read meanwhile."""
    token = _reporter.set(report)
    try:
        yield
    finally:
        _reporter.reset(token)


def report_rows(rows: int) -> None:
    """Report the number of rows read so far in the first pass."""
    if report := _reporter.get():
        report(f"{rows:,} rows read so far")


def report_share(rows: int, total: int) -> None:
    """Report the share of rows read in the second pass, which collects rows that inform about the sampled ones."""
    if report := _reporter.get():
        report(f"{rows / total:.0%} of {total:,} rows read a second time")
