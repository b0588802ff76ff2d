"""The command line: what each command takes, with its help. `cli.py` does what they say."""

import argparse
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NoReturn

from tabcontam.errors import Exit, near
from tabcontam.subjects.form import FORMS as FORMS
from tabcontam.verdicts.rules import ALPHA, FAILURES, RULES
from tabcontam.version import __version__

BATCH_SIZE = 16
FORMATS = ("markdown", "latex", "csv", "svg", "pdf")
SUMMARY = "cnuaspAN"
COLORS = ("auto", "always", "never")
LISTED = ("datasets", "llms", "tests", "serializers")
DATASET = "NAME|NAME@EDITION|FILE"
DATASET_HELP = "a name of list datasets, a table (CSV, TSV, Parquet), or a dataset card of your own (TOML)"
SERIALIZER_HELP = "how rows are written: a name of list serializers, or a TOML file of your own"
EXAMPLES = """\
examples:
  python -m tabcontam run
  python -m tabcontam run --llm llama3 --dataset titanic
  python -m tabcontam run --llm openai:NAME@http://127.0.0.1:8000/v1 --dataset adult
  python -m tabcontam run --dataset my.csv --target label -k completion
  python -m tabcontam gate --llm llama3 --dataset adult
  python -m tabcontam list tests -v
"""
GATE_CODES = """\
exit codes:
  0  clean: nothing was found, and the tests could have found it
  1  contaminated; with --fail-on undecided also what cannot be told
  2  interrupted
  3  internal error
  4  a bad input, or no LLM could be reached
  5  -k matches no test
  6  cannot tell

Controls that join a run decide nothing, unless they are named by --llm. Where control:exposed was missed by a test, the
test makes no table clean; where control:unexposed was flagged by one, it makes no table contaminated.
"""


class Parser(argparse.ArgumentParser):
    """argparse with our exit code, and one line instead of the usage text."""

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
    """The command line of design.md's contract."""
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
    _add_power(commands.add_parser("power", help="what the tests would find on a table, and what they would miss"))
    _add_rescore(commands.add_parser("rescore", help="judge a past run again from its trials"))
    _add_report(commands.add_parser("report", help="one report from several runs, or in another format"))
    _add_gate(commands.add_parser("gate", help="for scripts and CI: an exit code, and one line that says why"))
    _add_cache(commands.add_parser("cache", help="the stored replies: how many, where, and --clear"))
    return main_parser


def _add_run(run: argparse.ArgumentParser) -> None:
    run.description = (
        "Ask every selected query and judge the answers. Without --llm and --dataset: the controls, on iris and wine."
    )
    _add_asking(run)
    where = run.add_argument_group("where the report goes")
    where.add_argument("--out", type=_folder, metavar="DIR", help="the run's folder; the same command continues it")
    _add_output(where)
    gate = run.add_argument_group("what the exit code says")
    gate.add_argument("--gate", action="store_true", help="exit as gate does: 0 clean, 1 contaminated, 6 cannot tell")
    _add_conditions(gate)


def _add_asking(run: argparse.ArgumentParser) -> None:
    """What a run asks, and how: the same for `run` and `gate`."""
    what = run.add_argument_group("what is tested")
    what.add_argument(
        "--llm", action="append", default=[], metavar="SPEC", help="a name or PROVIDER:MODEL; see list llms"
    )
    what.add_argument("--dataset", action="append", default=[], metavar=DATASET, help=DATASET_HELP)
    what.add_argument("--serializer", action="append", default=[], metavar="NAME|FILE", help=SERIALIZER_HELP)
    what.add_argument("-k", dest="expression", metavar="EXPR", help="only tests whose id matches, as in pytest")
    what.add_argument("--target", metavar="COLUMN", help="the column to classify, of a FILE")
    what.add_argument("--name", metavar="TEXT", help="what a FILE is called in prompts (default: its stem)")
    what.add_argument("--no-controls", action="store_true", help="without the two controls beside the LLMs")
    how = run.add_argument_group("how it is asked and judged")
    how.add_argument(
        "--rules", choices=RULES, default=RULES[0], help=f"how answers become verdicts (default: {RULES[0]})"
    )
    how.add_argument(
        "--alpha",
        type=_level,
        default=ALPHA,
        metavar="A",
        help=f"the share of an LLM's contaminated cells that may be false, on average (default: {ALPHA})",
    )
    how.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed sends the same prompts (default: 0)"
    )
    how.add_argument("--queries", type=_positive, metavar="N", help="at most N queries a cell")
    how.add_argument(
        "--batch-size",
        type=_positive,
        default=BATCH_SIZE,
        metavar="N",
        help=f"prompts at a time for hf: (default: {BATCH_SIZE})",
    )
    how.add_argument(
        "--form", choices=FORMS, default=FORMS[0], help="how prompts are sent (default: the model's chat form, if any)"
    )
    how.add_argument(
        "-x", dest="stop", action="store_true", help="stop asking an LLM after its first contaminated cell"
    )
    how.add_argument("--send-rows", action="store_true", help="let rows of a FILE or a private card leave this machine")
    _add_limits(run.add_argument_group("how much is asked, and how fast"))


def _add_limits(limits: "argparse._ArgumentGroup") -> None:
    limits.add_argument("--dry-run", action="store_true", help="print the plan and what it costs at most, ask nothing")
    limits.add_argument(
        "--max-connections",
        type=_positive,
        metavar="N",
        help="requests at a time an LLM: where it starts, and never more (default: as many as the server takes)",
    )
    limits.add_argument("--max-requests", type=_positive, metavar="N", help="send at most N requests, repeats included")
    limits.add_argument("--max-cost", type=_dollars, metavar="X", help="spend at most X US dollars")
    limits.add_argument(
        "--prices", type=Path, metavar="FILE", help="a TOML table of prices in place of the shipped one"
    )
    limits.add_argument("--no-cache", action="store_true", help="neither read nor write stored replies; see cache")
    limits.add_argument("--retry-unanswered", action="store_true", help="ask refused, cut-off and empty answers again")


def _add_cache(command: argparse.ArgumentParser) -> None:
    command.description = "Every paid reply is stored, and no query asked twice. Print how many there are and where."
    command.add_argument("--clear", action="store_true", help="drop all stored replies")
    command.add_argument("--json", action="store_true", help="as JSON")


def _add_output(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument("-v", "--verbose", action="count", default=0, help="a line for each cell")
    group.add_argument("-q", "--quiet", action="count", default=0, help="the summary alone")
    group.add_argument(
        "-r",
        dest="summary",
        metavar="CHARS",
        type=_summary,
        default="caus",
        help="which cells the short summary names: (c)ontaminated, (n)ot detected, (u)ninformative, no (a)nswer, "
        "(s)kipped, with a score alone (p), (A)ll, (N)one (default: %(default)s)",
    )
    group.add_argument("--durations", type=_positive, metavar="N", help="name the N cells that took longest to answer")
    group.add_argument("--color", choices=COLORS, default=COLORS[0], help="colours in the report (default: a terminal)")
    group.add_argument("--json", action="store_true", help="print results.json instead of the report")


def _add_list(command: argparse.ArgumentParser) -> None:
    command.description = (
        "What there is to name behind --dataset, --llm, -k and --serializer. Dataset cards and serializers of your own "
        "are shown where TABCONTAM_PATH names their folders, and so are providers of other packages."
    )
    command.add_argument("what", choices=LISTED, metavar="{" + ",".join(LISTED) + "}")
    command.add_argument("-v", "--verbose", action="store_true", help="with everything that is known of each")
    command.add_argument("--json", action="store_true", help="as JSON")


def _add_replay(command: argparse.ArgumentParser) -> None:
    command.add_argument("records", type=Path, metavar="RECORDS.jsonl")
    command.add_argument(
        "--rules", choices=RULES, default=RULES[0], help="how answers become verdicts (default: %(default)s)"
    )
    command.add_argument(
        "--differences",
        action="store_true",
        help="list where our decision differs from the recorded one, and the calibrated rules from the paper's",
    )
    command.add_argument("--out", type=_folder, metavar="DIR", help="write a report of the judged cells there")
    command.add_argument("--json", action="store_true", help="print the judged cells as JSON")


def _add_rescore(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", type=Path, metavar="RUN_DIR")
    command.add_argument(
        "--rules", choices=RULES, help="how answers become verdicts (default: those of the run); the run is rewritten"
    )
    _add_output(command)


def _add_report(command: argparse.ArgumentParser) -> None:
    command.description = (
        "One report from several runs; cells that two runs have are compared. With --format: the tables and figures "
        "in a form for papers, scripts and other pages."
    )
    command.add_argument("runs", type=Path, nargs="+", metavar="RUN_DIR")
    command.add_argument("--format", choices=FORMATS, help="instead of a folder: one document (svg and pdf: plots)")
    command.add_argument(
        "--out",
        type=_folder,
        metavar="DIR|FILE",
        help="where the report goes (default: reports/<time>; with --format: standard output)",
    )
    _add_output(command)


def _add_gate(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Exit with 0 if every LLM is clean of every table, 1 if one is contaminated, 6 if it cannot be told,\n"
        "and say why in one line. The verdicts are those of a past run's folder, or of a run that is made now."
    )
    command.epilog = GATE_CODES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument(
        "folder", type=Path, nargs="?", metavar="RUN_DIR", help="a past run; --llm and --dataset choose from it"
    )
    _add_conditions(command)
    command.add_argument("-v", "--verbose", action="count", default=0, help="a line for each LLM and table, too")
    command.add_argument("--json", action="store_true", help="as JSON")
    command.add_argument("--out", type=_folder, metavar="DIR", help="the folder of the run that is made")
    _add_asking(command)
    # What was not given is None, so that none of it is passed over in silence beside a RUN_DIR.
    command.set_defaults(rules=None, alpha=None, seed=None, batch_size=None, form=None)


def asked(options: argparse.Namespace) -> list[str]:
    """The options of `gate` that were given and say how to ask: all but whom, and about what."""
    group = Parser()
    _add_asking(group)
    words = {"expression": "-k", "stop": "-x"}
    given = [
        name
        for name in ("out", *vars(group.parse_args([])))
        if (value := getattr(options, name)) is not None and value is not False and value != []
    ]
    return [words.get(name, f"--{name.replace('_', '-')}") for name in given if name not in ("llm", "dataset")]


def _add_conditions(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument(
        "--fail-on",
        action="append",
        choices=FAILURES,
        default=[],
        help="what exits with 1 beside contaminated: undecided, or a table that tests 1 to 6 find known (knowledge)",
    )
    group.add_argument(
        "--min-power",
        type=_level,
        metavar="P",
        help="clean counts only if an LLM that remembers this share of the rows would have been found",
    )


def _add_power(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Ask answerers of known behaviour, over and over: how often is one found that knows nothing of the rows, how "
        "often one that remembers a share of them? Nothing is sent anywhere."
    )
    command.add_argument("--dataset", action="append", default=[], metavar=DATASET, help=DATASET_HELP)
    command.add_argument("--serializer", metavar="NAME|FILE", help=SERIALIZER_HELP)
    command.add_argument("-k", dest="expression", metavar="EXPR", help="only tests whose id matches, as in pytest")
    command.add_argument(
        "--alpha", type=_level, default=ALPHA, metavar="A", help="the level of the verdicts (default: %(default)s)"
    )
    command.add_argument(
        "--runs", type=_positive, default=100, metavar="N", help="runs of each answerer (default: %(default)s)"
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed draws the same (default: 0)")
    command.add_argument("--target", metavar="COLUMN", help="the column to classify, of a FILE")
    command.add_argument("--name", metavar="TEXT", help="what a FILE is called in prompts (default: its stem)")
    command.add_argument("--json", action="store_true", help="as JSON")


def _folder(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError("the folder has no name")
    return Path(text)


def _summary(text: str) -> str:
    if strange := [letter for letter in text if letter not in SUMMARY]:
        raise argparse.ArgumentTypeError(f"{strange[0]!r} is none of {SUMMARY}")
    return text


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a level between 0 and 1")
    return level


def _dollars(text: str) -> Decimal:
    found = dollars(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a sum of US dollars above 0")
    return found


def dollars(text: str) -> Decimal | None:
    """A sum above 0; None for what is none."""
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() and found > 0 else None
