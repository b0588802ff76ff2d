"""Accuracies before and after training data end: the chronological analysis of Li and Flanigan.

Li and Flanigan (2024), *Task Contamination*, section 4. Accuracies have no verdict, and neither has this analysis: it
tests whether a model classifies tables that it may have read better than tables that it cannot have read, and shows how
hard these tables are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabcontam.groups import grouped
from tabcontam.statistics import date_exchange as statistics
from tabcontam.statistics.date_exchange import AFTER, BEFORE, DateExchange, Trend
from tabcontam.verdicts.cutoff_comparison import CutoffComparison, both_sides
from tabcontam.verdicts.dated_pairs import DatedPair as DatedPair
from tabcontam.verdicts.dated_pairs import dated as dated
from tabcontam.verdicts.dated_pairs import on_one_side
from tabcontam.verdicts.dated_pairs import results_by_dates as results_by_dates
from tabcontam.verdicts.dating import side, year_of
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.thresholds import DATE_LEVEL as DATE_LEVEL

ALL = "all"
OPENNESS = ("closed", "semi-open", "open")
Baselines = Mapping[str, float]  # the lift of a supervised baseline over the majority class, by table
Rule = Callable[[tuple[str, str], str], int]  # from a table's release and completion, and a cut-off, to a side
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SideCounts:
    """The pairs on one side of the cut-off: all, those above the majority, those significantly so; and the mean
    lift."""

    pairs: int
    above: int
    significant: int
    exactly: int
    lift: float | None


@dataclass(frozen=True)
class OpennessGroup:
    """The models of one openness, or all: both sides, and the p-values of the paper's tests and of ours.

    `above_p` and `significant_p` are from the Mann-Whitney test of which pairs are above the majority, and
    significantly so; `signs` holds the numbers of models with the larger share above the majority before and after, and
    the p-value of the paired sign test.
    """

    name: str
    llms: int
    before: SideCounts
    after: SideCounts
    above_p: float | None
    significant_p: float | None
    signs: tuple[int, int, float] | None
    dates: DateExchange | None


@dataclass(frozen=True)
class LlmChronology:
    """One model: its pairs in the order of release, both sides, and the trend of its lift over the years of release."""

    llm: str
    title: str
    openness: str
    cutoff: str
    cutoff_source: str
    pairs: tuple[DatedPair, ...]
    before: SideCounts
    after: SideCounts
    trend: Trend | None


@dataclass(frozen=True)
class TableDifficulty:
    """A supervised baseline on the tables: the trend of its lift, and the models' difference without difficulty.

    `tables` are (table, release, the baseline's lift), `unknown` the tables without a baseline. `drift` is the trend of
    the baseline's lift over years, `dates` the models' difference on these tables, `left` that difference with the part
    that the baseline predicts removed.
    """

    tables: tuple[tuple[str, str, float], ...]
    unknown: tuple[str, ...]
    drift: Trend | None
    dates: DateExchange | None
    left: DateExchange | None

    @property
    def explains(self) -> bool:
        """True if the models' difference is significant, and no longer so once difficulty is removed."""
        found, left = self.dates, self.left
        return found is not None and found.p_value <= DATE_LEVEL and (left is None or left.p_value > DATE_LEVEL)


@dataclass(frozen=True)
class Chronology:
    """One classification test over models and tables whose dates are known."""

    test: str
    title: str
    pairs: tuple[DatedPair, ...]
    groups: tuple[OpennessGroup, ...]
    llms: tuple[LlmChronology, ...]
    difficulty: TableDifficulty | None
    tables: tuple[CutoffComparison, ...] = ()

    @property
    def whole(self) -> OpennessGroup:
        """The group of all models."""
        return self.groups[0]


def chronologies(
    view: RunResults, baselines: Baselines | None = None, seed: int = 0
) -> tuple[tuple[Chronology, ...], tuple[str, ...]]:
    """Return the chronology of each classification test of a run, and a line on each model and table left out."""
    pairs, left_out = dated(view)
    by_dates = results_by_dates(view)
    sides = both_sides(view, by_dates)
    within = grouped(sides, lambda one: one.test)
    left_out = (*left_out, *on_one_side(by_dates, sides))
    titles = view.test_titles
    found = (
        replace(
            chronology(test, titles[test], pairs.get(test, ()), baselines, seed), tables=tuple(within.get(test, ()))
        )
        for test in dict.fromkeys((*pairs, *within))
    )
    return tuple(found), left_out


def chronology(
    test: str, title: str, pairs: Sequence[DatedPair], baselines: Baselines | None = None, seed: int = 0
) -> Chronology:
    """Return the chronology of pairs of a model and a table; each model and table occurs once at most."""
    groups = groups_of(pairs, seed)
    llms = [_of_llm(own) for own in grouped(pairs, lambda pair: pair.llm).values()]
    ordered = tuple(sorted(llms, key=lambda one: (one.cutoff, one.llm)))
    return Chronology(test, title, tuple(pairs), groups, ordered, _difficulty(pairs, baselines, seed))


def _by_precision(dates: tuple[str, str], cutoff: str) -> int:
    return side(dates[0], cutoff, dates[1])


def groups_of(pairs: Sequence[DatedPair], seed: int = 0, rule: Rule = _by_precision) -> tuple[OpennessGroup, ...]:
    """Return the group of all models and, if there are several kinds of openness, one for each.

    `rule` decides on which side of a cut-off a table is.
    """
    groups = {ALL: pairs}
    kinds = [name for name in OPENNESS if any(pair.openness == name for pair in pairs)]
    for name in kinds if len(kinds) > 1 else ():
        groups[name] = [pair for pair in pairs if pair.openness == name]
    return tuple(_group(name, own, seed, rule) for name, own in groups.items())


def _side(pairs: Iterable[DatedPair], which: int) -> SideCounts:
    own = [pair for pair in pairs if pair.side == which]
    return SideCounts(
        len(own),
        sum(pair.above for pair in own),
        sum(pair.significant for pair in own),
        sum(pair.exactly for pair in own),
        statistics.mean_lifts([pair.lift for pair in own]),
    )


def _group(name: str, pairs: Sequence[DatedPair], seed: int, rule: Rule) -> OpennessGroup:
    sides = [[pair for pair in pairs if pair.side == which] for which in (BEFORE, AFTER)]
    above = [[float(pair.above) for pair in own] for own in sides]
    significant = [[float(pair.significant) for pair in own] for own in sides]
    shares = []
    for own in grouped(pairs, lambda pair: pair.llm).values():
        before, after = _side(own, BEFORE), _side(own, AFTER)
        if before.pairs and after.pairs:
            shares.append((before.above / before.pairs, after.above / after.pairs))
    return OpennessGroup(
        name,
        len({pair.llm for pair in pairs}),
        _side(pairs, BEFORE),
        _side(pairs, AFTER),
        statistics.mann_whitney(*above),
        statistics.mann_whitney(*significant),
        statistics.sign_test(shares) if shares else None,
        _exchanged(pairs, {}, seed, rule),
    )


def _of_llm(pairs: Sequence[DatedPair]) -> LlmChronology:
    own = tuple(sorted(pairs, key=lambda pair: (pair.released, pair.dataset)))
    first = own[0]
    over = statistics.trend([year_of(pair.released) for pair in own], [pair.lift for pair in own])
    return LlmChronology(
        first.llm, first.title, first.openness, first.cutoff, first.cutoff_source, own,
        _side(own, BEFORE), _side(own, AFTER), over,
    )  # fmt: skip


def _exchanged(
    pairs: Sequence[DatedPair], baselines: Baselines, seed: int, rule: Rule = _by_precision
) -> DateExchange | None:
    """Return the permutation test of dates; with `baselines`, on the lifts without the part that they predict."""
    llms = list(dict.fromkeys(pair.llm for pair in pairs))
    released = {pair.dataset: (pair.released, pair.completed) for pair in pairs}
    datasets = [one for one in sorted(released) if not baselines or one in baselines]
    cutoffs = {pair.llm: pair.cutoff for pair in pairs}
    if not datasets:
        return None
    lifts = np.full((len(llms), len(datasets)), np.nan)
    for pair in pairs:
        if pair.dataset in datasets:
            lifts[llms.index(pair.llm), datasets.index(pair.dataset)] = pair.lift
    if baselines:
        lifts = statistics.without(lifts, np.array([baselines[one] for one in datasets]))
    sides = np.array([[rule(released[one], cutoffs[llm]) for one in datasets] for llm in llms], np.int64)
    return statistics.exchanged(lifts, sides, seed)


def _difficulty(pairs: Sequence[DatedPair], baselines: Baselines | None, seed: int) -> TableDifficulty | None:
    """Return the analysis of difficulty by the baselines; None if `baselines` is None."""
    if baselines is None:
        return None
    released = {pair.dataset: pair.released for pair in pairs}
    known = {name: baselines[name] for name in sorted(released) if name in baselines}
    years = [year_of(released[name]) for name in known]
    own = [pair for pair in pairs if pair.dataset in known]
    return TableDifficulty(
        tuple((name, released[name], lift) for name, lift in known.items()),
        tuple(name for name in sorted(released) if name not in known),
        statistics.trend(years, list(known.values())),
        _exchanged(own, {}, seed) if known else None,
        _exchanged(own, known, seed) if known else None,
    )
