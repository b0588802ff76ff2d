"""Accuracies with known dates: of a model on a table, and on both sides of its cut-off in a table with dated rows.

In such a table, the question is the same on both sides; only the rows differ. No comparison gives a verdict: rows may
be harder in one year than in another, and older rows have been published more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tabcontam.evidence.base import RECALLED, EvidenceKind, Verdict
from tabcontam.extensions.dates import date_exchange as statistics
from tabcontam.extensions.dates.thresholds import DATE_LEVEL
from tabcontam.groups import grouped
from tabcontam.statistics.exact_statistics import clopper_pearson, fisher
from tabcontam.tables.splits_by_date import is_dated
from tabcontam.verdicts.dating import card_of, entry_of, side
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


@dataclass(frozen=True, kw_only=True)
class DatedPair(AccuracyCounts):
    """A model and a table: right answers, the majority class's accuracy, and the table's side of the cut-off."""

    llm: str
    title: str
    openness: str
    cutoff: str
    cutoff_source: str
    dataset: str
    released: str
    completed: str = ""
    released_source: str = ""
    hits: int
    answered: int
    majority: float
    side: int

    @cached_property
    def interval(self) -> tuple[float, float]:
        return clopper_pearson(self.hits, self.answered)

    @cached_property
    def t_test(self) -> tuple[float, float]:
        """The half-width of the one-sided 99% t-interval, and the t-test's p-value against the majority's accuracy."""
        return statistics.t_test(self.hits, self.answered, self.majority)

    @cached_property
    def exact_p(self) -> float:
        return statistics.exceeds(self.hits, self.answered, self.majority)

    @property
    def above(self) -> bool:
        return self.lift > 0

    @property
    def significant(self) -> bool:
        """True if the accuracy is significantly above the majority class's, by the t-test at 99%."""
        return self.above and self.t_test[1] <= DATE_LEVEL

    @property
    def exactly(self) -> bool:
        """True if the accuracy is significantly above the majority class's, by the exact binomial test at 99%."""
        return self.above and self.exact_p <= DATE_LEVEL


def results_by_dates(view: RunResults) -> list[Result]:
    """Return the classification results on a part of a table: its rows before a month, or after it."""
    return [result for result in view.subjects if _of_accuracy(view, result) and _is_part(view, result)]


def _of_accuracy(view: RunResults, result: Result) -> bool:
    """Return whether a result's score is an accuracy. Memory's share is not, although its test asks for classes."""
    return result.kind is EvidenceKind.CLASSIFICATION and view.facts[result.test].measure != RECALLED


def _is_part(view: RunResults, result: Result) -> bool:
    """Return whether a result is on the rows of a table in a period of dates; False for a whole table."""
    if not is_dated(result.split or ""):
        return False
    card = card_of(view, result)
    return card is None or bool(card.dates.dated_by)


def on_one_side(results: Sequence[Result], comparisons: Sequence[CutoffComparison]) -> tuple[str, ...]:
    """Return a line on each model and table with results on dated rows, but not on both sides of the cut-off."""
    both = {(one.llm, one.dataset) for one in comparisons}
    pairs = dict.fromkeys((result.llm, result.dataset) for result in results)
    why = "the run lacks rows from before its training cut-off, or rows from after it"
    return tuple(f"{llm} on {dataset}: {why}" for llm, dataset in pairs if (llm, dataset) not in both)


def dated(view: RunResults) -> tuple[Mapping[str, Sequence[DatedPair]], tuple[str, ...]]:
    """Return the pairs with known dates of each classification test, and a line on each omitted model and table."""
    left: dict[str, None] = {}
    pairs: dict[str, list[DatedPair]] = {}
    taken: set[tuple[str, str, str]] = set()
    for result in view.subjects:
        if not _of_accuracy(view, result) or _is_part(view, result):
            continue
        if result.verdict is Verdict.SKIPPED:
            left[f"{result.llm} on {result.dataset}: {result.decision.reason or 'not asked'}"] = None
            continue
        if result.verdict is not None or not result.evidence.answered:
            left[f"{result.llm} on {result.dataset}: no answer named a class"] = None
            continue
        pair = _pair(view, result, left)
        if pair is None:
            continue
        if (key := (result.test, result.llm, result.dataset)) in taken:
            why = f"only the first of several results of {result.llm} counts, since all ask about the same data"
            left[f"{result.dataset}: {why}"] = None
            continue
        taken.add(key)
        pairs.setdefault(result.test, []).append(pair)
    return pairs, tuple(left)


def _pair(view: RunResults, result: Result, left: dict[str, None]) -> DatedPair | None:
    """Return a result's pair. If it lacks a date or an accuracy, return None and add a line to `left`."""
    card, entry = card_of(view, result), entry_of(view, result.llm)
    majority = result.evidence.statistic.expected if result.evidence.statistic else None
    if entry is None or not entry.cutoff:
        left[f"{result.llm}: the catalogue states no training cut-off"] = None
    if card is None or not card.dates.released:
        left[f"{result.dataset}: no card states its release date"] = None
    elif result.not_averaged:
        left[f"{result.dataset}: {result.not_averaged}"] = None
    elif entry is not None and entry.cutoff and majority is not None and result.evidence.answered:
        return DatedPair(
            llm=result.llm,
            title=entry.title,
            openness=entry.openness,
            cutoff=entry.cutoff,
            cutoff_source=entry.cutoff_source or "",
            dataset=result.dataset,
            released=card.dates.released,
            completed=card.dates.completed,
            released_source=card.stated_by,
            hits=result.evidence.hits,
            answered=result.evidence.answered,
            majority=majority,
            side=side(card.dates.released, entry.cutoff, card.dates.completed),
        )
    return None


def side_of_split(split: str, cutoff: str) -> str:
    """Return on which side of a cut-off all rows of a split by dates are; "" if rows are on both sides.

    >>> side_of_split("after-2024-06", "2023-10"), side_of_split("after-2023-09", "2023-10")
    ('after', '')
    """
    which, _, month = split.partition("-")
    return which if (month >= cutoff if which == AFTER else month <= cutoff) else ""


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
            which, evidence = side_of_split(result.split or "", entry.cutoff), result.evidence
            majority = evidence.statistic.expected if evidence.statistic else None
            if which and majority is not None and evidence.answered:
                sides.setdefault(which, SideAccuracy(result.split or "", evidence.hits, evidence.answered, majority))
        if len(sides) == 2:
            before, after = sides[BEFORE], sides[AFTER]
            p_value = fisher(before.hits, before.answered, after.hits, after.answered)
            found.append(CutoffComparison(llm, entry.title, entry.cutoff, test, dataset, before, after, p_value))
    return tuple(found)
