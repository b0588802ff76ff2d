"""The choice of answers that are asked for again: the failed ones, and those that the user wants again."""

from dataclasses import dataclass, field

from tabcontam.asking.query_plan import Options, PlannedResult
from tabcontam.evidence.base import Query, ReplyState, Trial
from tabcontam.verdicts.result_types import ResultKey

UNANSWERED = (ReplyState.REFUSED, ReplyState.TRUNCATED, ReplyState.EMPTY)


@dataclass
class RepeatPolicy:
    """The queries that a run asks again. With `last_failed` they are those without a readable answer in its folder.

    `unreadable` holds their answers, as they were read: one that is not replaced stands.
    """

    options: Options
    unreadable: dict[tuple[ResultKey, str], tuple[PlannedResult, Trial]] = field(default_factory=dict)

    def stands(self, trial: Trial) -> bool:
        """Return whether a read trial is not asked again."""
        if self.options.last_failed:
            return trial.readable and trial.reply.state not in (ReplyState.FAILED, *UNANSWERED)
        again = (ReplyState.FAILED, *(UNANSWERED if self.options.retry_unanswered else ()))
        return trial.reply.state not in again

    def note(self, planned: PlannedResult, trial: Trial) -> None:
        """Hold an answer of the run's folder that does not stand."""
        if self.options.last_failed:
            self.unreadable[planned.name, trial.query.id] = planned, trial

    def allows(self, planned: PlannedResult, query: Query) -> bool:
        """Return whether a query without an answer that stands may be asked."""
        return not self.options.last_failed or (planned.name, query.id) in self.unreadable
