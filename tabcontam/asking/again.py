"""Which of the answers that are there stand, and which are asked again: a user may want more than what failed."""

from dataclasses import dataclass, field

from tabcontam.asking.plan import Options, PlannedCell
from tabcontam.evidence.base import Query, State, Trial
from tabcontam.verdicts.cells import CellName

UNANSWERED = (State.REFUSED, State.TRUNCATED, State.EMPTY)


@dataclass
class Again:
    """What a run asks again. With `last_failed` that is what its folder has no readable answer to, and nothing else.

    `unreadable` has these answers, as they were read: one that is not replaced stands.
    """

    options: Options
    unreadable: dict[tuple[CellName, str], tuple[PlannedCell, Trial]] = field(default_factory=dict)

    def stands(self, trial: Trial) -> bool:
        """Whether a read trial is not asked again."""
        if self.options.last_failed:
            return trial.readable and trial.reply.state not in (State.FAILED, *UNANSWERED)
        again = (State.FAILED, *(UNANSWERED if self.options.retry_unanswered else ()))
        return trial.reply.state not in again

    def note(self, cell: PlannedCell, trial: Trial) -> None:
        """Hold an answer of the run's folder that does not stand."""
        if self.options.last_failed:
            self.unreadable[cell.name, trial.query.id] = cell, trial

    def allows(self, cell: PlannedCell, query: Query) -> bool:
        """Whether a query may be asked that has no answer that stands."""
        return not self.options.last_failed or (cell.name, query.id) in self.unreadable
