"""Figures of exactly generated outputs against accuracy, after figure 6 of Li and Flanigan (2024)."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tabcontam.extensions.dates.generation_plots import least_squares, table_of
from tabcontam.report.figure_style import EDGE, FOUND, GREY, INK, QUIET, WIDTH, cut
from tabcontam.report.ranking import IN_WORDS
from tabcontam.verdicts.generation_accuracy import Generation
from tabcontam.verdicts.results import RunResults


def exact_against_accuracy(view: RunResults, room: float = WIDTH) -> list[Figure]:
    """Return a figure for each table and kind of accuracy for which three or more LLMs have both numbers."""
    return [_figure(view, one, room) for one in view.generations]


# high: height of a figure in inches
def _figure(view: RunResults, one: Generation, room: float, *, high: float = 2.6) -> Figure:
    width = min(room, WIDTH / 2)
    figure = Figure(figsize=(width, high))
    area = (0.5 / width, 0.62 / high, 1 - 0.6 / width, 1 - 0.9 / high)
    axes = figure.add_axes(area)
    axes.set_title(f"{table_of(view, one)}{_correlation(one)}", size=7.5, color=INK, parse_math=False)
    axes.set_xlim(-0.04, 1.04)
    axes.set_ylim(-0.04, 1.04)
    axes.set_xlabel("outputs generated exactly")
    axes.set_ylabel(IN_WORDS[one.accuracy])
    if ends := least_squares(one):
        axes.plot(*zip(*ends, strict=True), color=GREY, linewidth=0.9)
    _points(axes, view, one)
    figure.text(EDGE / width, 0.06 / high, "lines at points: 95% intervals", size=6, color=QUIET)
    return figure


# longest: most letters of a name next to a point
# named: most points with a name next to them
def _points(axes: Axes, view: RunResults, one: Generation, *, longest: int = 20, named: int = 12) -> None:
    for llm in one.llms:
        axes.plot(llm.share_interval, (llm.accuracy, llm.accuracy), color=FOUND, linewidth=0.6, alpha=0.4)
        if llm.accuracy_interval:
            axes.plot((llm.share, llm.share), llm.accuracy_interval, color=FOUND, linewidth=0.6, alpha=0.4)
        axes.plot(llm.share, llm.accuracy, marker="o", color=FOUND, markersize=3.4, linestyle="none")
        if len(one.llms) <= named:
            name = view.run.catalogue[llm.llm].title if llm.llm in view.run.catalogue else llm.llm
            place, offset = (llm.share, llm.accuracy), (3, 2.5)
            words = cut(name, longest)
            axes.annotate(words, place, offset, textcoords="offset points", size=6, color=INK, parse_math=False)


def _correlation(one: Generation) -> str:
    """Return the correlation in words; empty if it is unknown."""
    if one.value is None:
        return ""
    interval = "" if one.interval is None else f" ({one.interval[0]:.2f} to {one.interval[1]:.2f})"
    return f": r {one.value:.2f}{interval}, {len(one.llms)} LLMs"
