"""Figures of Li and Flanigan (2024): accuracies by dates (2, 3), exact outputs (6); and contamination by openness."""

from collections.abc import Sequence
from itertools import chain
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tabcontam.extensions.dates.chronological_analysis import Chronology, SideCounts, chronologies
from tabcontam.extensions.dates.chronology_sentences import side_words
from tabcontam.extensions.dates.dated_pairs import dated
from tabcontam.extensions.dates.generation_plots import least_squares, table_of
from tabcontam.extensions.dates.openness_analysis import openness
from tabcontam.report.figure_style import EDGE, FOUND, GREY, INK, LONGEST, QUIET, WIDTH, cut, length
from tabcontam.report.ranking import IN_WORDS
from tabcontam.verdicts.dating import AFTER, BEFORE
from tabcontam.verdicts.generation_accuracy import Generation
from tabcontam.verdicts.results import RunResults

ABOVE, SURELY = "#9cc2e5", "#0b57b0"
ROW, TOP, BOTTOM = 0.2, 0.42, 0.35  # inches: height of an LLM's row, above the rows, below the rows
POINTS = 2.6  # height in inches of a scatter plot
DIVIDE = "2021"  # the figure separates tables from before this year from later ones, as figure 3 of the paper


def by_dates(view: RunResults, room: float = WIDTH) -> list[Figure]:
    """Return figures 2 and 3 for each test in which some LLM has tables from before and after its cut-off."""
    pairs, _ = dated(view)
    if not any({pair.side for pair in own} >= {BEFORE, AFTER} for own in pairs.values()):
        return []
    compared = [one for one in chronologies(view)[0] if one.whole.dates is not None]
    return [figure for one in compared for figure in (_shares(one, room), *_accuracies(one, room))]


def _shares(found: Chronology, room: float) -> Figure:
    """Return figure 2: on how many tables LLMs exceed the majority class, before and after their cut-offs."""
    right_inches = 0.95  # inches for the words after a bar
    rows = [("all LLMs", found.whole.before, found.whole.after)]
    rows += [(f"{cut(one.title, LONGEST['llm'])} {one.cutoff[:4]}", one.before, one.after) for one in found.llms]
    left = 2 * EDGE + max(length(name, 7) for name, *_ in rows) + 0.08
    down = 1 if room >= WIDTH else 2  # in one column of a page, one side is below the other
    part = TOP + ROW * len(rows) + (BOTTOM if down == 1 else 0.2)
    height = part * down + (0.0 if down == 1 else 0.2)
    figure = Figure(figsize=(room, height))
    wide = (room - left - right_inches) if down == 2 else (room - left - 2 * right_inches) / 2
    for place, head in enumerate(("before", "after")):
        start, top = (left + place * (wide + right_inches), TOP) if down == 1 else (left, TOP + place * part)
        box = (start / room, 1 - (top + ROW * len(rows)) / height, wide / room, ROW * len(rows) / height)
        axes = figure.add_axes(box)
        axes.set_title(f"{found.title.lower()}, {head}", size=7.5, weight="bold", color=INK)
        _bars(axes, [after if place else before for _, before, after in rows])
        named = down == 2 or not place
        axes.set_yticks(range(len(rows)), [name if named else "" for name, *_ in rows], parse_math=False)
    words = "light: above the majority; dark: significantly (t-test, 99%)"
    figure.text(EDGE / room, 0.06 / height, words, size=6, color=QUIET)
    return figure


def _bars(axes: Axes, sides: Sequence[SideCounts]) -> None:
    axes.set_xlim(0, 1)
    axes.set_ylim(len(sides) - 0.5, -0.5)
    axes.set_xticks([0, 0.5, 1], ["0", "50%", "100%"])
    axes.tick_params(length=2, color=GREY)
    for row, side in enumerate(sides):
        if side.pairs:
            axes.barh(row, side.above / side.pairs, 0.6, color=ABOVE)
            axes.barh(row, side.significant / side.pairs, 0.6, color=SURELY)
        axes.annotate(side_words(side), (1.03, row), size=6, color=QUIET, va="center", annotation_clip=False)


def _accuracies(found: Chronology, room: float) -> list[Figure]:
    """Return figure 3: the mean accuracy of LLMs by cut-off, on older tables and on newer tables."""
    shown = []
    for older in (True, False):
        own = [(one, [pair for pair in one.pairs if (pair.released < DIVIDE) == older]) for one in found.llms]
        with_pairs = [(one.cutoff[:4], pairs) for one, pairs in own if pairs]
        if len(with_pairs) > 1:
            shown.append((f"tables from {'before ' + DIVIDE if older else DIVIDE + ' on'}", with_pairs))
    if not shown:
        return []
    down = 1 if room >= WIDTH else len(shown)
    height = POINTS * down
    figure = Figure(figsize=(room, height))
    area = {"left": 0.5 / room, "right": 0.98, "top": 1 - 0.3 / height, "bottom": 0.65 / height, "wspace": 0.16}
    panels = figure.subplots(down, len(shown) // down, squeeze=False, gridspec_kw=area | {"hspace": 0.45}).flatten()
    for axes, (head, with_pairs) in zip(panels, shown, strict=True):
        axes.set_title(f"{found.title.lower()}, {head}", size=7.5, color=INK)
        places = range(len(with_pairs))
        means = [fmean(pair.accuracy for pair in pairs) for _, pairs in with_pairs]
        axes.plot(places, means, marker="o", color=SURELY, markersize=3.4, linewidth=1)
        majorities = [fmean(pair.majority for pair in pairs) for _, pairs in with_pairs]
        axes.plot(places, majorities, color=GREY, linewidth=0.9, linestyle=(0, (3, 2)))
        axes.set_xticks(list(places), [cutoff for cutoff, _ in with_pairs], rotation=90 if len(with_pairs) > 12 else 0)
        axes.set_ylim(0, 1)
        axes.set_xlabel("LLMs by the year of their cut-off")
    panels[0].set_ylabel("mean accuracy")
    figure.text(EDGE / room, 0.06 / height, "dashed: always the largest class", size=6, color=QUIET)
    return [figure]


def by_openness(view: RunResults, room: float = WIDTH) -> list[Figure]:
    """Return each LLM's score by openness, and by size within families; empty with fewer than two catalogued LLMs."""
    found = openness(view)
    if found is None:
        return []
    count = 2 if found.families else 1
    down = 1 if room >= WIDTH else count
    height = POINTS * down
    figure = Figure(figsize=(room, height))
    area = {"left": 0.5 / room, "right": 0.98, "top": 1 - 0.26 / height, "bottom": 0.6 / height, "wspace": 0.16}
    panels = figure.subplots(down, count // down, squeeze=False, gridspec_kw=area | {"hspace": 0.4}).flatten()
    for place, kind in enumerate(found.kinds):
        for number, one in enumerate(kind.llms):
            x = place + 0.7 * ((number + 0.5) / len(kind.llms) - 0.5)
            if one.interval:
                panels[0].plot((x, x), one.interval, color=FOUND, linewidth=0.8, alpha=0.5)
            panels[0].plot(x, one.score, marker="s", color=FOUND, markersize=3.4, linestyle="none")
        if kind.conclusive:
            panels[0].plot((place - 0.35, place + 0.35), (kind.mean, kind.mean), color=GREY, linewidth=1.2)
    panels[0].set_xticks(range(len(found.kinds)), [f"{kind.name} ({len(kind.llms)})" for kind in found.kinds])
    panels[0].set_xlim(-0.5, len(found.kinds) - 0.5)
    panels[0].set_ylim(-0.04, 1.04)
    panels[0].set_ylabel("contamination")
    if found.families:
        panels[1].set_ylim(-0.04, 1.04)
        sizes = sorted({one.size for one in chain(*found.families) if one.size})
        for line in found.families:
            own = [(one.size or 0.0, one.score) for one in line]
            (drawn,) = panels[1].plot(
                *zip(*own, strict=True), marker="o", markersize=3.4, linewidth=1, label=line[0].family
            )
            for one in line:
                if one.interval and one.size:
                    ends = (one.size, one.size), one.interval
                    panels[1].plot(*ends, color=drawn.get_color(), linewidth=0.8, alpha=0.5)
        panels[1].set_xscale("log")
        panels[1].set_xticks(sizes, [f"{size:g}" for size in sizes], minor=False)
        panels[1].minorticks_off()
        panels[1].set_xlabel("billions of parameters, a line a family")
        panels[1].legend(fontsize=6, frameon=False)
    words = "lines: 95% intervals; grey: the mean of five LLMs or more"
    figure.text(EDGE / room, 0.06 / height, words, size=6, color=QUIET)
    return [figure]


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
            name, place = cut(view.title(llm.llm) or llm.llm, longest), (llm.share, llm.accuracy)
            axes.annotate(name, place, (3, 2.5), textcoords="offset points", size=6, color=INK, parse_math=False)


def _correlation(one: Generation) -> str:
    if one.value is None:
        return ""
    interval = "" if one.interval is None else f" ({one.interval[0]:.2f} to {one.interval[1]:.2f})"
    return f": r {one.value:.2f}{interval}, {len(one.llms)} LLMs"
