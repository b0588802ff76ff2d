"""The ranking of the LLMs with intervals, and the plots of contamination against accuracy."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tabcontam.config import PAPER
from tabcontam.evidence.number_wording import format_signed
from tabcontam.groups import grouped
from tabcontam.report.plot_area import PlotArea
from tabcontam.verdicts.dating import entry_of
from tabcontam.verdicts.llm_ranking import ACCURACIES, COLUMNS, MEASURES, OTHER_SCORES, Correlation, Rank, RankColumn
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import phrase, rounded, visible, with_ellipsis

TITLES: dict[str, str] = {column.name: column.title for column in COLUMNS}
IN_WORDS: dict[str, str] = {column.name: column.words for column in COLUMNS}
MEMBERSHIP = MEASURES[1]

AREA = PlotArea(460, 330, left=46, right=446, top=14, bottom=286)
LETTER, LINE, POINT = 6.2, 12, 4  # width and height of a letter, radius of a point


@dataclass(frozen=True)
class RankingPoint:
    """One LLM in a plot, in the plot's units. The text `label` starts or ends at (`label_x`, `label_y`)."""

    name: str
    x: float
    y: float
    horizontal: tuple[float, float] | None
    vertical: tuple[float, float] | None
    majority: float | None
    label: str
    label_x: float
    label_y: float
    anchor: str
    words: str


@dataclass(frozen=True)
class RankingPlot:
    """A plot of the contamination score against one accuracy, for LLMs with both. Ticks are pairs (position, label)."""

    measure: str
    title: str
    points: tuple[RankingPoint, ...]
    majority: float | None  # the line's position; None if the LLMs' majority classes differ
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    numbered: bool  # whether the labels are the LLMs' numbers in the table


def context(view: RunResults) -> dict[str, Any]:
    """Return the variables of `ranking.html.jinja` other than `view`."""
    return {
        "ranking_titles": {measure: TITLES[measure] for measure in measured_columns(view)},
        "ranking_majorities": majorities(view.ranks_in_order),
        "ranking_plots": [plot for plot in (_plot(view, measure) for measure in ACCURACIES) if plot],
        "ranking_sentences": correlation_sentences(view),
        "ranking_about": about(view),
        "openness_of": {
            rank.llm: entry.openness for rank in view.ranks_in_order if (entry := entry_of(view, rank.llm))
        },
        "against_majority": against_majority,
        "signed": format_signed,
        "plot_box": AREA,
    }


def measured_columns(view: RunResults) -> list[str]:
    """Return the columns of `ranking_columns` in which some LLM has a number."""
    return [
        column.name
        for column in ranking_columns(view)
        if any(rank.measures[column.name] is not None for rank in view.ranks_in_order)
    ]


def ranking_columns(view: RunResults) -> list[RankColumn]:
    """Return the columns of the ranking; empty if nothing is ranked.

    The columns of the paper's Table 2 are shown together, if any has a number. Another column is left out if no LLM has
    a number there, or if every LLM's number equals its score.
    """
    ranks = view.ranks_in_order
    known = {name for rank in ranks for name, value in rank.measures.items() if value is not None}
    telling = {name for name in known if any(rank.measures[name] not in (None, rank.score) for rank in ranks)}
    own = {*MEASURES} if known & {*MEASURES} else set()
    others = {name for name in known - {*MEASURES} if name not in OTHER_SCORES or name in telling}
    return [column for column in COLUMNS if column.name in own | others]


def against_majority(rank: Rank, measure: str) -> str:
    """Return whether an accuracy's interval is "above", "below" or "like" the largest class's share; "" if unknown."""
    interval, majority = rank.intervals.get(measure), rank.majorities.get(measure)
    if interval is None or majority is None:
        return ""
    return "above" if interval[0] > majority else "below" if interval[1] < majority else "like"


def majorities(ranks: Iterable[Rank]) -> dict[str, str]:
    """Return for each accuracy that of always answering the largest class: one number, or a range over the LLMs."""
    found: dict[str, str] = {}
    for measure in ACCURACIES:
        known = [rank.majorities[measure] for rank in ranks if measure in rank.majorities]
        if known:
            low, high = f"{min(known):.2f}", f"{max(known):.2f}"
            found[measure] = low if low == high else f"{low} to {high}"
    return found


def about(view: RunResults) -> str:
    """Return an explanation of the ranking's columns: from which tables and cells they are computed."""
    columns = [f"{column.title}: {words_of(view, column)}." for column in ranking_columns(view)]
    columns += [same] if (same := same_scores(view)) else []
    columns += left_out(view)
    limits = (
        " Brackets hold 95% intervals. Intervals of shares treat results as independent. Intervals of means hold for "
        "these tables; they cover the choice of the rows that were asked."
    )
    return " ".join(columns) + (limits if any(rank.intervals for rank in view.ranks_in_order) else "")


def words_of(view: RunResults, column: RankColumn) -> str:
    """Return the explanation of a column in this run."""
    paper = view.run.rules == PAPER
    of = {
        result.evidence.statistic.name
        for result in view.results
        if result.evidence.statistic and not paper and view.facts[result.test].measure == MEMBERSHIP
    }
    shared = next((rank.shared_results for rank in view.ranks_in_order if rank.shared_results), 0)
    words = {
        "counted": "all" if paper else "the decided",
        "shared": f"{shared} result{'' if shared == 1 else 's'}",
        "done": "asked" if paper else "decided",
        "membership": " or ".join(sorted(of)) or "share of rows answered right",
    }
    return column.about.format(**words)


def left_out(view: RunResults) -> list[str]:
    """Return for each reason to leave scores out of the ranking's means a sentence that names the scores."""
    results = [result for result in view.subjects if result.not_averaged and result.evidence.score is not None]
    return [
        f"The mean{'s' if len(tests) > 1 else ''} of {phrase(list(tests))} leave{'s' * (len(tests) == 1)} out "
        f"{phrase(list(dict.fromkeys(view.label(result) for result in own)))}, since {reason}."
        for reason, own in grouped(results, lambda result: result.not_averaged).items()
        if (tests := dict.fromkeys(TITLES.get(view.facts[one.test].measure, view.test_titles[one.test]) for one in own))
    ]


def same_scores(view: RunResults) -> str:
    """Return a sentence on the columns that are hidden because they equal the contamination score, or ""."""
    names = [column.name for column in ranking_columns(view)]
    ranks = view.ranks_in_order
    of = {"score_all": "all results"} | ({"score_shared": "the results that all LLMs share"} if len(ranks) > 1 else {})
    known = [name for name in of if name not in names and any(rank.measures[name] is not None for rank in ranks)]
    return f"Contamination is the same over {phrase([of[name] for name in known])}." if known else ""


def correlation_sentences(view: RunResults) -> list[str]:
    """Return sentences on how contamination correlates with the other measures over LLMs, or why that is unknown."""
    known = [_correlation(view, found) for found in view.correlations if found.value is not None]
    alike = [
        f"{found.llms} LLMs have the same {IN_WORDS[found.first]} or the same {IN_WORDS[found.second]}, so there is "
        "nothing to correlate."
        for found in view.correlations
        if found.value is None and found.llms > 3
    ]
    few = [found for found in view.correlations if found.value is None and 0 < found.llms <= 3]
    too_few = [
        f"{'1 LLM is' if llms == 1 else f'{llms} LLMs are'} too few to show whether contamination goes together with "
        f"{phrase([IN_WORDS[found.second] for found in own], 'or')}."
        for llms, own in grouped(few, lambda found: found.llms).items()
    ]
    return known + alike + too_few


def _correlation(view: RunResults, found: Correlation) -> str:
    low, high = found.interval or (-1.0, 1.0)
    p_value = "" if found.p_value is None else f", p = {rounded('p_value', found.p_value)}"
    left_out = len(view.ranks_in_order) - found.llms
    without = f" (without {left_out} that lack one of both)" if left_out > 0 else ""
    return (
        f"Over {found.llms} LLMs{without}, Spearman's rho of contamination and {IN_WORDS[found.second]} is "
        f"{found.value:.2f} ({low:.2f} to {high:.2f}){p_value}."
    )


def with_both(view: RunResults, measure: str) -> list[tuple[int, Rank, float, float]]:
    """Return the LLMs that have a contamination score and the accuracy `measure`, as (place, rank, score, accuracy)."""
    return [
        (place, rank, rank.score, accuracy)
        for place, rank in enumerate(view.ranks_in_order, start=1)
        if rank.score is not None and (accuracy := rank.measures[measure]) is not None
    ]


# named: most points with a name; in a plot with more, labels are numbers
def _plot(view: RunResults, measure: str, *, named: int = 12) -> RankingPlot | None:
    """Return the plot of contamination against one accuracy; None if no LLM has both."""
    both = with_both(view, measure)
    if not both:
        return None
    shown = [accuracy for *_, accuracy in both] + [
        value
        for _, rank, *_ in both
        for value in (*rank.intervals.get(measure, ()), rank.majorities.get(measure))
        if value is not None
    ]
    first = min(4, int(min(shown) * 5))  # the first tick, in fifths, below everything shown
    least = first / 5

    def up(value: float) -> float:
        return AREA.up((value - least) / (1 - least))

    def ends(interval: tuple[float, float] | None, axis: Callable[[float], float]) -> tuple[float, float] | None:
        return None if interval is None else (axis(interval[0]), axis(interval[1]))

    names = [_name(view, rank) if len(both) <= named else str(place) for place, rank, *_ in both]
    labels = placed_labels([(AREA.across(score), up(accuracy)) for *_, score, accuracy in both], names)
    points = tuple(
        RankingPoint(
            rank.llm,
            AREA.across(score),
            up(accuracy),
            ends(rank.intervals.get("score"), AREA.across),
            ends(rank.intervals.get(measure), up),
            None if (majority := rank.majorities.get(measure)) is None else up(majority),
            *label,
            f"{rank.llm}: contamination {score:.2f}, {IN_WORDS[measure]} {accuracy:.2f}",
        )
        for (_, rank, score, accuracy), label in zip(both, labels, strict=True)
    )
    lines = {point.majority for point in points}
    return RankingPlot(
        measure,
        f"Contamination against {IN_WORDS[measure]}",
        points,
        lines.pop() if len(lines) == 1 else None,
        tuple((AREA.across(tick / 4), f"{tick / 4:g}") for tick in range(5)),
        tuple((up(tick / 5), f"{tick / 5:g}") for tick in range(first, 6)),
        len(both) > named,
    )


def _name(view: RunResults, rank: Rank, *, longest_label: int = 20) -> str:
    return with_ellipsis(visible(view.title(rank.llm) or rank.llm, line=True), longest_label)


Box = tuple[float, float, float, float]  # left, top, right, bottom


def placed_labels(places: Sequence[tuple[float, float]], names: Sequence[str]) -> list[tuple[str, float, float, str]]:
    """Return each label with a position near its point, where it covers the least of points and earlier labels."""
    taken: list[Box] = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in places]
    found = []
    for (x, y), name in zip(places, names, strict=True):
        options = [option for far in (0, 1, 2) for option in _label_places(x, y, name, far)]
        label, box = min(options, key=lambda option: _covered(option[1], taken))
        taken.append(box)
        found.append(label)
    return found


def _label_places(x: float, y: float, name: str, far: int) -> list[tuple[tuple[str, float, float, str], Box]]:
    """Return the ten places for a point's label at distance `far`, each with the box that it would cover."""
    wide, options = LETTER * len(name), []
    for up in (-1, 1, 0, -2, 2):
        for anchor, side in (("start", 1), ("end", -1)):
            left = x + side * (POINT + 3) - (wide if anchor == "end" else 0)
            base = y + 4 + up * (LINE * 0.75 + LINE * far)
            label = (name, round(x + side * (POINT + 3), 1), round(base, 1), anchor)
            options.append((label, (left, base - LINE + 2, left + wide, base + 2)))
    return options


def _covered(box: Box, taken: Iterable[Box]) -> float:
    """Return a label's cost: the area of the boxes that it covers, plus 100 times its length outside the plot."""
    left, top, right, bottom = box
    beyond = (AREA.left - left, right - AREA.width, AREA.top - 8 - top, bottom - AREA.bottom)
    out = sum(max(0, length) for length in beyond)
    over = sum(
        max(0.0, min(right, other[2]) - max(left, other[0])) * max(0.0, min(bottom, other[3]) - max(top, other[1]))
        for other in taken
    )
    return over + 100 * out
