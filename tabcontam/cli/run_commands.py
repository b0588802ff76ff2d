"""The commands that ask LLMs: `run` and `gate`. Heavy modules are imported where they are needed."""

import argparse
import gc
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tabcontam.cli.newest_run import last_run
from tabcontam.cli.printing import command_line, discard_output, open_page, print_json, print_results
from tabcontam.cli.run_arguments import typed_settings
from tabcontam.config import CONDITIONS, GATE, RUN, RunConfig, settings
from tabcontam.errors import Exit, UsageError
from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from tabcontam.asking.run_progress import Progress
    from tabcontam.runs.run import Outcome, Run
    from tabcontam.verdicts.gate import EarlierRun
    from tabcontam.verdicts.results import RunResults


def run(options: argparse.Namespace) -> int:
    if options.min_power is not None and not options.until_decided:
        raise UsageError("--min-power needs --until-decided; add it, or give --min-power to the gate command")
    if options.open and options.dry_run:
        raise UsageError("--dry-run writes no report; leave --open out")
    if options.dry_run:
        _print_plan(options)
        return Exit.DONE
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
    return done


def gate(options: argparse.Namespace) -> int:
    named = options.llm or options.dataset
    if options.folder is None and not named and (last := last_run("gate")) is not None:
        options.folder = last
    if options.folder is not None:
        from tabcontam.report.github import summarize
        from tabcontam.runs.folder import load
        from tabcontam.runs.rescoring import check_agrees

        given = [name for name in typed_settings(options, GATE) if settings()[name].group != CONDITIONS]
        if asking := [settings()[name].flag for name in given if name not in ("llm", "dataset", "no_defaults")]:
            raise UsageError(f"{', '.join(asking)}: a past run is not asked again; leave RUN_DIR out to make a new one")
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


def config_of(options: argparse.Namespace) -> RunConfig:
    """Return the settings of the run to make."""
    words = typed_settings(options, RUN) | {"defaults": getattr(options, "defaults", ""), "began": options.began}
    words["memory_share"] = options.memory_share or getattr(options, "max_memory_share", None) is not None
    return RunConfig(**words, command=command_line())


def _prepared(options: argparse.Namespace) -> tuple["Run", "Progress"]:
    """Return the planned run and its progress display, which starts before slow imports."""
    from tabcontam.report.progress_display import progress

    shown = progress(quiet=getattr(options, "quiet", 0) > 0)
    with shown.doing(f"tabcontam {__version__}: loading"):
        from tabcontam.runs.run import prepare
    with disable_garbage_collector():  # all cells and queries of a plan are used to the end
        run = prepare(config_of(options), shown, asks=not options.dry_run)
        for line in run.notices:
            print(line, file=sys.stderr)
        _check_llms_of_file(run, getattr(options, "llms_of_file", ()))
        gc.freeze()
    return run, shown


def _check_llms_of_file(run: "Run", named: Sequence[str]) -> None:
    """Raise `UsageError` for an LLM that is asked over a network but that only a project's file names."""
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
    from tabcontam.verdicts.gate import EarlierRun

    if folder is not None and folder.resolve() == options.baseline.resolve():
        raise UsageError(f"--baseline: {options.baseline} is the run itself; name the folder of an earlier one")
    return EarlierRun(str(options.baseline), load(options.baseline))


def _judged(
    options: argparse.Namespace,
    results: "RunResults",
    baseline: "EarlierRun | None",
    llms: Sequence[str] = (),
    datasets: Sequence[str] = (),
) -> int:
    from tabcontam.report.github import annotate
    from tabcontam.verdicts.gate import judge

    judgement = judge(
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
        if options.json:
            print_json(judgement.document())
            return judgement.exit_code
        if options.verbose:
            for finding in judgement.findings:
                print(f"{finding.conclusion}: {finding}")
        print(judgement, flush=True)
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
