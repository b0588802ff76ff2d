"""The report and the gate on documents as results.json holds them: each is read first, as a file is."""

import io
from collections.abc import Iterable, Mapping
from typing import Any
from unittest.mock import patch

from rich.console import Console

from tabcontam.groups import grouped
from tabcontam.report import csv_text, evidence, github, html, junit, svg, terminal
from tabcontam.report.recalled_cells import RecalledCellWriter
from tabcontam.report.trial_digest import RunDigestFacts, TrialDigester, results_by_llm
from tabcontam.report.trials_by_result import TrialIndex
from tabcontam.verdicts import gate
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.results import RunResults

Document = Mapping[str, Any]
Trials = Iterable[Mapping[str, Any]]


def pages_of(view: RunResults, trials: Trials) -> dict[str, str]:
    """The pages of a run by file name, from its trials in any order."""
    pages, trials_of = html.Pages(view), TrialIndex(view.results, trials)
    facts, of_llms = RunDigestFacts.of(view), results_by_llm(view)
    written: dict[str, str] = {}
    for llm, results in grouped(view.results, lambda result: result.llm).items():
        telling = TrialDigester(facts, of_llms.get(llm, ()))
        for result in results:
            telling.take(result, trials_of[result.place])
        written |= pages.of_llm(llm, telling.digest())
    return {html.INDEX: pages.index(view), **written}


def pack_evidence(view: RunResults, trials: Trials) -> evidence.PackedEvidence:
    """The evidence of all results with asked queries, from trials in any order, with their line under "line"."""
    packing, trials_of = (
        evidence.EvidencePacker(evidence.EvidenceLimits.of(view), view.placed),
        TrialIndex(view.results, trials),
    )
    for result in {result.place: result for result in view.placed.values()}.values():
        packing.take(result, trials_of[result.place])
    return packing.packed()


def recalled_csv(view: RunResults, trials: Trials) -> str:
    """The answered cells of LLMs under test as CSV, in the order of results and queries."""
    written = io.StringIO(newline="")
    recalled, trials_of = RecalledCellWriter(written), TrialIndex(view.results, trials)
    for result in view.results:
        recalled.take(result, trials_of[result.place])
    return written.getvalue()


def render_html(of: Document, trials: Trials) -> str:
    """The one page of a run, however large."""
    with patch.object(html, "has_page_per_llm", return_value=False):
        return pages_of(parse_results(of), trials)[html.INDEX]


def render_pages(of: Document, trials: Trials) -> dict[str, str]:
    return pages_of(parse_results(of), trials)


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
