"""Tables that are asked in turns, query by query, until they are decided. Earlier answers count when their turn comes.

So a run that has every answer in a folder or in the store decides after as many queries as a run that pays for them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tabcontam.asking.query_plan import PlannedResult
from tabcontam.config import RunConfig
from tabcontam.evidence.base import Query, Test, Trial
from tabcontam.evidence.mixins import BettingTest
from tabcontam.groups import grouped
from tabcontam.models.base import Model
from tabcontam.verdicts.result_types import ResultKey
from tabcontam.verdicts.sequential_test import SequentialOutcome, SequentialTest

Slot = tuple[PlannedResult, Query]
Taken = Callable[[PlannedResult, Trial], None]  # keeps a trial
Conceded = Callable[[PlannedResult, Trial], Trial]  # returns a trial without what the reference answered too


@dataclass(frozen=True, eq=False)
class Job:
    """One query to ask, and all planned results that use its reply, each with its own query."""

    model: Model
    places: tuple[Slot, ...]

    @property
    def query(self) -> Query:
        """The query, as the first cell words it."""
        return self.places[0][1]


@dataclass(eq=False)
class TableTurns:
    """The queries of one LLM about one table in their turns, and the answers that wait for their turn."""

    plan: Sequence[PlannedResult]
    slots: Sequence[Slot]
    deciding: SequentialTest
    waiting: dict[tuple[ResultKey, str], Trial] = field(default_factory=dict)

    @property
    def decided(self) -> SequentialOutcome | None:
        """The decision on the table; None if it is still open."""
        return self.deciding.decided

    @property
    def next(self) -> list[Slot]:
        """The unanswered queries that must be asked now, since answers to only some of them cannot decide the table."""
        return [slot for slot in self._needed if not self.has(*slot)]

    @property
    def _needed(self) -> Sequence[Slot]:
        first = len(self.deciding.trials)
        return self.slots[first : first + len(self.deciding.next)]

    def has(self, planned: PlannedResult, query: Query) -> bool:
        """Return whether a query has an answer that waits for its turn."""
        return (planned.name, query.id) in self.waiting

    def wait(self, planned: PlannedResult, trial: Trial) -> None:
        """Keep the read answer to a query until its turn comes."""
        self.waiting[planned.name, trial.query.id] = trial

    def take(self, taken: Taken) -> int:
        """Use the answers whose turn has come, up to the first missing answer. Return how many were used."""
        before = len(self.deciding.trials)
        while needed := self._needed:
            for planned, query in needed:
                trial = self.waiting.pop((planned.name, query.id), None)
                if trial is None:
                    return len(self.deciding.trials) - before
                taken(planned, trial)
                self.deciding.add(trial)
        return len(self.deciding.trials) - before


def turns_of(plan: Sequence[PlannedResult], options: RunConfig, conceded: Conceded) -> dict[ResultKey, TableTurns]:
    """Return a `TableTurns` for each LLM and table whose row tests are asked one query at a time."""
    in_turns = [planned for planned in plan if planned.sequential and planned.queries]

    def turns(plan: Sequence[PlannedResult]) -> TableTurns:
        slots = [(planned, query) for planned in plan for query in planned.queries]
        slots.sort(key=lambda slot: slot[1].bet.turn or 0)
        by_test = {planned.test.id: planned for planned in plan}

        def weighed(test: Test, trial: Trial) -> Trial:
            return conceded(by_test[test.id], trial)

        queries = [(planned.test, query) for planned, query in slots if isinstance(planned.test, BettingTest)]
        return TableTurns(plan, slots, SequentialTest(queries, plan[0].table_level, options.min_power, weighed))

    return {place: turns(plan) for place, plan in grouped(in_turns, lambda planned: planned.name.of_table).items()}
