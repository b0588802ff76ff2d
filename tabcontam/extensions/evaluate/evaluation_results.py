"""The results of an evaluation: a model's accuracy on the rows of a table, by the number of shots."""

from collections.abc import Sequence
from dataclasses import dataclass

from tabcontam.evidence.base import Trial
from tabcontam.extensions.evaluate.shot_results import MemoryFading, ShotResult, evaluated, fading
from tabcontam.verdicts.result_types import Result, TableFields

ABOVE, BELOW = "grows with shots", "fades with shots"
UNCLEAR = "is not shown to change with shots"


@dataclass(frozen=True, kw_only=True)
class Evaluation(TableFields):
    """A model's accuracies on a table at each number of shots; empty if nothing was asked.

    `reason` states why there are fewer answers than planned, and `unanswered` how many fewer. `notes` state what is
    missing: shots that cannot be shown, twins or learners.
    """

    reason: str
    unanswered: int
    shots: tuple[ShotResult, ...]
    fading: MemoryFading | None
    notes: tuple[str, ...]

    @property
    def learners(self) -> list[str]:
        return list(dict.fromkeys(one.name for at in self.shots for one in at.learners))


def evaluation(result: Result, trials: Sequence[Trial], notes: Sequence[str]) -> Evaluation:
    """Return the evaluation for a result, from its trials with answers read."""
    unanswered = (result.queries or 0) - len(trials)
    return Evaluation(
        **result.table_fields,
        reason=(result.decision.reason or "") if unanswered or not trials else "",
        unanswered=unanswered,
        shots=evaluated(trials),
        fading=fading(trials),
        notes=tuple(notes),
    )


def trend(found: MemoryFading) -> str:
    """Return in words whether memory's share changes with the number of shots, by the interval of the difference."""
    low, high = found.interval
    return ABOVE if low > 0 else BELOW if high < 0 else UNCLEAR
