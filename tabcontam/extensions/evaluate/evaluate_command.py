"""The command `evaluate`: few-shot classification as in TabLLM, with memory's share at each number of shots."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from tabcontam.cli import help_texts as texts
from tabcontam.cli.command import Command
from tabcontam.cli.option_values import draws, folder, positive, shots
from tabcontam.cli.printing import command_line, console_of, open_page, print_json, write_files
from tabcontam.cli.run_arguments import BATCH_SIZE, FORMS, add_files, add_open, add_run_limits, add_sending
from tabcontam.cli.run_commands import print_end
from tabcontam.errors import Exit, UsageError

if TYPE_CHECKING:
    from tabcontam.runs.run import Outcome, Run, RunOrder

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
    what.add_argument("--llm", action="append", default=[], metavar="[LABEL=]SPEC", help=texts.LLM)
    what.add_argument("--dataset", action="append", default=[], metavar=texts.DATASET_FORMS, help=texts.DATASET)
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
    what.add_argument("--prompts", action="append", default=[], metavar="NAME|FILE", help=texts.PROMPTS)
    what.add_argument(
        "--no-memory-share", action="store_true", help="ask about no twins; this halves the number of queries"
    )
    what.add_argument(
        "--in-words", action="store_true", help="ask every model in words, even if it gives log-probabilities"
    )
    add_files(what)
    what.add_argument("--split", action="append", default=[], metavar="NAME", help=texts.SPLIT)
    what.add_argument("--split-column", metavar="COLUMN", help=texts.SPLIT_COLUMN)
    how = command.add_argument_group("asking")
    how.add_argument(
        "--seed", type=int, default=0, metavar="N", help="the same seed draws the same rows and shots (default: 0)"
    )
    add_sending(how)
    add_run_limits(command.add_argument_group("limits, cost and stored replies"))
    where = command.add_argument_group("the report")
    where.add_argument(
        "--out",
        type=folder,
        metavar="DIR",
        help="the folder of the run, with evaluation.html and evaluation.json next to its other files",
    )
    add_open(where)
    where.add_argument("--json", action="store_true", help="print evaluation.json")


def evaluate(options: argparse.Namespace) -> int:
    from tabcontam.extensions.evaluate.evaluation_run import check_same_evaluation, evaluations
    from tabcontam.report.progress_display import progress
    from tabcontam.runs.run import execute, prepare

    if not options.llm or not options.dataset:
        raise UsageError("evaluate needs --llm and --dataset; see evaluate --help")
    if options.open and options.dry_run:
        raise UsageError("--dry-run writes no report; leave --open out")
    shown = progress(quiet=False)
    run = prepare(_order(options), shown, asks=not options.dry_run)
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


def _order(options: argparse.Namespace) -> "RunOrder":
    from tabcontam.asking.query_plan import Options
    from tabcontam.extensions.evaluate.evaluation_run import few_shot
    from tabcontam.runs.run import RunOrder
    from tabcontam.tables.dataset_splits import SplitChoice
    from tabcontam.tables.readers.base import text_format

    test = few_shot(
        options.shots, options.draws, options.queries, twins=not options.no_memory_share, in_words=options.in_words
    )
    return RunOrder(
        llms=tuple(options.llm),
        datasets=tuple(options.dataset),
        serializers=tuple(options.template) or (TEMPLATE,),
        prompts=tuple(options.prompts),
        tests=(test,),
        options=Options(
            seed=options.seed,
            connections=options.max_connections,
            batch=options.batch,
            retry_unanswered=options.retry_unanswered,
            last_failed=options.last_failed,
            most_requests=options.max_requests,
            most_dollars=options.max_cost,
        ),
        controls=False,
        out=options.out,
        target=options.target,
        name=options.name,
        text=text_format(options.delimiter, options.encoding, options.header, options.header_line),
        splits=SplitChoice(tuple(options.split), options.split_column),
        known=tuple(options.known),
        send_rows=options.send_rows,
        form=options.form or FORMS[0],
        batch_size=options.batch_size or BATCH_SIZE,
        prices=options.prices,
        cache=options.cache,
        command=command_line(),
        began=options.began,
    )


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
    from tabcontam.extensions.papers.run_judge import rows_leaving
    from tabcontam.report.plan_text import plan_document, plan_text
    from tabcontam.runs.run import survey

    estimates, leaving = survey(run, shown), rows_leaving(run)
    if options.json:
        print_json(plan_document(run.plan, estimates, leaving, tables=run.tables))
    else:
        print(plan_text(run.plan, estimates, leaving, tables=run.tables))


COMMAND = Command(
    "measure the few-shot accuracy of an LLM on a table, and how much of it is memory", add_evaluate, evaluate
)
