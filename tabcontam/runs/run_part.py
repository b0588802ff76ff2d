"""The part that an extension has in a run."""

from collections.abc import Mapping, Sequence
from typing import Any

from tabcontam.asking.preparing import Elsewhere
from tabcontam.asking.query_plan import RunSource
from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.entry_points import offered
from tabcontam.models.base import Model
from tabcontam.tables.table import Table


class RunPart:
    """An extension's part in one run, as an entry point of the group `tabcontam.run_parts`.

    The run calls each method once, in this order. By default a method does nothing.
    """

    def __init__(self, config: RunConfig, progress: Progress) -> None:
        """Read the settings. Raises `UsageError` for a setting of the extension that cannot be met."""
        self.config, self.progress = config, progress

    def model(self, model: Model) -> Model:
        """Return a model of the run, or another one that takes its place."""
        return model

    def tables(self, tables: Sequence[Table]) -> Sequence[Table]:
        """Return the run's tables with what the extension knows of them. Raises `UsageError`."""
        return tables

    def elsewhere(self, subjects: Sequence[RunSource], lacking: Mapping[str, str], asks: bool) -> Elsewhere | None:
        """Return work that prepares tables on other machines; None if there are none. Raises `UsageError`.

        `lacking` has the reason for each model that is not available, by its spec. If the run `asks`, a model that
        cannot be reached is an error.
        """
        return None

    def notices(self) -> Sequence[str]:
        """Return lines to be read before anything is sent."""
        return ()


def run_parts(config: RunConfig, progress: Progress) -> tuple[RunPart, ...]:
    """Return the part of each extension in this run. Raises `UsageError`."""
    kinds: Mapping[str, Any] = offered("tabcontam.run_parts", "run part", type)
    return tuple(kind(config, progress) for kind in kinds.values())
