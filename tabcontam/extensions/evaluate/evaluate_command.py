"""The command `evaluate`: few-shot classification as in TabLLM, with memory's share at each number of shots."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from tabcontam.cli.option_values import draws, path, positive, shots
from tabcontam.cli.printing import command_line, console_of, open_page, print_json, write_files
from tabcontam.cli.run_arguments import OF_FILES, OF_LIMITS, add_settings, typed_settings
from tabcontam.cli.run_commands import print_end
from tabcontam.config import FORMS, LIMITS, RUN, RunConfig
from tabcontam.errors import Exit, UsageError

if TYPE_CHECKING:
    from tabcontam.runs.run import Outcome, Run

SHOTS, DRAWS, ROWS = (0, 1, 4, 16, 64), 5, 100
TEMPLATE = "text"
EXAMPLES = """\
examples:
  python -m tabcontam evaluate --llm llama3 --dataset adult --dry-run
  python -m tabcontam evaluate --llm hf:FOLDER --dataset adult --dataset heart --shots 0,4,16 --template list
  python -m tabcontam evaluate --llm llama3 --dataset my.csv --target label --queries 500 --no-memory-share
"""


def add_evaluate(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Show models some rows with their classes (shots), ask for the class of another row (after TabLLM,\n"
        "Hegselmann et al. 2023), and write accuracy, AUC and memory's share at each number of shots, next to\n"
        "learners trained on the same shots. Classes are read from log-probabilities if the model gives them, else\n"
        "from words. The same command with the same --out continues after an interruption, and asks no query twice."
    )
    command.epilog = EXAMPLES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    what = command.add_argument_group("models, tables and queries")
    add_settings(what, "llm", "dataset")
    what.add_argument(
        "--shots",
        type=shots,
        default=SHOTS,
        metavar="K,K,…",
        help="how many rows a prompt shows with their classes, over all classes together; one or more numbers "
        "(default: 0,1,4,16,64)",
    )
    what.add_argument(
        "--queries",
        type=positive,
        default=ROWS,
        metavar="N",
        help="ask about N rows at each number of shots, and about the unseen twin of each row that has one "
        "(default: %(default)s)",
    )
    what.add_argument(
        "--draws",
        type=draws,
        default=DRAWS,
        metavar="N",
        help="draw the shots N times, at most 5; each time ask about rows from another fifth of the "
        "table (default: %(default)s)",
    )
    what.add_argument(
        "--template",
        action="append",
        default=[],
        metavar="NAME|FILE",
        help="the form in which rows are written: text or list as in TabLLM, a name from list serializers, or a TOML "
        f"file of your own (default: {TEMPLATE})",
    )
    add_settings(what, "prompts")
    what.add_argument(
        "--no-memory-share", action="store_true", help="ask about no twins; this halves the number of queries"
    )
    what.add_argument(
        "--in-words", action="store_true", help="ask every model in words, even if it gives log-probabilities"
    )
    add_settings(what, *OF_FILES, "known", "split_column")
    how = command.add_argument_group("asking")
    add_settings(how, "seed", default=0, help="the same seed draws the same rows and shots (default: 0)")
    add_settings(how, "batch_size", "batch_api", "send_rows")
    add_settings(how, "form", choices=FORMS, help=RunConfig.form.about.partition(";")[0])
    add_settings(command.add_argument_group(LIMITS), *OF_LIMITS)
    where = command.add_argument_group("the report")
    where.add_argument(
        "--out",
        type=path,
        metavar="DIR",
        help="the folder of the run, with evaluation.html and evaluation.json next to its other files",
    )
    add_settings(where, "open")
    where.add_argument("--json", action="store_true", help="print evaluation.json")


def evaluate(options: argparse.Namespace) -> int:
    from tabcontam.extensions.evaluate.evaluation_results import check_same_evaluation, evaluations
    from tabcontam.report.progress_display import progress
    from tabcontam.runs.run import execute, prepare

    if not options.llm or not options.dataset:
        raise UsageError("evaluate needs --llm and --dataset; see evaluate --help")
    if options.open and options.dry_run:
        raise UsageError("--dry-run writes no report; leave --open out")
    shown = progress(quiet=False)
    run = prepare(_config(options), shown, asks=not options.dry_run)
    for line in run.notices:
        print(line, file=sys.stderr)
    if options.dry_run:
        _print_plan(run, options, shown)
        return Exit.DONE
    if options.out is not None:
        check_same_evaluation(options.out, run)
    outcome = execute(run, shown)
    _report(outcome, options, evaluations(run, outcome))
    return print_end(outcome)


def _config(options: argparse.Namespace) -> RunConfig:
    from tabcontam.extensions.evaluate.few_shot import FewShot, FewShotScored

    kind = FewShot if options.in_words else FewShotScored  # by log-probabilities for LLMs that have them
    test = kind(shots=options.shots, draws=options.draws, rows=options.queries, twins=not options.no_memory_share)
    words = typed_settings(options, RUN) | {"shots": None, "queries": None, "own_tests": (test,), "controls": False}
    return RunConfig(**words, serializer=options.template or (TEMPLATE,), command=command_line(), began=options.began)


def _report(outcome: "Outcome", options: argparse.Namespace, found: Any) -> None:
    from tabcontam.extensions.evaluate.evaluation_page import document, render_evaluation
    from tabcontam.extensions.evaluate.evaluation_text import print_evaluations
    from tabcontam.verdicts.document import as_json

    command, page = outcome.results.run.command, outcome.folder / "evaluation.html"
    held = document(found, command, options.seed)
    write_files(outcome.folder, {"evaluation.json": as_json(held), page.name: render_evaluation(found, command)})
    if options.json:
        print_json(held)
    else:
        print_evaluations(console_of(), found, page)
    if options.open:
        open_page(page)


def _print_plan(run: "Run", options: argparse.Namespace, shown: Any) -> None:
    from tabcontam.report.plan_text import plan_document, plan_text
    from tabcontam.runs.run import rows_leaving, survey

    estimates, leaving = survey(run, shown), rows_leaving(run)
    if options.json:
        print_json(plan_document(run.plan, estimates, leaving, tables=run.tables))
    else:
        print(plan_text(run.plan, estimates, leaving, tables=run.tables))
