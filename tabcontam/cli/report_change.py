"""A change that an extension can make to the results before `report` writes them."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tabcontam.verdicts.results import RunResults


@dataclass(frozen=True)
class ReportChange:
    """A change of a report, as an entry point of the group `tabcontam.report_changes`.

    `add` adds the options that ask for it to the command `report`, and `wanted` returns whether they were given.
    `results` returns the changed results, for a single document. `folder` writes the changed folder of the runs that
    the options name, and returns its results. Its module imports heavy modules in its functions.
    """

    add: Callable[[argparse.ArgumentParser], None]
    wanted: Callable[[argparse.Namespace], bool]
    results: "Callable[[RunResults, argparse.Namespace], RunResults]"
    folder: "Callable[[argparse.Namespace, Path], RunResults]"
