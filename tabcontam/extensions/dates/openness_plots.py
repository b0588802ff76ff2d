"""Contamination by openness, and by size within families: figures and sentences for the page and the terminal."""

from collections.abc import Sequence
from itertools import chain
from math import log10
from typing import Any

from tabcontam.extensions.dates.chronology_sentences import format_p_value, signed
from tabcontam.extensions.dates.date_plots import DatePlot, DatePoint, Tick, polyline, quarter_ticks
from tabcontam.extensions.dates.openness_analysis import CataloguedLlm, OpennessAnalysis, OpennessKind, openness
from tabcontam.extensions.dates.thresholds import LEAST_GROUP_LLMS
from tabcontam.report.ranking import AREA, placed_labels
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import phrase

FEW = 4  # most LLMs that a sentence names
ABOUT = (
    "A closed LLM has only an API; the weights of a semi-open one are public, and of an open one the training data, "
    "too. The catalogue states it. Each point is an LLM with the score of the ranking. Closed LLMs are mostly newer "
    "and larger than open ones, so openness alone explains nothing."
)


def context(view: RunResults) -> dict[str, Any]:
    found = openness(view)
    plots = [plot for plot in (_by_kind(found), _by_size(found)) if plot] if found else []
    return {
        "openness": found,
        "openness_about": ABOUT,
        "openness_sentences": sentences(found) if found else (),
        "openness_plots": plots,
    }


def openness_sentences(view: RunResults) -> tuple[str, ...]:
    """Return sentences on a run's LLMs by openness and size; empty with fewer than two catalogued LLMs."""
    found = openness(view)
    return (_members(found), *sentences(found)) if found else ()


def _members(found: OpennessAnalysis) -> str:
    kinds = []
    for kind in found.kinds:
        titles = [one.title for one in kind.llms]
        more = [f"{len(titles) - FEW} more"] if len(titles) > FEW else []
        kinds.append(f"{kind.name}: {phrase([*titles[:FEW], *more])}")
    text = "; ".join(kinds)
    return f"{text[:1].upper()}{text[1:]}."


def sentences(found: OpennessAnalysis) -> tuple[str, ...]:
    """Return sentences on the groups that are large enough, and a sentence on the groups that are too small."""
    lines = [_kind(kind) for kind in found.kinds if kind.conclusive]
    for one in found.differences:
        less = f"{one.first} LLMs less that of {one.second} LLMs is {signed(one.difference, 2)}"
        lines.append(f"The mean score of {less} (Mann-Whitney over LLMs, p = {format_p_value(one.p_value)}).")
    few = [f"{len(kind.llms)} {kind.name}" for kind in found.kinds if not kind.conclusive]
    if few:
        single = few[-1].startswith("1 ")
        llms = f"LLM{'' if single else 's'} {'has' if single and len(few) == 1 else 'have'}"
        lines.append(
            f"{phrase(few)} {llms} no mean, which needs at least {LEAST_GROUP_LLMS} of a kind; each is a point."
        )
    more, fewer, value = found.steps
    if more + fewer >= LEAST_GROUP_LLMS:
        lines.append(
            f"Within families the larger of two neighbours has the higher score {more} times and the lower one {fewer} "
            f"times (sign test, p = {format_p_value(value)})."
        )
    elif found.families:
        steps = f"{more + fewer} step{'' if more + fewer == 1 else 's'}"
        lines.append(
            f"{steps} from one size to the next within families: that is too few to show whether size matters."
        )
    if found.unknown:
        more_llms = [f"{len(found.unknown) - FEW} more LLMs"] if len(found.unknown) > FEW else []
        lines.append(f"Left out, as the catalogue does not have them: {phrase([*found.unknown[:FEW], *more_llms])}.")
    return tuple(lines)


def _kind(kind: OpennessKind) -> str:
    text = f"{len(kind.llms)} {kind.name} LLMs have a mean score of {kind.mean:.2f}"
    if kind.interval is None:
        return f"{text}."
    low, high = kind.interval
    share = f"{kind.contaminated} of {kind.decided} (95% interval {low:.0%} to {high:.0%})"
    return f"{text}; rows of some table were detected in {share}."


def _by_kind(found: OpennessAnalysis) -> DatePlot:
    """Return the figure of each LLM's score, with a column for each kind of openness."""
    most_named = 14  # most points with a name next to them
    points, means, across = [], [], []
    for place, kind in enumerate(found.kinds):
        middle = (place + 0.5) / len(found.kinds)
        x = AREA.across(middle)
        across.append((x, f"{kind.name} ({len(kind.llms)})"))
        for number, one in enumerate(kind.llms):
            apart = 0.7 * ((number + 0.5) / len(kind.llms) - 0.5)
            points.append(_point(AREA.across(middle + apart / len(found.kinds)), one))
        if kind.conclusive:
            means.append(("cutoff", polyline((x - 24, AREA.up(kind.mean)), (x + 24, AREA.up(kind.mean)))))
    named = [one.title for kind in found.kinds for one in kind.llms]
    return DatePlot(
        AREA,
        "Contamination by openness",
        f"Contamination by openness, with 95% intervals.{' A bar is the mean of a kind.' if means else ''}",
        "openness (LLMs)",
        tuple(points),
        tuple(across),
        quarter_ticks(AREA),
        tuple(means),
        _labels(points, named) if len(named) <= most_named else (),
    )


def _by_size(found: OpennessAnalysis) -> DatePlot | None:
    """Return the figure of scores by model size, with a line for each family with several; None if no size is known."""
    sizes = sorted({one.size for one in chain(*found.families) if one.size})
    if not sizes:
        return None
    first, last = log10(sizes[0]) - 0.1, log10(sizes[-1]) + 0.1

    def across(size: float) -> float:
        return AREA.across((log10(size) - first) / (last - first))

    ticks: list[Tick] = []
    for size in sizes:
        if not ticks or across(size) - ticks[-1][0] >= 24:  # else the labels would overlap
            ticks.append((across(size), f"{size:g}"))
    by_family = [[_point(across(one.size or 1.0), one) for one in line] for line in found.families]
    points = [point for own in by_family for point in own]
    return DatePlot(
        AREA,
        "Contamination by size within families",
        "Contamination by size within families, with 95% intervals; a line joins the LLMs of one family, which differ "
        "in more than their size.",
        "billions of parameters",
        tuple(points),
        tuple(ticks),
        quarter_ticks(AREA),
        tuple(("steps", polyline(*((point.x, point.y) for point in own))) for own in by_family),
        _labels(points, [one.title for one in chain(*found.families)]),
    )


def _point(x: float, one: CataloguedLlm) -> DatePoint:
    size = "" if one.size is None else f", {one.size:g} billion parameters"
    words = f"{one.title} ({one.openness}{size}): score {one.score:.2f}"
    up = one.interval and (AREA.up(one.interval[0]), AREA.up(one.interval[1]))
    return DatePoint(x, AREA.up(one.score), words, up)


def _labels(points: Sequence[DatePoint], names: Sequence[str]) -> tuple[tuple[str, float, float, str], ...]:
    return tuple(placed_labels([(point.x, point.y) for point in points], names))
