"""The report and the gate on documents as results.json holds them: each is read first, as a file is."""

from collections.abc import Iterable, Mapping
from typing import Any
from unittest.mock import patch

from rich.console import Console

from tabcontam.report import csv_text, github, html, junit, svg, terminal
from tabcontam.verdicts import gate
from tabcontam.verdicts.document import parse_results

Document = Mapping[str, Any]
Trials = Iterable[Mapping[str, Any]]


def render_html(of: Document, trials: Trials) -> str:
    """The one page of a run, however large."""
    with patch.object(html, "has_page_per_llm", return_value=False):
        return html.render_pages(parse_results(of), trials)[html.INDEX]


def render_pages(of: Document, trials: Trials) -> dict[str, str]:
    return html.render_pages(parse_results(of), trials)


def render_csv(of: Document) -> str:
    return csv_text.render_csv(parse_results(of))


def render_junit(of: Document) -> str:
    return junit.render_junit(parse_results(of))


def render_svg(of: Document) -> str:
    return svg.render_svg(parse_results(of))


def summarize(of: Document, environ: Mapping[str, str]) -> None:
    github.summarize(parse_results(of), environ)


def print_header(console: Console, of: Document, verbosity: int = 0) -> None:
    terminal.print_header(console, parse_results(of), verbosity)


def print_report(console: Console, of: Document, trials: Trials, verbosity: int = 0, **how: Any) -> None:
    terminal.print_report(console, parse_results(of), trials, verbosity, **how)


def judge(of: Document, **conditions: Any) -> gate.GateDecision:
    return gate.judge(parse_results(of), **conditions)
