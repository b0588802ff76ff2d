"""The command `chronology`: past runs' accuracies on tables from before and after the end of training data."""

import argparse
from typing import Any

from tabcontam.cli.option_values import path
from tabcontam.cli.printing import console_of, open_page, print_json, write_files
from tabcontam.cli.run_arguments import add_settings
from tabcontam.errors import UsageError

OWN = "chronology"  # the folder of the report, inside the first run's folder
EXAMPLES = """\
examples:
  python -m tabcontam run --llm gpt-4o --dataset titanic --dataset thyroid -k classification --out reports/dates
  python -m tabcontam chronology reports/dates --difficulty
  python -m tabcontam chronology reports/dates reports/others --out dates --json
"""


def add_chronology(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Compare the accuracies of past runs on tables from before the end of a model's training data with those on\n"
        "later tables (Li and Flanigan 2024): against the majority class, by the tests of the paper, and by\n"
        "exchanging release dates between tables. Cards state release dates, the catalogue the ends of training\n"
        "data; tables and models without a date are named and left out. No model is asked."
    )
    command.epilog = EXAMPLES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("runs", type=path, nargs="+", metavar="RUN_DIR", help="the folders of past runs: their --out")
    command.add_argument(
        "--difficulty",
        action="store_true",
        help="train gradient boosting on each table, to see whether later tables are harder (about a second per table; "
        "cached)",
    )
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed draws the same exchanges of dates (default: 0)"
    )
    command.add_argument(
        "--out",
        type=path,
        metavar="DIR",
        help="the folder of chronology.html and chronology.json (default: chronology in the first RUN_DIR)",
    )
    add_settings(command, "open")
    command.add_argument("--json", action="store_true", help="print chronology.json")


def chronology(options: argparse.Namespace) -> None:
    from tabcontam.asking.trial_file import open_folder
    from tabcontam.extensions.dates.chronological_analysis import chronologies
    from tabcontam.extensions.dates.chronology_page import render_chronology
    from tabcontam.extensions.dates.chronology_sentences import document
    from tabcontam.extensions.dates.chronology_text import print_chronology
    from tabcontam.extensions.dates.table_difficulty import baselines
    from tabcontam.runs.folder import load_all
    from tabcontam.verdicts.document import as_json

    view = load_all(options.runs)
    hard, unread = baselines(view) if options.difficulty else (None, [])
    found, left_out = chronologies(view, hard, options.seed)
    left_out = (*left_out, *unread)
    runs = [str(run) for run in options.runs]
    if not found:
        why = f": {'; '.join(left_out[:3])}" if left_out else "; run -k classification on tables with a card"
        raise UsageError(f"these runs have no accuracy of a model and a table with known dates{why}")
    out = options.out or options.runs[0] / OWN
    held: Any = document(found, left_out, runs)
    open_folder(out)
    page = render_chronology(found, left_out, runs)
    write_files(out, {"chronology.json": as_json(held), "chronology.html": page})
    if options.json:
        print_json(held)
    else:
        print_chronology(console_of(), found, left_out, out / "chronology.html")
    if options.open:
        open_page(out / "chronology.html")
