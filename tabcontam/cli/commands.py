"""Commands: read arguments, call, print; nothing else.

Everything heavy is imported where a command needs it, so that `--help` and `list` start at once.
"""

import argparse
import gc
import io
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from tabcontam.cli.arguments import BATCH_SIZE, FORMS, asked, parser
from tabcontam.cli.console import console_of
from tabcontam.errors import Exit, UsageError
from tabcontam.verdicts.rules import ALPHA, FAMILY_OVER, MIN_POWER, RULES
from tabcontam.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from tabcontam.asking.progress import Progress
    from tabcontam.runs.run import Outcome, Run, RunOrder
    from tabcontam.verdicts.recorded import RuleDifference
    from tabcontam.verdicts.results import RunResults


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    began = time.monotonic()
    options = parser().parse_args(arguments, argparse.Namespace(began=began))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name or a reply may hold what the terminal cannot show
    try:
        return COMMANDS[options.command](options) or Exit.DONE
    except UsageError as error:
        print(f"tabcontam: {' '.join(str(error).split())}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("tabcontam: interrupted; the same command with the same --out continues", file=sys.stderr)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _read_no_more()
        return Exit.DONE
    except Exception:
        import traceback

        traceback.print_exc()
        print(f"tabcontam {__version__}: internal error; please report the lines above", file=sys.stderr)
        return Exit.INTERNAL_ERROR


def _read_no_more() -> None:
    """`| head` closed the pipe: nobody reads on, nothing is wrong."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(options: argparse.Namespace) -> int:
    _check_gate(options)
    if options.dry_run:
        _print_plan(options)
        return Exit.DONE
    outcome = _executed(options)
    results = outcome.results
    if not options.json:  # the last line says what time passed, with that of writing the report in it
        from dataclasses import replace

        results = replace(results, run=replace(results.run, seconds=outcome.seconds))
    try:
        _print_results(results, outcome.folder, options)
    except BrokenPipeError:  # which must not become exit code 0
        _read_no_more()
    ended = _ended(outcome)
    if ended is not Exit.DONE or not options.gate:
        return ended
    return _judged(options, outcome.results, file=sys.stderr if options.json else sys.stdout)


def _check_gate(options: argparse.Namespace) -> None:
    """Raises `UsageError` for conditions without a gate, and for a gate without a run."""
    alone = options.min_power is not None and not options.until_decided
    if not options.gate and (options.fail_on or alone):
        raise UsageError(f"{'--fail-on' if options.fail_on else '--min-power'} is a condition of --gate; add --gate")
    if options.gate and options.dry_run:
        raise UsageError("--dry-run asks nothing, so that --gate cannot tell; leave one of them out")


def order_of(words: Mapping[str, Any], command: str) -> "RunOrder":
    """What is to be run, in the words of `tabcontam.run`; None is the default, and `command` is what the user typed."""
    from tabcontam.asking.plan import Options
    from tabcontam.runs.run import RunOrder

    return RunOrder(
        llms=tuple(words["llm"]),
        datasets=tuple(words["dataset"]),
        serializers=tuple(words["serializer"]),
        prompts=tuple(words["prompts"]),
        expression=words["tests"],
        marks=words["marks"],
        options=Options(
            seed=words["seed"] or 0,
            rules=words["rules"] or RULES[0],
            alpha=words["alpha"] or ALPHA,
            family_over=words["family_over"] or FAMILY_OVER[0],
            queries=words["queries"],
            until_decided=words["until_decided"],
            min_power=words["min_power"] or MIN_POWER,
            connections=words["max_connections"],
            stop_at_first=words["stop_at_first"],
            retry_unanswered=words["retry_unanswered"],
            most_requests=words["max_requests"],
            most_dollars=words["max_cost"],
        ),
        controls=words["controls"],
        out=words["out"],
        target=words["target"],
        name=words["name"],
        known=tuple(words["known"]),
        reference=words["reference"],
        send_rows=words["send_rows"],
        form=words["form"] or FORMS[0],
        batch_size=words["batch_size"] or BATCH_SIZE,
        prices=words["prices"],
        cache=words["cache"],
        command=command,
        began=words["began"],
    )


def _prepared(options: argparse.Namespace) -> tuple["Run", "Progress"]:
    """The planned run, and what shows its progress from the start, before anything heavy is imported."""
    from tabcontam.report.progress import progress

    shown = progress(quiet=getattr(options, "quiet", 0) > 0)
    with shown.doing(f"tabcontam {__version__}: loading"):
        from tabcontam.runs.run import prepare
    gc.disable()  # a plan's cells and queries are all in use to the end: to look for garbage among them takes long
    try:
        run = prepare(order_of(vars(options), _command_line()), shown)
        gc.freeze()
    finally:
        gc.enable()
    return run, shown


def _executed(options: argparse.Namespace) -> "Outcome":
    from tabcontam.report.github import summarize

    run, shown = _prepared(options)
    from tabcontam.runs.run import execute

    outcome = execute(run, shown)
    summarize(outcome.results)
    return outcome


def _ended(outcome: "Outcome") -> Exit:
    """How a run ended. Raises `UsageError` where no LLM gave a single reply."""
    if outcome.results.run.interrupted:
        print(f"interrupted; continue with the same command and --out {outcome.folder}", file=sys.stderr)
        return Exit.INTERRUPTED
    if outcome.failure:
        raise UsageError(f"no LLM could be reached: {outcome.failure}")
    return Exit.DONE


def _gate(options: argparse.Namespace) -> int:
    if options.folder is not None:
        from tabcontam.report.github import summarize
        from tabcontam.runs.folder import load

        if given := asked(options):
            raise UsageError(f"{', '.join(given)}: a past run is not asked again; leave RUN_DIR out to make a new one")
        past = load(options.folder)
        summarize(past)
        return _judged(options, past, options.llm, options.dataset)
    if not options.llm or not options.dataset:
        raise UsageError("the gate needs the folder of a run, or --llm and --dataset to make one; see gate --help")
    if options.dry_run:
        raise UsageError("--dry-run asks nothing, so that the gate cannot tell; type run --dry-run to see the plan")
    outcome = _executed(options)
    print(f"report: {outcome.folder / 'index.html'}", file=sys.stderr)
    ended = _ended(outcome)
    return ended if ended is not Exit.DONE else _judged(options, outcome.results)


def _judged(
    options: argparse.Namespace,
    results: "RunResults",
    llms: Sequence[str] = (),
    datasets: Sequence[str] = (),
    file: TextIO | None = None,
) -> int:
    """Say what the gate decides, and exit as it does."""
    from tabcontam.report.github import annotate
    from tabcontam.verdicts.gate import judge

    judgement = judge(results, llms=llms, datasets=datasets, fail_on=options.fail_on, min_power=options.min_power)
    try:
        annotate(judgement)
        if options.command == "gate" and options.json:
            _print_json(judgement.document())
            return judgement.exit_code
        if options.command == "gate" and options.verbose:
            for finding in judgement.findings:
                print(f"{finding.conclusion}: {finding}")
        print(judgement, file=file or sys.stdout, flush=True)
    except BrokenPipeError:  # the exit code is what a script reads
        _read_no_more()
    return judgement.exit_code


def _print_json(value: object, default: Callable[[Any], object] | None = None) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False, indent=1, default=default), flush=True)


def _command_line() -> str:
    import shlex

    return shlex.join(["python", "-m", "tabcontam", *sys.argv[1:]])


def _print_plan(options: argparse.Namespace) -> None:
    run, shown = _prepared(options)
    from tabcontam.asking.plan import rows_shown
    from tabcontam.report.plan import plan_document, plan_text
    from tabcontam.runs.about import not_asked
    from tabcontam.runs.run import survey

    estimates, leaving, left_out = survey(run, shown), rows_shown(run.cells), not_asked(run)
    if options.json:
        _print_json(plan_document(run.cells, estimates, leaving, left_out))
    else:
        print(plan_text(run.cells, estimates, leaving, left_out))


def _print_results(results: "RunResults", folder: "Path", options: argparse.Namespace) -> None:
    from tabcontam.report.github import plain_log
    from tabcontam.report.terminal import print_header, print_report
    from tabcontam.runs.folder import shown_lines
    from tabcontam.verdicts.document import as_json

    if options.json:
        print(as_json(results), end="", flush=True)
        return
    console, verbosity = console_of(options.color), options.verbose - options.quiet
    with plain_log():
        print_header(console, results, verbosity)
        print_report(
            console,
            results,
            shown_lines(folder, results.cells),
            verbosity,
            index=folder / "index.html",
            summary=options.summary,
            durations=options.durations or 0,
        )


def _rescore(options: argparse.Namespace) -> None:
    from tabcontam.runs.folder import rescore

    _print_results(rescore(options.run, options.rules), options.run, options)


def _report(options: argparse.Namespace) -> None:
    from datetime import datetime

    from tabcontam.report.github import summarize
    from tabcontam.runs.folder import load_all, merge, new_folder

    if options.format:
        if options.json:
            raise UsageError("--json prints results.json; leave it or --format out")
        _write_format(load_all(options.runs, options.family_over), options.format, options.out)
        return
    out = options.out or new_folder(datetime.now())
    results = merge(options.runs, out, options.family_over)
    _print_results(results, out, options)
    summarize(results)


def _write_format(results: "RunResults", form: str, out: "Path | None") -> None:
    """One document, on standard output or in a file that is replaced as a whole. Raises `UsageError`."""
    from tabcontam.paths import replace_file
    from tabcontam.report.formats import render_form

    if out is None:
        if form == "pdf" and sys.stdout.isatty():
            raise UsageError("a PDF is nothing for a terminal; add --out FILE")
        sys.stdout.flush()
        sys.stdout.buffer.write(render_form(results, form))
        sys.stdout.buffer.flush()
        return
    file = out.resolve()  # a link stays a link
    if file.exists() and not file.is_file():
        raise UsageError(f"--out: {out} is no file; with --format it is the file to write, or none for standard output")
    try:
        replace_file(file, render_form(results, form))
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror or error}") from error


def _replay(options: argparse.Namespace) -> None:
    from tabcontam.reading.words import english
    from tabcontam.replay.calibrated import replay_calibrated
    from tabcontam.replay.published import differences, replay_published
    from tabcontam.replay.records import read_records
    from tabcontam.report.replay_text import render_replay
    from tabcontam.runs.folder import record_replay, replay_results
    from tabcontam.verdicts.document import as_json
    from tabcontam.verdicts.rules import PAPER

    records, dictionary = read_records(options.records), english()
    cells = replay_published(records, dictionary) if options.rules == PAPER else []
    by_rules: list[RuleDifference] = []
    if options.differences or options.rules != PAPER:
        calibrated, by_rules = replay_calibrated(records, dictionary)
        cells = cells or calibrated
    found = differences(records, dictionary) if options.differences else None
    results = replay_results(cells, found, by_rules, options.rules, dictionary.name, _command_line())
    if options.out:
        record_replay(options.out, results)
    if options.json:
        print(as_json(results), end="")
    else:
        print(render_replay(results))


def _power(options: argparse.Namespace) -> int:
    from tabcontam.calibration.power import Study, measure
    from tabcontam.evidence.prompts import DEFAULT as DEFAULT_PROMPTS
    from tabcontam.report.power_text import print_power
    from tabcontam.report.progress import progress
    from tabcontam.runs.run import DATASETS
    from tabcontam.tables.serializers import DEFAULT
    from tabcontam.verdicts.document import as_json

    study = Study(
        datasets=tuple(options.dataset) or DATASETS,
        serializer=options.serializer or DEFAULT,
        prompts=options.prompts or DEFAULT_PROMPTS,
        expression=options.expression,
        marks=options.marks,
        alpha=options.alpha,
        runs=options.runs,
        seed=options.seed,
        target=options.target,
        name=options.name,
        known=tuple(options.known),
    )
    try:
        with progress(quiet=False).doing("simulated runs") as tell:
            document = measure(study, tell)
    except KeyboardInterrupt:
        print("tabcontam: interrupted; nothing was kept", file=sys.stderr)
        return Exit.INTERRUPTED
    if options.json:
        print(as_json(document), end="")
    else:
        print_power(console_of(), document)
    return Exit.DONE


def _list(options: argparse.Namespace) -> None:
    from tabcontam.cli.listing import LISTED, as_text

    items = LISTED[options.what]()
    if options.json:
        _print_json(items, default=sorted)
    else:
        print(as_text(items, verbose=options.verbose))


def _cache(options: argparse.Namespace) -> None:
    from contextlib import closing

    from tabcontam.asking.replies import Store
    from tabcontam.report.cache_text import cache_text

    with closing(Store.open()) as store:
        dropped = store.clear() if options.clear else 0
        facts = store.facts()
    if options.json:
        _print_json(facts, default=str)
    else:
        print((f"{dropped} stored replies dropped\n" if options.clear else "") + cache_text(facts))


COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {
    "run": _run, "list": _list, "replay": _replay, "power": _power, "rescore": _rescore, "report": _report,
    "gate": _gate, "cache": _cache,
}  # fmt: skip
