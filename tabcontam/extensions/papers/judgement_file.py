"""`judgements.jsonl` in a run's folder: one judgement a line, appended as soon as it is made."""

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from tabcontam.asking.trial_file import Journal, Line
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

    def numbered(self) -> Iterator[tuple[int, Line]]:
        """Yield the judgements in the file, oldest first, each with the number of its line, from 1."""
        for number, one in self._found():
            yield number, one.line()

    def judgements(self) -> Judgements:
        """Return the judgements in the file. Lines that contain no judgement, or only a part of one, are skipped."""
        return Judgements(one for _, one in self._found())

    def note(self, one: Judgement) -> None:
        """Append a judgement and flush it to the system. Raises OSError, and then keeps the line in memory."""
        self.append(one.line())

    def _found(self) -> Iterator[tuple[int, Judgement]]:
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for number, text in enumerate(file, start=1):
                try:
                    yield number, judgement_of(json.loads(text))
                except (ValueError, TypeError, KeyError, RecursionError):
                    continue


def judgements_in(folder: Path) -> Judgements:
    """Return the judgements in a run's folder; empty if it has no such file."""
    return JudgementJournal(folder).judgements()


class JudgementsPart(FolderPart):
    """The judgements of completions in the folders of runs, and in recorded answers."""

    file = JUDGEMENTS

    def records(self, folders: Sequence[Path], keys: Collection[ResultKey] | None) -> Judgements:
        """Return the judgements in these folders, with those of pairs that were made to check judges."""
        found = (one for folder in folders for one in judgements_in(folder))
        return Judgements(one for one in found if keys is None or one.made or one.place in keys)

    def of_replay(self, found: ReplayOutcome) -> dict[str, Any]:
        """Return the judges of recorded completions and their agreement."""
        from tabcontam.extensions.papers.recorded_judgements import judges

        return judges(found)


PART = JudgementsPart()
