"""The report and the gate on documents as results.json holds them: each is read first, as a file is."""

from collections.abc import Iterable, Mapping
from typing import Any
from unittest.mock import patch

from rich.console import Console

from tabcontam.report import csv_text, figures, github, html, junit, latex, markdown, svg, terminal
from tabcontam.verdicts import gate
from tabcontam.verdicts.document import typed

Document = Mapping[str, Any]
Trials = Iterable[Mapping[str, Any]]


def render_html(of: Document, trials: Trials) -> str:
    """The one page of a run, however large."""
    with patch.object(html, "parted", return_value=False):
        return html.render_pages(typed(of), trials)[html.INDEX]


def render_pages(of: Document, trials: Trials) -> dict[str, str]:
    return html.render_pages(typed(of), trials)


def render_csv(of: Document) -> str:
    return csv_text.render_csv(typed(of))


def render_junit(of: Document) -> str:
    return junit.render_junit(typed(of))


def render_latex(of: Document) -> str:
    return latex.render_latex(typed(of))


def render_markdown(of: Document) -> str:
    return markdown.render_markdown(typed(of))


def render_svg(of: Document) -> str:
    return svg.render_svg(typed(of))


def render_figure(of: Document, form: str) -> bytes:
    return figures.render_figure(typed(of), form)


def summarize(of: Document, environ: Mapping[str, str]) -> None:
    github.summarize(typed(of), environ)


def print_header(console: Console, of: Document, verbosity: int = 0) -> None:
    terminal.print_header(console, typed(of), verbosity)


def print_report(console: Console, of: Document, trials: Trials, verbosity: int = 0, **how: Any) -> None:
    terminal.print_report(console, typed(of), trials, verbosity, **how)


def judge(of: Document, **conditions: Any) -> gate.Judgement:
    return gate.judge(typed(of), **conditions)
