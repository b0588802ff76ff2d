"""The part that an extension has in a run."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.asking.preparing import Elsewhere
from tabcontam.asking.query_plan import PlannedResult, RunSource
from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.entry_points import offered
from tabcontam.evidence.base import Test
from tabcontam.models.base import Model
from tabcontam.models.provider_registry import ModelSettings
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.asking.estimate import Estimate
    from tabcontam.asking.session import Session


class RunPart:
    """An extension's part in one run, as an entry point of the group `tabcontam.run_parts`.

    The run calls each method once, in this order; an estimate calls `survey` and nothing after it. By default a method
    does nothing. If the part has a `setting`, only a run with a value for it has the part. `models` are further models,
    which the part asks.
    """

    setting: str = ""
    models: Sequence[Model] = ()

    def __init__(self, config: RunConfig, progress: Progress) -> None:
        """Read the settings. Raises `UsageError` for a setting of the extension that cannot be met."""
        self.config, self.progress = config, progress

    def model(self, model: Model) -> Model:
        """Return a model of the run, or another one that takes its place."""
        return model

    def open(self, tests: Sequence[Test], settings: ModelSettings, asks: bool) -> None:
        """Open what the part needs for a run of these tests. Raises `UsageError`, also before anything is asked."""

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

    def rows_leaving(self, plan: Sequence[PlannedResult]) -> Mapping[tuple[str, str], int]:
        """Return the number of private rows that `models` would be shown, by model and dataset."""
        return {}

    def begin(self, session: "Session", folder: Path) -> None:
        """Take part in a session that records in `folder`."""

    async def survey(self) -> "Sequence[Estimate]":
        """Return the estimates of the part's queries that are left, and close `models`. No query is sent."""
        return ()

    def judging(self) -> AbstractContextManager[None]:
        """Return a context in which the run's answers are judged."""
        return nullcontext()

    async def connect(self) -> None:
        """Connect to `models`. Raises `UsageError` if one is out of reach."""

    async def ask(self) -> None:
        """Ask the part's own queries, after those of the session."""

    async def close(self) -> None:
        """Give back the connections and the memory of `models`."""

    def rescue(self) -> None:
        """Store what could not be written to the folder."""

    def facts(self) -> Mapping[str, Any]:
        """Return the fields of the run's facts that the part states; also called while the session asks."""
        return {}


def run_parts(config: RunConfig, progress: Progress) -> tuple[RunPart, ...]:
    """Return the part of each extension in this run. Raises `UsageError`."""
    kinds: Mapping[str, Any] = offered("tabcontam.run_parts", "run part", type)
    named = [kind for kind in kinds.values() if not kind.setting or kind.setting in config.values]
    return tuple(kind(config, progress) for kind in named)
