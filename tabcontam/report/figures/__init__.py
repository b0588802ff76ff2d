"""Figures for papers, through matplotlib (the extra `plots`): the heatmap as SVG, and with the ranking as PDF.

Texts stay texts in both, and equal results give equal bytes wherever the same matplotlib is installed.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.verdicts.results import RunResults

TITLE = "Contamination tests on tables, one block an LLM"
# The reader's own matplotlibrc is not used: it may ask for TeX, and names of LLMs and tables are no valid TeX input.
SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7,
    "axes.linewidth": 0.6,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "tabcontam",
}


def render_figure(view: RunResults, format: str, columns: int = 2) -> bytes:  # noqa: A002 - the command line's word
    """Return the results as one picture for "svg", as pages for "pdf".

    No page is wider than the text of a page of two columns, 7 inches, or than one of these columns, 3.35 inches. The
    SVG is the heatmap. The PDF has the heatmap, on as many pages as it needs, memory's share of the accuracy, the
    ranking, contamination against accuracy, by openness and size, outputs generated exactly against accuracy, and
    accuracies by dates, as far as they exist. Raises `UsageError` without matplotlib.
    """
    written = BytesIO()
    with _matplotlib():
        from tabcontam.report.figures.heatmap import COLUMN, PAGE, WIDTH, heatmap

        room = COLUMN if columns == 1 else WIDTH
        if format == "svg":
            (figure,) = heatmap(view, room=room)
            figure.savefig(written, format="svg", metadata={"Date": None, "Title": TITLE})
            return written.getvalue()

        from matplotlib.backends.backend_pdf import PdfPages
        from matplotlib.figure import Figure

        from tabcontam.report.figures.date_figures import by_dates, by_openness
        from tabcontam.report.figures.generation_figures import exact_against_accuracy
        from tabcontam.report.figures.memory_figures import memory_shares
        from tabcontam.report.figures.ranking_figures import against_accuracy, ranking

        parts: tuple[Callable[[RunResults, float], list[Figure]], ...]
        parts = (memory_shares, ranking, against_accuracy, by_openness, exact_against_accuracy, by_dates)
        figures = [figure for part in parts for figure in part(view, room)]
        with PdfPages(written, metadata={"CreationDate": None, "Title": TITLE}) as pages:
            for page in (*heatmap(view, PAGE, room), *figures):
                pages.savefig(page)
        return written.getvalue()


@contextmanager
def _matplotlib() -> Iterator[None]:
    """Give matplotlib its defaults and our settings, and restore the reader's settings afterwards."""
    try:
        import matplotlib
    except ImportError:
        raise UsageError('figures need matplotlib; type pip install "tabcontam[plots]"') from None
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about signs that the font lacks; an empty box shows them
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)  # type: ignore[arg-type] # its stubs list every name
        yield
