"""The part that an extension has in the folders of runs: further files, and another way to judge answers again."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from tabcontam.asking.part_records import PartRecords
from tabcontam.entry_points import offered
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.run_facts import RunFacts


class FolderPart:
    """An extension's part in the folders of runs, as an entry point of the group `tabcontam.folder_parts`.

    By default it does nothing. `file` is the name of its file in a folder.
    """

    file: str = ""

    def records(self, folders: Sequence[Path], keys: Collection[ResultKey] | None) -> PartRecords:
        """Return the part's records in these folders; only those of the results with these `keys`, if given."""
        return PartRecords()

    def again(self, folder: Path, run: RunFacts, value: str | None) -> AbstractContextManager[Mapping[str, Any]]:
        """Return a context in which a past run is judged again, and that gives the fields of the run's facts.

        `value` is that of the setting with the part's name. The context raises `UsageError` at its begin.
        """
        return nullcontext({})

    def merged_facts(self, runs: Sequence[RunFacts]) -> Mapping[str, Any]:
        """Return the fields that the part states of several runs as one. Raises `UsageError` if they differ."""
        return {}

    def of_replay(self, found: ReplayOutcome) -> Mapping[str, Any]:
        """Return the fields of the results of recorded answers that the part makes."""
        return {}


def folder_parts() -> Mapping[str, FolderPart]:
    """Return the part of each extension, by its name."""
    return offered("tabcontam.folder_parts", "part of a folder", FolderPart)


def records_in(folders: Sequence[Path], keys: Collection[ResultKey] | None = None) -> dict[str, PartRecords]:
    """Return the records of each part in these folders; only those of the results with these `keys`, if given."""
    return {name: part.records(folders, keys) for name, part in folder_parts().items()}
