"""The output that several commands share: results, JSON, and the command itself as the run records it."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tabcontam.cli.console import console_of

if TYPE_CHECKING:
    from pathlib import Path

    from tabcontam.report.trials_by_result import Trial
    from tabcontam.verdicts.results import RunResults


def print_results(
    results: "RunResults", folder: "Path", options: argparse.Namespace, trials: "Iterable[Trial] | None" = None
) -> None:
    """Print a report. Without `trials` they are read from its folder."""
    from tabcontam.report.github import plain_log
    from tabcontam.report.terminal import print_header, print_report
    from tabcontam.runs.shown_trials import shown_lines
    from tabcontam.verdicts.document import as_json

    if options.json:
        print(as_json(results), end="", flush=True)
        return
    console, verbosity = console_of(options.color), options.verbose - options.quiet
    with plain_log():
        print_header(console, results, verbosity)
        print_report(
            console,
            results,
            shown_lines(folder, results.results) if trials is None else trials,
            verbosity,
            index=folder / "index.html",
            summary=options.summary,
            durations=options.durations or 0,
        )


def print_json(value: object, default: Callable[[Any], object] | None = None) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False, indent=1, default=default), flush=True)


def command_line() -> str:
    import shlex

    return shlex.join(["python", "-m", "tabcontam", *sys.argv[1:]])


def discard_output() -> None:
    """Discard further output after `| head` closed the pipe, which is no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
