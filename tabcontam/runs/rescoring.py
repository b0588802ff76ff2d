"""A past run's trials read and judged again: nobody is asked."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from tabcontam.asking.judgements import judgements_in
from tabcontam.asking.trials import (
    RESULTS,
    TRIALS,
    Journal,
    Line,
    as_lines,
    judged,
    line_key,
    open_folder,
    trial_of,
)
from tabcontam.errors import UsageError, option
from tabcontam.evidence.base import Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.guided.algorithm import measured_by
from tabcontam.groups import grouped
from tabcontam.paths import replace_file
from tabcontam.reading.words import Dictionary, english
from tabcontam.runs.folder import last_lines, load_whole, record, reference_lines, referred
from tabcontam.runs.overlap import measure_again, stated
from tabcontam.tables.serializers import Serializer, from_facts
from tabcontam.verdicts.cells import CellName, Result
from tabcontam.verdicts.facts import RunFacts
from tabcontam.verdicts.in_turns import again_in_turns
from tabcontam.verdicts.judge import read_trial, result, results, siblings
from tabcontam.verdicts.reference import Reference
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import CALIBRATED, PAPER
from tabcontam.version import __version__

LARGE = sys.maxsize  # rows of a table of which nobody wrote down how many it has


def rescore(folder: Path, rules: str | None, overlap: str | None = None) -> RunResults:
    """Judge a past run again from its trials, and record it; by default by its own rules and its own overlap.

    Raises `UsageError`.
    """
    past = load_whole(folder)
    if rules == PAPER and past.run.until_decided is not None:
        turns = "was asked until each table was decided, which the paper's rules cannot judge"
        raise UsageError(f"{folder} {turns}; make the run without {option('until_decided')}")
    measure = measure_again(folder, past.run, overlap)
    open_folder(folder)
    with measured_by(measure):
        return _judged_again(folder, replace(past, run=replace(past.run, overlap=stated(measure))), rules)


def _judged_again(folder: Path, past: RunResults, rules: str | None) -> RunResults:
    dictionary = english()
    run = replace(past.run, dictionary=dictionary.name, version=__version__)
    run = replace(run, rules=PAPER if rules == PAPER else CALIBRATED) if rules else run
    serializers = serializers_of(folder, run)
    said = grouped(reference_lines(folder, past.cells), lambda line: line_key(line)[:-1])
    cells = []
    trials_file = list(Journal(folder).lines())  # whose judged fields are renewed: no line is dropped
    newest = {line_key(line): number for number, line in enumerate(trials_file)}
    read: dict[CellName, list[Trial]] = {}
    for key, found in read_again(folder, past, dictionary).items():
        read[key] = [trial for _, trial in found]
        for line, trial in found:
            trials_file[newest[line_key(line)]] = line | judged(trial, run.rules == PAPER)
    for cell in past.cells:
        test, trials = by_id()[cell.test], read[cell.key]
        if not trials:
            cells.append(cell)
            continue
        with _readable(folder, cell):
            serializer = serializers[cell.serializer or ""]
            others = {
                name.llm: [read_trial(test, trial_of(line), serializer, dictionary) for line in said.get(name, [])]
                for name in referred(cell)
            }
            first = others.pop(cell.reference, []) if cell.reference else []
            reference = Reference(cell.reference, first, others) if cell.reference else None
            level, beside = run.level_of(test.family), siblings(cell.key, test, read)
            if cell.sequential:
                again = again_in_turns(cell, past.cells, test, trials, reference)
            else:
                again = result(cell.key, test, trials, cell.queries or 0, run.rules, level, "", reference, beside)
        cells.append(replace(again, control=cell.control, exposure=cell.exposure, not_averaged=cell.not_averaged))
    replace_file(folder / TRIALS, as_lines(trials_file))
    return record(folder, results(run, cells))[0]


def serializers_of(folder: Path, run: RunFacts) -> dict[str, Serializer]:
    """The serializers of a past run by their names. Raises `UsageError`."""
    try:
        return {item.name: from_facts(asdict(item)) for item in run.serializers}
    except ValueError as error:
        raise UsageError(f"{folder / RESULTS}: {error}") from error


def read_again(folder: Path, past: RunResults, dictionary: Dictionary) -> dict[CellName, list[tuple[Line, Trial]]]:
    """The trials of a past run's cells, each read as it is read today, with its line. Raises `UsageError`."""
    for number, cell in enumerate(past.cells, start=1):
        if cell.test not in by_id():
            raise UsageError(f"{folder / RESULTS}: cell {number} is of an unknown test {cell.test!r}")
    serializers = serializers_of(folder, past.run)
    asked = grouped(last_lines(folder, past.cells), lambda line: line_key(line)[:-1])
    rows = {dataset.key: dataset.rows for dataset in past.run.datasets}
    read: dict[CellName, list[tuple[Line, Trial]]] = {}
    judgements = judgements_in(folder)
    for cell in past.cells:
        own, test = asked.get(cell.key, []), by_id()[cell.test]
        with _readable(folder, cell):
            serializer = serializers[cell.serializer or ""]
            found = [trial_of(line) for line in own]
            if test.too_small(
                rows.get((cell.dataset, cell.edition or "", cell.split or "")) or LARGE
            ):  # older runs had a null
                found = [replace(trial, query=replace(trial.query, chance={})) for trial in found]
            trials = [read_trial(test, trial, serializer, dictionary) for trial in found]
            trials = judgements.attached(cell.key, test, trials)
            read[cell.key] = list(zip(own, trials, strict=True))
        if cell.answered and not found:
            raise UsageError(f"{folder / TRIALS} holds no answers to {cell.test} on {cell.dataset}; it is not whole")
    return read


@contextmanager
def _readable(folder: Path, cell: Result) -> Iterator[None]:
    """Raises `UsageError` where a trial of the cell cannot be read."""
    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{folder / TRIALS}: a trial of {cell.test} cannot be read: {error!r}") from error
