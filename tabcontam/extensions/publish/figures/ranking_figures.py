"""Figures of the ranking (Table 2 of Ronval et al. 2024) with intervals, and of contamination against accuracy."""

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tabcontam.extensions.publish.figures.heatmap import names
from tabcontam.extensions.publish.thresholds import MEMBERSHIP_CHANCE
from tabcontam.report.figure_style import COLUMN, EDGE, FOUND, GREY, INK, LONGEST, QUIET, WIDTH, cut, length
from tabcontam.report.ranking import MEMBERSHIP, TITLES, measured_columns, with_both
from tabcontam.verdicts.llm_ranking import ACCURACIES, MEASURES, Rank
from tabcontam.verdicts.results import RunResults

LOOKS: dict[str, tuple[str, str]] = dict(
    zip(MEASURES, ((FOUND, "s"), (INK, "D"), ("#0072b2", "o"), ("#b06000", "^")), strict=True)
)
OTHER_LOOKS = {"score_all": ("s", "hollow: over all results"), "score_shared": ("x", "cross: over shared results")}
ROW, LINE = 0.17, 0.11  # inches: height of an LLM's row, height of a line of explanations
LEAST, WIDEST, RIGHT = 0.72, 1.4, 0.1  # inches: least and greatest width of a panel, space on its right


# most: LLMs on one page
def ranking(view: RunResults, room: float = WIDTH, *, most: int = 40) -> list[Figure]:
    """Return figures of each LLM's measures with intervals, in pages of up to `most` LLMs; empty without a ranking."""
    ranks = view.ranks_in_order
    shown = [measure for measure in measured_columns(view) if measure in MEASURES]  # others: in the score's panel
    pages = [range(start, min(start + most, len(ranks))) for start in range(0, len(ranks), most)]
    return [_ranking(view, ranks, page, shown, room) for page in pages] if shown else []


def _others(view: RunResults) -> list[str]:
    return [measure for measure in measured_columns(view) if measure in OTHER_LOOKS]


def _ranking(view: RunResults, ranks: Sequence[Rank], page: range, shown: Sequence[str], room: float) -> Figure:
    called = dict(zip((block.llm for block in view.blocks), names(view, view.blocks), strict=True))
    labels = [f"{row + 1}  {called.get(ranks[row].llm) or cut(ranks[row].llm, LONGEST['llm'])}" for row in page]
    left = 2 * EDGE + max(length(label, 7) for label in labels) + 0.08
    across = min(len(shown), max(int((room - left) // LEAST), 1))
    down = -(-len(shown) // across)
    top, bottom, between = 0.3, 0.3, 0.55
    majorities = "short grey lines: always the largest class"
    marks = _explained(view, [OTHER_LOOKS[other][1] for other in _others(view)], "bars: 95% intervals", majorities)
    words = _lines([*marks, *["dashed: chance"] * (MEMBERSHIP in shown)], room)
    height = down * ROW * len(page) + (down - 1) * between + top + bottom + LINE * len(words)
    width = min(room, left + across * WIDEST + RIGHT)
    figure = Figure(figsize=(width, height))
    area = {"left": left / width, "right": 1 - RIGHT / width, "top": 1 - top / height}
    area |= {"bottom": (bottom + LINE * len(words)) / height, "hspace": between / (ROW * len(page)), "wspace": 0.08}
    panels = figure.subplots(down, across, sharey=True, squeeze=False, gridspec_kw=area).flatten()
    for axes, measure in zip(panels, shown, strict=False):
        rows = [(number, ranks[number]) for number in page]
        _draw_measure(axes, rows, measure)
        for other in _others(view) if measure == MEASURES[0] else ():
            _draw_other(axes, rows, other)
    for axes in panels[len(shown) :]:
        axes.remove()
    panels[0].set_yticks(list(page), labels, parse_math=False)
    panels[0].set_ylim(page.stop - 0.5, page.start - 0.5)
    _say(figure, words, height)
    return figure


def _lines(words: Sequence[str], room: float) -> list[str]:
    """Return the explanations, broken into lines that fit into `room`."""
    lines: list[str] = []
    for word in words:
        longer = f"{lines[-1]}; {word}" if lines else word
        if lines and length(longer, 6) <= room - 2 * EDGE:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _say(figure: Figure, lines: Sequence[str], height: float) -> None:
    width = figure.get_figwidth()
    for number, line in enumerate(reversed(lines)):
        figure.text(EDGE / width, (0.05 + LINE * number) / height, line, size=6, color=QUIET)


def _explained(view: RunResults, always: Sequence[str], intervals: str, majorities: str) -> list[str]:
    """Return a figure's explanations: `always`, and `intervals` and `majorities` if some LLM has these."""
    known = [intervals] * any(rank.intervals for rank in view.ranks_in_order)
    known += [majorities] * any(rank.majorities for rank in view.ranks_in_order)
    return [*always, *known]


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
        axes.axvline(MEMBERSHIP_CHANCE, color=GREY, linewidth=0.8, linestyle=(0, (3, 2)))
    for row, rank in rows:
        if (value := rank.measures[measure]) is None:
            continue
        if interval := rank.intervals.get(measure):
            axes.plot(interval, (row, row), color=color, linewidth=1, alpha=0.6, solid_capstyle="butt")
        if (majority := rank.majorities.get(measure)) is not None:
            axes.plot((majority, majority), (row - 0.38, row + 0.38), color=GREY, linewidth=1.4)
        axes.plot(value, row, marker=marker, color=color, markersize=3.4, linestyle="none")


def _draw_other(axes: Axes, rows: Sequence[tuple[int, Rank]], score: str) -> None:
    """Draw each LLM's other score of contamination, if it differs from the score that is drawn already."""
    color, marker = LOOKS[MEASURES[0]][0], OTHER_LOOKS[score][0]
    for row, rank in rows:
        value = rank.measures[score]
        if value is not None and value != rank.score:
            axes.plot(value, row, marker=marker, color=color, markerfacecolor="none", markersize=4, linestyle="none")


def against_accuracy(view: RunResults, room: float = WIDTH) -> list[Figure]:
    """Return figures of contamination against accuracy, with a point for each LLM; empty if no LLM has both."""
    shown = [measure for measure in measured_columns(view) if measure in ACCURACIES and with_both(view, measure)]
    if not shown:
        return []
    across = min(len(shown), max(int(room // COLUMN), 1))
    down = -(-len(shown) // across)
    majorities = "dashed: always the largest class (mean)"
    width = min(room, across * COLUMN)
    words = _lines(_explained(view, ["numbers: places in the ranking"], "lines: 95% intervals", majorities), width)
    height = down * 2.75 + LINE * len(words)
    figure = Figure(figsize=(width, height))
    area = {"left": 0.5 / width, "right": 1 - RIGHT / width, "top": 1 - 0.25 / height, "wspace": 0.16, "hspace": 0.3}
    area["bottom"] = (0.45 + LINE * len(words)) / height
    panels = figure.subplots(down, across, sharey=True, squeeze=False, gridspec_kw=area).flatten()
    for axes, measure in zip(panels, shown, strict=True):
        _draw_points(axes, view, measure)
        axes.set_ylabel("accuracy" if axes in panels[::across] else "")
    _say(figure, words, height)
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
    """Return in words how contamination correlates with this accuracy."""
    for stated in view.correlations:
        if {stated.first, stated.second} == {"score", measure} and stated.value is not None:
            interval = "" if stated.interval is None else " ({:.2f} to {:.2f})".format(*stated.interval)
            return f": rank correlation {stated.value:.2f}{interval}, {stated.llms} LLMs"
    return ""
