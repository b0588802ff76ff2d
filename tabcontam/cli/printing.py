"""Output that several commands share: results, files, pages and JSON."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tabcontam.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from tabcontam.report.trials_by_result import Trial
    from tabcontam.verdicts.results import RunResults


def console_of(color: str = "auto") -> "Console":
    """Return the console for a choice of --color: "auto", "always" or "never"."""
    from rich.console import Console

    class ReportConsole(Console):
        """A console that raises no error if the reader of its output, such as `head`, stops early."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    system: Any = {"auto": "auto", "always": "standard", "never": None}[color]
    return ReportConsole(color_system=system, highlight=False, emoji=False, markup=False, soft_wrap=False)


def print_results(
    results: "RunResults", folder: "Path", options: argparse.Namespace, trials: "Iterable[Trial] | None" = None
) -> None:
    """Print a report. If `trials` is None, the trials are read from `folder`."""
    from tabcontam.report.github import plain_log
    from tabcontam.report.terminal import print_header, print_report
    from tabcontam.runs.stored_trials import shown_lines
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


def write_files(folder: "Path", texts: "Mapping[str, str]") -> None:
    """Write the files of a report; `texts` maps file names to contents. Raises `UsageError`."""
    from tabcontam.paths import replace_file

    try:
        for name, text in texts.items():
            replace_file(folder / name, text)
    except OSError as error:
        what = f"cannot write the report to {folder}: {error.strerror or error}"
        raise UsageError(f"{what}; make room, and repeat") from error


def open_page(index: "Path") -> None:
    """Open a report's first page in the system's browser. If there is no browser, print the page's path."""
    import webbrowser

    try:
        shown = webbrowser.open(index.resolve().as_uri())
    except (webbrowser.Error, OSError):
        shown = False
    if not shown:
        print(f"tabcontam: no browser can be opened here; the report is {index}", file=sys.stderr)


def print_json(value: object, default: Callable[[Any], object] | None = None) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False, indent=1, default=default), flush=True)


def command_line() -> str:
    import shlex

    return shlex.join(["python", "-m", "tabcontam", *sys.argv[1:]])


def discard_output() -> None:
    """Discard further output after a reader such as `head` has closed the pipe. This is not an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
