"""Records that an extension's part of a run keeps in the run's folder, next to the trials."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tabcontam.asking.trial_file import Line
from tabcontam.evidence.base import Test, Trial
from tabcontam.verdicts.result_types import Result, ResultKey


class PartRecords:
    """The records of one part. By default they change nothing."""

    def attached(self, place: ResultKey, test: Test, trials: Sequence[Trial]) -> Sequence[Trial]:
        """Return the trials of a test, each with the records that count for it."""
        return trials

    def shown(self, place: ResultKey, lines: list[Line]) -> list[Line]:
        """Return the trials of a result as a report shows them."""
        return lines

    def fields(self, lines: Iterable[Line], results: Iterable[Result]) -> dict[str, Any]:
        """Return the fields of a run's results that are made of the records. `lines` are the run's trials."""
        return {}

    def lines(self) -> list[Line]:
        """Return the records as lines of the part's file."""
        return []


Records = Mapping[str, PartRecords]  # by the name of the part


def attach(records: Records, place: ResultKey, test: Test, trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials of a test, each with the records of all parts that count for it."""
    for own in records.values():
        trials = own.attached(place, test, trials)
    return list(trials)
