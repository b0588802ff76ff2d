"""Figures of memory's share of the accuracy: a line from a dot for the table's rows to a dot for unseen twins."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tabcontam.report.figure_style import EDGE, GREY, INK, LONGEST, QUIET, WIDTH, cut, length
from tabcontam.report.memory_shares import MemoryComparison, legend, measured_shares
from tabcontam.verdicts.results import RunResults

ROW, ABOVE = 0.19, 0.15  # inches: height of a line, and of names above it if they do not fit next to it
TOP, BOTTOM, LINE = 0.3, 0.52, 0.11  # inches: above the first line, below the last line, height of a legend's line
DOTS = "#0072b2"
SHARE = "memory's share"
INTERVAL = "in brackets: 95% interval"


def memory_shares(view: RunResults, room: float = WIDTH) -> list[Figure]:
    """Return figures with a line for each LLM and table with a measured share; empty if none was measured."""
    most_shown = 40  # most lines of a page; half as many if names are above the lines
    found, most = measured_shares(view), most_shown if room >= WIDTH else most_shown // 2
    return [_figure(view, found[start : start + most], room) for start in range(0, len(found), most)]


def _figure(view: RunResults, found: Sequence[MemoryComparison], room: float) -> Figure:
    names = [cut(view.title(one.llm) or one.llm, LONGEST["llm"]) for one in found]
    labels = [f"{name}  {cut(one.label, LONGEST['dataset'])}" for name, one in zip(names, found, strict=True)]
    is_wide = room >= WIDTH
    left = 3 * EDGE + (max(length(label, 7) for label in labels) if is_wide else 0)
    right = 3 * EDGE + max(length(words, 7) for words in (SHARE, *(one.share for one in found)))
    row = ROW if is_wide else ROW + ABOVE
    bottom = BOTTOM if is_wide else BOTTOM + LINE
    height = TOP + row * len(found) + bottom
    figure = Figure(figsize=(room, height))
    axes = figure.add_axes((left / room, bottom / height, 1 - (left + right) / room, row * len(found) / height))
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_yticks(range(len(found)), labels if is_wide else [""] * len(found), parse_math=False)
    axes.tick_params(length=2, color=GREY)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e4e8ec", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel("accuracy")
    for number, (one, label) in enumerate(zip(found, labels, strict=True)):
        _draw(axes, number, one)
        if not is_wide:
            axes.text(0, number - 0.28, label, va="center", size=6.5, color=INK, parse_math=False)
    figure.text(1 - EDGE / room, 1 - 0.2 / height, SHARE, size=7, weight="bold", color=INK, ha="right")
    legends = (legend(found, "full", "empty"), INTERVAL)
    for number, words in enumerate(["; ".join(legends)] if is_wide else reversed(legends)):
        figure.text(EDGE / room, (0.05 + LINE * number) / height, words, size=6, color=QUIET)
    return figure


def _draw(axes: Axes, row: int, one: MemoryComparison) -> None:
    own, twin = one.memory.accuracy, one.memory.twin_accuracy
    axes.plot((twin, own), (row, row), color=DOTS, linewidth=1.4, solid_capstyle="butt")
    axes.plot(twin, row, marker="o", markersize=4.6, color=DOTS, markerfacecolor="white", linestyle="none")
    axes.plot(own, row, marker="o", markersize=4.6, color=DOTS, linestyle="none")
    right_edge = axes.get_yaxis_transform()
    axes.text(1.03, row, one.share, transform=right_edge, va="center", size=7, color=INK, parse_math=False)
