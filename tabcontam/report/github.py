"""The output for GitHub Actions: a summary of the job, annotations, and a log in which answers are no commands.

Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions. If a summary cannot be written,
standard error gets a line about it; the run does not fail.
"""

import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tabcontam.report.formats import format_names, render_form
from tabcontam.verdicts.gate import Conclusion, GateDecision
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible

SUMMARY, FORM = "GITHUB_STEP_SUMMARY", "markdown"
LIMIT = 1024 * 1024  # most bytes of a step's summary; GitHub drops a longer summary
CUT = "\n\nThe report is cut here: GitHub shows no more than 1 MiB. The whole report is in the run's folder.\n"
SHOWN = 10  # most annotations of each level that GitHub keeps for a step
LEVELS = {Conclusion.CONTAMINATED: "error", Conclusion.CANNOT_TELL: "warning", Conclusion.KNOWN: "notice"}


def summarize(view: RunResults, environ: Mapping[str, str] = os.environ) -> None:
    """Append the report to the job's summary, if an environment variable names its file and there is Markdown."""
    path = environ.get(SUMMARY)
    if not path or FORM not in format_names():
        return
    try:
        with open(path, "ab") as file:
            file.write(capped(render_form(view, FORM), LIMIT - file.tell()))
    except OSError as error:
        reason = error.strerror or error
        print(f"tabcontam: cannot write the summary for GitHub to {path}: {reason}", file=sys.stderr)


def capped(summary: bytes, room: int) -> bytes:
    """Return the lines of `summary` that fit into `room` bytes and, if some do not fit, a line that states this."""
    if len(summary) <= room:
        return summary
    end = summary.rfind(b"\n", 0, max(room - len(CUT.encode()), 0))
    return summary[:end] + CUT.encode() if end > 0 else b""


def annotations(judgement: GateDecision) -> list[str]:
    """Return the gate's findings as workflow commands: errors, warnings (no conclusion), notices (known before).

    GitHub keeps ten annotations of a level. If there are more, the tenth counts the rest.
    """
    lines = []
    for conclusion, level in LEVELS.items():
        found = [each for each in judgement.findings if each.conclusion is conclusion]
        shown = found if len(found) <= SHOWN else found[: SHOWN - 1]
        lines += [_command(level, f"{each.llm} on {each.dataset}: {conclusion}", each.reason) for each in shown]
        if left := len(found) - len(shown):
            lines.append(_command(level, f"{left} more: {conclusion}", judgement.reason))
    return lines


def annotate(judgement: GateDecision, environ: Mapping[str, str] = os.environ) -> None:
    """Print the annotations on standard error, which GitHub reads, too. Outside GitHub, print nothing."""
    if _in_actions(environ):
        for line in annotations(judgement):
            print(line, file=sys.stderr)


def _command(level: str, title: str, message: str) -> str:
    """Return a workflow command, escaped as in https://github.com/actions/toolkit, packages/core."""
    of_title = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={of_title}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


@contextmanager
def plain_log(environ: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Make GitHub read the output inside this context as plain text: answers may contain commands like `::error::`."""
    if not _in_actions(environ):
        yield
        return
    token = secrets.token_hex()
    print(f"::stop-commands::{token}", flush=True)
    try:
        yield
    finally:
        sys.stdout.flush()
        print(f"::{token}::", flush=True)


def _in_actions(environ: Mapping[str, str]) -> bool:
    return environ.get("GITHUB_ACTIONS") == "true"
