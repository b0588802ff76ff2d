"""The part of a run that judges completions (`--judge`), and that reads the judgements in a run's folder."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabcontam.evidence.base import Test
from tabcontam.extensions.papers.completion_judgements import Judgements
from tabcontam.extensions.papers.judgement_file import JUDGEMENTS, judgements_in
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.runs.run_part import PreparedPart, RunPart
from tabcontam.verdicts.result_types import ResultKey

if TYPE_CHECKING:
    from tabcontam.models.provider_registry import ModelSettings

NAME = "judge"


class JudgePart(RunPart):
    """The judge of completions. Judgements by people and by earlier judges are read without it, too."""

    file = JUDGEMENTS

    def prepare(self, value: str | None, tests: Sequence[Test], settings: "ModelSettings", asks: bool) -> PreparedPart:
        """Return the judge, if one is named. Raises `UsageError` if it cannot judge."""
        if value is None:
            return PreparedPart()
        from tabcontam.extensions.papers.judge_pass import open_judge

        return open_judge(value, tests, settings, asks)

    def records(self, folders: Sequence[Path], keys: Collection[ResultKey] | None) -> Judgements:
        """Return the judgements in the folders of runs, with those on pairs that were made to check judges."""
        found = (one for folder in folders for one in judgements_in(folder))
        return Judgements(one for one in found if keys is None or one.made or one.place in keys)

    def of_replay(self, found: ReplayOutcome) -> dict[str, Any]:
        """Return the judges of recorded completions and their agreement."""
        from tabcontam.extensions.papers.recorded_judgements import judges

        return judges(found)


JUDGE = JudgePart()
