"""Figures for papers, drawn by matplotlib (the extra `plots`): the heatmap as SVG, and all figures as PDF.

Text in the files remains text. Equal results give equal bytes with the same version of matplotlib.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.report.report_parts import report_parts
from tabcontam.verdicts.results import RunResults

TITLE = "Contamination tests on tables, one block an LLM"
# The user's matplotlibrc is ignored: it may require TeX, and names of LLMs and tables are not valid TeX input.
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
    """Return the results as one picture for "svg", or as pages for "pdf".

    A page is at most 7 inches wide, as the text of a two-column page, or 3.35 inches, as one of its columns. The SVG is
    the heatmap. The PDF has these figures, if they have data: the heatmap (on as many pages as it needs), memory's
    share of the accuracy, and the ranking; contamination against accuracy, by openness and by size; exact outputs
    against accuracy; accuracies by dates. Raises `UsageError` without matplotlib.
    """
    written = BytesIO()
    with _matplotlib():
        from tabcontam.extensions.publish.figures.heatmap import heatmap
        from tabcontam.report.figure_style import COLUMN, PAGE, WIDTH

        room = COLUMN if columns == 1 else WIDTH
        if format == "svg":
            (figure,) = heatmap(view, room=room)
            figure.savefig(written, format="svg", metadata={"Date": None, "Title": TITLE})
            return written.getvalue()

        from matplotlib.backends.backend_pdf import PdfPages
        from matplotlib.figure import Figure

        from tabcontam.extensions.publish.figures.memory_figures import memory_shares
        from tabcontam.extensions.publish.figures.ranking_figures import against_accuracy, ranking

        own: tuple[Callable[[RunResults, float], Sequence[Figure]], ...] = (memory_shares, ranking, against_accuracy)
        figures = [figure for draw in (*own, *(part.figures for part in report_parts())) for figure in draw(view, room)]
        with PdfPages(written, metadata={"CreationDate": None, "Title": TITLE}) as pages:
            for page in (*heatmap(view, PAGE, room), *figures):
                pages.savefig(page)
        return written.getvalue()


@contextmanager
def _matplotlib() -> Iterator[None]:
    """Apply matplotlib's defaults and our settings; restore the user's settings when the context ends."""
    try:
        import matplotlib
    except ImportError:
        raise UsageError('figures need matplotlib; type pip install "tabcontam[plots]"') from None
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of signs that the font lacks: a box shows them
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)  # type: ignore[arg-type] # its stubs list every name
        yield
