"""Whole rows that are scored: the query that shows one to a model, and the number that is read of it."""

from collections.abc import Sequence
from functools import partial

from tabcontam.evidence.base import Query, Reading, Trial
from tabcontam.evidence.questions import Passage
from tabcontam.tables.serializers import Serializer
from tabcontam.tables.table import Cell, Table


def query(
    name: str,
    table: Table,
    serializer: Serializer,
    cells: Sequence[Cell],
    rows: tuple[int, ...],
    *,
    decoy_of: str = "",
    above: str = "",
) -> Query:
    """Return the query that has a row scored, after the text `above`."""
    write = partial(_passage, serializer, table.columns, cells, above)
    return Query(name, write, table.columns, tuple(cells), max_tokens=1, rows=rows, decoy_of=decoy_of)


def _passage(serializer: Serializer, columns: Sequence[str], cells: Sequence[Cell], above: str) -> Passage:
    return Passage(above + serializer.row(columns, cells))


def reading(number: float | None, unit: str) -> Reading:
    """Return the reading of a row's number with its unit; unreadable if there is none."""
    parsed = None if number is None else f"{number:.6f} {unit}"
    return Reading(parsed, hit=None, paper_hit=False, readable=parsed is not None)


def number_read(trial: Trial, unit: str) -> float | None:
    """Return the number in this unit that was read of a row, if any."""
    parsed = trial.reading.parsed if trial.reading else None
    return float(parsed.removesuffix(unit)) if isinstance(parsed, str) else None


def format_interval(interval: tuple[float, float] | None) -> str:
    """Return an interval as it follows its number in a sentence, or "" if there is none."""
    return f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else ""
