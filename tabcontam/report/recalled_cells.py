"""The cells that row tests asked for and an LLM answered, as CSV: one line for each cell.

It contains cells of the table, so it stays in the run's folder, and no published form of a report includes it.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from tabcontam.report.csv_text import guarded
from tabcontam.report.lookup_places import is_lookup, places
from tabcontam.report.query import row_of
from tabcontam.report.trials_by_result import Trial, is_mapping
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.wording import text

COLUMNS = (
    "llm", "dataset", "edition", "split", "serializer", "prompts", "test", "query", "row", "row_bits", "column",
    "answer", "expected", "right", "chance", "bits", "documents", "found_in",
)  # fmt: skip


class RecalledCellWriter:
    """A writer of the CSV, result by result. Without `head` it writes no header, for a part of the CSV."""

    def __init__(self, file: TextIO, head: bool = True) -> None:
        self._writer = csv.writer(file)
        if head:
            self._writer.writerow(COLUMNS)

    def take(self, result: Result, asked: Mapping[str, Trial]) -> None:
        """Write the answered cells of a result; `asked` has its trials by query. Controls are skipped."""
        of_rows = [] if result.control else [one for one in asked.values() if is_mapping(one.get("expected"))]
        informative = [trial for trial in of_rows if trial.get("chance") or is_lookup(trial)]
        named = [guarded(text(getattr(result, name))) for name in COLUMNS[:7]] if informative else []
        for trial in informative:
            self._writer.writerows(_lines(named, trial))


def _lines(named: Sequence[str], trial: Trial) -> Iterator[list[object]]:
    answers = row_of(trial)
    asked = [*named, guarded(text(trial.get("query")))]
    row, row_bits = trial.get("row"), sum(one.bits for one in answers)
    number = row + 1 if isinstance(row, int) and not isinstance(row, bool) else ""
    if is_lookup(trial):
        if trial.get("hit") is True and not trial.get("decoy_of"):
            found_in = [trial.get("documents"), guarded(next((place.where for place in places(trial)), ""))]
            for one in answers:
                value = guarded(one.expected or "")
                yield [*asked, number, "", guarded(one.feature), value, value, "true", "", "", *found_in]
        return
    for one in answers:
        if one.chance is not None and one.read is not None:
            found = [guarded(one.feature), guarded(one.read), guarded(one.expected or "")]
            right = "true" if one.state == "right" else "false"
            yield [*asked, number, round(row_bits, 2), *found, right, f"{one.chance:.4g}", round(one.bits, 2), "", ""]
