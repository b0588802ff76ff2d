"""The options that are made from the settings of a run, for `run`, `gate` and other commands that share some."""

import argparse
from typing import Any

from tabcontam.cli.command_parser import CommandParser, HelpAll
from tabcontam.cli.option_values import path, typed
from tabcontam.config import CONDITIONS, GATE, GROUPS, HEADER, MAIN, REPORT, RUN, Setting, settings
from tabcontam.entry_points import load_settings

Group = argparse._ArgumentGroup | argparse.ArgumentParser
OF_FILES = ("target", "name", "delimiter", "encoding", "header", "header_line")  # what describes a FILE
OF_TEXT = OF_FILES[2:]
OF_LIMITS = ("dry_run", "max_connections", "max_requests", "max_cost", "prices", "cache", "retry_unanswered")
OF_OUTPUT = ("verbose", "quiet", "summary", "durations", "color", "json")
GATE_CODES = """\
exit codes:
  0  clean: no test detected that the model has read rows of the table, and at least one test would have detected it;
     with --baseline also known: contaminated, but already so in the baseline
  1  contaminated; with --fail-on knowledge also if the dataset is known; with --fail-on undecided also if the tests
     cannot tell
  2  you interrupted the run
  3  an error in tabcontam itself
  4  a bad input, or no model could be reached
  5  no test matches -k and -m
  6  the tests cannot tell: too few usable answers, too weak tests, or a run that was cut short

The two control models check the tests; they decide nothing, unless --llm names them. A test that misses
control:exposed, which has read the table, cannot make the table clean. A test that flags control:unexposed, which has
not read it, or a model of --control that has read none of its rows, cannot make the table contaminated. A miss in a
model of --control that has read rows changes nothing.
"""


def add_run(run: CommandParser) -> None:
    run.description = (
        "Ask models about tables, judge their answers and write a report. Without --llm, only the two control models "
        "are asked; without --dataset, the tables are iris and wine."
    )
    _add_all(run, RUN)


def add_gate(command: CommandParser) -> None:
    command.description = (
        "Exit with 0 if every table is clean for every model, with 1 if one is contaminated, with 6 if the tests\n"
        "cannot tell, and print one line with the reason. Name the folder of a past run, or run the tests now with\n"
        "--llm and --dataset."
    )
    command.epilog = GATE_CODES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument(
        "folder",
        type=path,
        nargs="?",
        metavar="RUN_DIR",
        help="the folder of a past run; --llm and --dataset choose from its results (default, on a terminal only and "
        "if nothing is named: the newest under reports/)",
    )
    command.add_argument(
        "-v", "--verbose", action="count", default=0, help="also print a line for each model and table"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    _add_all(command, GATE)


def _add_all(command: CommandParser, surface: int) -> None:
    command.add_argument(
        "--help-all", action=HelpAll, nargs=0, default=argparse.SUPPRESS, help="show all options, in groups, and exit"
    )
    if not command.short:
        load_settings()  # it looks through all installed packages
    own, short = settings(surface).values(), (MAIN, CONDITIONS) if surface == GATE else (MAIN,)
    for title in dict.fromkeys([*GROUPS, *(setting.group for setting in own)]):
        group = command.add_argument_group(title)
        added = [add_setting(group, setting) for setting in own if setting.group == title]
        command.further += [] if title in short else added


def add_settings(group: Group, *names: str, **changes: Any) -> None:
    """Add the options of settings by name. `changes` replace argparse's own arguments."""
    for name in names:
        add_setting(group, settings()[name], **changes)


def add_setting(group: Group, setting: Setting[Any], **changes: Any) -> argparse.Action:
    """Add the option of a setting. Its value is None, or an empty list, if it is not typed."""
    words: dict[str, Any] = {"dest": setting.name, "help": setting.about.replace("%", "%%")}
    if setting.kind is HEADER:
        words |= {"action": "store_const", "const": False}
    elif setting.switch:
        words |= {"action": f"store_{str(not setting.default).lower()}"}
    elif setting.counted:
        words |= {"action": "count", "default": 0}
    else:
        words |= {"type": typed(setting.kind), "metavar": setting.metavar or None, "choices": setting.choices or None}
        words |= {"action": "append", "default": []} if setting.several else {}
        words |= {"default": setting.default} if setting.group == REPORT else {}
    return group.add_argument(setting.flag, *setting.also, **words | changes)


def typed_settings(options: argparse.Namespace, surface: int) -> dict[str, Any]:
    """Return the values of the settings of a surface that were typed, or set by a file."""
    own = {name: getattr(options, name) for name in settings(surface) if hasattr(options, name)}
    return {
        name: value
        for name, value in own.items()
        if value not in (None, []) and not (settings()[name].switch and value == settings()[name].default)
    }
