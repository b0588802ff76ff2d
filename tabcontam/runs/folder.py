"""Reading and writing a run's folder: record results, load a past run, merge several runs."""

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from tabcontam.asking.part_records import Records
from tabcontam.asking.trial_file import JUNIT, RECALLED, RESULTS, TRIALS, Key, Line, as_lines, open_folder
from tabcontam.config import CALIBRATED, PAPER
from tabcontam.errors import UsageError, option
from tabcontam.garbage_collection import disable_garbage_collector
from tabcontam.paths import ESCAPED, replace_files_together
from tabcontam.replay.answer_records import CATALOGUE
from tabcontam.replay.recorded_squares import one_result_a_square
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.report.trials_by_result import TrialSource
from tabcontam.runs.folder_part import folder_parts, records_in
from tabcontam.runs.joined_parts import check_none_missing, joined_facts, plan_order
from tabcontam.runs.replacement_check import check_replaceable
from tabcontam.runs.stored_trials import StoredTrials, TrialPlaces, last_lines, reference_lines, shown_lines
from tabcontam.verdicts.comparison import (
    QueryOutcomes,
    ResultPair,
    answers_of,
    compared_results,
    comparisons,
    note_differences,
    pair_runs,
    planned_alike,
)
from tabcontam.verdicts.document import read_results, write_results
from tabcontam.verdicts.llm_ranking import correlations, ranking
from tabcontam.verdicts.result_building import build_results
from tabcontam.verdicts.result_types import Result, ResultKey
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import Over
from tabcontam.verdicts.run_facts import MergedRun, RunFacts, catalogued, in_order, known_tests
from tabcontam.version import __version__

ANEW = "delete that file and run the same command again: the answers are in trials.jsonl"
REPORTS = Path("reports")  # for runs without a named folder
Part = TypeVar("Part")


def new_folder(moment: datetime) -> Path:
    """Return a new folder for a run without a named folder: `reports/<time>`, in local time."""
    first = folder = REPORTS / moment.astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    number = 1
    while folder.exists():
        number += 1
        folder = first.with_name(f"{first.name}-{number}")
    return folder


def record(folder: Path, run_results: RunResults, shown: RunResults | None = None) -> tuple[RunResults, StoredTrials]:
    """Write results.json, junit.xml, recalled.csv and the pages next to trials.jsonl; the pages show `shown`, if given.

    All new files replace the older files together, at the end. Recorded answers have no recalled.csv. Returns the
    results with their comparisons, and the trials as `shown_lines` does. Raises `UsageError`.
    """
    with written_together(folder) as new:
        return _recorded(folder, new, run_results, shown)


def _recorded(
    folder: Path,
    new: Path,
    run_results: RunResults,
    shown: RunResults | None = None,
    runs: Sequence[ResultPair] = (),
    written: TrialPlaces | None = None,
) -> tuple[RunResults, StoredTrials]:
    """Write the files of `record` into a `new` folder, from the trials in `folder`.

    `runs` are the pairs of results that are in two merged runs, and `written` has the places of their trials.
    """
    trials = shown_lines(folder, run_results.results, written)
    if run_results.run.recorded:  # no file of this folder contains the parts' records
        run_results = replace(run_results, comparisons=comparisons(run_results.run, run_results.results, {}, runs))
        shown = run_results if shown is None else replace(shown, comparisons=run_results.comparisons)
        write_report(new, run_results, shown, trials)
        return run_results, trials
    run_results = run_results.with_more(**_fields(records_in([folder]), trials, run_results))
    return write_report(new, run_results, shown or run_results, trials, runs), trials


@contextmanager
def written_together(folder: Path) -> Iterator[Path]:
    """Yield a new folder. At the end its files replace the files in `folder` together. Raises `UsageError`."""
    try:
        with replace_files_together(folder) as new:
            yield new
            written = {path.name for path in new.iterdir()}
        for older in folder.glob("llm-[0-9]*.html"):
            if older.name not in written:
                older.unlink()
    except OSError as error:
        raise UsageError(
            f"cannot write the report to {folder}: {error.strerror}; the answers are in {folder / TRIALS}: "
            f"make room and run python -m tabcontam rescore {folder}"
        ) from error


@disable_garbage_collector()
def write_report(
    folder: Path,
    run_results: RunResults,
    shown: RunResults,
    trials: TrialSource,
    runs: Sequence[ResultPair] | None = None,
) -> RunResults:
    """Write all files made of results and their trials into a folder; the pages show `shown`.

    Each test's trials are read once. With `runs`, the pairs of results that are in two merged runs, the comparisons are
    made again. Returns the results as they are written.
    """
    from tabcontam.report.html import INDEX, Pages
    from tabcontam.report.junit import write_junit
    from tabcontam.report.recalled_cells import RecalledCellWriter
    from tabcontam.runs.llm_extracts import llm_extracts

    answers, recalled = dict[ResultKey, QueryOutcomes](), dict[str, str]()
    compared = frozenset() if runs is None else compared_results(run_results.run, run_results.results)
    with llm_extracts(run_results, shown, trials, compared) as each:
        pages = Pages(shown)
        for llm, own in each:
            recalled[llm] = own.recalled
            answers |= own.answers
            for page, text in pages.of_llm(llm, own.digest).items():
                _write(folder / page, text)
    if not run_results.run.recorded:
        with (folder / RECALLED).open("w", encoding="utf-8", errors=ESCAPED, newline="") as file:
            RecalledCellWriter(file)
            file.writelines(recalled[llm] for llm in dict.fromkeys(result.llm for result in run_results.results))
    if runs is not None:
        found = comparisons(run_results.run, run_results.results, answers, runs)
        run_results, shown = run_results.with_more(comparisons=found), shown.with_more(comparisons=found)
    _write(folder / INDEX, pages.index(shown))
    write_results(folder, run_results)
    write_junit(folder / JUNIT, run_results)
    return run_results


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors=ESCAPED, newline="")


def load(folder: Path) -> RunResults:
    """Return the results of a past run. Raises `UsageError`."""
    found = read_results(folder)
    if found.run.recorded:
        raise UsageError(f"{folder} holds recorded answers that `replay` judged, not a run")
    lacking = [name for name in ("seconds", "alpha", "level") if getattr(found.run, name) is None]
    if lacking:
        raise UsageError(f"{folder / RESULTS}: the run lacks {', '.join(lacking)}; {ANEW}")
    return found


def load_whole(folder: Path) -> RunResults:
    """Return the results of a run with its prompts and answers. Raises `UsageError` if these were redacted."""
    found = load(folder)
    if found.run.redacted is not None:
        raise UsageError(f"{folder} is a published report without prompts and answers; give the run's own folder")
    return found


def merge(folders: Sequence[Path], out: Path, over: Over | None = None, incomplete: bool = False) -> RunResults:
    """Return one report from several runs, recorded in `out`. `over` can change which results share an error budget.

    Parts of one run, made with `--shard`, become that run; with `incomplete`, parts may be missing. Raises
    `UsageError`.
    """
    return merged(folders, out, over, incomplete)[0]


@disable_garbage_collector()
def merged(
    folders: Sequence[Path], out: Path, over: Over | None = None, incomplete: bool = False
) -> tuple[RunResults, StoredTrials]:
    """Return the results of `merge`, and the trials as `shown_lines` does. Raises `UsageError`."""
    check_replaceable(out, folders)
    found, lines, pairs = _merged(folders, over, incomplete)
    records = records_in(folders, {result.key for result in found.results})
    with written_together(open_folder(out)) as new:
        with (new / TRIALS).open("wb") as file:
            written = lines.write(file)
        for name, own in records.items():
            if held := own.lines():
                _write(new / folder_parts()[name].file, as_lines(held))
        return _recorded(new, new, found, runs=pairs, written=written)


def _fields(records: Records, trials: Iterable[Line], found: RunResults) -> dict[str, Any]:
    return {name: value for own in records.values() for name, value in own.fields(trials, found.results).items()}


def load_all(folders: Sequence[Path], over: Over | None = None, incomplete: bool = False) -> RunResults:
    """Return the results of a folder, or of several merged folders, without writing. Raises `UsageError`."""
    if len(folders) > 1 or over:
        found, lines, pairs = _merged(folders, over, incomplete)
        fields = _fields(records_in(folders, {result.key for result in found.results}), lines, found)
        by_id = planned_alike(found.run)
        compared = compared_results(found.run, found.results)
        answers = {name: answers_of(lines.trials_of(name), by_id) for name in compared}
        return replace(found, comparisons=comparisons(found.run, found.results, answers, pairs), **fields)
    return read_results(folders[0])


@dataclass(frozen=True)
class _MergedTrials:
    """The trials of several runs: for each result the trials of one run, then the trials of references."""

    results: Mapping[ResultKey, StoredTrials]
    references: Mapping[ResultKey, StoredTrials]

    def trials_of(self, name: ResultKey) -> list[Line]:
        """Return the trials of a result."""
        return self.results[name].trials_of(name) if name in self.results else []

    def __iter__(self) -> Iterator[Line]:
        for name, trials in self.results.items():
            yield from trials.trials_of(name)

    def write(self, file: BinaryIO) -> TrialPlaces:
        """Copy all trials from their files, one result at a time. Return their new places."""
        start, number = 0, 0
        places: dict[ResultKey, array[int]] = {}
        for name, trials in (*self.results.items(), *self.references.items()):
            for text, _ in trials.texts_of(name):
                whole = text if text.endswith(b"\n") else text + b"\n"
                number += 1
                places.setdefault(name, array("Q")).extend((start, len(whole), number))
                start += file.write(whole)
        return places


def _merged(
    folders: Sequence[Path], over: Over | None, incomplete: bool
) -> tuple[RunResults, _MergedTrials, list[ResultPair]]:
    """Return several runs as one, its trials, and the pairs of results that are in two runs. The later result counts.

    Raises `UsageError`.
    """
    parts = [load_whole(folder) for folder in folders]
    own_results: dict[Key, Result] = {}
    trials_of: dict[ResultKey, StoredTrials] = {}
    of_references: dict[ResultKey, StoredTrials] = {}
    trials = [last_lines(folder, part.results) for folder, part in zip(folders, parts, strict=True)]
    for folder, part, own in zip(folders, parts, trials, strict=True):
        names = [result.key for result in part.results]
        for name in names:  # a result that is in a later run takes its place from that run
            trials_of.pop(name, None)
        trials_of |= dict.fromkeys(names, own)
        own_results |= zip(names, part.results, strict=True)
        said = reference_lines(folder, part.results)
        for name in said.places.keys() & of_references.keys():
            _check_asked_alike(name, of_references[name], said)
        of_references |= dict.fromkeys(said.places, said)
    for name in of_references.keys() & trials_of.keys():  # the trials of a run that tests the reference count
        _check_asked_alike(name, of_references.pop(name), trials_of[name])
    lines = _MergedTrials(trials_of, of_references)
    named = [str(folder) for folder in folders]
    facts = [replace(part.run, family_over=over or part.run.family_over) for part in parts]
    if any(run.shard for run in facts):
        joined = joined_facts(facts, named)
        if not incomplete and len(folders) > 1:
            check_none_missing(joined, own_results.values())
        return build_results(joined, sorted(own_results.values(), key=plan_order(joined))), lines, []
    about = _merged_facts(facts, named)
    under_test = {llm.spec for llm in about.llms if not llm.control}
    judged_results = [
        replace(result, control=False) if result.control and result.llm in under_test else result
        for result in own_results.values()
    ]
    ran = [(name, part.results, own.trials_of) for name, part, own in zip(named, parts, trials, strict=True)]
    return build_results(about, judged_results), lines, pair_runs(ran)


def _check_asked_alike(name: ResultKey, one: StoredTrials, other: StoredTrials) -> None:
    """Raise `UsageError` if two runs asked a reference different queries in one result."""
    asked = {line["query"]: (line["asked"], line["expected"], line["prompt"]) for line in one.trials_of(name)}
    for line in other.trials_of(name):
        own = line["asked"], line["expected"], line["prompt"]
        if asked.get(line["query"], own) != own:
            what = f"the reference {line['llm']} different queries of {line['test']} on {line['dataset']}"
            raise UsageError(f"the runs asked {what}; report them one by one")


def _merged_facts(runs: Sequence[RunFacts], names: Sequence[str]) -> RunFacts:
    """Return the facts of several merged runs. A control that one run names in `--llm` is under test in all."""
    rules = {run.rules for run in runs}
    if len(rules) > 1:
        raise UsageError(f"the runs were judged by different rules ({', '.join(sorted(rules))}); rescore one of them")
    if len(alphas := {run.alpha or 0.0 for run in runs}) > 1:
        levels = ", ".join(f"{alpha:g}" for alpha in sorted(alphas))
        raise UsageError(
            f"the runs were judged at different levels ({levels}); run them again with one {option('alpha')}"
        )
    if len({run.family_over for run in runs}) > 1:
        raise UsageError(
            "the runs' LLMs share their error budgets differently; "
            f"add {option('family_over', 'llm')} or {option('family_over', 'all')}"
        )
    named = {llm.spec for run in runs for llm in run.llms if not llm.control}
    llms = _last((llm for run in runs for llm in run.llms), lambda llm: llm.spec)
    notes = [*(note for run in runs for note in run.notes), *note_differences(runs, names)]
    merged: list[MergedRun] = []
    for name, run in zip(names, runs, strict=True):
        facts = {field.name: getattr(run, field.name) for field in fields(MergedRun) if field.name != "folder"}
        merged += run.runs or (MergedRun(folder=name, **facts),)
    return replace(
        runs[-1],
        llms=tuple(replace(llm, control=llm.control and llm.spec not in named) for llm in llms),
        datasets=_last((one for run in runs for one in run.datasets), lambda one: one.key),
        references=_last((llm for run in runs for llm in run.references), lambda llm: llm.spec),
        trained_on=_last((one for run in runs for one in run.trained_on), lambda one: one),
        known=_last((file for run in runs for file in run.known), lambda file: file),
        serializers=_last((one for run in runs for one in run.serializers), lambda one: one.name),
        prompts=_last((one for run in runs for one in run.prompts), lambda one: one.name),
        tests=in_order(test for run in runs for test in run.tests),
        seed=", ".join(dict.fromkeys(str(run.seed) for run in runs)) if len(runs) > 1 else runs[0].seed,
        queries=runs[0].queries if len({run.queries for run in runs}) == 1 else None,
        rows=runs[0].rows if len({run.rows for run in runs}) == 1 else None,
        catalogue={llm: entry for run in runs for llm, entry in run.catalogue.items()},
        durations=_last((took for run in runs for took in run.durations), lambda took: took.key),
        **{name: fact for part in folder_parts().values() for name, fact in part.merged_facts(runs).items()},
        command="; ".join(run.command for run in runs),
        seconds=round(sum(run.seconds or 0.0 for run in runs), 2),
        level=min(run.level or 0.0 for run in runs),
        levels={family: min(run.level_of(family) for run in runs) for run in runs for family in run.levels},
        notes=_last(notes, lambda note: note),
        runs=tuple(merged),
    )


def _last(parts: Iterable[Part], key: Callable[[Part], Hashable]) -> tuple[Part, ...]:
    """Return the last part of each key, in the order in which the keys first appear."""
    return tuple({key(part): part for part in parts}.values())


def replay_results(found: ReplayOutcome, differences: bool, rules: str, dictionary: str, command: str) -> RunResults:
    """Return the results of recorded answers: the verdicts and, if `differences` are wanted, these, too."""
    own_results = found.results
    run = RunFacts(
        version=__version__,
        command=command,
        rules=PAPER if rules == PAPER else CALIBRATED,
        dictionary=dictionary,
        recorded=True,
        catalogue=catalogued({result.llm: CATALOGUE.get(result.llm, result.llm) for result in own_results}),
        tests=in_order(known_tests()[result.test] for result in own_results),
    )
    ranks = ranking(one_result_a_square([result for result in own_results if not result.serializer]), rules)
    return RunResults(
        run=run,
        results=tuple(own_results),
        ranking=ranks,
        correlations=correlations(ranks),
        comparisons=comparisons(run, own_results, {}),
        differences=tuple(found.differences) if differences else None,
        rule_differences=tuple(found.rule_differences) if differences else None,
        **{name: value for part in folder_parts().values() for name, value in part.of_replay(found).items()},
    )


def record_replay(out: Path, run_results: RunResults) -> None:
    """Write the results of recorded answers as a folder without trials. Raises `UsageError`."""
    if (open_folder(out) / TRIALS).exists():
        raise UsageError(f"{out} holds a run; choose another folder with {option('out')}")
    record(out, run_results, shown=replace(run_results, results=one_result_a_square(run_results.results)))
