"""The arguments of `run` and `gate`: the LLMs, the tables, the way of asking, and its limits."""

import argparse
from collections.abc import Sequence

from tabcontam.cli import help_texts as texts
from tabcontam.cli.command_parser import CommandParser
from tabcontam.cli.option_values import dollars, folder, level, path, positive, queries, shard, summary, temperature
from tabcontam.models.prompt_form import FORMS as FORMS
from tabcontam.models.prompt_form import HELD as HELD
from tabcontam.verdicts.rules import FAILURES, FAMILY_OVER, RULES
from tabcontam.verdicts.thresholds import ALPHA, MIN_POWER

BATCH_SIZE = 16
COLORS = ("auto", "always", "never")


def add_run(run: argparse.ArgumentParser) -> None:
    run.description = (
        "Ask models about tables, judge their answers and write a report. Without --llm, only the two control models "
        "are asked; without --dataset, the tables are iris and wine."
    )
    _add_asking(run)
    where = run.add_argument_group("the report")
    where.add_argument("--out", type=folder, metavar="DIR", help="the folder of the run; the same command continues it")
    where.add_argument("--shard", type=shard, metavar="I/N", help=texts.SHARD)
    add_open(where)
    add_output(where)
    gate = run.add_argument_group("the exit code")
    gate.add_argument(
        "--gate",
        action="store_true",
        help="exit with the code of the gate command: 0 clean, 1 contaminated, 6 cannot tell",
    )
    _add_conditions(gate)
    add_no_defaults(run)


def add_gate(command: argparse.ArgumentParser) -> None:
    command.description = (
        "Exit with 0 if every table is clean for every model, with 1 if one is contaminated, with 6 if the tests\n"
        "cannot tell, and print one line with the reason. Name the folder of a past run, or run the tests now with\n"
        "--llm and --dataset."
    )
    command.epilog = texts.GATE_CODES
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument(
        "folder",
        type=path,
        nargs="?",
        metavar="RUN_DIR",
        help="the folder of a past run; --llm and --dataset choose from its results (default, on a terminal only and "
        "if nothing is named: the newest under reports/)",
    )
    _add_conditions(command)
    add_no_defaults(command)
    command.add_argument(
        "-v", "--verbose", action="count", default=0, help="also print a line for each model and table"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument("--out", type=folder, metavar="DIR", help="the folder of the new run, if one is made")
    _add_asking(command)


def typed_asking_options(options: argparse.Namespace) -> list[str]:
    """Return the typed options of `gate` that set how a run asks, except those for the LLM and the dataset."""
    group = CommandParser(add_help=False)
    _add_asking(group)
    chosen = [action for action in group._actions if action.dest not in ("llm", "dataset")]
    given = [each.option_strings[0] for each in chosen if getattr(options, each.dest) != each.default]
    return ["--out"] * (options.out is not None) + given


def _add_asking(run: argparse.ArgumentParser) -> None:
    """Add the arguments that `run` and `gate` share. They are named as in `tabcontam.run`.

    `typed_asking_options` recognises a typed option by a value that is not the default.
    """
    what = run.add_argument_group("models and tables")
    what.add_argument("--llm", action="append", default=[], metavar="[LABEL=]SPEC", help=texts.LLM)
    what.add_argument("--dataset", action="append", default=[], metavar=texts.DATASET_FORMS, help=texts.DATASET)
    what.add_argument("--serializer", action="append", default=[], metavar="NAME|FILE", help=texts.SERIALIZER)
    what.add_argument("--prompts", action="append", default=[], metavar="NAME|FILE", help=texts.PROMPTS)
    what.add_argument("-k", dest="tests", metavar="EXPR", help=texts.EXPRESSION)
    what.add_argument("-m", dest="marks", metavar="EXPR", help=texts.MARKS)
    what.add_argument("--memory-share", action="store_true", help=texts.MEMORY_SHARE)
    add_files(what)
    what.add_argument("--split", action="append", default=[], metavar="NAME", help=texts.SPLIT)
    what.add_argument("--split-column", metavar="COLUMN", help=texts.SPLIT_COLUMN)
    what.add_argument("--key", action="append", default=[], type=path, metavar="KEYFILE", help=texts.KEY)
    what.add_argument("--withheld", action="append", default=[], metavar="FILE", help=texts.WITHHELD)
    what.add_argument("--fresh", action="append", default=[], metavar="FILE", help=texts.FRESH)
    what.add_argument("--trained-on", action="append", default=[], metavar="LLM=DOCUMENTS", help=texts.TRAINED_ON)
    what.add_argument("--reference", action="append", default=[], metavar="SPEC", help=texts.REFERENCE)
    what.add_argument("--judge", metavar="LLM", help=texts.JUDGE)
    what.add_argument(
        "--no-controls",
        dest="controls",
        action="store_false",
        help="do not ask the two control models; models of --control are still asked",
    )
    what.add_argument("--control", action="append", default=[], metavar="[LABEL=]SPEC", help=texts.CONTROL)
    how = run.add_argument_group("asking and judging")
    how.add_argument("--rules", choices=RULES, help=f"the rules that turn answers into verdicts (default: {RULES[0]})")
    how.add_argument(
        "--alpha",
        type=level,
        metavar="A",
        help="the level: the share of a model's contaminated results in a family of tests that may be wrong on average "
        f"(default: {ALPHA})",
    )
    how.add_argument("--family-over", choices=FAMILY_OVER, help=texts.FAMILY_OVER.format(default=FAMILY_OVER[0]))
    how.add_argument("--until-decided", action="store_true", help=texts.UNTIL_DECIDED)
    how.add_argument("--seed", type=int, metavar="N", help="the same seed sends the same prompts (default: 0)")
    how.add_argument(
        "--queries",
        type=queries,
        metavar="N|paper",
        help="ask at most N queries for each result (one test of one model on one table), or only the paper's own",
    )
    how.add_argument("--rows", type=positive, metavar="N", help=texts.ROWS)
    how.add_argument("--samples", type=positive, metavar="N", help=texts.SAMPLES)
    how.add_argument("--temperature", type=temperature, metavar="T", help=texts.TEMPERATURE)
    how.add_argument("--overlap", metavar="MEASURE", help=texts.OVERLAP.format(default="rouge"))
    how.add_argument("--shots", type=positive, metavar="N", help=texts.SHOTS)
    add_sending(how, (*FORMS, HELD), texts.HELD)
    how.add_argument(
        "-x", dest="stop_at_first", action="store_true", help="stop asking a model after its first contaminated result"
    )
    add_run_limits(run.add_argument_group("limits, cost and stored replies"))
    where = run.add_argument_group("machines for hf: and vllm: models")
    where.add_argument("--engine", choices=("ray",), help=texts.ENGINE)
    where.add_argument("--ray-address", metavar="ADDRESS", help=texts.RAY_ADDRESS)
    where.add_argument("--replicas", type=positive, metavar="N", help=texts.REPLICAS)
    where.add_argument("--gpus-per-replica", type=positive, metavar="N", help=texts.GPUS)


def add_sending(how: "argparse._ArgumentGroup", forms: Sequence[str] = FORMS, about: str = "") -> None:
    """Add the options for how prompts are sent to an LLM (in which of the `forms`), and for permission to send rows."""
    how.add_argument(
        "--batch-size",
        type=positive,
        metavar="N",
        help=f"the number of prompts that an hf: model answers at a time (default: {BATCH_SIZE})",
    )
    how.add_argument("--batch", action="store_true", help=texts.BATCH)
    how.add_argument(
        "--form", choices=forms, help=f"the form of the prompts (default: chat, if the model has it){about}"
    )
    how.add_argument(
        "--send-rows",
        action="store_true",
        help="allow rows of a FILE, a URL or a private card to be sent to a model on another machine",
    )


def add_files(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    add_reading(group)
    group.add_argument("--known", action="append", default=[], metavar="FILE", help=texts.KNOWN)


def add_reading(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    """Add the options that describe a FILE and its text, for properties that cannot be detected."""
    group.add_argument("--target", metavar="COLUMN", help="the column of a FILE that a classification predicts")
    group.add_argument("--name", metavar="TEXT", help=texts.NAME)
    add_text_format(group)


def add_text_format(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument("--delimiter", metavar="SIGN", help="the character between the cells of a text FILE, or tab")
    group.add_argument("--encoding", metavar="NAME", help="the encoding of a text FILE, such as cp1252")
    group.add_argument(
        "--no-header",
        dest="header",
        action="store_const",
        const=False,
        help="the first line of a FILE is a row, no header (by default header, delimiter and encoding are detected)",
    )
    group.add_argument(
        "--header-line",
        type=int,
        metavar="N",
        help="line N of a text FILE (row N of a sheet) names the columns; lines above it are not read",
    )


def add_run_limits(limits: "argparse._ArgumentGroup") -> None:
    add_limits(limits)
    limits.add_argument(
        "--last-failed",
        "--lf",
        action="store_true",
        help="ask again only the queries to which the run in --out (on a terminal: the newest under reports/) has no "
        "readable answer; add it to that run's own command",
    )


def add_limits(limits: "argparse._ArgumentGroup") -> None:
    limits.add_argument(
        "--dry-run", action="store_true", help="print the planned queries and the most that they can cost; ask nothing"
    )
    limits.add_argument(
        "--max-connections",
        type=positive,
        metavar="N",
        help="send at most N requests at a time to a model (default: as many as its server takes)",
    )
    limits.add_argument(
        "--max-requests", type=positive, metavar="N", help="send at most N requests in all, including repeated ones"
    )
    limits.add_argument("--max-cost", type=dollars, metavar="X", help="spend at most X US dollars")
    limits.add_argument(
        "--prices", type=path, metavar="FILE", help="a TOML file of prices, in place of the shipped one"
    )
    limits.add_argument(
        "--no-cache",
        dest="cache",
        action="store_false",
        help="do not use stored replies of earlier runs, and store none (see the cache command)",
    )
    limits.add_argument(
        "--retry-unanswered", action="store_true", help="ask again if the stored reply is a refusal, cut off or empty"
    )


def add_no_defaults(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument("--no-defaults", action="store_true", help="ignore [tool.tabcontam] in pyproject.toml")


def add_open(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument("--open", action="store_true", help="open the finished report in the browser")


def add_output(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument(
        "-v", "--verbose", action="count", default=0, help="print each result, with the replies that could not be read"
    )
    group.add_argument("-q", "--quiet", action="count", default=0, help="print only the summary")
    group.add_argument(
        "-r",
        dest="summary",
        metavar="CHARS",
        type=summary,
        default="caus",
        help="the results that the summary lists: c contaminated, n not detected, u uninformative, a no answer, "
        "s skipped, p scores without a verdict, A all, N none (default: %(default)s)",
    )
    group.add_argument("--durations", type=positive, metavar="N", help="list the N results whose answers took longest")
    group.add_argument(
        "--color", choices=COLORS, default=COLORS[0], help="colour the report (default: auto, on a terminal only)"
    )
    group.add_argument("--json", action="store_true", help="print results.json instead of the report")


def _add_conditions(group: "argparse._ArgumentGroup | argparse.ArgumentParser") -> None:
    group.add_argument(
        "--fail-on",
        action="append",
        choices=FAILURES,
        default=[],
        help="exit with 1 in one more case: undecided, if the tests cannot tell; knowledge, if tests of "
        "knowledge detect that the model knows the dataset, even if it has read no row",
    )
    group.add_argument("--min-power", type=level, metavar="P", help=texts.MIN_POWER.format(default=MIN_POWER))
    group.add_argument("--max-memory-share", type=level, metavar="S", help=texts.MAX_MEMORY_SHARE)
    group.add_argument("--baseline", type=path, metavar="RUN_DIR", help=texts.BASELINE)
