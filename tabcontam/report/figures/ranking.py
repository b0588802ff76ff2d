"""The ranking of Table 2 of Ronval et al. 2024 as a figure with intervals, and contamination against accuracy."""

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tabcontam.report.figures.heatmap import FOUND, GREY, INK, LONGEST, QUIET, WIDTH, cut, names
from tabcontam.report.ranking import MEMBERSHIP, TITLES, measured, with_both
from tabcontam.verdicts.ranks import ACCURACIES, MEASURES, Rank
from tabcontam.verdicts.results import RunResults

LOOKS: dict[str, tuple[str, str]] = dict(
    zip(MEASURES, ((FOUND, "s"), (INK, "D"), ("#0072b2", "o"), ("#b06000", "^")), strict=True)
)
OTHER_LOOKS = {"score_all": ("s", "hollow: over all cells"), "score_shared": ("x", "cross: over shared cells")}
CHANCE = 0.5  # of telling rows of the table from others
MOST = 40  # LLMs of a page
ROW = 0.17  # inches an LLM


def ranking(view: RunResults) -> list[Figure]:
    """The measures of each LLM, with their intervals; pages of at most 40 LLMs, none where nothing is ranked."""
    ranks, shown = view.ranks_in_order, _panels(view)
    pages = [range(start, min(start + MOST, len(ranks))) for start in range(0, len(ranks), MOST)]
    return [_ranking(view, ranks, page, shown) for page in pages] if shown else []


def _panels(view: RunResults) -> list[str]:
    """The measures of the paper's Table 2; what else is a score of contamination stands in the panel of the score."""
    return [measure for measure in measured(view) if measure in MEASURES]


def _others(view: RunResults) -> list[str]:
    return [measure for measure in measured(view) if measure in OTHER_LOOKS]


def _ranking(view: RunResults, ranks: Sequence[Rank], page: range, shown: Sequence[str]) -> Figure:
    top, bottom = 0.3, 0.45
    height = ROW * len(page) + top + bottom
    figure = Figure(figsize=(WIDTH, height))
    left = 1.75 / WIDTH
    right = left + (0.985 - left) * len(shown) / len(MEASURES)
    area = {"left": left, "right": right, "bottom": bottom / height, "top": 1 - top / height}
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False, gridspec_kw={"wspace": 0.08} | area)[0]
    for axes, measure in zip(panels, shown, strict=True):
        rows = [(number, ranks[number]) for number in page]
        _draw_measure(axes, rows, measure)
        for other in _others(view) if measure == MEASURES[0] else ():
            _draw_other(axes, rows, other)
    called = dict(zip((block.llm for block in view.blocks), names(view, view.blocks), strict=True))
    labels = [f"{row + 1}  {called.get(ranks[row].llm) or cut(ranks[row].llm, LONGEST['llm'])}" for row in page]
    panels[0].set_yticks(list(page), labels, parse_math=False)
    panels[0].set_ylim(page.stop - 0.5, page.start - 0.5)
    majorities = "short grey lines: always saying the largest class"
    words = _explained(
        view, [OTHER_LOOKS[other][1] for other in _others(view)], "bars: 95% intervals", majorities
    ) + "; dashed: chance" * (MEMBERSHIP in shown)
    figure.text(left, 0.08 / height, words.removeprefix("; "), size=6, color=QUIET)
    return figure


def _explained(view: RunResults, always: Sequence[str], intervals: str, majorities: str) -> str:
    """What the marks of a figure mean: those that it always has, and those of intervals and majorities if known."""
    known = [intervals] * any(rank.intervals for rank in view.ranks_in_order)
    known += [majorities] * any(rank.majorities for rank in view.ranks_in_order)
    return "; ".join([*always, *known])


def _prepare(axes: Axes, grid: Literal["x", "both"]) -> None:
    axes.set_xlim(-0.04, 1.04)
    axes.tick_params(length=2, color=GREY)
    axes.grid(axis=grid, color="#e4e8ec", linewidth=0.5)
    axes.set_axisbelow(True)


def _draw_measure(axes: Axes, rows: Sequence[tuple[int, Rank]], measure: str) -> None:
    color, marker = LOOKS[measure]
    axes.set_title(TITLES[measure].lower(), size=7.5, weight="bold", color=INK)
    _prepare(axes, "x")
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", ".5", "", "1"])
    axes.tick_params(axis="y", length=0)
    if measure == MEMBERSHIP:
        axes.axvline(CHANCE, color=GREY, linewidth=0.8, linestyle=(0, (3, 2)))
    for row, rank in rows:
        if (value := rank.measures[measure]) is None:
            continue
        if interval := rank.intervals.get(measure):
            axes.plot(interval, (row, row), color=color, linewidth=1, alpha=0.6, solid_capstyle="butt")
        if (majority := rank.majorities.get(measure)) is not None:
            axes.plot((majority, majority), (row - 0.38, row + 0.38), color=GREY, linewidth=1.4)
        axes.plot(value, row, marker=marker, color=color, markersize=3.4, linestyle="none")


def _draw_other(axes: Axes, rows: Sequence[tuple[int, Rank]], score: str) -> None:
    """Another score of contamination, where it is not the one that is drawn already."""
    color, marker = LOOKS[MEASURES[0]][0], OTHER_LOOKS[score][0]
    for row, rank in rows:
        value = rank.measures[score]
        if value is not None and value != rank.score:
            axes.plot(value, row, marker=marker, color=color, markerfacecolor="none", markersize=4, linestyle="none")


def against_accuracy(view: RunResults) -> list[Figure]:
    """Contamination against the accuracy in classification, an LLM a point; none where no LLM has both."""
    shown = [measure for measure in measured(view) if measure in ACCURACIES and with_both(view, measure)]
    if not shown:
        return []
    figure = Figure(figsize=(WIDTH, 3.3))
    area = {"left": 0.08, "right": 0.985, "bottom": 0.2, "top": 0.9, "wspace": 0.16}
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False, gridspec_kw=area)[0]
    for axes, measure in zip(panels, shown, strict=True):
        _draw_points(axes, view, measure)
    panels[0].set_ylabel("accuracy")
    majorities = "dashed: always saying the largest class (mean)"
    words = _explained(view, ["numbers: places in the ranking"], "lines: 95% intervals", majorities)
    figure.text(0.08, 0.02, words, size=6, color=QUIET)
    return [figure]


def _draw_points(axes: Axes, view: RunResults, measure: str) -> None:
    color, marker = LOOKS[measure]
    axes.set_title(TITLES[measure].lower() + _correlation(view, measure), size=7.5, color=INK)
    _prepare(axes, "both")
    axes.set_ylim(-0.04, 1.04)
    axes.set_xlabel("contamination")
    majorities = [rank.majorities[measure] for rank in view.ranks_in_order if measure in rank.majorities]
    if majorities:
        axes.axhline(sum(majorities) / len(majorities), color=GREY, linewidth=0.8, linestyle=(0, (3, 2)))
    for place, rank, x, y in with_both(view, measure):
        if interval := rank.intervals.get("score"):
            axes.plot(interval, (y, y), color=color, linewidth=0.6, alpha=0.35)
        if interval := rank.intervals.get(measure):
            axes.plot((x, x), interval, color=color, linewidth=0.6, alpha=0.35)
        axes.plot(x, y, marker=marker, color=color, markersize=4, linestyle="none")
        axes.annotate(str(place), (x, y), xytext=(3, 2.5), textcoords="offset points", size=6, color=INK)


def _correlation(view: RunResults, measure: str) -> str:
    """The stated correlation of contamination with this accuracy, in words."""
    for stated in view.correlations:
        if {stated.first, stated.second} == {"score", measure} and stated.value is not None:
            interval = "" if stated.interval is None else " ({:.2f} to {:.2f})".format(*stated.interval)
            return f": rank correlation {stated.value:.2f}{interval}, {stated.llms} LLMs"
    return ""
