"""The ranking of the LLMs with its intervals, and the plot behind its claim: contamination against accuracy."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabcontam.verdicts.ranks import ACCURACIES, MEASURES, Correlation, Rank
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import PAPER
from tabcontam.verdicts.wording import phrase, rounded, visible

TITLES = {"score": "Contamination", "membership": "Membership", "zero_shot": "0-shot", "one_shot": "1-shot"}
IN_WORDS = {
    "score": "contamination",
    "membership": "membership",
    "zero_shot": "0-shot accuracy",
    "one_shot": "1-shot accuracy",
}
NAMED = 12  # points that are labelled by name; more are labelled by their number in the table
LONGEST_LABEL = 20

WIDTH, HEIGHT = 460, 330  # of a plot, in its own units; a letter is taken as 6.2 wide and 12 high
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 14, 44
LETTER, LINE, POINT = 6.2, 12, 4


@dataclass(frozen=True)
class Figure:
    """A measure of one LLM, in [0, 1]; `beside` is "above", "below" or "like" the majority, or empty."""

    value: float | None
    interval: tuple[float, float] | None
    majority: float | None

    @property
    def beside(self) -> str:
        """Where the interval lies, seen from what always saying the largest class gets."""
        if self.interval is None or self.majority is None:
            return ""
        low, high = self.interval
        return "above" if low > self.majority else "below" if high < self.majority else "like"


@dataclass(frozen=True)
class Row:
    """One LLM of the table: its place, from 1, its name, and its figures by measure."""

    place: int
    name: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Point:
    """One LLM in a plot, in the plot's units; `label` stands at `label_x`, `label_y`, anchored at start or end."""

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
class Plot:
    """Contamination against one accuracy, over the LLMs that have both. Ticks: (where, what is written there)."""

    measure: str
    title: str
    points: tuple[Point, ...]
    majority: float | None  # where the line stands, if it is the same for all
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    numbered: bool  # whether the labels are places in the table


def context(view: RunResults) -> dict[str, Any]:
    """What `ranking.html.jinja` needs beside `view`."""
    shown = [measure for measure in MEASURES if any(rank.measures[measure] is not None for rank in view.ranks_in_order)]
    rows = [_row(place, rank) for place, rank in enumerate(view.ranks_in_order, start=1)]
    return {
        "ranked": rows,
        "ranking_titles": {measure: TITLES[measure] for measure in shown},
        "ranking_majorities": majorities(view.ranks_in_order),
        "ranking_plots": [plot for plot in (_plot(view, rows, measure) for measure in ACCURACIES) if plot],
        "ranking_sentences": correlation_sentences(view),
        "ranking_about": about(view),
        "plot_box": {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT, "top": TOP}
        | {"bottom": HEIGHT - BOTTOM},
    }


def _row(place: int, rank: Rank) -> Row:
    figures = {
        str(measure): Figure(rank.measures[measure], rank.intervals.get(measure), rank.majorities.get(measure))
        for measure in MEASURES
    }
    return Row(place, rank.llm, figures)


def majorities(ranks: Iterable[Rank]) -> dict[str, str]:
    """What always saying the largest class gets, by measure: one number, or from which to which over the LLMs."""
    found: dict[str, str] = {}
    for measure in ACCURACIES:
        known = [rank.majorities[measure] for rank in ranks if measure in rank.majorities]
        if known:
            low, high = f"{min(known):.2f}", f"{max(known):.2f}"
            found[measure] = low if low == high else f"{low} to {high}"
    return found


def about(view: RunResults) -> str:
    """What the columns are means and shares of."""
    counted = "all" if view.run.rules == PAPER else "the decided"
    of_auc = any(
        view.facts[cell.test].measure == "membership" and cell.statistic and cell.statistic.name == "AUC"
        for cell in view.cells
    )
    by_auc = of_auc and view.run.rules != PAPER
    mean = "mean AUC" if by_auc else "mean share of rows told right"
    limits = (
        " In brackets 95% intervals: of the share, as if cells were independent, and of the means over these very "
        "tables, by the rows that were asked."
    )
    return (
        f"Contamination: the share of contaminated among {counted} cells of tests 1 to 9. Membership: {mean}, where a "
        "coin gets 0.5. 0-shot and 1-shot: mean accuracy."
    ) + (limits if any(rank.intervals for rank in view.ranks_in_order) else "")


def correlation_sentences(view: RunResults) -> list[str]:
    """How contamination goes together with the other measures over the LLMs, or why that cannot be said."""
    said = [_correlation(view, found) for found in view.correlations if found.value is not None]
    alike = [found for found in view.correlations if found.value is None and found.llms > 3]
    said += [
        f"{found.llms} LLMs have the same {IN_WORDS[found.first]} or the same {_words(found)}: nothing to correlate."
        for found in alike
    ]
    few: dict[int, list[str]] = {}
    for found in view.correlations:
        if found.value is None and 0 < found.llms <= 3:
            few.setdefault(found.llms, []).append(_words(found))
    for llms, measures in few.items():
        number = "1 LLM is" if llms == 1 else f"{llms} LLMs are"
        said.append(f"{number} too few to say whether contamination goes together with {phrase(measures, 'or')}.")
    return said


def _correlation(view: RunResults, found: Correlation) -> str:
    low, high = found.interval or (-1.0, 1.0)
    p_value = "" if found.p_value is None else f", p = {rounded('p_value', found.p_value)}"
    left_out = len(view.ranks_in_order) - found.llms
    without = f" ({left_out} without both left out)" if left_out > 0 else ""
    return (
        f"Over {found.llms} LLMs{without}, contamination and {_words(found)}: Spearman's rho {found.value:.2f} "
        f"({low:.2f} to {high:.2f}){p_value}."
    )


def _words(found: Correlation) -> str:
    return IN_WORDS.get(found.second, found.second)


def _plot(view: RunResults, rows: Sequence[Row], measure: str) -> Plot | None:
    """None where no LLM has both measures."""
    both = [row for row in rows if None not in (row.figures["score"].value, row.figures[measure].value)]
    if not both:
        return None
    limits = [limit for row in both for limit in _limits(row.figures[measure])]
    first = min(4, int(min(limits) * 5))  # the tick, in fifths, below everything that is shown
    least = first / 5

    def up(value: float) -> float:
        return round(HEIGHT - BOTTOM - (value - least) / (1 - least) * (HEIGHT - TOP - BOTTOM), 1)

    def across(value: float) -> float:
        return round(LEFT + value * (WIDTH - LEFT - RIGHT), 1)

    def ends(interval: tuple[float, float] | None, axis: Any) -> tuple[float, float] | None:
        return None if interval is None else (axis(interval[0]), axis(interval[1]))

    labels = _labels([(across(_value(row, "score")), up(_value(row, measure))) for row in both], _names(view, both))
    points = tuple(
        Point(
            row.name,
            across(_value(row, "score")),
            up(_value(row, measure)),
            ends(row.figures["score"].interval, across),
            ends(row.figures[measure].interval, up),
            None if (majority := row.figures[measure].majority) is None else up(majority),
            *label,
            f"{row.name}: contamination {_value(row, 'score'):.2f}, {IN_WORDS[measure]} {_value(row, measure):.2f}",
        )
        for row, label in zip(both, labels, strict=True)
    )
    lines = {point.majority for point in points}
    return Plot(
        measure,
        f"Contamination against {IN_WORDS[measure]}",
        points,
        lines.pop() if len(lines) == 1 else None,
        tuple((across(tick / 4), f"{tick / 4:g}") for tick in range(5)),
        tuple((up(tick / 5), f"{tick / 5:g}") for tick in range(first, 6)),
        len(both) > NAMED,
    )


def _limits(figure: Figure) -> list[float]:
    known = (figure.value, figure.majority, *(figure.interval or ()))
    return [value for value in known if value is not None]


def _value(row: Row, measure: str) -> float:
    return row.figures[measure].value or 0.0


def _names(view: RunResults, rows: Sequence[Row]) -> list[str]:
    """How the points are labelled: by what the catalogue calls an LLM, or its name; by numbers where they are many."""
    if len(rows) > NAMED:
        return [str(row.place) for row in rows]
    titles = [visible(view.title(row.name) or row.name, line=True) for row in rows]
    return [name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…" for name in titles]


Box = tuple[float, float, float, float]  # left, top, right, bottom


def _labels(places: Sequence[tuple[float, float]], names: Sequence[str]) -> list[tuple[str, float, float, str]]:
    """Each label beside its point, where it covers least of the points and of the labels before it."""
    taken: list[Box] = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in places]
    found = []
    for (x, y), name in zip(places, names, strict=True):
        options = [_beside(x, y, name, far) for far in (0, 1, 2)]
        label, box = min((each for option in options for each in option), key=lambda each: _covered(each[1], taken))
        taken.append(box)
        found.append(label)
    return found


def _beside(x: float, y: float, name: str, far: int) -> list[tuple[tuple[str, float, float, str], Box]]:
    """The eight places around a point where its label may stand, nearer ones first by `far`."""
    wide, options = LETTER * len(name), []
    for up in (-1, 1, 0, -2, 2):
        for anchor, side in (("start", 1), ("end", -1)):
            left = x + side * (POINT + 3) - (wide if anchor == "end" else 0)
            base = y + 4 + up * (LINE * 0.75 + LINE * far)
            label = (name, round(x + side * (POINT + 3), 1), round(base, 1), anchor)
            options.append((label, (left, base - LINE + 2, left + wide, base + 2)))
    return options


def _covered(box: Box, taken: Iterable[Box]) -> float:
    """How much of what is there a label would cover, and how far it would stand out of the plot."""
    left, top, right, bottom = box
    out = max(0, LEFT - left) + max(0, right - WIDTH) + max(0, TOP - 8 - top) + max(0, bottom - (HEIGHT - BOTTOM))
    over = sum(
        max(0.0, min(right, other[2]) - max(left, other[0])) * max(0.0, min(bottom, other[3]) - max(top, other[1]))
        for other in taken
    )
    return over + 100 * out
