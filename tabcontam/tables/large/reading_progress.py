"""Reports of the progress of reading large files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_told: ContextVar[Callable[[str], None] | None] = ContextVar("told", default=None)


@contextmanager
def report_progress_to(tell: Callable[[str], None]) -> Iterator[None]:
    """Report to `tell`, in words, the progress of each large file that is read meanwhile."""
    token = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(token)


def tell_rows(rows: int) -> None:
    """Report the number of rows of the first pass."""
    if tell := _told.get():
        tell(f"{rows:,} rows so far")


def tell_share(rows: int, of: int) -> None:
    """Report the share of rows of the second pass, which collects rows that inform about the sampled ones."""
    if tell := _told.get():
        tell(f"{of:,} rows, read once more to {rows / of:.0%}")
