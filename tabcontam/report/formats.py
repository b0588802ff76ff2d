"""The forms of a report beside the page: what `report --format` writes, by name."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

Document = Mapping[str, Any]


def _markdown(document: Document) -> bytes:
    from tabcontam.report.markdown import render_markdown

    return _encoded(render_markdown(_squares(document)))


def _latex(document: Document) -> bytes:
    from tabcontam.report.latex import render_latex

    return _encoded(render_latex(_squares(document)))


def _csv(document: Document) -> bytes:
    from tabcontam.report.csv_text import render_csv

    return _encoded(render_csv(document))


def _figure(form: Literal["svg", "pdf"], document: Document) -> bytes:
    from tabcontam.report.figures import render_figure

    return render_figure(_squares(document), form)


def _squares(document: Document) -> Document:
    """Recorded answers with one cell a square of the heatmap; a run as it is."""
    from tabcontam.replay.squares import one_cell_a_square

    return document if "llms" in document["run"] else {**document, "cells": one_cell_a_square(document["cells"])}


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


FORMATS: dict[str, Callable[[Document], bytes]] = {
    "markdown": _markdown,
    "latex": _latex,
    "csv": _csv,
    "svg": partial(_figure, "svg"),
    "pdf": partial(_figure, "pdf"),
}
