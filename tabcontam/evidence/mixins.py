"""Classes with what only some contamination tests say, from which a test inherits in addition to its base.

Other code asks `isinstance(test, BettingTest)` before it uses the members of `BettingTest`.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import ClassVar, Self

from tabcontam.evidence.base import Evidence, Query, Reading, Test, Trial
from tabcontam.evidence.completion_pairs import CompletionPair
from tabcontam.evidence.prompts import PromptSet, default_prompts
from tabcontam.evidence.thresholds import LEAST_DRAWABLE_ROWS
from tabcontam.evidence.twin_comparison import ReferenceCurveExcess, TwinLossDifference
from tabcontam.statistics.eprocess import Stake


class WordedTest(Test):
    """A test whose queries are worded by a prompt set, so that each prompt set gives other queries."""

    @property
    def prompts(self) -> PromptSet:
        """The prompt set in which the queries are worded: that of the planned result, or the default one."""
        given: PromptSet | None = vars(self).get("_prompts")
        return given or default_prompts()

    def worded_by(self, prompts: PromptSet) -> Self:
        """Return this test with queries worded by `prompts`. The result is equal to this test."""
        test = copy(self)
        vars(test)["_prompts"] = prompts  # works for a frozen dataclass and for any other class
        return test


class FeatureTest(Test):
    """A test about cells of rows: `asked` and `expected` of its queries list features and their values."""


class LearningTest(Test):
    """A test whose baseline learns from the table's rows."""

    def too_small(self, rows: int) -> str | None:
        """Return why a table of `rows` different rows is too small to learn from, or None.

        A table that is too small is `uninformative`; the calibrated rules ask nothing about it.
        """
        if rows >= LEAST_DRAWABLE_ROWS:
            return None
        return f"a table of {rows} different rows is too small for the test, which needs {LEAST_DRAWABLE_ROWS}"


class ResampledTest(Test):
    """A test that weighs all answers to a repeated query together."""


class InWordsTest(Test):
    """A test by log-probabilities that has another form in words, for models without log-probabilities."""

    @abstractmethod
    def in_words(self, samples: int | None) -> Test | None:
        """Return the form of this test that asks in words, or None if there is none.

        That form has the same id, and `read` and `weigh` of this test accept its trials. `samples` is how often a query
        may be asked at a temperature (`--samples`); None if the user did not set it.
        """


class SizedTest(Test):
    """A test that can be asked about any number of a table's rows."""

    @abstractmethod
    def about(self, rows: int) -> Self:
        """Return this test about `rows` rows of a table, or all rows if the table has fewer.

        The rows of a smaller number are the first rows of a larger number, and are asked with the same examples. So
        stored answers can be used again.
        """


class ShortenedTest(Test):
    """A test that asks fewer queries than its paper."""

    @abstractmethod
    def as_published(self) -> Test:
        """Return the test that writes the paper's own queries, for a run that asks only these.

        Its `queries` may include others: the caller leaves out those that are not marked as the paper's.
        """


class PooledTest(Test):
    """A test that is weighed together with the table's other tests of the same `pool` if it alone asks too little."""

    pool: ClassVar[str]

    @abstractmethod
    def pooled(self, own: Evidence, together: Evidence) -> Evidence:
        """Return the evidence to report for a test that asks too little, from its `own` and that of its pool."""


class BettingTest(Test):
    """A test whose answers can be bet on, one by one."""

    @abstractmethod
    def stakes(self, trial: Trial) -> Sequence[Stake]:
        """Return what a bet of one unit becomes, for each answered cell of a read trial."""

    @abstractmethod
    def foreseen(self, query: Query) -> tuple[Trial, Trial]:
        """Return the read trials of two simulated models: one remembers the asked cells, the other predicts them."""


class ReferredTest(Test):
    """A test in which answers that a reference model also gives do not count."""

    def conceded(self, query: Query, reading: Reading) -> Query:
        """Return the query with chance 1 for the answer in `reading`, which a reference gave.

        By default this holds only for the right one of several answers: the prompt then reveals it.
        """
        answer = str(query.expected[0])
        if not reading.hit or answer not in query.chance:
            return query
        return replace(query, chance={**query.chance, answer: query.chance[answer].sure(answer)})


class ShareTest(Test):
    """A test of memory's share of an accuracy, on twins or on fresh rows (`--fresh`).

    The share is compared with that of reference models, which are asked the same.
    """

    @abstractmethod
    def compare_with_reference(self, trials: Sequence[Trial], others: Sequence[Trial]) -> TwinLossDifference | None:
        """Return how these trials compare with the `others` of a reference model, or None if no pair was answered."""

    @abstractmethod
    def compare_with_references(
        self, trials: Sequence[Trial], others: Mapping[str, Sequence[Trial]]
    ) -> ReferenceCurveExcess | None:
        """Return how the trials compare with those of several reference models, `others`, by model name.

        Return None if fewer than two reference models answered, or if no row was answered by all of them.
        """


class JudgedTest(Test):
    """A test whose answers a judge compares with the true ones."""

    @abstractmethod
    def compared(self, trials: Sequence[Trial]) -> Sequence[CompletionPair]:
        """Return the answers of a result that a judge compares with the true ones.

        A query that was not asked yet has an empty text as its answer.
        """
