"""The parser of the command line, with the arguments and the help of each command. `commands.py` runs the commands."""

import argparse
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tabcontam.cli.command import Command, later
from tabcontam.cli.command_parser import CommandParser
from tabcontam.cli.option_values import path, positive
from tabcontam.cli.run_arguments import OF_FILES, OF_OUTPUT, add_setting, add_settings
from tabcontam.config import RESCORE, RULES, RunConfig, settings
from tabcontam.entry_points import listed, load_settings, names_of, offered
from tabcontam.errors import UsageError
from tabcontam.version import __version__

if TYPE_CHECKING:
    from tabcontam.cli.report_change import ReportChange

SHELLS = ("bash", "zsh", "fish")
LISTED = ("datasets", "llms", "tests", "serializers", "prompts")
EXAMPLES = """\
examples:
  python -m tabcontam run
  python -m tabcontam run --llm llama3 --dataset titanic
  python -m tabcontam run --llm openai:NAME@http://127.0.0.1:8000/v1 --dataset adult
  python -m tabcontam run --dataset my.csv --target label -k completion
  python -m tabcontam gate --llm llama3 --dataset adult
  python -m tabcontam list tests -v
"""
COMPLETION_EXAMPLES = """\
examples:
  eval "$(tabcontam completion bash)"      in ~/.bashrc
  eval "$(tabcontam completion zsh)"       in ~/.zshrc
  tabcontam completion fish > ~/.config/fish/completions/tabcontam.fish
"""


def _core(about: str, add: str, run: str) -> Command:
    return Command(about, later(f"tabcontam.cli.{add}"), later(f"tabcontam.cli.{run}"))


# fmt: off
CORE_COMMANDS: Mapping[str, Command] = {
    "run": _core(
        "ask LLMs about tables, judge the answers, write a report",
        "run_arguments:add_run", "run_commands:run",
    ),
    "gate": _core(
        "turn verdicts into an exit code, to stop a script or a CI job",
        "run_arguments:add_gate", "run_commands:gate",
    ),
    "power": _core(
        "measure how often the tests detect an LLM that remembers rows of a table",
        "arguments:add_power", "commands:power",
    ),
    "report": _core(
        "make one report of several runs, or write another format",
        "arguments:add_report", "report_commands:report",
    ),
    "rescore": _core("judge a past run again, from its answers", "arguments:add_rescore", "report_commands:rescore"),
    "replay": _core("judge recorded answers; asks no LLM", "arguments:add_replay", "report_commands:replay"),
    "list": _core(
        "print the names of datasets, LLMs, tests, serializers and prompt sets",
        "arguments:add_list", "commands:list_names",
    ),
    "cache": _core(
        "show how many replies are stored and where, or delete them with --clear",
        "arguments:add_cache", "commands:cache",
    ),
    "doctor": _core(
        "check what is installed and reachable here, and what is missing",
        "arguments:add_doctor", "commands:doctor",
    ),
    "completion": _core(
        "print the code by which a shell completes commands, options and names",
        "arguments:add_completion", "shell_completion:completion",
    ),
}
# fmt: on
MACHINE = ("cache", "doctor", "completion")  # the commands about this machine


def parser(typed: Sequence[str] = ()) -> CommandParser:
    """Return the parser of the whole command line. If a command of the core is typed, extensions are not looked up."""
    main_parser = CommandParser(
        prog="tabcontam",
        description="How much of a table has an LLM already seen?",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main_parser.add_argument("--version", action="version", version=f"tabcontam {__version__}")
    commands = main_parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=CommandParser)
    core = typed and typed[0] in CORE_COMMANDS
    further = () if core else names_of("tabcontam.commands", "command", CORE_COMMANDS)
    for name in (*CORE_COMMANDS, *further):
        commands.add_parser(name, help="").add = partial(lambda name, made: find_command(name).add(made), name)
    own = tuple(name for name in CORE_COMMANDS if name not in MACHINE)
    main_parser.command_groups = {"commands": own, "commands of extensions": further, "this machine": MACHINE}
    main_parser.about = lambda name: find_command(name).about
    return main_parser


def find_command(name: str) -> Command:
    """Return a command by its name; if it cannot be loaded, one that says so."""

    def unloaded(options: argparse.Namespace) -> int:
        raise UsageError(f"the command {name} cannot be loaded; mend its package, or uninstall it")

    found = CORE_COMMANDS.get(name) or extension_commands().get(name)
    return found or Command("cannot be loaded", lambda made: None, unloaded)


def extension_commands() -> Mapping[str, Command]:
    """Return the commands of extensions by name."""
    return offered("tabcontam.commands", "command", Command)


def commands_of(main_parser: argparse.ArgumentParser) -> dict[str, CommandParser]:
    """Return the parser of each command, by the command's name, with all arguments."""
    chosen = next(each for each in main_parser._actions if isinstance(each, argparse._SubParsersAction))
    for command in chosen.choices.values():
        command.fill()
    return dict(chosen.choices)


def report_changes() -> "Mapping[str, ReportChange]":
    """Return the changes of a report that extensions offer, by the names of their options."""
    from tabcontam.cli.report_change import ReportChange

    return offered("tabcontam.report_changes", "report change", ReportChange)


def typed_options(arguments: Sequence[str]) -> set[str]:
    """Return the options and words that a valid command line contains, by their names in argparse's namespace."""
    anew = parser(arguments)
    for command in commands_of(anew).values():
        for action in command._actions:
            action.default = argparse.SUPPRESS
    return set(vars(anew.parse_args(arguments)))


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
