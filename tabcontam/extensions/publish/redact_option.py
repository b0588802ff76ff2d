"""The options `--redact` and `--redact-all` of the command `report`."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tabcontam.cli.report_change import ReportChange

if TYPE_CHECKING:
    from tabcontam.verdicts.results import RunResults


def _add(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--redact",
        action="store_true",
        help="make the report fit for publication: of tables that are private or have no open licence, show only "
        "verdicts and numbers; show no commands, folders or addresses",
    )
    command.add_argument("--redact-all", action="store_true", help="like --redact, but for every table")


def _results(results: "RunResults", options: argparse.Namespace) -> "RunResults":
    from tabcontam.extensions.publish.redaction import redact_results

    return redact_results(results, options.redact_all)[0]


def _folder(options: argparse.Namespace, out: Path) -> "RunResults":
    from tabcontam.extensions.publish.redacted_folder import KEY, redact

    results = redact(options.runs, out, options.redact_all, options.family_over, options.incomplete)
    print(f"the key of {out} is {out}{KEY}: keep it, and do not publish it", file=sys.stderr)
    return results


CHANGE = ReportChange(_add, lambda options: options.redact or options.redact_all, _results, _folder)
