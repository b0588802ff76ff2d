"""The parts of a run's report on openness, sizes, exact outputs and dates."""

from collections.abc import Sequence
from typing import Any

from tabcontam.extensions.dates import chronology_page, generation_plots, openness_plots
from tabcontam.report.report_parts import ReportPart
from tabcontam.verdicts.results import RunResults


def _openness_figures(view: RunResults, width: float) -> Sequence[Any]:
    from tabcontam.extensions.dates.date_figures import by_openness

    return by_openness(view, width)


def _generation_figures(view: RunResults, width: float) -> Sequence[Any]:
    from tabcontam.extensions.dates.generation_figures import exact_against_accuracy

    return exact_against_accuracy(view, width)


def _date_figures(view: RunResults, width: float) -> Sequence[Any]:
    from tabcontam.extensions.dates.date_figures import by_dates

    return by_dates(view, width)


OPENNESS = ReportPart(
    "ranking",
    "openness.html.jinja",
    openness_plots.context,
    sentences=openness_plots.openness_sentences,
    figures=_openness_figures,
)
GENERATION = ReportPart(
    "ranking",
    "generation.html.jinja",
    generation_plots.context,
    sentences=generation_plots.generation_sentences,
    figures=_generation_figures,
)
CHRONOLOGY = ReportPart(
    "scores",
    "chronology_section.html.jinja",
    chronology_page.context,
    styles=("chronology.css",),
    figures=_date_figures,
)
