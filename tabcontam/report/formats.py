"""The formats of a report, other than the page, that `report --format` writes: CSV, and those of extensions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tabcontam.entry_points import listed, offered
from tabcontam.errors import UsageError
from tabcontam.report.csv_text import render_csv
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import phrase

GROUP = "tabcontam.formats"


@dataclass(frozen=True)
class Shape:
    """The shape of a document: its width in `columns` of a two-column page, and whether it has only `methods`."""

    methods: bool = False
    columns: int = 2


@dataclass(frozen=True)
class ReportFormat:
    """A format of a report, as an entry point of the group `tabcontam.formats` whose name users type.

    `render` returns the document. `whole`: a document of recorded answers has all results, not one for each square of
    the heatmap. `wide`: a document can fill one column or both columns of a two-column page. `methods` returns the
    paragraphs of a paper's methods section. Raises `UsageError` if a library is missing.
    """

    render: Callable[[RunResults, Shape], bytes]
    whole: bool = False
    wide: bool = False
    methods: Callable[[RunResults], str] | None = None


CSV = ReportFormat(lambda view, shape: render_csv(view).encode("utf-8", "backslashreplace"), whole=True)


def format_names() -> tuple[str, ...]:
    """Return the names of all formats, without importing an extension."""
    return ("csv", *(point.name for point in listed(GROUP)))


def report_formats() -> Mapping[str, ReportFormat]:
    """Return all formats by name."""
    return {"csv": CSV, **offered(GROUP, "format", ReportFormat)}


def render_form(view: RunResults, form: str, shape: Shape = Shape()) -> bytes:
    """Return the results in the format with the name `form`. Raises `UsageError`."""
    from tabcontam.replay.recorded_squares import one_result_a_square

    found = report_formats()[form]
    if view.run.recorded and not found.whole:
        view = replace(view, results=one_result_a_square(view.results))
    if shape.methods and found.methods:
        return found.methods(view).encode("utf-8", "backslashreplace")
    return found.render(view, shape)


def check_shape(form: str, methods: bool, width: str | None) -> Shape:
    """Return the shape of a document. Raises `UsageError` for a format without methods or without a choice of width."""
    formats = report_formats()
    if methods and not formats[form].methods:
        raise UsageError(f"--methods goes with {_options([name for name, one in formats.items() if one.methods])}")
    if width and (methods or not formats[form].wide):
        wide = [name for name, one in formats.items() if one.wide]
        raise UsageError(f"--width goes with {_options(wide)}, without --methods")
    return Shape(methods, 1 if width == "one" else 2)


def _options(names: list[str]) -> str:
    return f"--format {phrase(names, 'or')}" if names else "formats of packages that are not installed"
