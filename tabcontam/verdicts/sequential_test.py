"""Sequential testing of one model on one table: its queries are asked until the verdict is reached.

The verdict rests on bets on the answers (`statistics.eprocess`), which stay valid if they are checked after every
query. Asking stops in four cases:

- E reaches 1 / level: the table is contaminated.
- A model that remembers the wanted share of the rows would have been detected with a chance of 95 %: the table is
  not detected.
- No reply could be read in the first 20: no answer.
- No query is left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import log2

from tabcontam.evidence.base import Query, Trial
from tabcontam.evidence.mixins import BettingTest
from tabcontam.evidence.rows.repeated_answers import without_repeats
from tabcontam.groups import grouped
from tabcontam.statistics.eprocess import Bets, join_bets, place_bets, standing
from tabcontam.statistics.thresholds import TARGET_POWER
from tabcontam.verdicts.thresholds import MOST_UNREAD_ANSWERS

Asked = tuple[BettingTest, Query]
Weighed = Callable[[BettingTest, Trial], Trial]  # returns a trial, corrected for the reference's answers


@dataclass(frozen=True)
class SequentialOutcome:
    """The end of a sequential test, after `asked` of `planned` queries.

    `detected` is true if E reached 1 / level. Otherwise `share` is the smallest share of remembered rows that would
    have been detected with a chance of 95 %. It is None if even a model that remembers every row could be missed.
    """

    asked: int
    planned: int
    detected: bool
    share: float | None = None
    not_detected: bool = False  # asking stopped: the wanted share would have been detected
    unread: bool = False  # no answer could be read

    @property
    def verdict_reached(self) -> bool:
        """True if asking stopped before the queries ran out."""
        return self.detected or self.not_detected or self.unread

    def __str__(self) -> str:
        if not self.verdict_reached:
            return f"all {self.planned} queries of its row tests were asked"
        verdict = "contaminated" if self.detected else "not detected" if self.not_detected else "no answer"
        return f"decided after {self.asked} of {self.planned} queries: {verdict}"


class SequentialTest:
    """The queries of one table in their order, and the trials of the queries asked so far.

    `level` is the allowed error rate of *contaminated*. Asking stops as not detected once a model that remembers
    `share` of the rows would have been detected.
    """

    def __init__(self, queries: Sequence[Asked], level: float, share: float, weighed: Weighed) -> None:
        self.queries = queries
        self.trials: list[Trial] = []
        self._bits, self._share, self._weighed = -log2(level), share, weighed
        self._bets: Bets = {}
        self._read: list[bool] = []

    @property
    def next(self) -> Sequence[Asked]:
        """The next queries, as many as are needed whatever the answers are. They may be sent together."""
        return () if self.decided else self.queries[len(self.trials) : self._needed]

    def add(self, trial: Trial) -> None:
        """Add the trial, with its answer read, of the first query that has none yet."""
        test, _ = self.queries[len(self.trials)]
        self.trials.append(trial)
        self._bets = join_bets([self._bets, self._bets_on(test, trial)])
        before, self._read = self._read, self._readable()
        vars(self).pop("decided", None)
        if self._read != [*before, True]:
            vars(self).pop("_enough", None)  # an unread answer could not have shown memory

    def _readable(self) -> list[bool]:
        """Return for each trial if its answer could be read. This may depend on the test's other trials so far."""
        found = [False] * len(self.trials)
        for places in grouped(range(len(self.trials)), lambda place: self.queries[place][0].id).values():
            own = without_repeats(self.queries[places[0]][0], [self.trials[place] for place in places])
            for place, trial in zip(places, own, strict=True):
                found[place] = trial.readable
        return found

    @cached_property
    def decided(self) -> SequentialOutcome | None:
        """The outcome, once asking is over; None before."""
        asked, planned = len(self.trials), len(self.queries)
        if self._won(self._bets):
            return SequentialOutcome(asked, planned, detected=True)
        if self._silent and asked >= MOST_UNREAD_ANSWERS:
            return SequentialOutcome(asked, planned, detected=False, unread=True)
        if not self._silent and self._enough is not None and asked >= self._enough:
            return SequentialOutcome(asked, planned, detected=False, share=self._share, not_detected=True)
        return SequentialOutcome(asked, planned, detected=False, share=self._least_share) if asked == planned else None

    @property
    def _silent(self) -> bool:
        """True if something was asked and no answer could be read."""
        return bool(self.trials) and not any(self._read)

    def _won(self, bets: Bets) -> bool:
        return bool(bets) and standing(bets)[0] >= self._bits

    @property
    def _needed(self) -> int:
        """The smallest number of queries after which asking may be over, if all coming answers are right."""
        asked, planned = len(self.trials), len(self.queries)
        last = min(MOST_UNREAD_ANSWERS, planned) if self._silent else self._enough or planned
        to_come = (remembered for remembered, _ in self._foreseen[asked:last])
        ahead = accumulate(to_come, lambda bets, more: join_bets([bets, more]), initial=self._bets)
        soonest = (place for place, bets in enumerate(ahead, start=asked) if place > asked and self._won(bets))
        return next(soonest, last)

    @cached_property
    def _foreseen(self) -> list[tuple[Bets, Bets]]:
        """For each query the bets if the model remembers its row, and the bets if it does not."""
        both = ((test, test.foreseen(query)) for test, query in self.queries)
        return [(self._bets_on(test, seen), self._bets_on(test, unseen)) for test, (seen, unseen) in both]

    def _bets_on(self, test: BettingTest, trial: Trial) -> Bets:
        return place_bets(test.stakes(self._weighed(test, trial)))

    @cached_property
    def _enough(self) -> int | None:
        """The number of queries that detect a model which remembers the wanted share and answers all of them."""
        return self._detected_after(self._share)

    def _detected_after(self, share: float) -> int | None:
        """Return the number of queries that detect a model which remembers `share`; None if all queries do not."""
        from tabcontam.statistics.power import BetPower

        power = BetPower(share, self._bits)
        for place, (remembered, predicted) in enumerate(self._foreseen):
            if place >= len(self.trials) or self._read[place]:
                power.add(remembered, predicted)
            if power.power >= TARGET_POWER:
                return place + 1
        return None

    @property
    def _least_share(self) -> float | None:
        """The smallest share, in hundredths, that would have been detected; None if no share would have been."""
        from tabcontam.statistics.power import smallest

        return smallest(lambda share: self._detected_after(share) is not None)
