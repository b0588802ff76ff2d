"""How far the reading of a large file is, told to whoever shows it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_told: ContextVar[Callable[[str], None] | None] = ContextVar("told", default=None)


@contextmanager
def told_to(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell this function in words how far each large file is that is read meanwhile."""
    token = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(token)


def tell_rows(rows: int) -> None:
    """So many rows were read the first time."""
    if tell := _told.get():
        tell(f"{rows:,} rows so far")


def tell_share(rows: int, of: int) -> None:
    """So many of the rows were read a second time, for what tells of the rows that are asked about."""
    if tell := _told.get():
        tell(f"{of:,} rows, read once more to {rows / of:.0%}")
