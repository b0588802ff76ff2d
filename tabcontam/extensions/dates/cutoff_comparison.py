"""Tables with dated rows: a model's accuracy on rows before the end of its training data, and on later rows.

The table and the question are the same on both sides; only the rows differ. The comparison gives no verdict: rows may
be harder in one year than in another, and older rows have been published more often.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tabcontam.groups import grouped
from tabcontam.statistics.exact_statistics import fisher
from tabcontam.verdicts.dating import entry_of
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults

BEFORE, AFTER = "before", "after"


class AccuracyCounts:
    """A base class for dataclasses with these three fields: accuracy and lift, from counts of answers."""

    hits: int
    answered: int
    majority: float

    @property
    def accuracy(self) -> float:
        """The share of answers that are right."""
        return self.hits / self.answered

    @property
    def lift(self) -> float:
        """The accuracy minus that of the majority class."""
        return self.accuracy - self.majority


@dataclass(frozen=True)
class SideAccuracy(AccuracyCounts):
    """The answers on one side of a cut-off: numbers of right and of all answers, the majority's accuracy, the split."""

    split: str
    hits: int
    answered: int
    majority: float


@dataclass(frozen=True)
class CutoffComparison:
    """A model on both sides of its cut-off, on one table. `p_value` is from Fisher's exact test of both accuracies."""

    llm: str
    title: str
    cutoff: str
    test: str
    dataset: str
    before: SideAccuracy
    after: SideAccuracy
    p_value: float


def side_of_split(split: str, cutoff: str) -> str:
    """Return on which side of a cut-off all rows of a split by dates are; "" if rows are on both sides.

    >>> side_of_split("after-2024-06", "2023-10"), side_of_split("after-2023-09", "2023-10")
    ('after', '')
    """
    side, _, month = split.partition("-")
    return side if (month >= cutoff if side == AFTER else month <= cutoff) else ""


def both_sides(view: RunResults, results: Sequence[Result]) -> tuple[CutoffComparison, ...]:
    """Return the models and tables with classification results on both sides of the model's cut-off.

    `results` are on splits by dates. If a side has several splits, the first one counts.
    """
    found = []
    for (llm, dataset, test), own in grouped(results, lambda result: (result.llm, result.dataset, result.test)).items():
        entry = entry_of(view, llm)
        if entry is None or not entry.cutoff:
            continue
        sides: dict[str, SideAccuracy] = {}
        for result in own:
            side, evidence = side_of_split(result.split or "", entry.cutoff), result.evidence
            majority = evidence.statistic.expected if evidence.statistic else None
            if side and majority is not None and evidence.answered:
                sides.setdefault(side, SideAccuracy(result.split or "", evidence.hits, evidence.answered, majority))
        if len(sides) == 2:
            before, after = sides[BEFORE], sides[AFTER]
            p_value = fisher(before.hits, before.answered, after.hits, after.answered)
            found.append(CutoffComparison(llm, entry.title, entry.cutoff, test, dataset, before, after, p_value))
    return tuple(found)
