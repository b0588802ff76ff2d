"""The commands on past answers: `rescore`, `report` and `replay`. They ask no LLM."""

import argparse
import gc
import sys
from typing import TYPE_CHECKING

from tabcontam.cli.core_arguments import report_changes
from tabcontam.cli.newest_run import last_run
from tabcontam.cli.printing import command_line, open_page, print_results
from tabcontam.cli.run_arguments import typed_settings
from tabcontam.config import RESCORE
from tabcontam.errors import UsageError

if TYPE_CHECKING:
    from tabcontam.verdicts.results import RunResults


def rescore(options: argparse.Namespace) -> None:
    from tabcontam.report.progress_display import progress
    from tabcontam.runs.rescoring import rescore

    with progress(bool(options.quiet)).doing("judging the answers again"):
        results = rescore(options.run, options.rules, typed_settings(options, RESCORE))
    print_results(results, options.run, options)


def report(options: argparse.Namespace) -> None:
    from datetime import datetime

    from tabcontam.report.github import summarize
    from tabcontam.report.progress_display import progress
    from tabcontam.runs.folder import load_all, merged, new_folder
    from tabcontam.runs.rescoring import check_agrees
    from tabcontam.verdicts.document import read_results

    if not options.runs:
        last = last_run("report")
        if last is None:
            raise UsageError("report needs the folder of a run (its --out), or several; see report --help")
        options.runs = [last]
    if options.format and options.json:
        raise UsageError("--json and --format do not go together; leave one out")
    if options.format and options.open:
        raise UsageError(f"--open shows pages, and --format {options.format} writes none; leave one out")
    for folder in options.runs:
        if not (past := read_results(folder)).run.recorded:
            check_agrees(folder, past)
    changes = [change for change in report_changes().values() if change.wanted(options)]
    if options.exclude_recalled is not None:
        _write_excluded(options)
        return
    if options.format:
        results = load_all(options.runs, options.family_over, options.incomplete)
        for change in changes:
            results = change.results(results, options)
        _write_format(options, results)
        return
    if options.methods or options.width:
        named = "--methods" if options.methods else "--width"
        raise UsageError(f"{named} applies to a single document; add --format, such as --format latex")
    out = options.out or new_folder(datetime.now())
    writing = progress(bool(options.quiet)).doing("reading the answers and writing the report")
    trials = None
    with writing:
        if changes:
            results = changes[0].folder(options, out)
        else:
            results, trials = merged(options.runs, out, options.family_over, options.incomplete)
    print_results(results, out, options, trials)
    summarize(results)
    if options.open:
        open_page(out / "index.html")
    gc.freeze()  # the process ends now; another garbage collection of all these objects would take seconds


def _write_excluded(options: argparse.Namespace) -> None:
    """Write the rows that these runs' LLMs recalled to a file, which replaces an old one. Raises `UsageError`."""
    from tabcontam.paths import replace_file
    from tabcontam.report.recalled_rows import find_recalled_rows, merge_recall, render_excluded
    from tabcontam.runs.folder import load_whole
    from tabcontam.runs.stored_trials import shown_lines

    words = [name for name, change in report_changes().items() if change.wanted(options)]
    words += [
        word for word in ("format", "methods", "width", "out", "open", "json", "incomplete") if getattr(options, word)
    ]
    if words:
        raise UsageError(f"--exclude-recalled writes its FILE and no report; leave --{words[0].replace('_', '-')} out")
    file = options.exclude_recalled.resolve()
    if file.exists() and not file.is_file():
        raise UsageError(f"--exclude-recalled: {options.exclude_recalled} is not a file; name the file to write")
    runs = [(folder, load_whole(folder)) for folder in options.runs]
    found = merge_recall(find_recalled_rows(view, shown_lines(folder, view.results)) for folder, view in runs)
    if not found:
        names = ", ".join(map(str, options.runs))
        raise UsageError(f"no row test was asked in {names}; type run -m rows with the same models and tables first")
    try:
        replace_file(file, render_excluded(found))
    except OSError as error:
        raise UsageError(f"cannot write {options.exclude_recalled}: {error.strerror or error}") from error
    rows = [one for own in found.values() for one in own.values()]
    recalled = sum(one.recalled for one in rows)
    print(
        f"{options.exclude_recalled}: {recalled:,} rows were recalled, of {len(rows):,} that the row tests could "
        "decide; about all other rows nothing is known",
        file=sys.stderr,
    )


def _write_format(options: argparse.Namespace, results: "RunResults") -> None:
    """Write a report to standard output, or to a file, which replaces an old one. Raises `UsageError`."""
    from tabcontam.paths import replace_file
    from tabcontam.report.formats import check_shape, render_form

    form, out = options.format, options.out
    shape = check_shape(form, options.methods, options.width)
    if out is None:
        if form == "pdf" and sys.stdout.isatty():
            raise UsageError("a terminal cannot show a PDF; add --out FILE")
        document = render_form(results, form, shape)
        sys.stdout.flush()
        sys.stdout.buffer.write(document)
        sys.stdout.buffer.flush()
        return
    file = out.resolve()  # a symbolic link is kept: its target is replaced
    if file.exists() and not file.is_file():
        raise UsageError(f"--out: {out} is not a file; with --format, name the file to write, or leave --out out")
    try:
        replace_file(file, render_form(results, form, shape))
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror or error}") from error


def replay(options: argparse.Namespace) -> None:
    from tabcontam.reading.word_decision import english
    from tabcontam.replay.record_kinds import judge_files
    from tabcontam.report.replay_text import render_replay
    from tabcontam.runs.folder import record_replay, replay_results
    from tabcontam.verdicts.document import as_json

    dictionary = english()
    found = judge_files(options.records, options.rules, dictionary, options.differences)
    results = replay_results(found, options.differences, options.rules, dictionary.name, command_line())
    if options.out:
        record_replay(options.out, results)
    if options.json:
        print(as_json(results), end="")
    else:
        print(render_replay(results))
