"""Predictors that failed on a table: each is left out, the others are used, and the run's report names them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from tabcontam.errors import Skip, UsageError, one_line
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.table import Table

Predicted = TypeVar("Predicted")
_FAILED: ContextVar[list[str] | None] = ContextVar("failed", default=None)


def attempt(predictor: str, predict: Callable[[], Predicted], otherwise: Predicted) -> Predicted:
    """Return the result of `predict`, or `otherwise` if it fails: for any error except `UsageError` and `Skip`.

    Inside `recording`, the failure is recorded. Outside, the error is raised: no predictor is left out silently.
    """
    failed = _FAILED.get()
    if failed is None:
        return predict()
    try:
        return predict()
    except (UsageError, Skip):
        raise
    except Exception as error:
        failed.append(f"{predictor}: {type(error).__name__}: {one_line(error)}")
        return otherwise


@contextmanager
def recording(table: Table) -> Iterator[list[str]]:
    """Record the predictors of a table that fail in this context, in the yielded list and in `failures_of(table)`."""
    failed: list[str] = []
    token = _FAILED.set(failed)
    try:
        yield failed
    finally:
        _FAILED.reset(token)
        record(table, failed)


def record(table: Table, failed: Sequence[str]) -> None:
    """Record failed predictors of a table, also in a surrounding `recording`; `failed` may come from an earlier run."""
    _failures(table).update(dict.fromkeys(failed))
    if (around := _FAILED.get()) is not None:
        around += failed


def failures_of(table: Table) -> tuple[str, ...]:
    """Return one line for each predictor that has failed on a table so far: its name and its error."""
    return tuple(_failures(table))


def _failures(table: Table) -> dict[str, None]:
    return cached_fact(table, "predictors that failed", dict[str, None])
