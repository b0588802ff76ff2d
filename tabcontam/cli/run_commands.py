"""The commands that ask LLMs: `run` and `gate`. Heavy modules are imported where they are needed."""

import argparse
import gc
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from tabcontam.cli.newest_run import last_run
from tabcontam.cli.printing import command_line, discard_output, open_page, print_json, print_results
from tabcontam.cli.run_arguments import BATCH_SIZE, FORMS, typed_asking_options
from tabcontam.errors import Exit, UsageError
from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.verdicts.rules import FAMILY_OVER, RULES
from tabcontam.verdicts.thresholds import ALPHA, MIN_POWER
from tabcontam.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from tabcontam.asking.run_progress import Progress
    from tabcontam.runs.run import Outcome, Run, RunOrder
    from tabcontam.verdicts.earlier_run import EarlierRun
    from tabcontam.verdicts.results import RunResults


def run(options: argparse.Namespace) -> int:
    _check_gate(options)
    if options.dry_run:
        _print_plan(options)
        return Exit.DONE
    baseline = _baseline(options, options.out)
    outcome = _executed(options)
    results = outcome.results
    if not options.json:  # the last line reports the total time, including the time for writing the report
        from dataclasses import replace

        results = replace(results, run=replace(results.run, seconds=outcome.seconds))
    try:
        print_results(results, outcome.folder, options, outcome.trials)
    except BrokenPipeError:  # a closed pipe must not become exit code 0
        discard_output()
    done = print_end(outcome)
    if options.open:
        open_page(outcome.folder / "index.html")
    if done is not Exit.DONE or not options.gate:
        return done
    return _judged(options, outcome.results, baseline, file=sys.stderr if options.json else sys.stdout)


def gate(options: argparse.Namespace) -> int:
    named = options.llm or options.dataset
    if options.folder is None and not named and (last := last_run("gate")) is not None:
        options.folder = last
    if options.folder is not None:
        from tabcontam.report.github import summarize
        from tabcontam.runs.folder import load
        from tabcontam.runs.trials_agreement import check_agrees

        if given := typed_asking_options(options):
            raise UsageError(f"{', '.join(given)}: a past run is not asked again; leave RUN_DIR out to make a new one")
        past, baseline = load(options.folder), _baseline(options, options.folder)
        if not_compared := check_agrees(options.folder, past):
            print(f"tabcontam: {not_compared}", file=sys.stderr)
        summarize(past)
        return _judged(options, past, baseline, options.llm, options.dataset)
    if not options.llm or not options.dataset:
        raise UsageError("the gate needs the folder of a run, or --llm and --dataset to make one; see gate --help")
    if options.dry_run:
        raise UsageError("--dry-run asks nothing, so the gate has no verdicts; type run --dry-run to see the plan")
    baseline = _baseline(options, options.out)
    outcome = _executed(options)
    print(f"report: {outcome.folder / 'index.html'}", file=sys.stderr)
    done = print_end(outcome)
    return done if done is not Exit.DONE else _judged(options, outcome.results, baseline)


def run_order(words: Mapping[str, Any], command: str) -> "RunOrder":
    """Return the run to make. `words` are arguments of `tabcontam.run` (None: default), `command` is as typed."""
    from tabcontam.asking.query_plan import Options
    from tabcontam.runs.run import RunOrder
    from tabcontam.tables.dataset_splits import SplitChoice
    from tabcontam.tables.readers.base import text_format

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
            min_power=words["min_power"] or MIN_POWER,
            connections=words["max_connections"],
            most_requests=words["max_requests"],
            most_dollars=words["max_cost"],
            queries=words["queries"],
            rows=words["rows"],
            samples=words["samples"],
            temperature=words["temperature"],
            shots=words["shots"],
            until_decided=words["until_decided"],
            stop_at_first=words["stop_at_first"],
            batch=words["batch"],
            retry_unanswered=words["retry_unanswered"],
            last_failed=words["last_failed"],
        ),
        control=tuple(words["control"]),
        text=text_format(words["delimiter"], words["encoding"], words["header"], words["header_line"]),
        splits=SplitChoice(tuple(words["split"]), words["split_column"]),
        known=tuple(words["known"]),
        keys=tuple(words["key"]),
        withheld=tuple(words["withheld"]),
        fresh=tuple(words["fresh"]),
        trained_on=tuple(words["trained_on"]),
        references=tuple(words["reference"]),
        form=words["form"] or FORMS[0],
        batch_size=words["batch_size"] or BATCH_SIZE,
        command=command,
        defaults=words.get("defaults", ""),
        memory_share=words["memory_share"] or words.get("max_memory_share") is not None,
        shard=words.get("shard"),
        extension_settings={
            name: words.get(name) for name in ("engine", "ray_address", "replicas", "gpus_per_replica")
        },
        controls=words["controls"],
        out=words["out"],
        target=words["target"],
        name=words["name"],
        judge=words["judge"],
        overlap=words["overlap"],
        send_rows=words["send_rows"],
        prices=words["prices"],
        cache=words["cache"],
        began=words["began"],
    )


def _check_gate(options: argparse.Namespace) -> None:
    """Raise `UsageError` for a gate's conditions without a gate, or for a gate without a run."""
    alone = options.min_power is not None and not options.until_decided
    conditions = {"--fail-on": bool(options.fail_on), "--baseline": options.baseline is not None, "--min-power": alone}
    conditions["--max-memory-share"] = options.max_memory_share is not None
    if not options.gate and (given := [name for name, typed in conditions.items() if typed]):
        raise UsageError(f"{given[0]} is a condition of --gate; add --gate")
    if options.gate and options.dry_run:
        raise UsageError("--dry-run asks nothing, so --gate has no verdicts; leave one of them out")
    if options.open and options.dry_run:
        raise UsageError("--dry-run writes no report; leave --open out")


def _prepared(options: argparse.Namespace) -> tuple["Run", "Progress"]:
    """Return the planned run and its progress display, which starts before slow imports."""
    if options.last_failed and options.out is None:
        options.out = last_run("asking again the queries without a readable answer: the run")
    from tabcontam.report.progress_display import progress

    shown = progress(quiet=getattr(options, "quiet", 0) > 0)
    with shown.doing(f"tabcontam {__version__}: loading"):
        from tabcontam.runs.run import prepare
    with disable_garbage_collector():  # all cells and queries of a plan are used to the end
        run = prepare(run_order(vars(options), command_line()), shown, asks=not options.dry_run)
        for line in run.notices:
            print(line, file=sys.stderr)
        _check_llms_of_file(run, getattr(options, "llms_of_file", ()))
        gc.freeze()
    return run, shown


def _check_llms_of_file(run: "Run", named: Sequence[str]) -> None:
    """Raise `UsageError` for an LLM that is asked over a network but named only by a project's file. Such an LLM costs
    money and receives the queries.
    """
    for subject in run.subjects:
        if subject.model.spec in named and not subject.model.local:
            typed = f"--reference {subject.model.spec}" if subject.reference else f"--llm {subject.model.spec}"
            raise UsageError(
                f"{subject.model.spec} is asked over the network, and only pyproject.toml names it; type {typed}"
            )


def _executed(options: argparse.Namespace) -> "Outcome":
    run, shown = _prepared(options)  # shows progress before the next imports
    from tabcontam.report.github import summarize
    from tabcontam.runs.run import execute

    outcome = execute(run, shown, partial(print, file=sys.stderr))
    summarize(outcome.results)
    return outcome


def print_end(outcome: "Outcome") -> Exit:
    """Print how a run ended. Return its exit code. Raises `UsageError` if no LLM gave any reply."""
    for line in outcome.going_on:
        print(line, file=sys.stderr)
    if outcome.results.run.interrupted:
        print(f"interrupted; continue with the same command and --out {outcome.folder}", file=sys.stderr)
        return Exit.INTERRUPTED
    if outcome.failure:
        raise UsageError(outcome.unreached)
    return Exit.DONE


def _baseline(options: argparse.Namespace, folder: "Path | None") -> "EarlierRun | None":
    """Return the run of --baseline before anything is asked. Raises `UsageError`, also if it is in `folder`."""
    if options.baseline is None:
        return None
    from tabcontam.runs.folder import load
    from tabcontam.verdicts.earlier_run import EarlierRun

    if folder is not None and folder.resolve() == options.baseline.resolve():
        raise UsageError(f"--baseline: {options.baseline} is the run itself; name the folder of an earlier one")
    return EarlierRun(str(options.baseline), load(options.baseline))


def _judged(
    options: argparse.Namespace,
    results: "RunResults",
    baseline: "EarlierRun | None",
    llms: Sequence[str] = (),
    datasets: Sequence[str] = (),
    file: TextIO | None = None,
) -> int:
    """Print the decision of the gate. Return its exit code."""
    from tabcontam.report.github import annotate
    from tabcontam.verdicts.earlier_run import judge_new

    judgement = judge_new(
        results,
        baseline,
        llms=llms,
        datasets=datasets,
        fail_on=options.fail_on,
        min_power=options.min_power,
        max_memory_share=options.max_memory_share,
    )
    try:
        annotate(judgement)
        if options.command == "gate" and options.json:
            print_json(judgement.document())
            return judgement.exit_code
        if options.command == "gate" and options.verbose:
            for finding in judgement.findings:
                print(f"{finding.conclusion}: {finding}")
        print(judgement, file=file or sys.stdout, flush=True)
    except BrokenPipeError:  # a script that closes the pipe needs only the exit code
        discard_output()
    return judgement.exit_code


def _print_plan(options: argparse.Namespace) -> None:
    run, shown = _prepared(options)
    from tabcontam.report.plan_text import plan_document, plan_text
    from tabcontam.runs.run import rows_leaving, survey
    from tabcontam.runs.run_description import not_asked

    estimates, leaving, left_out = survey(run, shown), rows_leaving(run), not_asked(run)
    if options.json:
        print_json(plan_document(run.plan, estimates, leaving, left_out, run.tables))
    else:
        print(plan_text(run.plan, estimates, leaving, left_out, run.tables))
