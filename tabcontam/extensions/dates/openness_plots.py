"""Contamination by openness, and by size within families: figures and sentences for the page and the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from tabcontam.extensions.dates.chronology_sentences import format_p_value, signed
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


@dataclass(frozen=True)
class OpennessPoint:
    """An LLM in a plot, with its vertical interval."""

    x: float
    y: float
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class OpennessPlot:
    """A figure: its points, their labels (text, x, y, anchor), and the mean (x, y) of each group that is large enough.

    `lines` connect points. `across` and `up` are the ticks of the horizontal and vertical axes.
    """

    title: str
    caption: str
    axis: str
    points: tuple[OpennessPoint, ...]
    labels: tuple[tuple[str, float, float, str], ...]
    means: tuple[tuple[float, float], ...]
    lines: tuple[str, ...]
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]


def context(view: RunResults) -> dict[str, Any]:
    """Return the variables of the page's template."""
    found = openness(view)
    plots = [plot for plot in (_by_kind(found), _by_size(found)) if plot] if found else []
    return {
        "openness": found,
        "openness_about": ABOUT,
        "openness_sentences": sentences(found) if found else (),
        "openness_plots": plots,
        "openness_box": AREA,
    }


def openness_sentences(view: RunResults) -> tuple[str, ...]:
    """Return sentences on a run's LLMs by openness and size; empty with fewer than two catalogued LLMs."""
    found = openness(view)
    return (_members(found), *sentences(found)) if found else ()


def _members(found: OpennessAnalysis) -> str:
    """Return a sentence that lists the LLMs of each kind of openness."""
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


def _by_kind(found: OpennessAnalysis) -> OpennessPlot:
    """Return the figure of each LLM's score, with a column for each kind of openness."""
    most_named = 14  # most points with a name next to them
    wide = (AREA.right - AREA.left) / len(found.kinds)
    points, names, means, across = [], [], [], []
    named = sum(len(kind.llms) for kind in found.kinds) <= most_named
    for place, kind in enumerate(found.kinds):
        middle = AREA.left + (place + 0.5) * wide
        across.append((round(middle, 1), f"{kind.name} ({len(kind.llms)})"))
        for number, one in enumerate(kind.llms):
            x = middle + wide * 0.7 * ((number + 0.5) / len(kind.llms) - 0.5)
            points.append(_point(x, one))
            names.append(one.title)
        if kind.conclusive:
            means.append((round(middle, 1), AREA.up(kind.mean)))
    return OpennessPlot(
        "Contamination by openness",
        f"Contamination by openness, with 95% intervals.{' A bar is the mean of a kind.' if means else ''}",
        "openness (LLMs)", tuple(points), _labels(points, names) if named else (), tuple(means), (), tuple(across),
        _ticks(),
    )  # fmt: skip


def _by_size(found: OpennessAnalysis) -> OpennessPlot | None:
    """Return the figure of scores by model size, with a line for each family with several; None if no size is known."""
    sizes = [one.size for line in found.families for one in line.llms if one.size]
    if not sizes:
        return None
    first, last = log10(min(sizes)) - 0.1, log10(max(sizes)) + 0.1

    def across(size: float) -> float:
        return AREA.left + (log10(size) - first) / (last - first) * (AREA.right - AREA.left)

    points, names, lines = [], [], []
    for line in found.families:
        own = [_point(across(one.size or 1.0), one) for one in line.llms]
        points += own
        names += [one.title for one in line.llms]
        lines.append(" ".join(f"{point.x},{point.y}" for point in own))
    ticks = tuple((round(across(size), 1), f"{size:g}") for size in sorted(set(sizes)))
    return OpennessPlot(
        "Contamination by size within families",
        "Contamination by size within families, with 95% intervals; a line joins the LLMs of one family, which differ "
        "in more than their size.",
        "billions of parameters", tuple(points), _labels(points, names), (), tuple(lines), _apart(ticks), _ticks(),
    )  # fmt: skip


def _apart(ticks: Sequence[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """Return the ticks whose labels do not overlap."""
    kept: list[tuple[float, str]] = []
    for tick in ticks:
        if not kept or tick[0] - kept[-1][0] >= 24:
            kept.append(tick)
    return tuple(kept)


def _point(x: float, one: CataloguedLlm) -> OpennessPoint:
    low, high = one.interval or (one.score, one.score)
    size = "" if one.size is None else f", {one.size:g} billion parameters"
    words = f"{one.title} ({one.openness}{size}): score {one.score:.2f}"
    return OpennessPoint(round(x, 1), AREA.up(one.score), AREA.up(low), AREA.up(high), words)


def _labels(points: Sequence[OpennessPoint], names: Sequence[str]) -> tuple[tuple[str, float, float, str], ...]:
    return tuple(placed_labels([(point.x, point.y) for point in points], names))


def _ticks() -> tuple[tuple[float, str], ...]:
    return tuple((AREA.up(tick / 4), f"{tick / 4:g}") for tick in range(5))
