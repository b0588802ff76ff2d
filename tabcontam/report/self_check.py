"""The self-check: the conclusion on the tests from a run of controls alone, and the next command.

The controls are language models that are known to have read a table, or none of its rows. If no other LLM is tested,
the run tests the tests: the row tests must find the rows in the former and nothing in the latter.
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
    """The controls' conclusion on the tests; `passed` is None if it is unknown, as after a run that was cut off."""

    passed: bool | None
    text: str


def self_check(view: RunResults) -> SelfCheck | None:
    """Return the verdict of a run on its own tests; None if an LLM other than the controls was tested.

    The check fails if the row tests find nothing of a table in a control that has read it, or anything in one that has
    read none of its rows.
    """
    tested = {cell.llm for cell in view.subjects}
    if not tested or not tested <= view.checking:
        return None
    rows = [cell for cell in view.subjects if cell.test in view.row_tests]
    exposed, unexposed = [cell for cell in rows if cell.exposed], [cell for cell in rows if cell.exposure == 0]
    counted = _counted(exposed, unexposed)
    if wrong := [*_missed(view, exposed), *_flagged(view, unexposed)]:
        return SelfCheck(False, f"Self-check FAILED: {counted}. {' '.join(wrong)}")
    known = {NO_MISS: bool(_measured(exposed)), NO_FALSE: bool(_measured(unexposed)), CUT_OFF: not view.run.ended_early}
    unknown = [why for why, so in known.items() if not so]
    told = [counted, *_weak(view, exposed), *_unmeasured(view, rows), *unknown]
    word = "not complete" if unknown else "passed"
    return SelfCheck(None if unknown else True, f"Self-check {word}: {'; '.join(filter(None, told))}.")


def _measured(cells: Iterable[Result]) -> list[Result]:
    """Return the results that were asked to the end or decided."""
    silent = Verdict.NO_ANSWER
    return [cell for cell in cells if cell.verdict in DECIDED or (cell.verdict is silent and not cell.cut_short)]


def _found(cells: Iterable[Result]) -> list[Result]:
    return [cell for cell in cells if cell.verdict is Verdict.CONTAMINATED]


def _counted(exposed: Sequence[Result], unexposed: Sequence[Result]) -> str:
    """Return in words how many row-test results found rows, in controls that have read the rows and in others."""
    said: list[str] = []
    for cells, who in ((_measured(exposed), HAS_READ), (_measured(unexposed), HAS_NOT)):
        if cells:
            cells_of = "" if said else " results of row tests"
            names = phrase(list(dict.fromkeys(cell.llm for cell in cells)))
            said.append(f"in {names}, {who}, in {len(_found(cells))} of {len(cells)}{cells_of}")
    return f"rows were detected {', '.join(said)}" if said else ""


def _by_table(view: RunResults, cells: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    return grouped(cells, lambda cell: (cell.llm, view.label(cell)))


def _found_together(view: RunResults) -> set[tuple[str, str]]:
    """Return the LLMs and tables whose row tests together found rows."""
    return {(one.llm, view.label(one)) for one in view.tables if one.verdict is Verdict.CONTAMINATED}


def _missed(view: RunResults, exposed: Sequence[Result]) -> list[str]:
    """Return a sentence on tables that were read, asked about to the end, and not found; empty if there are none."""
    places = _by_table(view, _measured(exposed))
    ended = {place for place, cells in _by_table(view, exposed).items() if not any(cell.cut_short for cell in cells)}
    missed = [place for place in places if place in ended and not _found(places[place])]
    missed = [place for place in missed if place not in _found_together(view)]
    if not missed:
        return []
    tables = phrase(list(dict.fromkeys(table for _, table in missed)))
    return [f"The row tests have no power on {tables}, where the verdict not detected means nothing."]


def _flagged(view: RunResults, unexposed: Sequence[Result]) -> list[str]:
    """Return a sentence on tests that found rows in a control that has read none, with advice; empty if none did."""
    together, said = _found_together(view), []
    for place, cells in _by_table(view, unexposed).items():
        tests = [cell.test for cell in _found(cells)]
        if tests or place in together:
            said.append(f"{phrase(tests) if tests else 'the row tests together'} on {place[1]}")
    if not said:
        return []
    chance = f"chance does this for at most {view.run.alpha:.0%} of LLMs" if view.run.alpha else "chance may do this"
    found = f"Rows that a control has not read were detected by {phrase(said)}; {chance}."
    return [f"{found} If --seed 1 shows it again, trust no finding of these tests there."]


def _weak(view: RunResults, exposed: Sequence[Result]) -> list[str]:
    """Return the tests that miss rows that others find in a control that has read them."""
    missed = [cell for cell in _measured(exposed) if cell.verdict is not Verdict.CONTAMINATED]
    tests = grouped(missed, lambda cell: cell.test)
    tables = {test: phrase(list(dict.fromkeys(map(view.label, cells)))) for test, cells in tests.items()}
    return [f"{test} has no power on {table}" for test, table in tables.items()]


def _unmeasured(view: RunResults, rows: Sequence[Result]) -> list[str]:
    """Return the controls and tables for which no row test was measured, with the tests' common reason."""
    said: list[str] = []
    for (llm, table), cells in _by_table(view, rows).items():
        if not _measured(cells):
            reasons = {cell.reason or "" for cell in cells}
            why = f" ({one})" if len(reasons) == 1 and (one := reasons.pop()) else ""
            said.append(f"{llm} was not measured on {table}{why}")
    return said
