"""Commands: read arguments, call, print; nothing else.

Everything heavy is imported where a command needs it, so that `--help` and `list` start at once.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tabcontam import __version__
from tabcontam.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from tabcontam.run import Run


class Exit(IntEnum):
    """Exit codes, as pytest's; nothing selected is 5 and belongs to its error."""

    DONE = 0
    INTERRUPTED = 2
    INTERNAL_ERROR = 3
    USAGE = 4


RULES = ("calibrated", "paper")
ALPHA = 0.01
FORMS = ("auto", "chat", "completion")
LISTED = ("datasets", "llms", "tests", "serializers")
EXAMPLES = """\
examples:
  python -m tabcontam run
  python -m tabcontam run --llm llama3 --dataset titanic
  python -m tabcontam run --llm openai:NAME@http://127.0.0.1:8000/v1 --dataset adult
  python -m tabcontam run --dataset my.csv --target label -k completion
  python -m tabcontam list tests -v
"""


class Parser(argparse.ArgumentParser):
    """argparse with our exit code, and one line instead of the usage text."""

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
    _add_report(commands.add_parser("report", help="one report from several runs"))
    _add_cache(commands.add_parser("cache", help="the stored replies: how many, where, and --clear"))
    return main_parser


def _add_run(run: argparse.ArgumentParser) -> None:
    run.description = (
        "Ask every selected query and judge the answers. Without --llm and --dataset: the controls, on iris and wine."
    )
    what = run.add_argument_group("what is tested")
    what.add_argument(
        "--llm", action="append", default=[], metavar="SPEC", help="a name or PROVIDER:MODEL; see list llms"
    )
    what.add_argument(
        "--dataset", action="append", default=[], metavar="NAME|NAME@EDITION|FILE", help="see list datasets"
    )
    what.add_argument("--serializer", action="append", default=[], metavar="NAME|FILE", help="see list serializers")
    what.add_argument("-k", dest="expression", metavar="EXPR", help="only tests whose id matches, as in pytest")
    what.add_argument("--target", metavar="COLUMN", help="the column to classify, of a FILE")
    what.add_argument("--name", metavar="TEXT", help="what a FILE is called in prompts (default: its stem)")
    what.add_argument("--no-controls", action="store_true", help="without the two controls beside the LLMs")
    how = run.add_argument_group("how it is asked and judged")
    how.add_argument(
        "--rules", choices=RULES, default=RULES[0], help="how answers become verdicts (default: %(default)s)"
    )
    how.add_argument(
        "--alpha",
        type=_level,
        default=ALPHA,
        metavar="A",
        help="the share of an LLM's contaminated cells that may be false, on average (default: %(default)s)",
    )
    how.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed sends the same prompts (default: 0)"
    )
    how.add_argument("--queries", type=_positive, metavar="N", help="at most N queries a cell")
    how.add_argument(
        "--batch-size", type=_positive, default=16, metavar="N", help="prompts at a time for hf: (default: 16)"
    )
    how.add_argument(
        "--form", choices=FORMS, default=FORMS[0], help="how prompts are sent (default: the model's chat form, if any)"
    )
    how.add_argument(
        "-x", dest="stop", action="store_true", help="stop asking an LLM after its first contaminated cell"
    )
    how.add_argument("--send-rows", action="store_true", help="let rows of a FILE leave this machine")
    _add_limits(run.add_argument_group("how much is asked, and how fast"))
    where = run.add_argument_group("where the report goes")
    where.add_argument("--out", type=_folder, metavar="DIR", help="the run's folder; the same command continues it")
    _add_output(where)


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
    group.add_argument("--json", action="store_true", help="print results.json instead of the report")


def _add_list(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", choices=LISTED)
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
    command.add_argument("runs", type=Path, nargs="+", metavar="RUN_DIR")
    command.add_argument("--out", type=_folder, metavar="DIR", help="where the report goes (default: reports/<time>)")
    _add_output(command)


def _add_power(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Ask answerers of known behaviour, over and over: how often is one found that knows nothing of the rows, how "
        "often one that remembers a share of them? Nothing is sent anywhere."
    )
    command.add_argument(
        "--dataset", action="append", default=[], metavar="NAME|NAME@EDITION|FILE", help="see list datasets"
    )
    command.add_argument("--serializer", metavar="NAME|FILE", help="see list serializers")
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
    try:
        dollars = Decimal(text)
    except InvalidOperation:
        dollars = Decimal(-1)
    if not dollars.is_finite() or dollars <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a sum of US dollars above 0")
    return dollars


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    options = parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name or a reply may hold what the terminal cannot show
    try:
        return COMMANDS[options.command](options)
    except UsageError as error:
        print(f"tabcontam: {' '.join(str(error).split())}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("tabcontam: interrupted; the same command with the same --out continues", file=sys.stderr)
        return Exit.INTERRUPTED
    except BrokenPipeError:  # `| head` closed the pipe: nobody reads on, nothing is wrong
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except Exception:
        import traceback

        traceback.print_exc()
        print(f"tabcontam {__version__}: internal error; please report the lines above", file=sys.stderr)
        return Exit.INTERNAL_ERROR


def _run(options: argparse.Namespace) -> int:
    from tabcontam.plan import Options
    from tabcontam.report.progress import progress
    from tabcontam.run import Request, execute, prepare

    request = Request(
        llms=tuple(options.llm),
        datasets=tuple(options.dataset),
        serializers=tuple(options.serializer),
        expression=options.expression,
        options=Options(
            seed=options.seed,
            rules=options.rules,
            alpha=options.alpha,
            queries=options.queries,
            connections=options.max_connections,
            stop_at_first=options.stop,
            retry_unanswered=options.retry_unanswered,
            most_requests=options.max_requests,
            most_dollars=options.max_cost,
        ),
        controls=not options.no_controls,
        out=options.out,
        target=options.target,
        name=options.name,
        send_rows=options.send_rows,
        form=options.form,
        batch_size=options.batch_size,
        prices=options.prices,
        cache=not options.no_cache,
        command=_command_line(),
    )
    run = prepare(request)
    if options.dry_run:
        _print_plan(run, options.json)
        return Exit.DONE
    outcome = execute(run, progress(quiet=options.quiet > 0))
    _print_document(outcome.document, outcome.folder, options)
    if outcome.document["run"]["interrupted"]:
        print(f"interrupted; continue with the same command and --out {outcome.folder}", file=sys.stderr)
        return Exit.INTERRUPTED
    if outcome.failure:
        raise UsageError(f"no LLM could be reached: {outcome.failure}")
    return Exit.DONE


def _command_line() -> str:
    import shlex

    return shlex.join(["python", "-m", "tabcontam", *sys.argv[1:]])


def _print_plan(run: "Run", as_json: bool) -> None:
    from tabcontam.plan import rows_shown
    from tabcontam.report.plan import plan_document, plan_text
    from tabcontam.run import survey

    estimates, leaving = survey(run), rows_shown(run.cells)
    if as_json:
        import json

        print(json.dumps(plan_document(run.cells, estimates, leaving), ensure_ascii=False, indent=1))
    else:
        print(plan_text(run.cells, estimates, leaving))


def _console() -> "Console":
    from rich.console import Console

    class ReportConsole(Console):
        """A console whose reader may leave before the end, as `head` does."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return ReportConsole(highlight=False, emoji=False, markup=False, soft_wrap=False)


def _print_document(document: dict[str, Any], folder: Path, options: argparse.Namespace) -> None:
    from tabcontam.report.terminal import print_header, print_report
    from tabcontam.run_folder import as_json, last_lines

    if options.json:
        print(as_json(document), end="")
        return
    console, verbosity = _console(), options.verbose - options.quiet
    print_header(console, document, verbosity)
    print_report(console, document, last_lines(folder, document), verbosity, index=folder / "index.html")


def _rescore(options: argparse.Namespace) -> int:
    from tabcontam.run_folder import rescore

    _print_document(rescore(options.run, options.rules), options.run, options)
    return Exit.DONE


def _report(options: argparse.Namespace) -> int:
    from datetime import datetime

    from tabcontam.run_folder import merge, new_folder

    out = options.out or new_folder(datetime.now())
    _print_document(merge(options.runs, out), out, options)
    return Exit.DONE


def _replay(options: argparse.Namespace) -> int:
    from tabcontam.decide.words import english
    from tabcontam.replay import differences, read_records, replay, replay_calibrated
    from tabcontam.report.replay_text import render_replay
    from tabcontam.run_folder import as_json, record_replay, replay_document
    from tabcontam.suite.verdicts import PAPER

    records, dictionary = read_records(options.records), english()
    cells = replay(records, dictionary, PAPER) if options.rules == PAPER else []
    by_rules: list[dict[str, Any]] = []
    if options.differences or options.rules != PAPER:
        calibrated, by_rules = replay_calibrated(records, dictionary)
        cells = cells or calibrated
    found = differences(records, dictionary) if options.differences else None
    document = replay_document(cells, found, by_rules, options.rules, dictionary.name, _command_line())
    if options.out:
        record_replay(options.out, document)
    if options.json:
        print(as_json(document), end="")
    else:
        print(render_replay(document))
    return Exit.DONE


def _power(options: argparse.Namespace) -> int:
    from tabcontam.power import Study, measure
    from tabcontam.report.power_text import print_power, telling
    from tabcontam.run import DATASETS
    from tabcontam.run_folder import as_json
    from tabcontam.serializers import DEFAULT

    study = Study(
        datasets=tuple(options.dataset) or DATASETS,
        serializer=options.serializer or DEFAULT,
        expression=options.expression,
        alpha=options.alpha,
        runs=options.runs,
        seed=options.seed,
        target=options.target,
        name=options.name,
    )
    try:
        document = measure(study, telling(sys.stderr))
    except KeyboardInterrupt:
        print("tabcontam: interrupted; nothing was kept", file=sys.stderr)
        return Exit.INTERRUPTED
    if options.json:
        print(as_json(document), end="")
    else:
        print_power(_console(), document)
    return Exit.DONE


def _list(options: argparse.Namespace) -> int:
    from tabcontam.listing import as_text, listed

    items = listed(options.what)
    if options.json:
        import json

        print(json.dumps(items, ensure_ascii=False, indent=1, default=sorted))
    else:
        print(as_text(items, verbose=options.verbose))
    return Exit.DONE


def _cache(options: argparse.Namespace) -> int:
    from tabcontam.replies import ReplyStore
    from tabcontam.report.cache_text import cache_text

    store = ReplyStore.open()
    try:
        dropped = store.clear() if options.clear else 0
        facts = store.facts()
    finally:
        store.close()
    if options.json:
        import json

        print(json.dumps(facts, ensure_ascii=False, indent=1, default=str))
        return Exit.DONE
    if options.clear:
        print(f"{dropped} stored replies dropped")
    print(cache_text(facts))
    return Exit.DONE


COMMANDS = {
    "run": _run, "list": _list, "replay": _replay, "power": _power, "rescore": _rescore, "report": _report,
    "cache": _cache,
}  # fmt: skip
