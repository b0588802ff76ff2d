"""Accuracies before and after the end of training data: the chronological analysis of Li and Flanigan.

Li and Flanigan (2024), *Task Contamination*, section 4. The analysis compares a model's accuracy on tables that it may
have read with its accuracy on tables that it cannot have read. It also measures how hard these tables are. It gives no
verdict.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from tabcontam.extensions.dates import date_exchange as statistics
from tabcontam.extensions.dates.date_exchange import DateExchange, Trend
from tabcontam.extensions.dates.dated_pairs import (
    CutoffComparison,
    DatedPair,
    both_sides,
    dated,
    on_one_side,
    results_by_dates,
)
from tabcontam.extensions.dates.thresholds import DATE_LEVEL
from tabcontam.groups import grouped
from tabcontam.verdicts.dating import AFTER, BEFORE, side, year_of
from tabcontam.verdicts.results import RunResults

ALL = "all"
OPENNESS = ("closed", "semi-open", "open")
Baselines = Mapping[str, float]  # by table: the lift of a supervised baseline over the majority class
Rule = Callable[[tuple[str, str], str], int]  # maps a table's (release, completion) and a cut-off to a side
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SideCounts:
    """The number of pairs (model, table) on one side of the cut-off, and their mean lift. `above` counts the pairs with
    an accuracy above the majority class's.

    `significant` and `exactly` count the pairs that are significantly above it, by the t-test and by the exact test.
    """

    pairs: int
    above: int
    significant: int
    exactly: int
    lift: float | None


@dataclass(frozen=True)
class OpennessGroup:
    """The models of one openness, or all models.

    `above_p` is the Mann-Whitney test's p-value for a difference between before and after in the share of pairs above
    the majority class; `significant_p` is that for pairs significantly above it. `signs` is (models with the larger
    share above the majority before, models with the larger share after, p-value of the paired sign test).
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
    """One model: its pairs in the order of release, counts before and after its cut-off, and the trend of its lift."""

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
    """A supervised baseline on the tables, which shows how hard they are.

    `tables` are (table, release, lift of the baseline), `unknown` the tables without a baseline. `drift` is the trend
    of the baseline's lift over years. `dates` is the models' difference between before and after on these tables.
    `left` is this difference without the part that the baseline predicts.
    """

    tables: tuple[tuple[str, str, float], ...]
    unknown: tuple[str, ...]
    drift: Trend | None
    dates: DateExchange | None
    left: DateExchange | None

    @property
    def explains(self) -> bool:
        """True if the models' difference is significant, but `left`, without the tables' difficulty, is not."""
        found, left = self.dates, self.left
        return found is not None and found.p_value <= DATE_LEVEL and (left is None or left.p_value > DATE_LEVEL)


@dataclass(frozen=True)
class Chronology:
    """The analysis of one classification test on models and tables with known dates."""

    test: str
    title: str
    pairs: tuple[DatedPair, ...]
    groups: tuple[OpennessGroup, ...]
    llms: tuple[LlmChronology, ...]
    difficulty: TableDifficulty | None
    tables: tuple[CutoffComparison, ...] = ()

    @property
    def whole(self) -> OpennessGroup:
        return self.groups[0]


def chronologies(
    view: RunResults, baselines: Baselines | None = None, seed: int = 0
) -> tuple[tuple[Chronology, ...], tuple[str, ...]]:
    """Return the chronology of each classification test of a run, and a line on each omitted model and table."""
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
    """Return the chronology of `pairs`, which contain each model and table at most once."""
    groups = groups_of(pairs, seed)
    llms = [_of_llm(own) for own in grouped(pairs, lambda pair: pair.llm).values()]
    ordered = tuple(sorted(llms, key=lambda one: (one.cutoff, one.llm)))
    return Chronology(test, title, tuple(pairs), groups, ordered, _difficulty(pairs, baselines, seed))


def _by_precision(dates: tuple[str, str], cutoff: str) -> int:
    return side(dates[0], cutoff, dates[1])


def groups_of(pairs: Sequence[DatedPair], seed: int = 0, rule: Rule = _by_precision) -> tuple[OpennessGroup, ...]:
    """Return the group of all models, and one for each openness if several. `rule` gives the sides of cut-offs."""
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
        fmean(pair.lift for pair in own) if own else None,
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
    """Return the permutation test of release dates. With `baselines`, the lifts that they predict are subtracted."""
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
    """Return the analysis of the tables' difficulty; None without `baselines`."""
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
