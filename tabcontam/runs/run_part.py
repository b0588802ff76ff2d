"""The parts that extensions add to a run: further models, another way to compare texts, further files of the folder."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.asking.part_records import PartRecords
from tabcontam.entry_points import offered
from tabcontam.errors import UsageError, option, option_name
from tabcontam.evidence.base import Test
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.run_facts import RunFacts

if TYPE_CHECKING:
    from tabcontam.asking.estimate import Estimate
    from tabcontam.asking.query_plan import PlannedResult
    from tabcontam.asking.session import Session
    from tabcontam.models.base import Model
    from tabcontam.models.provider_registry import ModelSettings


class PreparedPart:
    """A part as one run needs it. By default it does nothing. `models` are further LLMs, which the part asks."""

    models: "Sequence[Model]" = ()

    def judging(self) -> AbstractContextManager[None]:
        """Return a context in which the run's answers are judged."""
        return nullcontext()

    def facts(self) -> dict[str, Any]:
        """Return the fields of the run's facts that the part states."""
        return {}

    def rows_leaving(self, plan: "Sequence[PlannedResult]") -> dict[tuple[str, str], int]:
        """Return the number of private rows that the part's models would be shown, by model and dataset."""
        return {}

    def begin(self, session: "Session", folder: Path) -> None:
        """Take part in a session that records in `folder`."""

    async def connect(self) -> None:
        """Connect to the part's models. Raises `UsageError` if one is out of reach."""

    async def ask(self) -> None:
        """Ask the part's queries, after those of the session."""

    async def survey(self) -> "list[Estimate]":
        """Return the estimates of the part's queries that are left, and close its models. No query is sent."""
        return []

    async def close(self) -> None:
        """Give back the connections and the memory of the part's models."""

    def rescue(self) -> None:
        """Store what could not be written to the folder."""


class RunPart:
    """A part of a run, as an entry point of the group `tabcontam.run_parts` with the name of the part's setting.

    By default it does nothing. `file` is the name of its file in a run's folder.
    """

    file: str = ""

    def prepare(self, value: str | None, tests: Sequence[Test], settings: "ModelSettings", asks: bool) -> PreparedPart:
        """Return the part of a run of these tests, by the `value` of its setting. Raises `UsageError`.

        If the run `asks`, a missing key or file is reported before anything is asked.
        """
        return PreparedPart()

    def prepare_again(self, value: str | None, folder: Path, run: RunFacts) -> PreparedPart:
        """Return the part of a past run in `folder` that is judged again. Raises `UsageError`."""
        return PreparedPart()

    def merged_facts(self, runs: Sequence[RunFacts]) -> dict[str, Any]:
        """Return the fields that the part states of several runs as one. Raises `UsageError` if they differ."""
        return {}

    def records(self, folders: Sequence[Path], keys: Collection[ResultKey] | None) -> PartRecords:
        """Return the part's records in the folders of runs; only those of the results with these `keys`, if given."""
        return PartRecords()

    def of_replay(self, found: ReplayOutcome) -> dict[str, Any]:
        """Return the fields of the results of recorded answers that the part makes."""
        return {}


def run_parts() -> Mapping[str, RunPart]:
    """Return the parts that extensions add, by the names of their settings."""
    return offered("tabcontam.run_parts", "part of a run", RunPart)


def check_installed(values: Mapping[str, str | None]) -> None:
    """Raise `UsageError` if a setting has a value and its part is not installed."""
    for name, value in values.items():
        if value is not None and name not in run_parts():
            raise UsageError(f"{option_name(name)}: its extension is not installed; leave {option(name, value)} out")


def records_in(folders: Sequence[Path], keys: Collection[ResultKey] | None = None) -> dict[str, PartRecords]:
    """Return the records of each part in the folders of runs; only those of the results with these `keys`, if given."""
    return {name: part.records(folders, keys) for name, part in run_parts().items()}


@contextmanager
def judging(parts: Iterable[PreparedPart]) -> Iterator[None]:
    """Judge answers in a `with` block as the parts state."""
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(part.judging())
        yield
