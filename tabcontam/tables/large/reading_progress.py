"""Reports of the progress of reading large files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_told: ContextVar[Callable[[str], None] | None] = ContextVar("told", default=None)


@contextmanager
def report_progress_to(tell: Callable[[str], None]) -> Iterator[None]:
    """Call `tell` with a sentence on the progress of each large file that is read meanwhile."""
    token = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(token)


def tell_rows(rows: int) -> None:
    """Report the number of rows read so far in the first pass."""
    if tell := _told.get():
        tell(f"{rows:,} rows read so far")


def tell_share(rows: int, of: int) -> None:
    """Report the share of rows read in the second pass, which collects rows that inform about the sampled ones."""
    if tell := _told.get():
        tell(f"{rows / of:.0%} of {of:,} rows read a second time")
