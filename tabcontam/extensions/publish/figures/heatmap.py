"""The heatmap as a figure, in the manner of figures 1 and 2 of Ronval et al. 2024.

Lengths are in inches; sizes of letters and widths of lines are in points. Each LLM is a block of columns, one for each
table. If the reverse is narrower, as with many LLMs and one table, each table is a block with a column for each LLM.
Blocks that do not fit into one band (row of blocks) continue in bands below. A figure is as wide as its content, at
most as wide as requested.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.path import Path

from tabcontam.evidence.base import EvidenceKind, Verdict
from tabcontam.report.figure_style import (
    EDGE,
    FOUND,
    GREY,
    INK,
    LONGEST,
    PALE,
    POINTS_AN_INCH,
    QUIET,
    SILENT,
    WIDTH,
    cut,
    length,
)
from tabcontam.report.published_marks import PublishedMark, published, sources
from tabcontam.verdicts.result_types import OUTCOMES, SCORE
from tabcontam.verdicts.results import LlmBlock, ResultColumn, RunResults

SMALLEST, LARGEST = 0.11, 0.2  # side of a square
SIZE, HEADING = 6.5, 7.5  # of letters
GAP, HEAD, LINE = 0.1, 0.2, 0.045  # between blocks, above blocks, between kinds of tests

STRIPES = Path(
    [(-1, 0), (0, 1), (-1, -1), (1, 1), (0, -1), (1, 0)],
    [Path.MOVETO, Path.LINETO, Path.MOVETO, Path.LINETO, Path.MOVETO, Path.LINETO],
)
# The look of each outcome: a marker, its share of the square, its colours. Shapes alone distinguish outcomes.
LOOKS: dict[str, tuple[Any, float, dict[str, Any]]] = {
    Verdict.CONTAMINATED: ("s", 0.9, {"facecolors": FOUND, "edgecolors": FOUND, "linewidths": 0.4}),
    Verdict.NOT_DETECTED: ("s", 0.9, {"facecolors": "white", "edgecolors": PALE, "linewidths": 0.5}),
    Verdict.UNINFORMATIVE: ("s", 0.9, {"facecolors": "#eceff2", "edgecolors": PALE, "linewidths": 0.5}),
    Verdict.NO_ANSWER: ("o", 0.92, {"facecolors": SILENT, "edgecolors": QUIET, "linewidths": 0.4}),
    Verdict.SKIPPED: ("_", 0.4, {"color": QUIET, "linewidths": 0.7}),
    SCORE: ("s", 0.9, {"facecolors": "#f6f7f9", "edgecolors": "none"}),
    "stripes": (STRIPES, 0.9, {"facecolors": "none", "edgecolors": GREY, "linewidths": 0.5, "zorder": 2}),
    "found": ("o", 0.36, {"facecolors": INK, "edgecolors": "white", "linewidths": 0.5, "zorder": 4}),
    "rim": ("x", 0.3, {"color": "white", "linewidths": 1.7, "zorder": 4}),
    "not found": ("x", 0.3, {"color": INK, "linewidths": 0.8, "zorder": 5}),
}


@dataclass(frozen=True)
class HeatmapPart:
    """The columns of a block that are in one band: all columns if they fit."""

    title: str
    columns: tuple[ResultColumn, ...]

    def width(self, square: float) -> float:
        """Return the width of the part, including the name above its columns."""
        return max(len(self.columns) * square, _heading(self.title))


def _heading(title: str) -> float:
    return length(title, HEADING, "bold")


Band = tuple[HeatmapPart, ...]


@dataclass(frozen=True)
class HeatmapLayout:
    """The content and the positions of a heatmap: `room` is the available width, `square` the side of a square."""

    view: RunResults
    room: float
    square: float
    bands: tuple[Band, ...]

    @cached_property
    def width(self) -> float:
        """The width of the bands: at most `room`, at least the width of one entry of the legend."""
        ends = [_left(self.view) + sum(part.width(self.square) + GAP for part in band) for band in self.bands]
        least = EDGE + max(_explained(words) for _, words in _legend(self.view))
        return min(max([*ends, least]), self.room)


def heatmap(view: RunResults, height: float = inf, room: float = WIDTH) -> list[Figure]:
    """Return the heatmap on pages of at most `height` (one page if infinite). No page is wider than `room`."""
    square = _square(view, room)
    whole = HeatmapLayout(view, room, square, tuple(_bands(view, square, room)))
    each, bands = _band_height(whole), whole.bands
    fitting = len(bands) if height == inf else int((height - _legend_height(whole)) // each)
    starts = range(0, len(bands), max(fitting, 1)) if bands else (0,)
    return [_page(replace(whole, bands=bands[start : start + max(fitting, 1)]), whole.width) for start in starts]


def _page(layout: HeatmapLayout, width: float) -> Figure:
    bands, each = layout.bands, _band_height(layout) if layout.bands else 0.3
    total = max(len(bands), 1) * each + _legend_height(layout)
    figure = Figure(figsize=(width, total))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    ink = Ink(axes)
    for number, band in enumerate(bands):
        _draw_band(layout.view, ink, band, number * each, layout.square)
    if not bands:
        ink.text(EDGE, 0.15, "No test was run.")
    _draw_legend(layout, ink, total - _legend_height(layout))
    ink.dry()
    axes.set_xlim(0, width)
    axes.set_ylim(total, 0)  # y grows downwards, like the numbers of the rows
    return figure


def _square(view: RunResults, room: float) -> float:
    """Return the side of the largest square that needs no more bands than the smallest square."""
    fewest = len(_bands(view, SMALLEST, room))
    sizes = [number / 200 for number in range(round(LARGEST * 200), round(SMALLEST * 200), -1)]
    return next((size for size in sizes if len(_bands(view, size, room)) == fewest), SMALLEST)


def _bands(view: RunResults, square: float, room: float) -> list[Band]:
    """Return the bands, each filled as far as `room` allows."""
    bands: list[list[HeatmapPart]] = []
    edge = inf
    for part in _parts(view, square, room):
        width = part.width(square) + GAP
        if edge + width > room:
            bands.append([])
            edge = _left(view)
        bands[-1].append(part)
        edge += width
    return [tuple(band) for band in bands]


def _parts(view: RunResults, square: float, room: float) -> list[HeatmapPart]:
    free = room - _left(view) - GAP
    most = max(int(free / square), 1)
    parts = []
    for title, columns in _blocks(view):
        for start in range(0, len(columns), most):
            more = f" ({start // most + 1})" if len(columns) > most else ""
            sizes = (size for size in range(len(title), 0, -1) if _heading(cut(title, size) + more) <= free)
            fitting = next(sizes, 1)
            parts.append(HeatmapPart(cut(title, fitting) + more, columns[start : start + most]))
    return parts


# clearly: greatest width relative to blocks of LLMs at which blocks of tables are used
def _blocks(view: RunResults, *, clearly: float = 0.85) -> list[tuple[str, tuple[ResultColumn, ...]]]:
    """Return the columns of each LLM, as in the paper, or of each table if that is clearly narrower, with its name."""
    of_llms: list[tuple[str, tuple[ResultColumn, ...]]] = []
    by_table: dict[str, list[ResultColumn]] = {}
    for title, block in zip(names(view, view.blocks), view.blocks, strict=True):
        columns = [replace(column, label=cut(column.label, LONGEST["dataset"])) for column in block.columns]
        of_llms.append((title, tuple(columns)))
        for column in columns:
            by_table.setdefault(column.label, []).append(replace(column, label=title))
    of_tables = [(label, tuple(columns)) for label, columns in by_table.items()]
    wide, other = (sum(HeatmapPart(*one).width(LARGEST) for one in blocks) for blocks in (of_llms, of_tables))
    return of_tables if other < clearly * wide else of_llms


def names(view: RunResults, blocks: Iterable[LlmBlock]) -> list[str]:
    """Return a unique name for each LLM: its title in the catalogue unless another LLM has the same title."""
    named = [(block.llm, view.title(block.llm)) for block in blocks]
    often = Counter(title for _, title in named)
    titles = [cut(title if often[title] == 1 and title else llm, LONGEST["llm"]) for llm, title in named]
    return [
        name + (f" #{again + 1}" if (again := titles[:place].count(name)) else "") for place, name in enumerate(titles)
    ]


def _test_names(view: RunResults) -> dict[str, str]:
    return {test: cut(view.test_titles[test], LONGEST["test"]) for test in view.tests}


def _left(view: RunResults) -> float:
    """Return the x position of the first block, next to the tests' names."""
    return 2 * EDGE + max((length(name, SIZE) for name in _test_names(view).values()), default=0.0) + 0.07


def _rows(view: RunResults, square: float) -> tuple[dict[str, float], dict[str, float], float]:
    """Return the y positions of each test and each kind of tests below a band's head, and the end of the last row."""
    tests: dict[str, float] = {}
    kinds: dict[str, float] = {}
    place = 0.0
    for kind, own in view.kinds.items():
        place += LINE if kinds else 0.0
        kinds[kind] = place
        for test in own:
            tests[test] = place
            place += square
    return tests, kinds, place


def _band_height(layout: HeatmapLayout) -> float:
    columns = [column for band in layout.bands for part in band for column in part.columns]
    longest = max((length(column.label, SIZE) for column in columns), default=0.0)
    return HEAD + _rows(layout.view, layout.square)[2] + longest + 0.15


def _draw_band(view: RunResults, ink: "Ink", band: Band, top: float, square: float) -> None:
    tests, kinds, bottom = _rows(view, square)
    top += HEAD
    left = edge = _left(view)
    for test, name in _test_names(view).items():
        ink.text(left - 0.07, top + tests[test] + square / 2, name, ha="right", va="center_baseline")
    for part in band:
        if part is not band[0]:
            ink.line((edge - GAP / 2, top - HEAD + 0.04), (edge - GAP / 2, top + bottom), INK, 1.6)
        width = part.width(square)
        _draw_part(view, ink, part, edge + (width - len(part.columns) * square) / 2, top, square)
        ink.text(edge + width / 2, top - 0.06, part.title, ha="center", size=HEADING, weight="bold")
        edge += width + GAP
    if EvidenceKind.KNOWLEDGE in kinds and EvidenceKind.MEMORIZATION in kinds:
        middle = top + kinds[EvidenceKind.MEMORIZATION] - LINE / 2
        ink.line((left, middle), (edge - GAP, middle), GREY, 2.2)


def _draw_part(view: RunResults, ink: "Ink", part: HeatmapPart, left: float, top: float, square: float) -> None:
    tests, _, bottom = _rows(view, square)
    for number, column in enumerate(part.columns):
        x = left + number * square
        ink.text(x + square / 2, top + bottom + 0.05, column.label, ha="center", va="top", rotation=90)
        for test, result in column.results.items():
            ink.result_square(x, top + tests[test], square, result.outcome, result.evidence.score)
            for mark in published(view, result):
                ink.mark(x, top + tests[test], square, mark)


def _side(mark: PublishedMark) -> int:
    """Return the corner for a mark on a square, by the mark's source: 0 for left, 1 for right."""
    return sources().index(mark.source) % 2


def _legend(view: RunResults) -> list[tuple[str, str]]:
    """Return each sign of the legend with its explanation: verdicts first, then the figure's other marks."""
    present = {result.outcome for result in view.results}
    entries = [(outcome, outcome) for outcome in OUTCOMES if outcome != SCORE or outcome in present]
    shown = {mark.source: mark for result in view.results for mark in published(view, result)}
    sides = [f"{('left', 'right')[_side(mark)]} corner: {source.name}" for source, mark in shown.items()]
    if not sides:
        return entries
    return [
        *entries,
        ("found", "published: contaminated"),
        ("not found", f"published: not detected ({', '.join(sides)})"),
    ]


def _explained(words: str) -> float:
    """Return the width of a legend's entry with its sign."""
    return 0.2 + length(words, SIZE) + 0.14


def _legend_places(layout: HeatmapLayout) -> list[tuple[float, int, str, str]]:
    """Return the legend's entries, each with its x position and its line."""
    places, edge, line = [], EDGE, 0
    for look, words in _legend(layout.view):
        width = _explained(words)
        if edge + width > layout.width + 1e-9 and edge > EDGE:
            edge, line = EDGE, line + 1
        places.append((edge, line, look, words))
        edge += width
    return places


def _legend_height(layout: HeatmapLayout) -> float:
    return 0.2 * (_legend_places(layout)[-1][1] + 1) + 0.08


def _draw_legend(layout: HeatmapLayout, ink: "Ink", top: float) -> None:
    for x, line, look, words in _legend_places(layout):
        y = top + 0.04 + 0.2 * line
        if look in ("found", "not found"):
            ink.published(x + 0.09, y + 0.07, 0.2, look)
        else:
            ink.result_square(x, y, 0.14, look, 0.5)
        ink.text(x + 0.2, y + 0.07, words, va="center_baseline", color=QUIET)


@dataclass
class Ink:
    """Shapes to draw. Those that look alike are collected and drawn together, because drawing each alone is slow."""

    axes: Axes
    points: dict[tuple[str, float], list[tuple[float, float]]] = field(default_factory=dict)
    lines: dict[tuple[str, float], list[tuple[tuple[float, float], tuple[float, float]]]] = field(default_factory=dict)

    def text(self, x: float, y: float, words: str, **how: Any) -> None:
        """Draw words literally: a $ in a name starts no formula."""
        look: dict[str, Any] = {"size": SIZE, "color": INK, "parse_math": False}
        self.axes.text(x, y, words, **(look | how))

    def line(self, start: tuple[float, float], end: tuple[float, float], color: str, width: float) -> None:
        """Add a straight line."""
        self.lines.setdefault((color, width), []).append((start, end))

    def result_square(self, x: float, y: float, square: float, outcome: str, score: float | None) -> None:
        """Add the square of a result with this outcome. (x, y) is its upper left corner."""
        middle = (x + square / 2, y + square / 2)
        self._point(outcome, square, middle)
        if outcome == Verdict.UNINFORMATIVE:
            self._point("stripes", square, middle)
        if outcome == SCORE and score is not None:
            words = f"{score:.2f}".removeprefix("0") if score < 0.995 else "1"
            self.text(*middle, words, ha="center", va="center_baseline", size=square * POINTS_AN_INCH * 0.5)

    def mark(self, x: float, y: float, square: float, mark: PublishedMark) -> None:
        """Add a published mark in a lower corner of the square: a disc for a finding, a cross for no finding."""
        across = (0.27, 0.73)[_side(mark)]
        self.published(x + across * square, y + 0.72 * square, square, "found" if mark.found else "not found")

    def published(self, x: float, y: float, square: float, look: str) -> None:
        """Add a disc or a cross centred on (x, y). A light rim makes it visible on every background."""
        if look == "not found":
            self._point("rim", square, (x, y))
        self._point(look, square, (x, y))

    def _point(self, look: str, square: float, place: tuple[float, float]) -> None:
        self.points.setdefault((look, square), []).append(place)

    def dry(self) -> None:
        """Draw all collected shapes."""
        for (name, square), places in self.points.items():
            marker, share, colours = LOOKS[name]
            across, down = zip(*places, strict=True)
            look: dict[str, Any] = {"zorder": 1, "marker": marker} | colours
            self.axes.scatter(across, down, (share * square * POINTS_AN_INCH) ** 2, **look)
        for (color, width), lines in self.lines.items():
            self.axes.add_collection(LineCollection(lines, colors=color, linewidths=width, zorder=3))
