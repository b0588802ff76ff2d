"""The cells as CSV (RFC 4180, UTF-8): one row a cell, one column a field, an empty field where it is null.

A spreadsheet takes a text that begins with `=`, `+`, `-` or `@` for a formula, and some run it. So a text that begins
with one of these, or with an apostrophe, gets one apostrophe before it: to read such a text, take one leading
apostrophe off. Numbers are written as numbers and never get one. Texts stand on one line, without control characters.
"""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from tabcontam.report.frame import CELLS
from tabcontam.verdicts.results import typed, visible

COLUMNS = tuple(CELLS)  # of every file, also one without cells; other fields of a cell follow
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'")  # noqa: RUF001 - spreadsheets read the wide ones, too


def render_csv(results: Mapping[str, Any]) -> str:
    """Every cell of the results as a row, in their order."""
    typed(results)
    rows = [_flat(cell) for cell in results["cells"]]
    columns = dict.fromkeys([*COLUMNS, *(name for row in rows for name in row)])
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(map(guarded, columns))
    writer.writerows([_field(row.get(name)) for name in columns] for row in rows)
    return written.getvalue()


def _flat(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell's fields, the statistic and the interval taken apart."""
    fields = {name: value for name, value in cell.items() if name not in ("statistic", "interval")}
    if statistic := cell.get("statistic"):
        fields |= {f"statistic_{name}": value for name, value in statistic.items()}
    if interval := cell.get("interval"):
        fields |= dict(zip(("interval_low", "interval_high"), interval, strict=True))
    return fields


def _field(value: object) -> str | int | float | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, int | float):
        return value
    return guarded(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    >>> guarded("=1+1"), guarded("t0")
    ("'=1+1", 't0')
    """
    text = visible(text, line=True)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text
