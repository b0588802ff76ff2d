"""The forms of a report beside the page, which `report --format` writes."""

from dataclasses import replace

from tabcontam.verdicts.results import RunResults


def render_form(view: RunResults, form: str) -> bytes:
    """The results as "markdown", "latex", "csv", "svg" or "pdf"; each form imports its own library alone.

    Of recorded answers a heatmap has one cell a square; CSV has them all.
    """
    from tabcontam.replay.squares import one_cell_a_square

    if form == "csv":
        from tabcontam.report.csv_text import render_csv

        return render_csv(view).encode("utf-8", "backslashreplace")
    if view.run.recorded:
        view = replace(view, cells=one_cell_a_square(view.cells))
    if form == "markdown":
        from tabcontam.report.markdown import render_markdown

        return render_markdown(view).encode("utf-8", "backslashreplace")
    if form == "latex":
        from tabcontam.report.latex import render_latex

        return render_latex(view).encode("ascii")
    from tabcontam.report.figures import render_figure

    return render_figure(view, form)
