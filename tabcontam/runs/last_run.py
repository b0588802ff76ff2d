"""The last run: `gate` and `report` use it if the user names no folder."""

import time
from dataclasses import dataclass
from pathlib import Path

from tabcontam.asking.trial_file import RESULTS
from tabcontam.errors import UsageError
from tabcontam.runs.folder import REPORTS
from tabcontam.verdicts.document import read_results

UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


@dataclass(frozen=True)
class LastRun:
    """The run with the newest results: its folder, its age in seconds, and whether it was finished."""

    folder: Path
    seconds: float
    finished: bool

    def __str__(self) -> str:
        return f"{self.folder}, {age(self.seconds)} old" + ("" if self.finished else ", not finished")


def last_run() -> LastRun:
    """Return the newest run or merged report under `reports/`, finished or not. Recorded answers and redacted reports
    are passed over.

    Raises `UsageError` if there is none, or if the newest cannot be read: the user does not mean an older one.
    """
    written = [(path.stat().st_mtime, path.parent) for path in REPORTS.glob(f"*/{RESULTS}")]
    for moment, folder in sorted(written, reverse=True):
        run = read_results(folder).run
        if not run.recorded and run.redacted is None:
            return LastRun(folder, max(0.0, time.time() - moment), bool(run.finished))
    raise UsageError(f"no run lies in {REPORTS}{'/' if not written else ', only recorded answers'}; give its folder")


def age(seconds: float) -> str:
    """Return a time in its largest unit, such as 3 minutes."""
    name, size = next((unit for unit in UNITS if seconds >= unit[1]), UNITS[-1])
    number = int(seconds // size)
    return f"{number} {name}{'' if number == 1 else 's'}"
