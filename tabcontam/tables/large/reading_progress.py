"""Reports of the progress of reading large files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_told: ContextVar[Callable[[str], None] | None] = ContextVar("told", default=None)


@contextmanager
def report_progress_to(report: Callable[[str], None]) -> Iterator[None]:
    """Call `report` with a sentence on the progress of each large file that is read meanwhile."""
    token = _told.set(report)
    try:
        yield
    finally:
        _told.reset(token)


def tell_rows(rows: int) -> None:
    """Report the number of rows read so far in the first pass."""
    if report := _told.get():
        report(f"{rows:,} rows read so far")


def tell_share(rows: int, total: int) -> None:
    """Report the share of rows read in the second pass, which collects rows that inform about the sampled ones."""
    if report := _told.get():
        report(f"{rows / total:.0%} of {total:,} rows read a second time")
