"""The self-check: a conclusion on the tests themselves, from a run that asks only controls, and the next command.

A control is a model that is known to have read a table, or to have read none of its rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tabcontam.evidence.base import DECIDED, Verdict
from tabcontam.groups import grouped
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.wording import phrase

NEXT = "Next: test an LLM, such as python -m tabcontam run --llm llama3 (python -m tabcontam list llms names others)."
HAS_READ, HAS_NOT = "which has read them", "which has read none"
NO_MISS = "no control that has read rows was measured, so a miss could not show"
NO_FALSE = "no control that has read no row was measured, so a false finding could not show"
CUT_OFF = "the run ended before every query was asked"


@dataclass(frozen=True)
class SelfCheck:
    """The conclusion of a run of controls on the tests. `passed` is None if unknown, as in an interrupted run."""

    passed: bool | None
    text: str


def self_check(view: RunResults) -> SelfCheck | None:
    """Return the conclusion of a run on its own tests; None if an LLM other than the controls was tested.

    It fails if the row tests find no rows in a control that has read the table, or rows in a control that has not.
    """
    tested = {result.llm for result in view.subjects}
    if not tested or not tested <= view.checking:
        return None
    rows = [result for result in view.subjects if result.test in view.row_tests]
    exposed = [result for result in rows if result.exposed]
    unexposed = [result for result in rows if result.exposure == 0]
    counted = _counted(exposed, unexposed)
    if wrong := [*_missed(view, exposed), *_flagged(view, unexposed)]:
        return SelfCheck(False, f"Self-check FAILED: {counted}. {' '.join(wrong)}")
    known = {NO_MISS: bool(_measured(exposed)), NO_FALSE: bool(_measured(unexposed)), CUT_OFF: not view.run.ended_early}
    unknown = [why for why, so in known.items() if not so]
    parts = [counted, *_weak(view, exposed), *_unmeasured(view, rows), *unknown]
    word = "not complete" if unknown else "passed"
    return SelfCheck(None if unknown else True, f"Self-check {word}: {'; '.join(filter(None, parts))}.")


def _measured(results: Iterable[Result]) -> list[Result]:
    """Return the results with a decided verdict, and those with no answer although all queries were asked."""
    silent = Verdict.NO_ANSWER
    return [
        result for result in results if result.verdict in DECIDED or (result.verdict is silent and not result.cut_short)
    ]


def _found(results: Iterable[Result]) -> list[Result]:
    return [result for result in results if result.verdict is Verdict.CONTAMINATED]


def _counted(exposed: Sequence[Result], unexposed: Sequence[Result]) -> str:
    """Return in words how many row-test results found rows, in controls that read the rows and in other controls."""
    parts: list[str] = []
    for results, who in ((_measured(exposed), HAS_READ), (_measured(unexposed), HAS_NOT)):
        if results:
            unit = "" if parts else " results of row tests"
            names = phrase(list(dict.fromkeys(result.llm for result in results)))
            parts.append(f"in {names}, {who}, in {len(_found(results))} of {len(results)}{unit}")
    return f"rows were detected {', '.join(parts)}" if parts else ""


def _by_table(view: RunResults, results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    return grouped(results, lambda cell: (cell.llm, view.label(cell)))


def _found_together(view: RunResults) -> set[tuple[str, str]]:
    """Return the pairs of LLM and table in which the row tests together found rows."""
    return {(one.llm, view.label(one)) for one in view.tables if one.verdict is Verdict.CONTAMINATED}


def _missed(view: RunResults, exposed: Sequence[Result]) -> list[str]:
    """Return a sentence on tables that a control read but the completed row tests missed; empty if there are none."""
    places = _by_table(view, _measured(exposed))
    ended = {
        place for place, results in _by_table(view, exposed).items() if not any(result.cut_short for result in results)
    }
    missed = [place for place in places if place in ended and not _found(places[place])]
    missed = [place for place in missed if place not in _found_together(view)]
    if not missed:
        return []
    tables = phrase(list(dict.fromkeys(table for _, table in missed)))
    return [f"The row tests have no power on {tables}, where the verdict not detected means nothing."]


def _flagged(view: RunResults, unexposed: Sequence[Result]) -> list[str]:
    """Return a sentence, with advice, on tests that found rows in a control that read none; empty if none did."""
    together, places = _found_together(view), []
    for place, results in _by_table(view, unexposed).items():
        tests = [result.test for result in _found(results)]
        if tests or place in together:
            places.append(f"{phrase(tests) if tests else 'the row tests together'} on {place[1]}")
    if not places:
        return []
    chance = f"chance does this for at most {view.run.alpha:.0%} of LLMs" if view.run.alpha else "chance may do this"
    found = f"Rows that a control has not read were detected by {phrase(places)}; {chance}."
    return [f"{found} If --seed 1 shows it again, trust no finding of these tests there."]


def _weak(view: RunResults, exposed: Sequence[Result]) -> list[str]:
    """Return the tests that find no rows in a control that has read the rows."""
    missed = [result for result in _measured(exposed) if result.verdict is not Verdict.CONTAMINATED]
    tests = grouped(missed, lambda result: result.test)
    tables = {test: phrase(list(dict.fromkeys(map(view.label, results)))) for test, results in tests.items()}
    return [f"{test} has no power on {table}" for test, table in tables.items()]


def _unmeasured(view: RunResults, rows: Sequence[Result]) -> list[str]:
    """Return the controls and tables without a measured row test, with the reason if all tests share it."""
    lines: list[str] = []
    for (llm, table), results in _by_table(view, rows).items():
        if not _measured(results):
            reasons = {result.decision.reason or "" for result in results}
            why = f" ({one})" if len(reasons) == 1 and (one := reasons.pop()) else ""
            lines.append(f"{llm} was not measured on {table}{why}")
    return lines
