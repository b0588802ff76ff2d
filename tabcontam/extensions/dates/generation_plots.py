"""Exactly generated outputs against accuracy, after figure 6 of Li and Flanigan (2024): figures and sentences."""

from typing import Any

from tabcontam.extensions.dates.chronology_sentences import format_p_value
from tabcontam.extensions.dates.date_plots import DatePlot, DatePoint, polyline, quarter_ticks
from tabcontam.report.ranking import AREA, IN_WORDS, placed_labels
from tabcontam.verdicts.generation_accuracy import Generation, LlmGeneration
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.thresholds import LEAST_FIGURE_LLMS

ABOUT = (
    "Each point is an LLM: the share of outputs that it generates word for word when it is shown their inputs, and its "
    "accuracy of classification on the same table. A larger LLM may both recite more and classify better: a "
    "correlation over LLMs does not show the cause. Li and Flanigan (2024) report 0.88 over twelve LLMs, for outputs "
    "of Spider and the accuracy of its queries (figure 6, which calls it R², and the text R)."
)


def context(view: RunResults) -> dict[str, Any]:
    return {
        "generation_about": ABOUT,
        "generation_sentences": generation_sentences(view),
        "generation_plots": [_plot(view, one) for one in view.generations],
    }


def generation_sentences(view: RunResults) -> tuple[str, ...]:
    """Return for each table a sentence on the correlation of exact outputs with accuracy, or on why it is unknown."""
    return tuple(_sentence(view, one) for one in view.generations)


def titled(view: RunResults, one: Generation) -> str:
    return f"Outputs of {table_of(view, one)} generated exactly, and {IN_WORDS[one.accuracy]} on it"


def table_of(view: RunResults, one: Generation) -> str:
    """Return the table's name. Edition and split are added if the run has several."""
    key = (one.dataset, one.edition, one.split)
    result = next((result for result in view.results if (result.dataset, result.edition, result.split) == key), None)
    return one.dataset + (view.edition(result) if result else "")


def least_squares(one: Generation) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the two ends of the least-squares line, as shares from 0 to 1; None if the correlation is unknown."""
    if one.value is None:
        return None
    from statistics import linear_regression

    shares, accuracies = [llm.share for llm in one.llms], [llm.accuracy for llm in one.llms]
    slope, start = linear_regression(shares, accuracies)
    first, last = min(shares), max(shares)
    return (first, start + slope * first), (last, start + slope * last)


def _sentence(view: RunResults, one: Generation) -> str:
    over = f"{titled(view, one)}, over {len(one.llms)} LLMs"
    if len(one.llms) <= LEAST_FIGURE_LLMS:
        return f"{over}: three points lie near a line by chance, so no correlation is given."
    if one.value is None:
        return f"{over}: all have the same share, or the same accuracy, so there is nothing to correlate."
    low, high = one.interval or (None, None)
    sure = "no interval, for all points lie on one line" if low is None else f"95% interval {low:.2f} to {high:.2f}"
    return (
        f"{over}: Pearson's r = {one.value:.2f} ({sure}), R² = {one.value**2:.2f}, p = {format_p_value(one.p_value)}."
    )


# named: most points with a name next to them
def _plot(view: RunResults, one: Generation, *, named: int = 12) -> DatePlot:
    points = tuple(map(_point, one.llms))
    names = [view.title(llm.llm) or llm.llm for llm in one.llms]
    labels = placed_labels([(point.x, point.y) for point in points], names) if len(points) <= named else ()
    ends = least_squares(one)
    line = polyline(*((AREA.across(x), AREA.up(min(1.0, max(0.0, y)))) for x, y in ends)) if ends else ""
    return DatePlot(
        AREA,
        titled(view, one),
        f"{titled(view, one)}, with 95% intervals.{' The line is that of least squares.' if ends else ''}",
        "outputs generated exactly",
        points,
        tuple((AREA.across(tick / 4), f"{tick / 4:.0%}") for tick in range(5)),
        quarter_ticks(AREA),
        (("steps", line),) if line else (),
        tuple(labels),
        IN_WORDS[one.accuracy],
    )


def _point(llm: LlmGeneration) -> DatePoint:
    low, high = llm.share_interval
    words = f"{llm.llm}: {llm.exact} of {llm.outputs} outputs are exact, accuracy {llm.accuracy:.2f}"
    interval = llm.accuracy_interval
    up = None if interval is None else (AREA.up(interval[0]), AREA.up(interval[1]))
    return DatePoint(AREA.across(llm.share), AREA.up(llm.accuracy), words, up, (AREA.across(low), AREA.across(high)))
