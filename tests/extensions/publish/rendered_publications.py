"""LaTeX, Markdown and figures of documents as results.json holds them: each is read first, as a file is."""

from collections.abc import Mapping
from typing import Any

from tabcontam.extensions.publish import figures, latex_tables, markdown
from tabcontam.verdicts.document import parse_results

Document = Mapping[str, Any]


def render_latex(of: Document) -> str:
    return latex_tables.render_latex(parse_results(of))


def render_markdown(of: Document) -> str:
    return markdown.render_markdown(parse_results(of))


def render_figure(of: Document, form: str) -> bytes:
    return figures.render_figure(parse_results(of), form)
