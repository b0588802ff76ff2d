"""The parts of a run's report on openness, sizes, exact outputs and dates."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tabcontam.extensions.dates import chronology_page, generation_plots, openness_plots
from tabcontam.report.report_parts import ReportPart
from tabcontam.verdicts.results import RunResults


def _figures(name: str) -> Callable[[RunResults, float], Sequence[Any]]:
    """Return the function of `date_figures` with this name, which imports matplotlib when it is called."""
    return lambda view, width: getattr(import_module("tabcontam.extensions.dates.date_figures"), name)(view, width)


OPENNESS = ReportPart(
    "ranking",
    "openness.html.jinja",
    openness_plots.context,
    sentences=openness_plots.openness_sentences,
    figures=_figures("by_openness"),
)
GENERATION = ReportPart(
    "ranking",
    "generation.html.jinja",
    generation_plots.context,
    sentences=generation_plots.generation_sentences,
    figures=_figures("exact_against_accuracy"),
)
CHRONOLOGY = ReportPart(
    "scores",
    "chronology_section.html.jinja",
    chronology_page.context,
    styles=("chronology.css",),
    figures=_figures("by_dates"),
)
