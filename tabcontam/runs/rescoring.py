"""A past run's trials, read and judged again without asking an LLM, and a check that its results follow from them."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from itertools import accumulate
from math import isclose
from pathlib import Path
from random import SystemRandom
from typing import Any

from tabcontam.asking.part_records import attach
from tabcontam.asking.trial_file import (
    NUMBER,
    RESULTS,
    TRIALS,
    UNREAD,
    Line,
    as_lines,
    judged,
    line_of,
    open_folder,
    trial_of,
)
from tabcontam.config import CALIBRATED, PAPER
from tabcontam.errors import UsageError, option
from tabcontam.evidence.base import DECIDED, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.groups import grouped
from tabcontam.paths import replace_files_together
from tabcontam.reading.word_decision import english
from tabcontam.runs.folder import load_whole, record
from tabcontam.runs.folder_part import folder_parts, records_in
from tabcontam.runs.stored_trials import last_lines, reference_keys, reference_lines
from tabcontam.tables.serializers import Serializer, from_facts
from tabcontam.verdicts.columns import values_of
from tabcontam.verdicts.consistency import no_controls
from tabcontam.verdicts.reference_correction import Reference
from tabcontam.verdicts.result_building import build_result, build_results, pool_parts
from tabcontam.verdicts.result_types import Result, ResultKey, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.run_facts import RunFacts
from tabcontam.verdicts.sequential_results import again_in_turns
from tabcontam.verdicts.wording import visible
from tabcontam.version import __version__


def rescore(folder: Path, rules: str | None, values: Mapping[str, Any] = {}) -> RunResults:
    """Judge a past run again from its trials, and record it; by default with the run's rules and settings.

    `values` are those of the settings of extensions on the surface `RESCORE`. Raises `UsageError`.
    """
    past = load_whole(folder)
    if rules == PAPER and past.run.until_decided is not None:
        turns = "was asked until each table was decided, which the paper's rules cannot judge"
        raise UsageError(f"{folder} {turns}; make the run without {option('until_decided')}")
    with ExitStack() as stack:
        for name, part in folder_parts().items():
            facts = stack.enter_context(part.again(folder, past.run, values.get(name)))
            past = replace(past, run=replace(past.run, **facts))
        open_folder(folder)
        found, changed = judged_again(folder, past, rules)
    if changed:
        _rewrite(folder, changed)
    return record(folder, found)[0]


def judged_again(
    folder: Path, past: RunResults, rules: str | None = None, most: int | None = None
) -> tuple[RunResults, dict[int, Line]]:
    """Return the results of a past run's trials, read again, and the fields that changed, by the number of the line.

    With `most`, only about this number of trials is read, from random LLMs and tables; all other results are unchanged.
    Raises `UsageError`.
    """
    run = replace(past.run, dictionary=english().name, version=__version__)
    run = replace(run, rules=PAPER if rules == PAPER else CALIBRATED) if rules else run
    serializers = serializers_of(folder, run)
    of_references = reference_lines(folder, past.results)
    anew: dict[int, Result] = {}
    changed: dict[int, Line] = {}  # by the number of the line: the fields that are read differently now
    for own, read in read_by_table(folder, past, most):
        for found in read.values():
            for line, trial in found:
                fields = judged(trial, run.rules == PAPER)
                if fields != {UNREAD: fields[UNREAD], **{name: line[name] for name in fields if name in line}}:
                    changed[line[NUMBER]] = fields
        trials_of = {name: [trial for _, trial in found] for name, found in read.items()}
        for number in own:
            result = past.results[number]
            test, trials = by_id()[result.test], trials_of[result.key]
            if not trials:
                continue
            with _readable(folder, result):
                serializer = serializers[result.serializer or ""]
                others = {
                    name.llm: [read_trial(test, trial_of(line), serializer) for line in of_references.trials_of(name)]
                    for name in reference_keys(result)
                }
                first = others.pop(result.reference, []) if result.reference else []
                reference = Reference(result.reference, first, others) if result.reference else None
                level, pools = run.level_of(test.family), pool_parts(result.key, test, trials_of)
                if result.sequential:
                    again = again_in_turns(result, past.results, test, trials, reference)
                else:
                    asked = result.queries or 0
                    again = build_result(
                        result.key, test, trials, asked, run.rules, level, reference=reference, pooled_trials=pools
                    )
            anew[number] = replace(
                again, control=result.control, exposure=result.exposure, not_averaged=result.not_averaged
            )
    own_results = [anew.get(number, result) for number, result in enumerate(past.results)]
    return build_results(run, own_results), changed


def _rewrite(folder: Path, changed: Mapping[int, Line]) -> None:
    """Replace the changed fields in these lines of the file; keep all other lines."""
    with replace_files_together(folder) as new, (folder / TRIALS).open("rb") as old, (new / TRIALS).open("wb") as file:
        for number, text in enumerate(old, start=1):
            if number in changed and (line := line_of(text)) is not None:
                text = as_lines([line | changed[number]]).encode("utf-8", "backslashreplace")
            file.write(text if text.endswith(b"\n") else text + b"\n")


def serializers_of(folder: Path, run: RunFacts) -> dict[str, Serializer]:
    """Return the serializers of a past run by their names. Raises `UsageError`."""
    try:
        return {item.name: from_facts(asdict(item)) for item in run.serializers}
    except ValueError as error:
        raise UsageError(f"{folder / RESULTS}: {error}") from error


def read_again(folder: Path, past: RunResults) -> dict[ResultKey, list[tuple[Line, Trial]]]:
    """Return the trials of a past run's results, each as (recorded line, trial read again). Raises `UsageError`."""
    read = {name: found for _, own in read_by_table(folder, past) for name, found in own.items()}
    return {result.key: read[result.key] for result in past.results}


def read_by_table(
    folder: Path, past: RunResults, most: int | None = None
) -> Iterator[tuple[list[int], dict[ResultKey, list[tuple[Line, Trial]]]]]:
    """Yield for each LLM and table the indices of its results, and their trials as in `read_again`.

    With `most`, yield random LLMs and tables, with about this number of trials. Raises `UsageError`.
    """
    for number, cell in enumerate(past.results, start=1):
        if cell.test not in by_id():
            raise UsageError(f"{folder / RESULTS}: result {number} is of an unknown test {cell.test!r}")
    serializers = serializers_of(folder, past.run)
    asked, records = last_lines(folder, past.results), records_in([folder])

    def read(result: Result) -> list[tuple[Line, Trial]]:
        own, test = asked.trials_of(result.key), by_id()[result.test]
        with _readable(folder, result):
            serializer = serializers[result.serializer or ""]
            found = [trial_of(line) for line in own]
            trials = [read_trial(test, trial, serializer) for trial in found]
            trials = attach(records, result.key, test, trials)
        if result.evidence.answered and not found:
            raise UsageError(
                f"{folder / TRIALS} is incomplete: it holds no answers to {result.test} on {result.dataset}"
            )
        return list(zip(own, trials, strict=True))

    def table(number: int) -> tuple[str | None, ...]:
        """Return the key of results that are judged together, under all serializers."""
        result = past.results[number]
        return result.llm, result.dataset, result.edition, result.split

    groups = list(grouped(range(len(past.results)), table).values())
    for own in groups if most is None else _drawn(past, groups, most):
        yield own, {past.results[number].key: read(past.results[number]) for number in own}


def _drawn(past: RunResults, groups: list[list[int]], most: int) -> list[list[int]]:
    """Return random groups of results, with `most` or slightly more trials in total."""
    sizes = [sum(past.results[number].queries or 0 for number in own) for own in groups]
    if sum(sizes) <= most:
        return groups
    places = list(range(len(groups)))
    SystemRandom().shuffle(places)
    before = accumulate((sizes[place] for place in places), initial=0)
    return [groups[place] for place, size in zip(places, before, strict=False) if size < most]


@contextmanager
def _readable(folder: Path, result: Result) -> Iterator[None]:
    """Raise `UsageError` if a trial of the result cannot be read."""
    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{folder / TRIALS}: a trial of {result.test} cannot be read: {error!r}") from error


COMPARED = ("verdict", "paper_verdict", "queries", "answered", "hits", "recalled_bits", "p_value", "q_value", "e_value",
            "score", "cut_short")  # fmt: skip
NEAR, TINY = 1e-6, 1e-12  # largest difference between processors: relative, and near 0


# most_trials: the largest number judged again; in a larger run, random LLMs and tables
def check_agrees(folder: Path, past: RunResults, *, most_trials: int = 20_000) -> str:
    """Raise `UsageError` if results.json differs from its trials judged again; return a line on the parts not compared.

    The line is "" if everything was compared. A published report, or results without trials, has no answers to judge. A
    learned measure of overlap is not loaded.
    """
    if past.run.redacted is not None or not (folder / TRIALS).exists():
        lacks = f"has no {TRIALS}" if past.run.redacted is None else "was published without answers"
        return f"{folder} {lacks}: its results were not checked"
    if past.run.overlap:  # in another author's results this names a model, and a check does not load it
        measure = visible(past.run.overlap, line=True)
        return f"{folder} was measured by {measure}, which only rescore loads: its results were not checked"
    found, changed = judged_again(folder, past, most=most_trials)
    if fault := next(_faults(past, found), None):
        raise UsageError(
            f"{folder / RESULTS} does not follow from {TRIALS}: {visible(fault, line=True)}; type python -m tabcontam "
            f"rescore {folder} to judge the answers again, or make the run again"
        )
    if changed:
        raise UsageError(
            f"{folder / TRIALS}: line {min(changed)} does not state the reading of its reply; type python -m tabcontam "
            f"rescore {folder} to judge the answers again, or make the run again"
        )
    return ""


def _faults(past: RunResults, rejudged: RunResults) -> Iterator[str]:
    yield from no_controls(past)
    for result, again in zip(past.results, rejudged.results, strict=True):
        where = f"{result.llm}, {past.label(result)}, {result.test}"
        yield from _differences(where, result, again)
        if result.verdict in DECIDED and not result.evidence.answered:
            yield f"{where} is {result.outcome} without an answer"
    tables = {(table.llm, table.table): table for table in past.tables}
    again_by_name = {(table.llm, table.table): table for table in rejudged.tables}
    for name in tables.keys() | again_by_name.keys():
        one, other = tables.get(name), again_by_name.get(name)
        where = f"{name[0]}, {name[1].dataset}"
        if one is None or other is None:
            yield f"the verdict on {where} is {'missing' if one is None else 'of no result'}"
        else:
            yield from _differences(where, one, other)


def _differences(where: str, one: Result | TableVerdict, other: Result | TableVerdict) -> Iterator[str]:
    values, again = values_of(one), values_of(other)
    for name in COMPARED:
        had, has = values.get(name), again.get(name)
        if not _same(had, has):
            yield f"{name} of {where} is {had}, and the answers give {has}"


def _same(one: object, other: object) -> bool:
    numbers = (int, float)
    if isinstance(one, numbers) and isinstance(other, numbers):
        return isclose(one, other, rel_tol=NEAR, abs_tol=TINY)
    return one == other
