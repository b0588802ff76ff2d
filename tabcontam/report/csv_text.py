"""The results as CSV (RFC 4180, UTF-8): a row a result, a column a field, an empty field for null.

A spreadsheet takes a text that begins with `=`, `+`, `-` or `@` for a formula, and some run it. So a text that begins
with one of these, or with an apostrophe, gets one apostrophe before it; a reader takes one leading apostrophe off.
Numbers are written as numbers and never get one. Texts stand on one line, without control characters.
"""

import csv
import io

from tabcontam.report.frame import RESULTS, result_fields
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'")  # noqa: RUF001 - spreadsheets read the wide ones, too


def render_csv(view: RunResults) -> str:
    """Return every result as a row, in their order."""
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(RESULTS)
    rows = (result_fields(result) for result in view.results)
    writer.writerows([_field(row.get(name)) for name in RESULTS] for row in rows)
    return written.getvalue()


def _field(value: object) -> str | int | float | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return guarded(value) if isinstance(value, str) else value  # type: ignore[return-value] # a number, or None


def guarded(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    >>> guarded("=1+1"), guarded("t0")
    ("'=1+1", 't0')
    """
    text = visible(text, line=True)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text
