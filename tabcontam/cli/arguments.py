"""The parser of the command line, and the list of its commands, which names functions of modules to import later."""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial

from tabcontam.cli.command import Command, later
from tabcontam.cli.command_parser import CommandParser
from tabcontam.entry_points import names_of, offered
from tabcontam.errors import UsageError
from tabcontam.version import __version__

EXAMPLES = """\
examples:
  python -m tabcontam run
  python -m tabcontam run --llm llama3 --dataset titanic
  python -m tabcontam run --llm openai:NAME@http://127.0.0.1:8000/v1 --dataset adult
  python -m tabcontam run --dataset my.csv --target label -k completion
  python -m tabcontam gate --llm llama3 --dataset adult
  python -m tabcontam list tests -v
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
        "core_arguments:add_power", "commands:power",
    ),
    "report": _core(
        "make one report of several runs, or write another format",
        "core_arguments:add_report", "report_commands:report",
    ),
    "rescore": _core(
        "judge a past run again, from its answers",
        "core_arguments:add_rescore", "report_commands:rescore",
    ),
    "replay": _core("judge recorded answers; asks no LLM", "core_arguments:add_replay", "report_commands:replay"),
    "list": _core(
        "print the names of datasets, LLMs, tests, serializers and prompt sets",
        "core_arguments:add_list", "commands:list_names",
    ),
    "cache": _core(
        "show how many replies are stored and where, or delete them with --clear",
        "core_arguments:add_cache", "commands:cache",
    ),
    "doctor": _core(
        "check what is installed and reachable here, and what is missing",
        "core_arguments:add_doctor", "commands:doctor",
    ),
    "completion": _core(
        "print the code by which a shell completes commands, options and names",
        "core_arguments:add_completion", "shell_completion:completion",
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


def typed_options(arguments: Sequence[str]) -> set[str]:
    """Return the options and words that a valid command line contains, by their names in argparse's namespace."""
    anew = parser(arguments)
    for command in commands_of(anew).values():
        for action in command._actions:
            action.default = argparse.SUPPRESS
    return set(vars(anew.parse_args(arguments)))
