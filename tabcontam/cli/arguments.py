"""The parser of the command line, with the arguments and the help of each command. `commands.py` runs the commands."""

import argparse
from collections.abc import Mapping, Sequence

from tabcontam.cli import help_texts as texts
from tabcontam.cli.command import Command
from tabcontam.cli.command_parser import CommandParser
from tabcontam.cli.option_values import folder, level, path, positive
from tabcontam.cli.report_change import ReportChange
from tabcontam.cli.run_arguments import add_files, add_gate, add_no_defaults, add_open, add_output, add_run
from tabcontam.entry_points import listed, offered
from tabcontam.verdicts.rules import FAMILY_OVER, RULES
from tabcontam.verdicts.thresholds import ALPHA
from tabcontam.version import __version__

SHELLS = ("bash", "zsh", "fish")
LISTED = ("datasets", "llms", "tests", "serializers", "prompts")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    main_parser = CommandParser(
        prog="tabcontam",
        description="How much of a table has an LLM already seen?",
        epilog=texts.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main_parser.add_argument("--version", action="version", version=f"tabcontam {__version__}")
    commands = main_parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=CommandParser)
    for name, add, about in (
        ("run", add_run, "ask LLMs about tables, judge the answers, write a report"),
        ("list", _add_list, "print the names of datasets, LLMs, tests, serializers and prompt sets"),
        ("replay", _add_replay, "judge recorded answers; asks no LLM"),
        ("power", _add_power, "measure how often the tests detect an LLM that remembers rows of a table"),
        ("rescore", _add_rescore, "judge a past run again, from its answers"),
        ("report", _add_report, "make one report of several runs, or write another format"),
        ("gate", add_gate, "turn verdicts into an exit code, to stop a script or a CI job"),
        ("cache", _add_cache, "show how many replies are stored and where, or delete them with --clear"),
        ("doctor", _add_doctor, "check what is installed and reachable here, and what is missing"),
        ("completion", _add_completion, "print the code by which a shell completes commands, options and names"),
    ):
        add(commands.add_parser(name, help=about))
    for name, command in extension_commands().items():
        command.add(commands.add_parser(name, help=command.about))
    return main_parser


def extension_commands() -> Mapping[str, Command]:
    """Return the commands of extensions by name."""
    return offered("tabcontam.commands", "command", Command)


def commands_of(main_parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, by the command's name."""
    chosen = next(each for each in main_parser._actions if isinstance(each, argparse._SubParsersAction))
    return dict(chosen.choices)


def report_changes() -> Mapping[str, ReportChange]:
    """Return the changes of a report that extensions offer, by the names of their options."""
    return offered("tabcontam.report_changes", "report change", ReportChange)


def typed_options(arguments: Sequence[str] | None) -> set[str]:
    """Return the options and words that a valid command line contains, by their names in argparse's namespace."""
    anew = parser()
    for command in commands_of(anew).values():
        for action in command._actions:
            action.default = argparse.SUPPRESS
    return set(vars(anew.parse_args(arguments)))


def _add_doctor(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Print what a run finds here: versions, extras, keys that are set (by name, never by value), servers on this "
        "machine, the cache, folders, the dictionary, the terminal. Nothing leaves this machine, unless you name a "
        "model. The exit code is 4 if a plain run cannot work, or if a named model cannot be reached."
    )
    command.add_argument(
        "--llm", action="append", default=[], metavar="SPEC", help="also try to reach this model, wherever it is"
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def _add_completion(command: argparse.ArgumentParser) -> None:
    command.description = "Print the code by which a shell completes tabcontam's commands, options and names."
    command.epilog = texts.COMPLETION_EXAMPLES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("shell", choices=SHELLS, metavar="{" + ",".join(SHELLS) + "}")


def _add_cache(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Print how many replies are stored and where. tabcontam stores every reply that was paid for, so that it asks "
        "no query twice."
    )
    command.add_argument("--clear", action="store_true", help="delete all stored replies")
    command.add_argument("--json", action="store_true", help="print JSON")


def _add_list(command: argparse.ArgumentParser) -> None:
    command.description = (
        "List the names that --dataset, --llm, -k, -m, --serializer and --prompts take. The list includes your own "
        "dataset cards, serializers and prompt sets in the folders of TABCONTAM_PATH, and the tests and providers of "
        "other packages."
    )
    command.add_argument("what", choices=LISTED, metavar="{" + ",".join(LISTED) + "}")
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


def _add_replay(command: argparse.ArgumentParser) -> None:
    command.description = "Judge recorded answers by today's rules. No model is asked."
    command.add_argument(
        "records", type=path, nargs="+", metavar="RECORDS.jsonl", help="the recorded answers, one JSON object per line"
    )
    command.add_argument(
        "--rules",
        choices=RULES,
        default=RULES[0],
        help="the rules that turn answers into verdicts (default: %(default)s)",
    )
    command.add_argument(
        "--differences",
        action="store_true",
        help="list the results in which tabcontam's decision differs from the recorded one, and those in which the "
        "calibrated rules decide otherwise than the paper's",
    )
    command.add_argument("--out", type=folder, metavar="DIR", help="the folder for a report of the results")
    command.add_argument("--json", action="store_true", help="print the results as JSON")


def _add_rescore(command: argparse.ArgumentParser) -> None:
    command.description = "Judge a past run again, from the answers in its folder. No model is asked."
    command.add_argument("run", type=path, metavar="RUN_DIR", help="the folder of the run: its --out")
    command.add_argument(
        "--rules",
        choices=RULES,
        help="the rules that turn answers into verdicts (default: those of the run); the folder is rewritten",
    )
    command.add_argument("--overlap", metavar="MEASURE", help=texts.OVERLAP.format(default="that of the run"))
    add_output(command)


def _add_report(command: argparse.ArgumentParser) -> None:
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
    command.add_argument(
        "--family-over", choices=FAMILY_OVER, help=texts.FAMILY_OVER.format(default="that of the runs")
    )
    command.add_argument(
        "--out",
        type=folder,
        metavar="DIR|FILE",
        help="the place of the report (default: reports/<time>; with --format: standard output)",
    )
    add_open(command)
    add_output(command)


def _add_power(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Measure how often each test calls simulated models contaminated on a table: models that know nothing of its "
        "rows, and models that remember a share of them. Nothing is sent anywhere. With --llm, models that were made "
        "to read the table are asked, too."
    )
    command.add_argument("--dataset", action="append", default=[], metavar=texts.DATASET_FORMS, help=texts.DATASET)
    command.add_argument(
        "--llm",
        action="append",
        default=[],
        metavar="[LABEL=]SPEC",
        help="also ask this model, which has read each row of the tables a known number of times (such as hf:DIR made "
        "by expose), and show each test's results by that number",
    )
    command.add_argument("--serializer", metavar="NAME|FILE", help=texts.SERIALIZER)
    command.add_argument("--prompts", metavar="NAME|FILE", help=texts.PROMPTS)
    command.add_argument("-k", dest="expression", metavar="EXPR", help=texts.EXPRESSION)
    command.add_argument("-m", dest="marks", metavar="EXPR", help=texts.MARKS)
    command.add_argument(
        "--alpha",
        type=level,
        default=ALPHA,
        metavar="A",
        help="the level of the verdicts, as in run (default: %(default)s)",
    )
    command.add_argument(
        "--runs",
        type=positive,
        default=100,
        metavar="N",
        help="the number of runs of each simulated model (default: %(default)s)",
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="the seed of all random draws (default: 0)")
    add_files(command)
    add_no_defaults(command)
    command.add_argument("--json", action="store_true", help="print JSON")
