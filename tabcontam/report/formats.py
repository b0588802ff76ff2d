"""The forms of a report beside the page: what `report --format` writes, by name."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from tabcontam.verdicts.results import RunResults


def _markdown(view: RunResults) -> bytes:
    from tabcontam.report.markdown import render_markdown

    return _encoded(render_markdown(_squares(view)))


def _latex(view: RunResults) -> bytes:
    from tabcontam.report.latex import render_latex

    return _encoded(render_latex(_squares(view)))


def _csv(view: RunResults) -> bytes:
    from tabcontam.report.csv_text import render_csv

    return _encoded(render_csv(view))


def _figure(form: Literal["svg", "pdf"], view: RunResults) -> bytes:
    from tabcontam.report.figures import render_figure

    return render_figure(_squares(view), form)


def _squares(view: RunResults) -> RunResults:
    """Recorded answers with one cell a square of the heatmap; a run as it is."""
    from tabcontam.replay.squares import one_cell_a_square

    return replace(view, cells=one_cell_a_square(view.cells)) if view.run.recorded else view


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


FORMATS: dict[str, Callable[[RunResults], bytes]] = {
    "markdown": _markdown,
    "latex": _latex,
    "csv": _csv,
    "svg": partial(_figure, "svg"),
    "pdf": partial(_figure, "pdf"),
}
