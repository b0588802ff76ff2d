"""A check that the results of a run's folder follow from its trials, because a folder may have been edited."""

from collections.abc import Iterator
from math import isclose
from pathlib import Path

from tabcontam.asking.trial_file import RESULTS, TRIALS
from tabcontam.errors import UsageError
from tabcontam.evidence.base import DECIDED
from tabcontam.runs.rescoring import judged_again
from tabcontam.verdicts.columns import values_of
from tabcontam.verdicts.consistency import no_controls
from tabcontam.verdicts.result_types import Result, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import visible

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
    """Yield a line for each statement of the results that the trials do not support."""
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
