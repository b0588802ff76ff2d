"""The ranking of the models under test, as in the paper's Table 2, and the correlations of its measures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, get_args

from tabcontam.config import PAPER
from tabcontam.evidence.base import DECIDED, Facts, Measure, Verdict
from tabcontam.groups import grouped
from tabcontam.statistics.correlations import spearman
from tabcontam.statistics.exact_statistics import clopper_pearson, mean_interval
from tabcontam.statistics.number_types import Coefficient, Count, Interval, Number, Share
from tabcontam.verdicts.result_types import Result, TableName
from tabcontam.verdicts.run_facts import known_tests

MEASURES: tuple[Measure, ...] = get_args(Measure)
ACCURACIES = MEASURES[2:]
Limits = tuple[float, float]
Square = tuple[TableName, str]  # the subject of a result, without the LLM


@dataclass(frozen=True)
class RankColumn:
    """A column of the ranking.

    `name` is the field of `Rank`, `title` its heading, `short` a heading for narrow columns, `words` its name in a
    sentence. `about` describes it; the run replaces the words in braces.
    """

    name: str
    title: str
    short: str
    words: str
    about: str


COLUMNS = (
    RankColumn(
        "score",
        "Contamination",
        "contam.",
        "contamination",
        "the share of contaminated ones among {counted} results of the tests in the paper's Table 1",
    ),
    RankColumn(
        "score_all",
        "All results",
        "all",
        "contamination of all results",
        "contamination over all results of the paper's tests; an undecided result counts as not contaminated",
    ),
    RankColumn(
        "score_shared",
        "Shared results",
        "shared",
        "contamination of shared results",
        "contamination over the {shared} of the paper's tests that were {done} for every model with a score",
    ),
    RankColumn("membership", "Membership", "member.", "membership", "mean {membership}; chance gets 0.5"),
    RankColumn("zero_shot", "0-shot", "0-shot", "0-shot accuracy", "mean accuracy of classification with no row shown"),
    RankColumn(
        "one_shot", "1-shot", "1-shot", "1-shot accuracy", "mean accuracy of classification with one row per class"
    ),
    RankColumn(
        "memory_share",
        "Memory's share",
        "memory",
        "memory's share",
        "the part of the accuracy that is memory: the mean over tables with unseen twins",
    ),
)
OTHER_SCORES = ("score_all", "score_shared")  # columns that may equal the score


@dataclass(frozen=True, kw_only=True)
class Rank:
    """One model under test in the ranking, highest score first; controls that joined are not ranked."""

    llm: str
    """The model as the user named it."""
    score: Share | None = None
    """The share of contaminated results among the decided ones of the paper's tests; by the paper's rules among all."""
    membership: Share | None = None
    """The mean over tables of the area under the curve of the membership test."""
    zero_shot: Share | None = None
    """The mean accuracy of classification without examples, over results for which not_averaged is null."""
    one_shot: Share | None = None
    """The mean accuracy of classification with one example of each class, over the same tables."""
    score_all: Share | None = None
    """The share of contaminated results among all of the paper's tests, decided or not."""
    score_shared: Share | None = None
    """The share of contaminated results among those decided (by the paper's rules: asked) for every ranked model."""
    shared_results: Count | None = None
    """The number of results that score_shared is over; null if it is."""
    score_interval: Interval | None = None
    """The 95% interval of score; null if it is not known."""
    score_all_interval: Interval | None = None
    """The 95% interval of score_all; null if it is not known."""
    score_shared_interval: Interval | None = None
    """The 95% interval of score_shared; null if it is not known."""
    membership_interval: Interval | None = None
    """The 95% interval of membership; null if it is not known."""
    zero_shot_interval: Interval | None = None
    """The 95% interval of zero_shot; null if it is not known."""
    one_shot_interval: Interval | None = None
    """The 95% interval of one_shot; null if it is not known."""
    memory_share: Number | None = None
    """The mean over tables of memory's share of the accuracy; below 0 if twins were answered better than rows."""
    memory_share_interval: Interval | None = None
    """The 95% interval of memory_share; null if it is not known."""
    zero_shot_majority: Share | None = None
    """The accuracy of always answering the largest class, on the rows of zero_shot."""
    one_shot_majority: Share | None = None
    """The accuracy of always answering the largest class, on the rows of one_shot."""

    @property
    def measures(self) -> Mapping[str, float | None]:
        """Its measures, by the names of the ranking's columns."""
        return {column.name: getattr(self, column.name) for column in COLUMNS}

    @property
    def intervals(self) -> Mapping[str, Limits]:
        """The 95% intervals of the measures, as far as they are known."""
        found = {column.name: getattr(self, f"{column.name}_interval") for column in COLUMNS}
        return {name: limits for name, limits in found.items() if limits is not None}

    @property
    def majorities(self) -> Mapping[str, float]:
        """The accuracies of always answering the largest class, as far as they are known."""
        return {name: share for name in ACCURACIES if (share := getattr(self, f"{name}_majority")) is not None}


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """Spearman's rank correlation over the models, between two measures of the ranking."""

    first: Measure
    """The first measure."""
    second: Measure
    """The second measure."""
    llms: Count = 0
    """The number of models that have both."""
    value: Coefficient | None = None
    """The coefficient; null with too few models, or if all have the same value."""
    interval: Interval | None = None
    """The 95% interval of the coefficient; null if the coefficient is."""
    p_value: Share | None = None
    """The p-value of no correlation; null if the coefficient is."""


def ranking(results: Iterable[Result], rules: str, facts: Mapping[str, Facts] | None = None) -> tuple[Rank, ...]:
    """Return Table 2 of the paper: the models under test by contamination score, highest first; all intervals are 95%.

    The score is the share of contaminated results among the decided results of the paper's tests; under the paper's
    rules, among all results of these tests. A model that declines has fewer results, and results on other tables.
    Therefore each model also has the share over all results and the share over `shared_squares`. The intervals of these
    shares are Clopper and Pearson's. They assume independent results, but results on one table depend on each other.

    The other measures, AUC and accuracies, are means over the tables. The ranking also shows the accuracy of always
    answering the largest class on the same rows. The intervals of means combine the intervals of the results. They hold
    for these tables, with other rows drawn from them, but not for new tables: there are too few tables for that.
    """
    facts = facts or known_tests()
    under_test = [result for result in results if not result.control]
    by_llm = grouped(under_test, lambda result: result.llm)
    shared = shared_squares(under_test, rules, facts)
    ranks = [_rank(llm, own, rules, facts, shared) for llm, own in by_llm.items()]
    return tuple(sorted(ranks, key=lambda rank: -(rank.score if rank.score is not None else -1)))


def shared_squares(results: Iterable[Result], rules: str, facts: Mapping[str, Facts]) -> frozenset[Square]:
    """Return the pairs of table and paper's test that are decided (by the paper's rules: asked) for every model.

    A model without any such result has no score, and does not count here.
    """
    numbered = (result for result in results if not result.control and facts[result.test].number is not None)
    by_llm = grouped((one for one in numbered if _done(one, rules)), lambda result: result.llm).values()
    squares = [frozenset((result.table, result.test) for result in own) for own in by_llm]
    return frozenset.intersection(*squares) if squares else frozenset()


def _done(result: Result, rules: str) -> bool:
    """Return whether a result was decided or, by the paper's rules, whether it was asked at all."""
    return result.verdict is not Verdict.SKIPPED if rules == PAPER else result.verdict in DECIDED


def _rank(
    llm: str, results: Sequence[Result], rules: str, facts: Mapping[str, Facts], shared: frozenset[Square]
) -> Rank:
    numbered = [result for result in results if facts[result.test].number is not None]
    counted = numbered if rules == PAPER else [result for result in numbered if result.verdict in DECIDED]
    done = [result for result in numbered if _done(result, rules) and (result.table, result.test) in shared]
    measured: dict[str, Any] = {}
    if done:
        measured["shared_results"] = len(done)
    for name, among in (("score", counted), ("score_all", numbered), ("score_shared", done)):
        if among:
            found = sum(result.verdict is Verdict.CONTAMINATED for result in among)
            measured[name] = round(found / len(among), 4)
            measured[f"{name}_interval"] = rounded_interval(clopper_pearson(found, len(among)))
    for measure in MEASURES[1:]:
        own = [result for result in results if facts[result.test].measure == measure and result.verdict is None]
        scores = [(result, result.evidence.score) for result in own if not result.not_averaged]
        scored = [(result, score) for result, score in scores if score is not None]
        measured[measure] = round(fmean(score for _, score in scored), 4) if scored else None
        measured[f"{measure}_interval"] = _mean_interval(scored)
        if measure in ACCURACIES:
            measured[f"{measure}_majority"] = _majority(scored)
    return Rank(llm=llm, **measured, **_memory(results))


def _memory(results: Sequence[Result]) -> dict[str, Any]:
    """Return the mean of memory's share over tables, with its interval. More results on one table do not narrow it."""
    known = [(result, result.evidence.memory) for result in results if result.verdict is None]
    shares = [(result, memory.share, memory.interval) for result, memory in known if memory is not None]
    if not shares:
        return {}
    mean = fmean(share for _, share, _ in shares)
    return {"memory_share": round(mean, 4), "memory_share_interval": _interval_of_mean(shares)}


Scored = tuple[Result, float]  # a result with a score but no verdict, and the score


def _majority(scored: Sequence[Scored]) -> float | None:
    """Return the mean accuracy of always answering the largest class on the rows of these results."""
    known = [result.evidence.statistic.expected for result, _ in scored if result.evidence.statistic]
    majorities = [majority for majority in known if majority is not None]
    return round(fmean(majorities), 4) if majorities and len(majorities) == len(scored) else None


def _mean_interval(scored: Sequence[Scored]) -> Limits | None:
    """Return the interval of the mean score. More results on the same rows do not narrow the interval."""
    intervals = ((result, score, _score_interval(result, score)) for result, score in scored)
    known = [(result, score, interval) for result, score, interval in intervals if interval is not None]
    return _interval_of_mean(known) if scored and len(known) == len(scored) else None


def _interval_of_mean(scored: Sequence[tuple[Result, float, Limits]]) -> Limits:
    """Return the interval of the mean of one or more scores, from each score's interval."""
    by_table = grouped(scored, lambda one: (one[0].dataset, one[0].edition, one[0].split))
    numbers = ([(score, *interval) for _, score, interval in own] for own in by_table.values())
    means = [[fmean(column) for column in zip(*own, strict=True)] for own in numbers]
    weights = [len(own) / len(scored) for own in by_table.values()]
    return rounded_interval(
        mean_interval([mean[0] for mean in means], [(low, high) for _, low, high in means], weights)
    )


def _score_interval(result: Result, score: float) -> Limits | None:
    """Return the result's own interval if it applies to `score`, else the interval from counts; None without."""
    found = result.evidence
    if found.statistic and found.interval and round(found.statistic.value, 4) == round(score, 4):
        return found.interval
    asked = round(found.hits / score) if score and found.hits else result.queries
    return clopper_pearson(found.hits, asked) if asked else None


def rounded_interval(interval: Limits) -> Limits:
    """Return an interval in four digits."""
    return round(interval[0], 4), round(interval[1], 4)


def correlations(ranks: Sequence[Rank]) -> tuple[Correlation, ...]:
    """Return Spearman's rank correlation over the ranked models of the score with each other measure.

    The paper's section 5.4 plots the score against these measures: more contaminated models classify better. A model
    that lacks one of the two measures is left out; `llms` counts the models that remain. Coefficient, 95% interval and
    p-value are null if they cannot be computed: with fewer than four models, or if all have the same value.
    """
    found = []
    for measure in (*ACCURACIES, MEASURES[1]):
        pairs = [(rank.score, rank.measures[measure]) for rank in ranks]
        both = [(score, other) for score, other in pairs if score is not None and other is not None]
        rank_order = spearman([score for score, _ in both], [other for _, other in both])
        found.append(
            Correlation(
                first="score",
                second=measure,
                llms=len(both),
                value=round(rank_order.value, 4) if rank_order else None,
                interval=rounded_interval(rank_order.interval) if rank_order else None,
                p_value=rank_order.p_value if rank_order else None,
            )
        )
    return tuple(found)
