"""Plots of LLMs and tables for a page: points with intervals, lines, labels and ticks, all in the units of the SVG."""

from dataclasses import dataclass

from tabcontam.report.plot_area import PlotArea

Tick = tuple[float, str]


@dataclass(frozen=True)
class DatePoint:
    """A point of a plot with its description, and the ends of its intervals along both axes if they are known."""

    x: float
    y: float
    words: str
    up: tuple[float, float] | None = None
    across: tuple[float, float] | None = None
    look: str = "point"


@dataclass(frozen=True)
class DatePlot:
    """A plot. `lines` are (look, positions of an SVG polyline), and `labels` (text, x, y, anchor).

    `axis` and `side` are the names of the horizontal and of the vertical axis.
    """

    area: PlotArea
    title: str
    caption: str
    axis: str
    points: tuple[DatePoint, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    lines: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, float, float, str], ...] = ()
    side: str = ""


def polyline(*places: tuple[float, float]) -> str:
    """Return positions in the form of an SVG polyline."""
    return " ".join(f"{x},{y}" for x, y in places)


def quarter_ticks(area: PlotArea, form: str = "g") -> tuple[Tick, ...]:
    """Return the ticks of a vertical axis from 0 to 1."""
    return tuple((area.up(tick / 4), f"{tick / 4:{form}}") for tick in range(5))
