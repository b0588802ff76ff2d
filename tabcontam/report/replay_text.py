"""The text that `replay` prints: a line for each LLM and, on request, each decision that is not the recorded one."""

from collections.abc import Sequence
from dataclasses import replace

from tabcontam.groups import grouped
from tabcontam.replay.recorded_squares import one_result_a_square
from tabcontam.report.paper_methods import papers, papers_text
from tabcontam.report.report_parts import report_parts
from tabcontam.verdicts.recorded_differences import RecordedDifference, RuleDifference
from tabcontam.verdicts.result_types import Result, count
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible

Difference = RecordedDifference | RuleDifference


def render_replay(view: RunResults) -> str:
    """Return the counts of verdicts by LLM, the disagreements by explanation if requested, and the total."""
    lines = [f"rules {view.run.rules}, dictionary {view.run.dictionary}", ""]
    by_llm = grouped(view.results, lambda cell: cell.llm)
    width = max(map(len, by_llm), default=0)
    lines += [f"{visible(llm, line=True):<{width}}  {_counts(own)}" for llm, own in by_llm.items()]
    if view.differences is not None and view.rule_differences is not None:
        lines += ["", "Where this reading of the published rules differs from the recorded decisions:"]
        lines += _groups(view.differences)
        lines += ["", "Where the calibrated rules differ from the published ones:"]
        lines += _groups(view.rule_differences)
    shown = replace(view, results=one_result_a_square(view.results))
    if papers(shown):  # the agreement of the papers' methods, as on the page
        lines += [line and visible(line, line=True) for line in ("", *papers_text(shown))]
    lines += [line for part in report_parts() for line in part.replay_lines(view)]
    lines += ["", f"results: {len(view.results)} ({_counts(view.results)})"]
    return "\n".join(lines)


def _groups(differences: Sequence[Difference]) -> list[str]:
    """Return one line for each disagreement, grouped by explanation."""
    lines: list[str] = []
    for group, own in grouped(differences, _group).items():
        lines += ["", f"{group}: {len(own)}", *(_line(found) for found in own)]
    return lines or ["", "none"]


def _group(found: Difference) -> str:
    if isinstance(found, RecordedDifference):
        return f"{found.group}, {found.level}s"
    return f"{found.paper} → {found.calibrated}, {found.group}"


def _line(found: Difference) -> str:
    if isinstance(found, RecordedDifference):
        recorded, here = ("detected" if each else "not detected" for each in (found.recorded, found.ours))
        verdicts, where = f"recorded {recorded}, here {here}", f"{found.source}, line {found.line}"
    else:
        verdicts, where = f"paper {found.paper}, calibrated {found.calibrated}", found.source
    serializer = f" [{found.serializer.strip()}]" if found.serializer else ""
    split = f"#{found.split}" if found.split else ""
    place = f"{found.llm} {found.dataset}{split} {found.test}{serializer}"
    return "  " + visible(f"{place}: {verdicts}; {found.explanation} ({where})", line=True)


def _counts(results: Sequence[Result]) -> str:
    """Return the number of results with each outcome, in the words and the order of a run's report."""
    return ", ".join(f"{number} {outcome}" for outcome, number in count(results).items())
