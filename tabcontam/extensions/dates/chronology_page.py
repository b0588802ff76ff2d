"""Accuracies before and after a cut-off, as a page and as a section of a run's page. Figures follow Li and Flanigan."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tabcontam.extensions.dates import chronology_sentences as words
from tabcontam.extensions.dates.chronological_analysis import (
    Chronology,
    DatedPair,
    LlmChronology,
    SideCounts,
    chronologies,
    dated,
    results_by_dates,
)
from tabcontam.extensions.dates.chronology_sentences import ABOUT, sentences, signed
from tabcontam.extensions.dates.cutoff_comparison import both_sides
from tabcontam.extensions.dates.task_contamination import published_for_tests, source
from tabcontam.report.environment import embedded, environment
from tabcontam.report.plot_area import PlotArea
from tabcontam.verdicts.dating import AFTER, BEFORE, year_of
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import with_ellipsis
from tabcontam.version import __version__

STYLES = ("style.css", "ranking.css", "chronology.css")
AREA = PlotArea(340, 210, left=44, right=326, top=12, bottom=170)
ROW, NAME, BARS, ROOM = 26, 150, 150, 96  # height of a line; widths of a name, a side's bar, its words
DIVIDE = "2021"  # the figure separates tables from before this year from later ones, as figure 3 of the paper
LONGEST = 24  # letters of an LLM's title in a figure
NO_TREND = "There are too few tables for a trend"


@dataclass(frozen=True)
class SideBar:
    """A bar for the tables on one side of an LLM's cut-off. `above` is its width for tables with an accuracy above the
    majority class, `significant` for those significantly above it. `words` is the text after the bar.
    """

    x: float
    above: float
    significant: float
    words: str


@dataclass(frozen=True)
class ShareRow:
    """One line of the figure that shows the shares of tables above the majority class."""

    y: float
    name: str
    bars: tuple[SideBar, ...]


@dataclass(frozen=True)
class ChronologyDot:
    """A point of a figure, its vertical interval if known, and its description."""

    x: float
    y: float
    low: float
    high: float
    words: str
    look: str = "point"


@dataclass(frozen=True)
class ChronologyPlot:
    """A figure: dots, polylines with their styles, and ticks (position, label) on both axes."""

    title: str
    caption: str
    dots: tuple[ChronologyDot, ...]
    lines: tuple[tuple[str, str], ...]
    upright: float | None
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    axis: str


def render_chronology(found: Sequence[Chronology], left_out: Sequence[str], runs: Sequence[str]) -> str:
    """Return the page. It loads no other files."""
    style, style_hash = embedded(*STYLES)
    made = {"version": __version__, "style": style, "style_hash": style_hash, "runs": runs}
    return environment().get_template("chronology.html.jinja").render(**made, **_context(found, left_out))


def context(view: RunResults) -> dict[str, Any]:
    """Return the template's variables for a run's page. They are empty unless tables lie on both sides of a cut-off."""
    pairs, _ = dated(view)
    has_both_sides = any({pair.side for pair in own} >= {BEFORE, AFTER} for own in pairs.values())
    if not has_both_sides and not both_sides(view, results_by_dates(view)):
        return _context((), ())
    return _context(*chronologies(view))


def _context(found: Sequence[Chronology], left_out: Sequence[str]) -> dict[str, Any]:
    return {
        "chronologies": found,
        "chronology_about": ABOUT,
        "chronology_left_out": left_out,
        "chronology_words": words,
        "chronology_sentences": sentences,
        "chronology_shares": _shares,
        "chronology_plots": _plots,
        "chronology_published": published_for_tests([one.test for one in found if one.pairs]),
        "chronology_source": source(),
        "chronology_box": vars(AREA) | {"row": ROW, "name": NAME, "bars": BARS, "room": ROOM},
    }


def _shares(found: Chronology) -> list[ShareRow]:
    """Return the shares of tables above the majority class before and after the cut-off, for all LLMs and for each."""
    lines = [("all LLMs", found.whole.before, found.whole.after)]
    lines += [(f"{with_ellipsis(one.title, LONGEST)} {one.cutoff[:4]}", one.before, one.after) for one in found.llms]
    return [
        ShareRow(ROW * (place + 1), name, (_bar(before, NAME), _bar(after, NAME + BARS + ROOM)))
        for place, (name, before, after) in enumerate(lines)
    ]


def _bar(side: SideCounts, x: float) -> SideBar:
    if not side.pairs:
        return SideBar(x, 0.0, 0.0, "no table")
    wide = BARS / side.pairs
    return SideBar(x, round(wide * side.above, 1), round(wide * side.significant, 1), words.side_words(side))


# most: greatest number of LLMs that each have a figure
def _plots(found: Chronology, *, most: int = 12) -> list[ChronologyPlot]:
    """Return a test's figures: the LLMs' accuracy by cut-off, and lifts of LLMs and baseline by a table's year of
    release. The lift is the accuracy minus that of the majority class.
    """
    older = [_over_llms(found, before=True), _over_llms(found, before=False)]
    each = [_by_release(one) for one in found.llms[:most] if len({pair.released for pair in one.pairs}) > 1]
    return [plot for plot in (*older, _baseline(found), *each) if plot]


def _over_llms(found: Chronology, *, before: bool, ticks: int = 5) -> ChronologyPlot | None:
    """Return the mean accuracy of each LLM by cut-off, on tables from before 2021 or on later tables (figure 3)."""
    shown = [
        (one, [pair for pair in one.pairs if (pair.released < DIVIDE) == before])
        for one in found.llms
    ]  # fmt: skip
    with_pairs = [(one, own) for one, own in shown if own]
    if len(with_pairs) < 2:
        return None
    wide = (AREA.right - AREA.left) / len(with_pairs)
    places = [round(AREA.left + (place + 0.5) * wide, 1) for place in range(len(with_pairs))]
    means = [fmean(pair.accuracy for pair in own) for _, own in with_pairs]
    majorities = [fmean(pair.majority for pair in own) for _, own in with_pairs]
    heights = [AREA.up(mean) for mean in means]
    texts = [
        f"{one.title}, cut-off {one.cutoff}: accuracy {mean:.2f}, majority {least:.2f}"
        for mean, least, (one, _) in zip(means, majorities, with_pairs, strict=True)
    ]
    dots = tuple(ChronologyDot(x, y, y, y, text) for x, y, text in zip(places, heights, texts, strict=True))
    lines = (("steps", _line(places, heights)), ("majority", _line(places, map(AREA.up, majorities))))
    which = f"before {DIVIDE}" if before else f"from {DIVIDE} on"
    return ChronologyPlot(
        f"Mean accuracy on tables that came out {which}",
        f"Each point is an LLM's mean accuracy on tables that came out {which}, by its cut-off. The dashed line is the "
        "majority class.",
        dots, lines, None,
        tuple((x, one.cutoff[:4]) for x, (one, _) in zip(places, with_pairs, strict=True)),
        tuple((AREA.up(tick / 4), f"{tick / 4:.0%}") for tick in range(ticks)),
        "LLMs by the year of their cut-off",
    )  # fmt: skip


def _by_release(one: LlmChronology) -> ChronologyPlot:
    """Return the figure of one LLM's lift over the majority class by year of release, with a line at its cut-off."""
    years = [year_of(pair.released) for pair in one.pairs]
    cutoff = year_of(one.cutoff)
    first, last = min(*years, cutoff) - 1, max(*years, cutoff) + 1
    limits = [(pair.interval[0] - pair.majority, pair.interval[1] - pair.majority) for pair in one.pairs]
    low, high = min(-0.2, *(limit[0] for limit in limits)), max(0.4, *(limit[1] for limit in limits))
    across, up = _axis(first, last, AREA.left, AREA.right), _axis(low, high, AREA.bottom, AREA.top)
    marks = {BEFORE: "point", AFTER: "late"}
    dots = tuple(
        ChronologyDot(
            across(year), up(pair.lift), up(least), up(most), _pair_words(pair), marks.get(pair.side, "unnamed")
        )
        for pair, year, (least, most) in zip(one.pairs, years, limits, strict=True)
    )
    return ChronologyPlot(
        f"{with_ellipsis(one.title, LONGEST)}: lift by release",
        f"The accuracy of {one.title} less the majority's, by release, with exact 95% intervals. The vertical line is "
        f"its cut-off, {one.cutoff}. {f'The trend is {words.trend_words(one.trend)}' if one.trend else NO_TREND}.",
        dots,
        (("majority", f"{AREA.left},{up(0.0)} {AREA.right},{up(0.0)}"),),
        across(cutoff),
        _years(first, last, across),
        tuple((up(tick / 5), signed(tick / 5, 1)) for tick in range(int(low * 5), int(high * 5) + 1)),
        "release",
    )


def _baseline(found: Chronology) -> ChronologyPlot | None:
    """Return the lift of a supervised baseline by year of release, with the least-squares line (figure 4)."""
    tables = found.difficulty.tables if found.difficulty else ()
    if len(tables) < 2:
        return None
    years = [year_of(released) for _, released, _ in tables]
    lifts = [lift for *_, lift in tables]
    first, last = min(years) - 1, max(years) + 1
    low, high = min(0.0, *lifts), max(0.6, *lifts)
    across, up = _axis(first, last, AREA.left, AREA.right), _axis(low, high, AREA.bottom, AREA.top)
    dots = tuple(
        ChronologyDot(across(year), up(lift), up(lift), up(lift), f"{name} ({released}): lift {signed(lift)}")
        for year, (name, released, lift) in zip(years, tables, strict=True)
    )
    drift = found.difficulty.drift if found.difficulty else None
    lines: tuple[tuple[str, str], ...] = ()
    trend = f"{NO_TREND}."
    if drift:
        ends = [fmean(lifts) + drift.slope * (year - fmean(years)) for year in (min(years), max(years))]
        lines = (("steps", _line([across(min(years)), across(max(years))], [up(end) for end in ends])),)
        trend = f"R² = {drift.r_squared:.3f}."
    return ChronologyPlot(
        "Difficulty of the tables, by release",
        f"The accuracy of gradient boosting that learned the task, less the majority's, by release. {trend}",
        dots, lines, None, _years(first, last, across),
        tuple((up(tick / 5), signed(tick / 5, 1)) for tick in range(int(low * 5), int(high * 5) + 1)),
        "release",
    )  # fmt: skip


def _pair_words(pair: DatedPair) -> str:
    return (
        f"{pair.dataset} ({pair.released}, {words.SIDES[pair.side]}): accuracy {pair.accuracy:.2f}, "
        f"majority {pair.majority:.2f}"
    )


def _axis(first: float, last: float, start: float, end: float) -> Any:
    """Return a function that maps values, `first` to `last`, to positions, `start` to `end`, rounded for SVG."""
    return lambda value: round(start + (value - first) / (last - first) * (end - start), 1)


def _years(first: float, last: float, across: Any) -> tuple[tuple[float, str], ...]:
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (last - first) / step <= 7)
    start = -(-int(first + 1) // step) * step
    return tuple((across(year), str(year)) for year in range(start, int(last) + 1, step))


def _line(across: Sequence[float], up: Any) -> str:
    return " ".join(f"{x},{y}" for x, y in zip(across, up, strict=True))
