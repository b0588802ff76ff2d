"""Reports of the progress of reading large files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_reporter: ContextVar[Callable[[str], None] | None] = ContextVar("reading progress", default=None)


@contextmanager
def report_progress_to(report: Callable[[str], None]) -> Iterator[None]:
    """Call `report` with progress sentences while large files are read inside this context."""
    token = _reporter.set(report)
    try:
        yield
    finally:
        _reporter.reset(token)


def report_progress(sentence: str) -> None:
    """Report the progress of the file that is being read."""
    if report := _reporter.get():
        report(sentence)
