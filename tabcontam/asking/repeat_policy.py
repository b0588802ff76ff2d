"""The choice of answers that are asked for again: failed answers, and answers that the user wants again."""

from dataclasses import dataclass, field

from tabcontam.asking.query_plan import PlannedResult
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Query, ReplyState, Trial
from tabcontam.verdicts.result_types import ResultKey

UNANSWERED = (ReplyState.REFUSED, ReplyState.TRUNCATED, ReplyState.EMPTY)


@dataclass
class RepeatPolicy:
    """The choice of queries that a run asks again. With `last_failed`: those without a readable answer.

    `unreadable`: the old answers to these queries, as they were read. An old answer is kept if no new answer comes.
    """

    options: RunConfig
    unreadable: dict[tuple[ResultKey, str], tuple[PlannedResult, Trial]] = field(default_factory=dict)

    def stands(self, trial: Trial) -> bool:
        """Return whether the answer of a read trial is kept: then its query is not asked again."""
        if self.options.last_failed:
            return trial.readable and trial.reply.state not in (ReplyState.FAILED, *UNANSWERED)
        again = (ReplyState.FAILED, *(UNANSWERED if self.options.retry_unanswered else ()))
        return trial.reply.state not in again

    def note(self, planned: PlannedResult, trial: Trial) -> None:
        """Remember an answer of the run's folder that is asked for again."""
        if self.options.last_failed:
            self.unreadable[planned.name, trial.query.id] = planned, trial

    def allows(self, planned: PlannedResult, query: Query) -> bool:
        """Return whether a query that has no kept answer may be asked."""
        return not self.options.last_failed or (planned.name, query.id) in self.unreadable
