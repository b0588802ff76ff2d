"""Accuracies before and after a cut-off, as a page and as a section of a run's page. Figures follow Li and Flanigan."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from tabcontam.extensions.dates import chronology_sentences as words
from tabcontam.extensions.dates.chronological_analysis import Chronology, LlmChronology, SideCounts, chronologies
from tabcontam.extensions.dates.date_plots import DatePlot, DatePoint, polyline, quarter_ticks
from tabcontam.extensions.dates.dated_pairs import DatedPair, both_sides, dated, results_by_dates
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


def render_chronology(found: Sequence[Chronology], left_out: Sequence[str], runs: Sequence[str]) -> str:
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
        "chronology_about": words.ABOUT,
        "chronology_left_out": left_out,
        "chronology_words": words,
        "chronology_sentences": words.sentences,
        "chronology_shares": _shares,
        "chronology_plots": _plots,
        "chronology_published": published_for_tests([one.test for one in found if one.pairs]),
        "chronology_source": source(),
        "chronology_box": {"row": ROW, "name": NAME, "bars": BARS, "room": ROOM},
    }


def _shares(found: Chronology) -> list[tuple[str, tuple[SideCounts, SideCounts]]]:
    """Return the counts before and after the cut-off, for all LLMs and for each."""
    lines = [("all LLMs", (found.whole.before, found.whole.after))]
    lines += [(f"{with_ellipsis(one.title, LONGEST)} {one.cutoff[:4]}", (one.before, one.after)) for one in found.llms]
    return lines


# most: greatest number of LLMs that each have a figure
def _plots(found: Chronology, *, most: int = 12) -> list[DatePlot]:
    """Return a test's figures: accuracy by cut-off, and the lift over the majority by a table's year of release."""
    older = [_over_llms(found, before=True), _over_llms(found, before=False)]
    each = [_by_release(one) for one in found.llms[:most] if len({pair.released for pair in one.pairs}) > 1]
    return [plot for plot in (*older, _baseline(found), *each) if plot]


def _over_llms(found: Chronology, *, before: bool) -> DatePlot | None:
    """Return the mean accuracy of each LLM by cut-off, on tables from before 2021 or on later tables (figure 3)."""
    shown = [(one, [pair for pair in one.pairs if (pair.released < DIVIDE) == before]) for one in found.llms]
    with_pairs = [(one, own) for one, own in shown if own]
    if len(with_pairs) < 2:
        return None
    points, majorities, across = [], [], []
    for place, (one, own) in enumerate(with_pairs):
        x, mean, majority = AREA.across((place + 0.5) / len(with_pairs)), *_means(own)
        text = f"{one.title}, cut-off {one.cutoff}: accuracy {mean:.2f}, majority {majority:.2f}"
        points.append(DatePoint(x, AREA.up(mean), text))
        majorities.append((x, AREA.up(majority)))
        across.append((x, one.cutoff[:4]))
    steps = polyline(*((point.x, point.y) for point in points))
    which = f"before {DIVIDE}" if before else f"from {DIVIDE} on"
    return DatePlot(
        AREA,
        f"Mean accuracy on tables that came out {which}",
        f"Each point is an LLM's mean accuracy on tables that came out {which}, by its cut-off. The dashed line is the "
        "majority class.",
        "LLMs by the year of their cut-off",
        tuple(points),
        tuple(across),
        quarter_ticks(AREA, ".0%"),
        (("steps", steps), ("majority", polyline(*majorities))),
    )


def _means(pairs: Iterable[DatedPair]) -> tuple[float, float]:
    return fmean(pair.accuracy for pair in pairs), fmean(pair.majority for pair in pairs)


def _by_release(one: LlmChronology) -> DatePlot:
    """Return the figure of one LLM's lift over the majority class by year of release, with a line at its cut-off."""
    marks = {BEFORE: "point", AFTER: "late"}
    tables = [
        _Lift(
            year_of(pair.released),
            pair.lift,
            f"{pair.dataset} ({pair.released}, {words.SIDES[pair.side]}): accuracy {pair.accuracy:.2f}, "
            f"majority {pair.majority:.2f}",
            (pair.interval[0] - pair.majority, pair.interval[1] - pair.majority),
            marks.get(pair.side, "unnamed"),
        )
        for pair in one.pairs
    ]
    return _over_years(
        f"{with_ellipsis(one.title, LONGEST)}: lift by release",
        f"The accuracy of {one.title} less the majority's, by release, with exact 95% intervals. The vertical line is "
        f"its cut-off, {one.cutoff}. {f'The trend is {words.trend_words(one.trend)}' if one.trend else NO_TREND}.",
        tables,
        (-0.2, 0.4),
        year_of(one.cutoff),
    )


def _baseline(found: Chronology) -> DatePlot | None:
    """Return the lift of a supervised baseline by year of release, with the least-squares line (figure 4)."""
    if found.difficulty is None or len(found.difficulty.tables) < 2:
        return None
    tables = [
        _Lift(year_of(released), lift, f"{name} ({released}): lift {words.signed(lift)}")
        for name, released, lift in found.difficulty.tables
    ]
    drift, trend = found.difficulty.drift, []
    if drift:
        years = [table.year for table in tables]
        middle = fmean(table.lift for table in tables)
        trend = [(year, middle + drift.slope * (year - fmean(years))) for year in (min(years), max(years))]
    return _over_years(
        "Difficulty of the tables, by release",
        "The accuracy of gradient boosting that learned the task, less the majority's, by release. "
        + (f"R² = {drift.r_squared:.3f}." if drift else f"{NO_TREND}."),
        tables,
        (0.0, 0.6),
        trend=trend,
    )


class _Lift(NamedTuple):
    """The lift on a table by the table's year of release, its description, its interval if known, and its mark."""

    year: float
    lift: float
    words: str
    interval: tuple[float, float] | None = None
    look: str = "point"


def _over_years(
    title: str,
    caption: str,
    tables: Sequence[_Lift],
    least: tuple[float, float],
    cutoff: float | None = None,
    trend: Sequence[tuple[float, float]] = (),
) -> DatePlot:
    """Return a figure of lifts by year, with lines at lift 0 and the cut-off, or the trend; `least` are axis limits."""
    years = [table.year for table in tables] + ([] if cutoff is None else [cutoff])
    first, last = min(years) - 1, max(years) + 1
    ends = [table.interval or (table.lift, table.lift) for table in tables]
    low, high = min(least[0], *(end[0] for end in ends)), max(least[1], *(end[1] for end in ends))

    def across(year: float) -> float:
        return AREA.across((year - first) / (last - first))

    def up(lift: float) -> float:
        return AREA.up((lift - low) / (high - low))

    lines = [("steps", polyline(*((across(year), up(lift)) for year, lift in trend)))] if trend else []
    if cutoff is not None:
        lines.append(("majority", polyline((AREA.left, up(0.0)), (AREA.right, up(0.0)))))
        lines.append(("cutoff", polyline((across(cutoff), AREA.top), (across(cutoff), AREA.bottom))))
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (last - first) / step <= 7)
    ticks = range(-(-int(first + 1) // step) * step, int(last) + 1, step)
    points = [
        DatePoint(
            across(one.year),
            up(one.lift),
            one.words,
            one.interval and (up(one.interval[0]), up(one.interval[1])),
            look=one.look,
        )
        for one in tables
    ]
    return DatePlot(
        AREA,
        title,
        caption,
        "release",
        tuple(points),
        tuple((across(year), str(year)) for year in ticks),
        tuple((up(tick / 5), words.signed(tick / 5, 1)) for tick in range(int(low * 5), int(high * 5) + 1)),
        tuple(lines),
    )
