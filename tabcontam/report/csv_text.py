"""The results as CSV (RFC 4180, UTF-8): one row for each result, one column for each field. None is an empty field.

A spreadsheet reads a text that begins with `=`, `+`, `-` or `@` as a formula, and some spreadsheets run it. So an
apostrophe is put before such a text, and before one that begins with an apostrophe; a reader removes one.
"""

import csv
import io

from tabcontam.report.frame import RESULTS, fields_of
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'")  # noqa: RUF001 - spreadsheets read the wide ones, too


def render_csv(view: RunResults) -> str:
    """Return one row for each result, in the order of the results."""
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(RESULTS)
    for row in map(fields_of, view.results):
        values = (str(one).lower() if isinstance(one, bool) else one for one in map(row.get, RESULTS))
        writer.writerow([guarded(one) if isinstance(one, str) else one for one in values])
    return written.getvalue()


def guarded(text: str) -> str:
    """Return the text in a form that no spreadsheet reads as a formula.

    >>> guarded("=1+1"), guarded("t0")
    ("'=1+1", 't0')
    """
    text = visible(text, line=True)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text
