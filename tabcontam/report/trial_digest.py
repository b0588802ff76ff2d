"""The summary (digest) of an LLM's trials for its page: the evidence and the recalled rows, collected by result.

It needs only a few facts of the run and the results of one LLM, so another process can compute it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tabcontam.groups import grouped
from tabcontam.report.evidence import EvidenceLimits, EvidencePacker, PackedEvidence
from tabcontam.report.recalled_rows import RecallCollector, RecallComparison
from tabcontam.report.trials_by_result import Trial
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults


class PageResult(NamedTuple):
    """A result with its place on the page, as in `RunResults.placed`, and the label of its column."""

    place: str
    label: str
    result: Result


@dataclass(frozen=True)
class RunDigestFacts:
    """The facts of a run that a digest needs: the limits of the evidence, the row tests, and the titles of tests."""

    limits: EvidenceLimits
    row_tests: frozenset[str]
    titles: Mapping[str, str]

    @classmethod
    def of(cls, view: RunResults) -> "RunDigestFacts":
        """Return the facts of a run with these results."""
        return cls(EvidenceLimits.of(view), frozenset(view.row_tests), view.test_titles)


@dataclass(frozen=True)
class TrialDigest:
    """The digest of an LLM's trials: compressed evidence, and the accuracies on recalled rows and on other rows."""

    packed: PackedEvidence
    compared: Sequence[RecallComparison]


class TrialDigester:
    """A collector of the trials of an LLM's results. Each trial is read once, and only the digest is stored."""

    def __init__(self, facts: RunDigestFacts, placed: Sequence[PageResult]) -> None:
        self._placed = placed
        self._packing = EvidencePacker(facts.limits, {one.place: one.result for one in placed})
        self._rows = RecallCollector(facts.row_tests, facts.titles)

    def take(self, result: Result, asked: Mapping[str, Trial]) -> None:
        """Add the trials of a result; `asked` has them by query."""
        self._packing.take(result, asked)
        self._rows.take(result, asked)

    def digest(self) -> TrialDigest:
        """Return the digest of all trials added so far."""
        compared = self._rows.compared((one.label, one.result) for one in self._placed)
        return TrialDigest(self._packing.packed(), compared)


def results_by_llm(view: RunResults) -> dict[str, list[PageResult]]:
    """Return the results of each LLM that has a block, in the page's order."""
    labels = [column.label for block in view.blocks for column in block.columns for _ in column.results]
    found = [
        PageResult(place, label, result) for (place, result), label in zip(view.placed.items(), labels, strict=True)
    ]
    return grouped(found, lambda one: one.result.llm)
