"""The command line: what each command takes, with its help. `commands.py` does what they say."""

import argparse
import os
import sys
from typing import Any, NoReturn

from tabcontam.cli.helps import (
    DATASET,
    DATASET_HELP,
    EXAMPLES,
    EXPRESSION_HELP,
    FAMILY_OVER_HELP,
    GATE_CODES,
    KNOWN_HELP,
    MARKS_HELP,
    MIN_POWER_HELP,
    NAME_HELP,
    PROMPTS_HELP,
    REFERENCE_HELP,
    SERIALIZER_HELP,
    UNTIL_DECIDED_HELP,
)
from tabcontam.cli.values import dollars, folder, level, path, positive, queries, summary
from tabcontam.errors import Exit, near
from tabcontam.subjects.form import FORMS as FORMS
from tabcontam.verdicts.rules import ALPHA, FAILURES, FAMILY_OVER, MIN_POWER, RULES
from tabcontam.version import __version__

BATCH_SIZE = 16
FORMATS = ("markdown", "latex", "csv", "svg", "pdf")
COLORS = ("auto", "always", "never")
LISTED = ("datasets", "llms", "tests", "serializers", "prompts")


class Parser(argparse.ArgumentParser):
    """argparse with our exit code, and one line instead of the usage text."""

    def _get_formatter(self) -> argparse.HelpFormatter:
        """As argparse's, which asks `shutil` how wide the terminal is: that takes longer to import than all of ours."""
        try:
            columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(1).columns
        except (ValueError, OSError):  # no number, or no terminal
            columns = 0
        formatter: Any = self.formatter_class
        made: argparse.HelpFormatter = formatter(prog=self.prog, width=(columns or 80) - 2)
        return made

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As argparse's, but the command itself refuses what it does not know, and names its nearest option."""
        options, strange = super().parse_known_args(args, namespace)
        if strange:
            word = strange[0].partition("=")[0]
            meant = self._meant(word)
            self.error(f"{self.prog.split()[-1]} takes no {word!r}" + (f"; did you mean {meant}?" if meant else ""))
        return options, strange

    def _meant(self, word: str) -> str:
        """The option that a strange word comes near to, or whose value it is: a file after `run`."""
        if word.startswith("-"):
            return next(iter(near(word, self._option_string_actions, limit=1)), "")
        named = "--dataset" in self._option_string_actions and not self._get_positional_actions()
        return f"--dataset {word}" if named else ""

    def error(self, message: str) -> NoReturn:
        """One line, exit code 4."""
        print(f"tabcontam: {message}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(Exit.USAGE)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    main_parser = Parser(
        prog="tabcontam",
        description="How much of a table has an LLM already seen?",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main_parser.add_argument("--version", action="version", version=f"tabcontam {__version__}")
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    _add_run(commands.add_parser("run", help="test LLMs on tables"))
    _add_list(commands.add_parser("list", help="what there is to name"))
    _add_replay(commands.add_parser("replay", help="judge recorded answers, no model asked"))
    _add_power(
        commands.add_parser("power", help="how often the tests find an LLM that remembers rows of a table, measured")
    )
    _add_rescore(commands.add_parser("rescore", help="judge a past run again from its trials"))
    _add_report(commands.add_parser("report", help="one report from several runs, or in another format"))
    _add_gate(
        commands.add_parser(
            "gate", help="stop a script or a CI job: the exit code says whether a table is contaminated"
        )
    )
    _add_cache(
        commands.add_parser("cache", help="show how many replies are stored and where, or delete them with --clear")
    )
    return main_parser


def _add_run(run: argparse.ArgumentParser) -> None:
    run.description = (
        "Ask LLMs about tables, judge their answers and write a report. Without --llm the two control models are "
        "asked; without --dataset, about iris and wine."
    )
    _add_asking(run)
    where = run.add_argument_group("where the report goes")
    where.add_argument("--out", type=folder, metavar="DIR", help="the run's folder; the same command continues it")
    _add_output(where)
    gate = run.add_argument_group("what the exit code says")
    gate.add_argument(
        "--gate",
        action="store_true",
        help="exit with the code of the gate command: 0 clean, 1 contaminated, 6 cannot tell",
    )
    _add_conditions(gate)


def _add_asking(run: argparse.ArgumentParser) -> None:
    """What a run asks, and how: the same for `run` and `gate`, in the words of `tabcontam.run`.

    No option has a default of its own but None, nothing or what its absence says: `asked` tells what was typed.
    """
    what = run.add_argument_group("what is tested")
    what.add_argument(
        "--llm", action="append", default=[], metavar="SPEC", help="a name or PROVIDER:MODEL; see list llms"
    )
    what.add_argument("--dataset", action="append", default=[], metavar=DATASET, help=DATASET_HELP)
    what.add_argument("--serializer", action="append", default=[], metavar="NAME|FILE", help=SERIALIZER_HELP)
    what.add_argument("--prompts", action="append", default=[], metavar="NAME|FILE", help=PROMPTS_HELP)
    what.add_argument("-k", dest="tests", metavar="EXPR", help=EXPRESSION_HELP)
    what.add_argument("-m", dest="marks", metavar="EXPR", help=MARKS_HELP)
    _add_files(what)
    what.add_argument("--reference", metavar="SPEC", help=REFERENCE_HELP)
    what.add_argument(
        "--no-controls",
        dest="controls",
        action="store_false",
        help="do not ask the two control models beside the LLMs",
    )
    how = run.add_argument_group("how it is asked and judged")
    how.add_argument("--rules", choices=RULES, help=f"which rules turn answers into verdicts (default: {RULES[0]})")
    how.add_argument(
        "--alpha",
        type=level,
        metavar="A",
        help="how many of the contaminated cells of an LLM and a family of tests may be wrong, as a share, on average "
        f"(default: {ALPHA})",
    )
    how.add_argument("--family-over", choices=FAMILY_OVER, help=FAMILY_OVER_HELP.format(default=FAMILY_OVER[0]))
    how.add_argument("--until-decided", action="store_true", help=UNTIL_DECIDED_HELP)
    how.add_argument("--seed", type=int, metavar="N", help="the same seed sends the same prompts (default: 0)")
    how.add_argument(
        "--queries",
        type=queries,
        metavar="N|paper",
        help="ask at most N queries in each cell (one test of one LLM on one table); or only the paper's own",
    )
    how.add_argument(
        "--batch-size",
        type=positive,
        metavar="N",
        help=f"how many prompts an hf: model answers at a time (default: {BATCH_SIZE})",
    )
    how.add_argument(
        "--form",
        choices=FORMS,
        help="the form in which prompts are sent (default: chat, if the model has it)",
    )
    how.add_argument(
        "-x", dest="stop_at_first", action="store_true", help="stop asking an LLM after its first contaminated cell"
    )
    how.add_argument(
        "--send-rows",
        action="store_true",
        help="allow that rows of a FILE or of a private card are sent to an LLM on another machine",
    )
    _add_limits(run.add_argument_group("how much is asked, and how fast"))


def _add_files(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument("--target", metavar="COLUMN", help="the column of a FILE that is to be classified")
    group.add_argument("--name", metavar="TEXT", help=NAME_HELP)
    group.add_argument("--known", action="append", default=[], metavar="FILE", help=KNOWN_HELP)


def _add_limits(limits: "argparse._ArgumentGroup") -> None:
    limits.add_argument(
        "--dry-run", action="store_true", help="print what would be asked and the most that it can cost; ask nothing"
    )
    limits.add_argument(
        "--max-connections",
        type=positive,
        metavar="N",
        help="send at most N requests at a time to an LLM (default: as many as its server takes)",
    )
    limits.add_argument(
        "--max-requests",
        type=positive,
        metavar="N",
        help="send at most N requests in all, those that are sent again included",
    )
    limits.add_argument("--max-cost", type=dollars, metavar="X", help="spend at most X US dollars")
    limits.add_argument(
        "--prices", type=path, metavar="FILE", help="a TOML file of prices that takes the place of the shipped one"
    )
    limits.add_argument(
        "--no-cache",
        dest="cache",
        action="store_false",
        help="do not use replies that are stored from earlier runs, and store none (see the cache command)",
    )
    limits.add_argument(
        "--retry-unanswered", action="store_true", help="ask again where the stored reply was refused, cut off or empty"
    )


def _add_cache(command: argparse.ArgumentParser) -> None:
    command.description = (
        "tabcontam stores every reply that was paid for, so that no query is asked twice. Print how many are stored "
        "and where."
    )
    command.add_argument("--clear", action="store_true", help="delete all stored replies")
    command.add_argument("--json", action="store_true", help="print JSON")


def _add_output(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument("-v", "--verbose", action="count", default=0, help="print a line for each cell")
    group.add_argument("-q", "--quiet", action="count", default=0, help="print the summary alone")
    group.add_argument(
        "-r",
        dest="summary",
        metavar="CHARS",
        type=summary,
        default="caus",
        help="which cells the summary lists: c contaminated, n not detected, u uninformative, a no answer, s skipped, "
        "p those that have a score and no verdict, A all, N none (default: %(default)s)",
    )
    group.add_argument("--durations", type=positive, metavar="N", help="list the N cells whose answers took longest")
    group.add_argument(
        "--color",
        choices=COLORS,
        default=COLORS[0],
        help="whether the report is coloured (default: auto, on a terminal alone)",
    )
    group.add_argument("--json", action="store_true", help="print results.json instead of the report")


def _add_list(command: argparse.ArgumentParser) -> None:
    command.description = (
        "What there is to name behind --dataset, --llm, -k, -m, --serializer and --prompts. Dataset cards, serializers "
        "and prompt sets of your own are shown where TABCONTAM_PATH names their folders, and so are tests and "
        "providers of other packages."
    )
    command.add_argument("what", choices=LISTED, metavar="{" + ",".join(LISTED) + "}")
    command.add_argument("-v", "--verbose", action="store_true", help="print everything that is known of each")
    command.add_argument("--json", action="store_true", help="print JSON")


def _add_replay(command: argparse.ArgumentParser) -> None:
    command.description = "Judge answers that LLMs gave earlier, by the rules of today. No LLM is asked."
    command.add_argument(
        "records", type=path, metavar="RECORDS.jsonl", help="the recorded answers, a JSON object a line"
    )
    command.add_argument(
        "--rules", choices=RULES, default=RULES[0], help="which rules turn answers into verdicts (default: %(default)s)"
    )
    command.add_argument(
        "--differences",
        action="store_true",
        help="list the cells in which our decision differs from the recorded one, and those in which the calibrated "
        "rules differ from the paper's",
    )
    command.add_argument("--out", type=folder, metavar="DIR", help="write a report of the judged cells there")
    command.add_argument("--json", action="store_true", help="print the judged cells as JSON")


def _add_rescore(command: argparse.ArgumentParser) -> None:
    command.description = "Judge a past run again from the answers in its folder. No LLM is asked."
    command.add_argument("run", type=path, metavar="RUN_DIR", help="the folder of the run: its --out")
    command.add_argument(
        "--rules",
        choices=RULES,
        help="which rules turn answers into verdicts (default: those of the run); the folder is rewritten",
    )
    _add_output(command)


def _add_report(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Make one report of several runs, and compare the cells that two of them have in common. With --format: write "
        "the tables or figures for a paper, a script or another page."
    )
    command.add_argument("runs", type=path, nargs="+", metavar="RUN_DIR")
    command.add_argument(
        "--format", choices=FORMATS, help="write one document instead of a folder (svg and pdf are plots)"
    )
    command.add_argument("--family-over", choices=FAMILY_OVER, help=FAMILY_OVER_HELP.format(default="that of the runs"))
    command.add_argument(
        "--out",
        type=folder,
        metavar="DIR|FILE",
        help="where the report goes (default: reports/<time>; with --format: standard output)",
    )
    _add_output(command)


def _add_gate(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Exit with 0 if every LLM is clean of every table, with 1 if one is contaminated, with 6 if the tests\n"
        "cannot tell, and print one line that says why. Give the folder of a past run, or --llm and --dataset to\n"
        "run the tests now."
    )
    command.epilog = GATE_CODES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument(
        "folder",
        type=path,
        nargs="?",
        metavar="RUN_DIR",
        help="the folder of a past run; --llm and --dataset choose from what it tested",
    )
    _add_conditions(command)
    command.add_argument("-v", "--verbose", action="count", default=0, help="print a line for each LLM and table, too")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument("--out", type=folder, metavar="DIR", help="the folder for the run, where one is made now")
    _add_asking(command)


def asked(options: argparse.Namespace) -> list[str]:
    """The options of `gate` that were given and say how to ask: all but whom, and about what."""
    group = Parser(add_help=False)
    _add_asking(group)
    chosen = [action for action in group._actions if action.dest not in ("llm", "dataset")]
    given = [each.option_strings[0] for each in chosen if getattr(options, each.dest) != each.default]
    return ["--out"] * (options.out is not None) + given


def _add_conditions(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument(
        "--fail-on",
        action="append",
        choices=FAILURES,
        default=[],
        help="exit with 1 in one more case: undecided, if the tests cannot tell; knowledge, if tests of "
        "knowledge find that the LLM knows the dataset, even if it has seen no row",
    )
    group.add_argument(
        "--min-power",
        type=level,
        metavar="P",
        help=MIN_POWER_HELP.format(default=MIN_POWER),
    )


def _add_power(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Measure the tests on a table: simulated LLMs that know nothing of its rows, and others that remember a share "
        "of them, take the tests over and over. How often does each test call them contaminated? Nothing is sent "
        "anywhere."
    )
    command.add_argument("--dataset", action="append", default=[], metavar=DATASET, help=DATASET_HELP)
    command.add_argument("--serializer", metavar="NAME|FILE", help=SERIALIZER_HELP)
    command.add_argument("--prompts", metavar="NAME|FILE", help=PROMPTS_HELP)
    command.add_argument("-k", dest="expression", metavar="EXPR", help=EXPRESSION_HELP)
    command.add_argument("-m", dest="marks", metavar="EXPR", help=MARKS_HELP)
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
        help="how many runs each simulated LLM makes (default: %(default)s)",
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed draws the same (default: 0)")
    _add_files(command)
    command.add_argument("--json", action="store_true", help="print JSON")
