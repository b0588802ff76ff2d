"""Accuracies before and after training data end, from what runs hold: the chronological analysis of Li and Flanigan.

Li and Flanigan (2024), *Task Contamination*, section 4. Accuracies have no verdict, and this has none: it says whether
tables that an LLM may have read are classified better than those that it cannot have read, beside how hard they are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabcontam.evidence.base import Kind, Verdict
from tabcontam.groups import grouped
from tabcontam.statistics import chronology as statistics
from tabcontam.statistics.chronology import AFTER, BEFORE, Exchanged, Trend
from tabcontam.statistics.exact import clopper_pearson
from tabcontam.tables.dated import is_dated
from tabcontam.verdicts.both_sides import BothSides, both_sides
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.dating import card_of, entry_of, side, year_of
from tabcontam.verdicts.results import RunResults

LEVEL = 0.01  # of all that is called significant here, as in the paper
ALL = "all"
OPENNESS = ("closed", "semi-open", "open")
Baselines = Mapping[str, float]  # the lift of a supervised baseline over the majority class, by the table
Rule = Callable[[tuple[str, str], str], int]  # from a table's release and completion, and a cut-off, to a side
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """An LLM and a table: how often it was right, what the majority class gets, and which of two dates is earlier."""

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

    @property
    def accuracy(self) -> float:
        """The share of its valid answers that are right."""
        return self.hits / self.answered

    @property
    def lift(self) -> float:
        """Its accuracy less the majority's."""
        return self.accuracy - self.majority

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The exact 95% interval of its accuracy."""
        return clopper_pearson(self.hits, self.answered)

    @cached_property
    def t_test(self) -> tuple[float, float]:
        """The half-width of the t-interval at 99%, one-sided, and the p-value that it is not above the majority."""
        return statistics.t_test(self.hits, self.answered, self.majority)

    @cached_property
    def exact_p(self) -> float:
        """The exact binomial p-value of the same."""
        return statistics.exceeds(self.hits, self.answered, self.majority)

    @property
    def above(self) -> bool:
        """Whether it is above the majority class."""
        return self.lift > 0

    @property
    def significant(self) -> bool:
        """Whether it is significantly so by the t-test, at 99%."""
        return self.above and self.t_test[1] <= LEVEL

    @property
    def exactly(self) -> bool:
        """Whether it is significantly so by the exact binomial test, at 99%."""
        return self.above and self.exact_p <= LEVEL


@dataclass(frozen=True)
class Side:
    """The pairs before, or those after: how many, above the majority, significantly so; and their mean lift."""

    pairs: int
    above: int
    significant: int
    exactly: int
    lift: float | None


@dataclass(frozen=True)
class Group:
    """LLMs of one openness, or all: both sides, and the p-values of the paper's tests and of ours.

    `above_p` and `significant_p` are Mann and Whitney's of which pairs are above the majority, and significantly so;
    `signs` are the LLMs with the larger share above the majority before, after, and the paired sign test's p-value.
    """

    name: str
    llms: int
    before: Side
    after: Side
    above_p: float | None
    significant_p: float | None
    signs: tuple[int, int, float] | None
    dates: Exchanged | None


@dataclass(frozen=True)
class OfLlm:
    """One LLM: its pairs in the order of release, both sides, and how its lift goes with the year of release."""

    llm: str
    title: str
    openness: str
    cutoff: str
    cutoff_source: str
    pairs: tuple[Pair, ...]
    before: Side
    after: Side
    trend: Trend | None


@dataclass(frozen=True)
class Difficulty:
    """A supervised baseline on the tables: how its lift goes with release, and what is left of LLMs' without it.

    `tables` are (table, release, the baseline's lift), `unknown` the tables without one. `drift` is its trend over
    years, `dates` the LLMs' difference on these tables as it is, `left` without what goes with the baseline.
    """

    tables: tuple[tuple[str, str, float], ...]
    unknown: tuple[str, ...]
    drift: Trend | None
    dates: Exchanged | None
    left: Exchanged | None

    @property
    def explains(self) -> bool:
        """Whether the difference that was found is no longer there once difficulty is taken off."""
        found, left = self.dates, self.left
        return found is not None and found.p_value <= LEVEL and (left is None or left.p_value > LEVEL)


@dataclass(frozen=True)
class Chronology:
    """One classification test over LLMs and tables whose dates are known."""

    test: str
    title: str
    pairs: tuple[Pair, ...]
    groups: tuple[Group, ...]
    llms: tuple[OfLlm, ...]
    difficulty: Difficulty | None
    tables: tuple[BothSides, ...] = ()

    @property
    def whole(self) -> Group:
        """All LLMs."""
        return self.groups[0]


def chronologies(
    view: RunResults, baselines: Baselines | None = None, seed: int = 0
) -> tuple[tuple[Chronology, ...], tuple[str, ...]]:
    """What each classification test of a run comes to by dates, and a line on each LLM and table that is left out."""
    pairs, left_out = dated(view)
    by_dates = cells_by_dates(view)
    sides = both_sides(view, by_dates)
    within = grouped(sides, lambda one: one.test)
    left_out = (*left_out, *_on_one_side(by_dates, sides))
    titles = view.test_titles
    found = (
        replace(
            chronology(test, titles[test], pairs.get(test, ()), baselines, seed), tables=tuple(within.get(test, ()))
        )
        for test in dict.fromkeys((*pairs, *within))
    )
    return tuple(found), left_out


def cells_by_dates(view: RunResults) -> list[Result]:
    """The cells of classification whose rows are a part of a table: those from before a month, or from after it."""
    return [cell for cell in view.subjects if cell.kind is Kind.CLASSIFICATION and _is_part(view, cell)]


def _is_part(view: RunResults, cell: Result) -> bool:
    """Whether a cell is of some rows of a table by their dates: a table without dated rows is on a side as a whole."""
    if not is_dated(cell.split or ""):
        return False
    card = card_of(view, cell)
    return card is None or bool(card.dated_by)


def _on_one_side(cells: Sequence[Result], found: Sequence[BothSides]) -> tuple[str, ...]:
    """A line on each LLM and table that were asked about rows by dates and have no two sides to compare."""
    both = {(one.llm, one.dataset) for one in found}
    alone = dict.fromkeys((cell.llm, cell.dataset) for cell in cells if (cell.llm, cell.dataset) not in both)
    why = "rows from before its training cut-off and from after it are not both there"
    return tuple(f"{llm} on {dataset}: {why}" for llm, dataset in alone)


def dated(view: RunResults) -> tuple[Mapping[str, Sequence[Pair]], tuple[str, ...]]:
    """The pairs of each classification test whose dates are known, and a line on each LLM and table left out."""
    left: dict[str, None] = {}
    pairs: dict[str, list[Pair]] = {}
    taken: set[tuple[str, str, str]] = set()
    for cell in view.subjects:
        if cell.kind is not Kind.CLASSIFICATION or _is_part(view, cell):
            continue
        if cell.verdict is Verdict.SKIPPED:
            left[f"{cell.llm} on {cell.dataset}: {cell.reason or 'not asked'}"] = None
            continue
        if cell.verdict is not None or not cell.answered:
            left[f"{cell.llm} on {cell.dataset}: no answer was one of the classes"] = None
            continue
        pair = _pair(view, cell, left)
        if pair is None:
            continue
        if (key := (cell.test, cell.llm, cell.dataset)) in taken:
            why = f"of several cells of {cell.llm} the first counts, since all ask about the same data"
            left[f"{cell.dataset}: {why}"] = None
            continue
        taken.add(key)
        pairs.setdefault(cell.test, []).append(pair)
    return pairs, tuple(left)


def _pair(view: RunResults, cell: Result, left: dict[str, None]) -> Pair | None:
    """The pair of a cell; None where something is missing, which `left` is told."""
    card, entry = card_of(view, cell), entry_of(view, cell.llm)
    majority = cell.statistic.expected if cell.statistic else None
    if entry is None or not entry.cutoff:
        left[f"{cell.llm}: the catalogue states no training cut-off"] = None
    if card is None or not card.released:
        left[f"{cell.dataset}: no card states when it was released"] = None
    elif cell.not_averaged:
        left[f"{cell.dataset}: {cell.not_averaged}"] = None
    elif entry is not None and entry.cutoff and majority is not None and cell.hits is not None and cell.answered:
        return Pair(
            llm=cell.llm,
            title=entry.title,
            openness=entry.openness,
            cutoff=entry.cutoff,
            cutoff_source=entry.cutoff_source or "",
            dataset=cell.dataset,
            released=card.released,
            completed=card.completed,
            released_source=card.stated_by,
            hits=cell.hits,
            answered=cell.answered,
            majority=majority,
            side=side(card.released, entry.cutoff, card.completed),
        )
    return None


def chronology(
    test: str, title: str, pairs: Sequence[Pair], baselines: Baselines | None = None, seed: int = 0
) -> Chronology:
    """What pairs of LLMs and tables come to by dates; each LLM and table is there once at most."""
    groups = groups_of(pairs, seed)
    llms = [_of_llm(own) for own in grouped(pairs, lambda pair: pair.llm).values()]
    ordered = tuple(sorted(llms, key=lambda one: (one.cutoff, one.llm)))
    return Chronology(test, title, tuple(pairs), groups, ordered, _difficulty(pairs, baselines, seed))


def _by_precision(dates: tuple[str, str], cutoff: str) -> int:
    return side(dates[0], cutoff, dates[1])


def groups_of(pairs: Sequence[Pair], seed: int = 0, rule: Rule = _by_precision) -> tuple[Group, ...]:
    """All LLMs, and where there are several kinds of openness those of each; `rule` says on which side a table is."""
    groups = {ALL: pairs}
    kinds = [name for name in OPENNESS if any(pair.openness == name for pair in pairs)]
    for name in kinds if len(kinds) > 1 else ():
        groups[name] = [pair for pair in pairs if pair.openness == name]
    return tuple(_group(name, own, seed, rule) for name, own in groups.items())


def _side(pairs: Iterable[Pair], which: int) -> Side:
    own = [pair for pair in pairs if pair.side == which]
    return Side(
        len(own),
        sum(pair.above for pair in own),
        sum(pair.significant for pair in own),
        sum(pair.exactly for pair in own),
        statistics.mean_lifts([pair.lift for pair in own]),
    )


def _group(name: str, pairs: Sequence[Pair], seed: int, rule: Rule) -> Group:
    sides = [[pair for pair in pairs if pair.side == which] for which in (BEFORE, AFTER)]
    above = [[float(pair.above) for pair in own] for own in sides]
    significant = [[float(pair.significant) for pair in own] for own in sides]
    shares = []
    for own in grouped(pairs, lambda pair: pair.llm).values():
        before, after = _side(own, BEFORE), _side(own, AFTER)
        if before.pairs and after.pairs:
            shares.append((before.above / before.pairs, after.above / after.pairs))
    return Group(
        name,
        len({pair.llm for pair in pairs}),
        _side(pairs, BEFORE),
        _side(pairs, AFTER),
        statistics.mann_whitney(*above),
        statistics.mann_whitney(*significant),
        statistics.sign_test(shares) if shares else None,
        _exchanged(pairs, {}, seed, rule),
    )


def _of_llm(pairs: Sequence[Pair]) -> OfLlm:
    own = tuple(sorted(pairs, key=lambda pair: (pair.released, pair.dataset)))
    first = own[0]
    over = statistics.trend([year_of(pair.released) for pair in own], [pair.lift for pair in own])
    return OfLlm(
        first.llm, first.title, first.openness, first.cutoff, first.cutoff_source, own,
        _side(own, BEFORE), _side(own, AFTER), over,
    )  # fmt: skip


def _exchanged(pairs: Sequence[Pair], baselines: Baselines, seed: int, rule: Rule = _by_precision) -> Exchanged | None:
    """The test of dates; of the lifts without what goes with the baselines, where there are any."""
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


def _difficulty(pairs: Sequence[Pair], baselines: Baselines | None, seed: int) -> Difficulty | None:
    """What the baselines say; None where they were not asked for."""
    if baselines is None:
        return None
    released = {pair.dataset: pair.released for pair in pairs}
    known = {name: baselines[name] for name in sorted(released) if name in baselines}
    years = [year_of(released[name]) for name in known]
    own = [pair for pair in pairs if pair.dataset in known]
    return Difficulty(
        tuple((name, released[name], lift) for name, lift in known.items()),
        tuple(name for name in sorted(released) if name not in known),
        statistics.trend(years, list(known.values())),
        _exchanged(own, {}, seed) if known else None,
        _exchanged(own, known, seed) if known else None,
    )
