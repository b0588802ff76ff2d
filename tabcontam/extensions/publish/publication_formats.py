"""The formats of `report --format` for papers, other pages and hubs. Each imports its library when it is written."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tabcontam.report.formats import ReportFormat, Shape
from tabcontam.verdicts.results import RunResults


def _written(place: str) -> Callable[[RunResults], str]:
    """Return the function at `place`, MODULE:FUNCTION of this extension, which is imported when it is called."""
    module, name = place.split(":")

    def write(view: RunResults) -> str:
        written: Any = getattr(import_module(f"{__package__}.{module}"), name)
        return str(written(view))

    return write


def _text(place: str, **facts: Any) -> ReportFormat:
    write = _written(place)
    return ReportFormat(lambda view, shape: write(view).encode("utf-8", "backslashreplace"), **facts)


def _latex(view: RunResults, shape: Shape) -> bytes:
    from tabcontam.extensions.publish.latex_tables import render_latex

    return render_latex(view, shape.columns).encode("ascii")


def _figure(form: str) -> Callable[[RunResults, Shape], bytes]:
    def draw(view: RunResults, shape: Shape) -> bytes:
        from tabcontam.extensions.publish.figures import render_figure

        return render_figure(view, form, shape.columns)

    return draw


MARKDOWN = _text("markdown:render_markdown", methods=_written("methods_text:markdown_methods"))
LATEX = ReportFormat(_latex, wide=True, methods=_written("methods_text:latex_methods"))
SVG, PDF = ReportFormat(_figure("svg"), wide=True), ReportFormat(_figure("pdf"), wide=True)
BIBTEX = _text("citations:render_bibtex", whole=True)
CONDA = _text("conda:render_conda")
MODEL_CARD, DATASET_CARD = _text("hub_cards:render_model_card"), _text("hub_cards:render_dataset_card")
