"""The forms of a report, other than the page, that `report --format` writes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module

from tabcontam.errors import UsageError
from tabcontam.verdicts.results import RunResults

METHODS: Mapping[str, str] = {
    "markdown": "tabcontam.extensions.publish.methods_text:markdown_methods",
    "latex": "tabcontam.extensions.publish.methods_text:latex_methods",
}
# Each form with its writer. A writer imports only the library that it needs.
TEXTS: Mapping[str, str] = {
    "markdown": "tabcontam.extensions.publish.markdown:render_markdown",
    "csv": "tabcontam.report.csv_text:render_csv",
    "bibtex": "tabcontam.extensions.publish.citations:render_bibtex",
    "conda": "tabcontam.extensions.publish.conda:render_conda",
    "model-card": "tabcontam.extensions.publish.hub_cards:render_model_card",
    "dataset-card": "tabcontam.extensions.publish.hub_cards:render_dataset_card",
}
WHOLE = ("csv", "bibtex")  # forms without squares
WIDE = ("latex", "svg", "pdf")  # forms that can fill one column or both columns of a two-column page


@dataclass(frozen=True)
class Shape:
    """The shape of a form: its width in `columns` of a two-column page, and whether only `methods` are described."""

    methods: bool = False
    columns: int = 2


def render_form(view: RunResults, form: str, shape: Shape = Shape()) -> bytes:
    """Return the results as `form`, one of `cli.arguments.FORMATS`, such as CSV. Only the library for this form is
    imported.

    For recorded answers, a heatmap shows one result in each square, and CSV contains all results. Raises `UsageError`.
    """
    from tabcontam.replay.recorded_squares import one_result_a_square

    if view.run.recorded and form not in WHOLE:
        view = replace(view, results=one_result_a_square(view.results))
    if shape.methods:
        return _text(METHODS[form])(view).encode("utf-8", "backslashreplace")
    if form in TEXTS:
        return _text(TEXTS[form])(view).encode("utf-8", "backslashreplace")
    if form == "latex":
        from tabcontam.extensions.publish.latex_tables import render_latex

        return render_latex(view, shape.columns).encode("ascii")
    from tabcontam.extensions.publish.figures import render_figure

    return render_figure(view, form, shape.columns)


def check_shape(form: str, methods: bool, width: str | None) -> Shape:
    """Return the shape of a form. Raises `UsageError` if the form has no methods paragraphs, or no choice of width."""
    if methods and form not in METHODS:
        raise UsageError(f"--methods goes with --format {' or '.join(METHODS)}")
    if width and (methods or form not in WIDE):
        raise UsageError(f"--width goes with --format {', '.join(WIDE[:-1])} or {WIDE[-1]}, without --methods")
    return Shape(methods, 1 if width == "one" else 2)


def _text(named: str) -> Callable[[RunResults], str]:
    module, name = named.split(":")
    written: Callable[[RunResults], str] = getattr(import_module(module), name)
    return written
