"""The arguments of the core's commands other than `run` and `gate`, and the changes that `report` offers."""

import argparse
import re
from collections.abc import Mapping

from tabcontam.cli.option_values import path, positive
from tabcontam.cli.report_change import ReportChange
from tabcontam.cli.run_arguments import OF_FILES, OF_OUTPUT, add_setting, add_settings
from tabcontam.config import RESCORE, RULES, RunConfig, settings
from tabcontam.entry_points import listed, load_settings, offered

SHELLS = ("bash", "zsh", "fish")
LISTED = ("datasets", "llms", "tests", "serializers", "prompts")
COMPLETION_EXAMPLES = """\
examples:
  eval "$(tabcontam completion bash)"      in ~/.bashrc
  eval "$(tabcontam completion zsh)"       in ~/.zshrc
  tabcontam completion fish > ~/.config/fish/completions/tabcontam.fish
"""


def report_changes() -> Mapping[str, ReportChange]:
    """Return the changes of a report that extensions offer, by the names of their options."""
    return offered("tabcontam.report_changes", "report change", ReportChange)


def add_doctor(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Print what a run finds here: versions, extras, keys that are set (by name, never by value), servers on this "
        "machine, the cache, folders, the dictionary, the terminal. Nothing leaves this machine, unless you name a "
        "model. The exit code is 4 if a plain run cannot work, or if a named model cannot be reached."
    )
    command.add_argument(
        "--llm", action="append", default=[], metavar="SPEC", help="also try to reach this model, wherever it is"
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def add_completion(command: argparse.ArgumentParser) -> None:
    command.description = "Print the code by which a shell completes tabcontam's commands, options and names."
    command.epilog = COMPLETION_EXAMPLES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("shell", choices=SHELLS, metavar="{" + ",".join(SHELLS) + "}")


def add_cache(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Print how many replies are stored and where. tabcontam stores every reply that was paid for, so that it asks "
        "no query twice."
    )
    command.add_argument("--clear", action="store_true", help="delete all stored replies")
    command.add_argument("--json", action="store_true", help="print JSON")


def add_list(command: argparse.ArgumentParser) -> None:
    command.description = (
        "List the names that --dataset, --llm, -k, -m, --serializer and --prompts take. The list includes your own "
        "dataset cards, serializers and prompt sets in the folders of TABCONTAM_PATH, and the tests and providers of "
        "other packages."
    )
    command.add_argument(
        "what",
        nargs="?",
        choices=LISTED,
        metavar="{" + ",".join(LISTED) + "}",
        help="the names to list (default: show what can be listed)",
    )
    command.add_argument(
        "patterns",
        nargs="*",
        default=[],
        metavar="PATTERN",
        help="show only items whose name, title or description contains PATTERN (llama), or whose name has this form "
        "('gpt-4*'); several patterns must all match",
    )
    command.add_argument("-v", "--verbose", action="store_true", help="print all details of each item")
    command.add_argument("--json", action="store_true", help="print JSON")


def add_replay(command: argparse.ArgumentParser) -> None:
    command.description = "Judge recorded answers by today's rules. No model is asked."
    command.add_argument(
        "records", type=path, nargs="+", metavar="RECORDS.jsonl", help="the recorded answers, one JSON object per line"
    )
    add_settings(command, "rules", default=RULES[0])
    command.add_argument(
        "--differences",
        action="store_true",
        help="list the results in which tabcontam's decision differs from the recorded one, and those in which the "
        "calibrated rules decide otherwise than the paper's",
    )
    command.add_argument("--out", type=path, metavar="DIR", help="the folder for a report of the results")
    command.add_argument("--json", action="store_true", help="print the results as JSON")


def add_rescore(command: argparse.ArgumentParser) -> None:
    command.description = "Judge a past run again, from the answers in its folder. No model is asked."
    command.add_argument("run", type=path, metavar="RUN_DIR", help="the folder of the run: its --out")
    about = "the rules that turn answers into verdicts (default: those of the run); the folder is rewritten"
    add_settings(command, "rules", help=about)
    load_settings()
    for setting in settings(RESCORE).values():
        add_setting(command, setting, help=re.sub(r"default: \w+", "default: that of the run", setting.about))
    add_settings(command, *OF_OUTPUT)


def add_report(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Make one report of several runs, and compare the results that two of them share. Parts of a run from several "
        "machines (run --shard) become the run that one machine would have made. With --format, write the tables or "
        "figures for a paper, a script or another page."
    )
    command.add_argument(
        "runs",
        type=path,
        nargs="*",
        default=[],
        metavar="RUN_DIR",
        help="the folders of past runs (default, on a terminal only: the newest under reports/)",
    )
    command.add_argument(
        "--format",
        choices=("csv", *(point.name for point in listed("tabcontam.formats"))),
        help="write one document instead of a folder (svg and pdf are plots)",
    )
    for change in report_changes().values():
        change.add(command)
    command.add_argument(
        "--methods",
        action="store_true",
        help="with --format markdown or latex: write only the paragraphs of a paper's methods section, with the "
        "numbers of the runs",
    )
    command.add_argument(
        "--width",
        choices=("one", "two"),
        help="the width of a figure or a LaTeX table on a two-column page: one column (3.35 inches) or two (7 inches) "
        "(default: two)",
    )
    command.add_argument(
        "--incomplete",
        action="store_true",
        help="join the parts of a run (see run --shard) even if some parts are missing: the report names these, and "
        "the gate cannot tell",
    )
    command.add_argument(
        "--exclude-recalled",
        type=path,
        metavar="FILE",
        help="instead of a report, write the rows that each model recalled in row tests, as CSV with a line per row, "
        "so that you can evaluate the model without them. Rows that were not asked about are not in the file",
    )
    add_settings(command, "family_over", help=RunConfig.family_over.about.replace("llm)", "that of the runs)"))
    command.add_argument(
        "--out",
        type=path,
        metavar="DIR|FILE",
        help="the place of the report (default: reports/<time>; with --format: standard output)",
    )
    add_settings(command, "open", *OF_OUTPUT)


def add_power(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Measure how often each test calls simulated models contaminated on a table: models that know nothing of its "
        "rows, and models that remember a share of them. Nothing is sent anywhere. With --llm, models that were made "
        "to read the table are asked, too."
    )
    add_settings(command, "dataset")
    about = (
        "also ask this model, which has read each row of the tables a known number of times (such as hf:DIR made by "
        "expose), and show each test's results by that number"
    )
    add_settings(command, "llm", help=about)
    add_settings(command, "serializer", "prompts", action="store", default=None)
    add_settings(command, "tests", dest="expression")
    add_settings(command, "marks")
    about = "the level of the verdicts, as in run (default: %(default)s)"
    add_settings(command, "alpha", default=RunConfig.alpha.default, help=about)
    command.add_argument(
        "--runs",
        type=positive,
        default=100,
        metavar="N",
        help="the number of runs of each simulated model (default: %(default)s)",
    )
    add_settings(command, "seed", default=0, help="the seed of all random draws (default: 0)")
    add_settings(command, *OF_FILES, "known", "no_defaults")
    command.add_argument("--json", action="store_true", help="print JSON")
