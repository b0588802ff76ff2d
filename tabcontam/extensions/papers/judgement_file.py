"""`judgements.jsonl` in a run's folder: one judgement a line, appended as soon as it is made."""

import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tabcontam.asking.trial_file import Journal
from tabcontam.extensions.papers.completion_judgements import Judgement, Judgements, judgement_of
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.runs.folder_part import FolderPart
from tabcontam.verdicts.result_types import ResultKey

JUDGEMENTS = "judgements.jsonl"


class JudgementJournal(Journal):
    """The file of a run's judgements. It is read and written like trials.jsonl."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / JUDGEMENTS

    def judgements(self) -> Judgements:
        """Return the judgements in the file. Lines that contain no judgement, or only a part of one, are skipped."""
        found = []
        if self.path.exists():
            for text in self.path.read_text(encoding="utf-8", errors="replace").split("\n"):
                with suppress(ValueError, TypeError, KeyError, RecursionError):
                    found.append(judgement_of(json.loads(text)))
        return Judgements(found)

    def note(self, one: Judgement) -> None:
        """Append a judgement and flush it to the system. Raises OSError, and then keeps the line in memory."""
        self.append(one.line())


def judgements_in(folder: Path) -> Judgements:
    """Return the judgements in a run's folder; empty if it has no such file."""
    return JudgementJournal(folder).judgements()


class JudgementsPart(FolderPart):
    """The judgements of completions in the folders of runs, and in recorded answers."""

    file = JUDGEMENTS

    def records(self, folders: Sequence[Path], keys: Collection[ResultKey] | None) -> Judgements:
        found = (one for folder in folders for one in judgements_in(folder))
        return Judgements(one for one in found if keys is None or one.made or one.place in keys)

    def of_replay(self, found: ReplayOutcome) -> dict[str, Any]:
        from tabcontam.extensions.papers.time_travel_records import judges

        return judges(found)


PART = JudgementsPart()
