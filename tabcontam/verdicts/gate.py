"""The gate: may an experiment go on, given the results of a run? One decision for `gate`, the plugin and Python.

It rests on the row tests, as they stand in the report: a table is contaminated where its verdict is, or that of one of
its row tests. It is clean where its verdict is `not detected` and every row test that was to be asked was asked to the
end. Of all else the gate cannot tell: no readable answer, asking could not have told, nothing asked, a run cut short.

The controls decide nothing, but say what a row test is worth on a table (same dataset, edition and serializer):

- `control:exposed`, which has the table, was missed by it: it has no power there, and makes no table clean.
- `control:unexposed`, which has none of the rows, was flagged by it: it measures plausibility there, and makes no table
  contaminated. Where only the row tests together flagged it, this goes for the one with the least p-value.

Where a verdict rests on such tests, it is taken anew without them, in the same way and at the same level, with all
tables of the LLM as one family. If the other row tests carry it, it stands; if not, the gate cannot tell. A control
that gave no answer, was skipped or could not have told says nothing of a test, so that it counts. No control voids
what was found of itself.

A results.json whose parts contradict each other, as after an edit by hand, is an error; and no table is clean that its
cells do not show to be so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from tabcontam.errors import Exit, UsageError, unknown
from tabcontam.evidence.base import Verdict
from tabcontam.evidence.registry import TESTS
from tabcontam.verdicts.judge import ENDED, SCHEMA, tables
from tabcontam.verdicts.names import Place, llms_named, places_named
from tabcontam.verdicts.results import (
    EXPOSED,
    ROW_TESTS,
    UNEXPOSED,
    Cell,
    Results,
    TableVerdict,
    rounded,
    shorten,
    typed,
    visible,
)
from tabcontam.verdicts.rules import ALPHA, CALIBRATED, FAILURES, PAPER

KNOWLEDGE = frozenset(test.id for test in TESTS if test.number is not None and not test.of_rows)  # tests 1 to 6
SHARES = ("p_value", "q_value", "detectable_share")  # numbers from 0 to 1
NAMED = 3  # findings in the one line
LONGEST = 240  # characters of a finding there
Subject = tuple[str, Place]  # an LLM and a table


class Conclusion(StrEnum):
    """What a gate says of an LLM and a table."""

    CLEAN = "clean"
    CONTAMINATED = "contaminated"
    CANNOT_TELL = "cannot tell"


EXIT = {
    Conclusion.CLEAN: Exit.DONE,
    Conclusion.CONTAMINATED: Exit.CONTAMINATED,
    Conclusion.CANNOT_TELL: Exit.CANNOT_TELL,
}
WORST_FIRST = (Conclusion.CONTAMINATED, Conclusion.CANNOT_TELL, Conclusion.CLEAN)


@dataclass(frozen=True)
class Finding:
    """What the gate says of one (LLM, table): `dataset` is its label in the report, `reason` one sentence."""

    llm: str
    dataset: str
    conclusion: Conclusion
    reason: str

    def __str__(self) -> str:
        return f"{self.llm} on {self.dataset}: {self.reason}"


@dataclass(frozen=True)
class Judgement:
    """What the gate says of all of them together, in one line, and of each.

    `undecided_fails` says that it is to stop an experiment, too, where it cannot tell.
    """

    conclusion: Conclusion
    reason: str
    findings: tuple[Finding, ...]
    undecided_fails: bool = False

    def __str__(self) -> str:
        return f"{self.conclusion}: {self.reason}"

    @property
    def exit_code(self) -> Exit:
        """0 clean, 1 contaminated, 6 cannot tell, or 1 for that as well."""
        fails = self.undecided_fails and self.conclusion is Conclusion.CANNOT_TELL
        return Exit.CONTAMINATED if fails else EXIT[self.conclusion]

    def document(self) -> dict[str, Any]:
        """What `gate --json` prints."""
        findings = [asdict(finding) for finding in self.findings]
        return {"conclusion": self.conclusion, "reason": self.reason, "findings": findings}


@dataclass(frozen=True)
class Ruling:
    """What the gate says of one (LLM, table), for those who put it in words of their own.

    `void` has the row tests that a control shows to be worth nothing for what was found, or for finding nothing;
    `share` is that of the rows, in [0, 1], which the others would have seen: None where that is not known.
    """

    conclusion: Conclusion
    reason: str
    void: tuple[str, ...]
    share: float | None


def rulings(view: Results) -> dict[Subject, Ruling]:
    """The gate's decision on each LLM and table but controls that joined; none on recorded answers."""
    if "llms" not in view.run:
        return {}
    gate = _Gate(view, knowledge=False, min_power=None)
    return {(llm, place): gate.ruling(llm, place) for llm, place in _subjects(view, (), ())}


def judge(
    document: Mapping[str, Any],
    *,
    llms: Sequence[str] = (),
    datasets: Sequence[str] = (),
    fail_on: Sequence[str] = (),
    min_power: float | None = None,
) -> Judgement:
    """The gate's decision on a results.json; the worst of what is found of each LLM and table.

    `llms` and `datasets` choose from it (default: all but controls that joined). `fail_on` has "knowledge", "undecided"
    or both: tests 1 to 6 count as well, and what cannot be told exits as what is contaminated. `min_power`, in (0, 1):
    clean counts only where an LLM that remembers this share of the rows would have been found.

    Raises `UsageError` for a name that the results do not have, another condition, and what is not a run's results.
    """
    _check_conditions(fail_on, min_power)
    view = typed(document)
    check_whole(view)
    gate = _Gate(view, "knowledge" in fail_on, min_power)
    findings = tuple(gate.finding(llm, place) for llm, place in _subjects(view, llms, datasets))
    return _together(findings, "undecided" in fail_on)


def check_whole(view: Results) -> None:
    """Raises `UsageError` for what is not a run's results, or has parts that contradict each other or are missing."""
    if "llms" not in view.run:
        raise UsageError("the gate needs the results of a run; these are recorded answers that `replay` judged")
    alpha = view.run.get("alpha", ALPHA)
    if not _is_share(alpha):
        raise UsageError(f"the results contradict themselves: their alpha is {alpha!r}, which is no level")
    if fault := next(_faults(view, alpha), None):
        raise UsageError(f"the results contradict themselves: {visible(fault, line=True)}; make the run again")


def _faults(view: Results, alpha: float) -> Iterator[str]:
    """What the project never writes, and the gate would pass over."""
    stated = [fact["llm"] for fact in view.llms if not fact["control"]]
    subjects = {(cell.llm, Place.of(cell)) for cell in view.cells if cell.test in ROW_TESTS}
    llms, asked = {cell.llm for cell in view.cells}, {(cell.dataset, cell.edition) for cell in view.cells}
    editions = [(fact["dataset"], fact["edition"]) for fact in view.datasets]
    yield from (f"none of the cells of {llm} is there" for llm in stated if llm not in llms)
    yield from (
        f"none of the cells of {name}@{edition} is there" for name, edition in editions if (name, edition) not in asked
    )
    for llm in view.joined:
        alike = all(cell.control for cell in view.cells if cell.llm == llm)
        if llm not in (EXPOSED, UNEXPOSED) or llm in stated or not alike:
            yield f"{llm} is marked as a control that joined, and it is not"
    for table in view.table_verdicts:
        if (table.llm, Place.of(table)) not in subjects:
            yield f"none of the cells of {table.llm} on {view.label(table)} is there"
    parts: list[Cell | TableVerdict] = [*view.cells, *view.table_verdicts]
    for part in parts:
        where = f"{part.llm} on {view.label(part)}"
        if strange := [name for name in SHARES if not 0 <= part.numbers.get(name, 0) <= 1]:
            yield f"{where} has {strange[0]} {part.numbers[strange[0]]:g}"
        found = view.run.get("rules") != PAPER and part.numbers.get("q_value", 1.0) <= alpha
        if found and part.verdict is not Verdict.CONTAMINATED:
            yield f"{where} is {part.outcome} at a q-value below the level, {alpha:g}"


def _check_conditions(fail_on: Sequence[str], min_power: float | None) -> None:
    for word in fail_on:
        if word not in FAILURES:
            raise unknown("condition to fail on", str(word), FAILURES)
    if min_power is not None and not _is_share(min_power):
        raise UsageError(f"the least power is a share between 0 and 1, not {min_power!r}")


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < 1


def _subjects(view: Results, llms: Sequence[str], datasets: Sequence[str]) -> list[Subject]:
    """Each LLM with each table that is chosen. What is named stays, so that nothing unasked is passed over."""
    chosen = llms_named(view, llms)
    named = dict.fromkeys(place for name in datasets for place in places_named(view, name))
    asked = dict.fromkeys((cell.llm, Place.of(cell)) for block in view.blocks for cell in block.cells)
    if not datasets:
        return [(llm, place) for llm, place in asked if llm in chosen]
    return [(llm, place) for llm in chosen for place in named]


def _together(findings: tuple[Finding, ...], undecided_fails: bool) -> Judgement:
    """The worst decide; one line names some of them and counts the others."""
    numbers = {word: sum(finding.conclusion is word for finding in findings) for word in WORST_FIRST}
    worst = next((word for word, number in numbers.items() if number), Conclusion.CANNOT_TELL)
    those = [shorten(str(finding), LONGEST) for finding in findings if finding.conclusion is worst]
    more = [f"and {len(those) - NAMED} more"] if len(those) > NAMED else []
    line = "; ".join([*those[:NAMED], *more]) or "no LLM was tested"
    others = ", ".join(f"{number} {word}" for word, number in numbers.items() if number and word is not worst)
    return Judgement(worst, f"{line} (besides: {others})" if others else line, findings, undecided_fails)


@dataclass(frozen=True)
class _Gate:
    """The results of a run, and what is asked of them."""

    view: Results
    knowledge: bool
    min_power: float | None

    def finding(self, llm: str, place: Place) -> Finding:
        """What is found of one LLM and one table."""
        conclusion, reason = self._of_rows(llm, place)
        if self.knowledge and conclusion is not Conclusion.CONTAMINATED:
            known = [cell.test for cell in self._knowing(llm, place) if cell.verdict is Verdict.CONTAMINATED]
            if known:
                tests = ", ".join(dict.fromkeys(known))
                conclusion, reason = Conclusion.CONTAMINATED, f"the dataset is known: found by {tests}"
            elif conclusion is Conclusion.CLEAN and (unknown_why := self._unsure(llm, place)):
                conclusion, reason = Conclusion.CANNOT_TELL, unknown_why
        llm, label, reason = (visible(words, line=True) for words in (llm, self._labels[place], reason))
        return Finding(llm, label, conclusion, reason)

    def ruling(self, llm: str, place: Place) -> Ruling:
        """What is found of one LLM and one table, and what it rests on."""
        cells, table, found = self._rows(llm, place), self._tables.get((llm, place)), self.finding(llm, place)
        flagged = _flagged(cells, table) if table else []
        missed = [cell for cell in cells if cell.verdict is Verdict.NOT_DETECTED]
        void = self._void(UNEXPOSED if flagged else EXPOSED, llm, place)
        voided = tuple(test for test in flagged or [cell.test for cell in missed] if test in void)
        share = self._share([cell for cell in missed if cell.test not in voided])
        return Ruling(found.conclusion, found.reason, voided, share)

    def _of_rows(self, llm: str, place: Place) -> tuple[Conclusion, str]:
        """What the row tests say."""
        cells, table = self._rows(llm, place), self._tables.get((llm, place))
        if flagged := _flagged(cells, table):
            return self._found(llm, place, flagged)
        if not cells or table is None:
            return Conclusion.CANNOT_TELL, "no row test was asked"
        if short := [cell for cell in cells if cut_short(cell)]:
            tests = ", ".join(cell.test for cell in short)
            return Conclusion.CANNOT_TELL, f"not asked to the end: {tests} ({short[0].reason})"
        if table.verdict is not Verdict.NOT_DETECTED:
            why = next((cell.reason for cell in cells if cell.verdict is table.verdict and cell.reason), "")
            return Conclusion.CANNOT_TELL, f"{table.reason}{why and f' ({why})'}"
        return self._clean(llm, place, [cell for cell in cells if cell.verdict is Verdict.NOT_DETECTED])

    def _found(self, llm: str, place: Place, flagged: Sequence[str]) -> tuple[Conclusion, str]:
        """Of a table that is contaminated in the report, by these row tests."""
        void = [test for test in flagged if test in self._void(UNEXPOSED, llm, place)]
        if not void:
            return Conclusion.CONTAMINATED, self._found_by(llm, place, flagged)
        also = f"{UNEXPOSED}, which has none of its rows, was flagged by {', '.join(void)} as well"
        if standing := [test for test in flagged if test not in void]:
            return Conclusion.CONTAMINATED, f"found by {', '.join(standing)}; {also}"
        again = self._without_plausible.get((llm, place))
        if again is not None and again.verdict is Verdict.CONTAMINATED:
            return Conclusion.CONTAMINATED, f"{again.reason}, without {', '.join(void)}; {also}"
        return Conclusion.CANNOT_TELL, f"what was found may be plausibility: {also}"

    def _found_by(self, llm: str, place: Place, flagged: Sequence[str]) -> str:
        table = self._tables.get((llm, place))
        if table and not any(cell.verdict is Verdict.CONTAMINATED for cell in self._rows(llm, place)):
            return table.reason
        p_value = table.numbers.get("p_value") if table else None
        if self._paper or p_value is None or table is None or table.verdict is not Verdict.CONTAMINATED:
            return f"found by {', '.join(flagged)}"
        return f"found by {', '.join(flagged)}, p = {rounded('p_value', p_value)} together"

    def _clean(self, llm: str, place: Place, missed: Sequence[Cell]) -> tuple[Conclusion, str]:
        """Of a table that was not detected by these cells."""
        void = [cell.test for cell in missed if cell.test in self._void(EXPOSED, llm, place)]
        also = f"{EXPOSED}, which has the table, was missed by {', '.join(void)} as well"
        again = self._without_powerless.get((llm, place))
        if again is None or again.verdict is not Verdict.NOT_DETECTED:
            unsure = also if void else "the verdict is not what its row tests say together"
            return Conclusion.CANNOT_TELL, f"nothing was found, but not for sure: {unsure}"
        counted = [cell for cell in missed if cell.test not in void]
        share = self._share(counted)
        if self.min_power is not None and (share is None or share > self.min_power):
            return Conclusion.CANNOT_TELL, f"nothing was found, but {_weak(share, self.min_power)}"
        seen = "" if share is None else f", and {share:.0%} of the rows would have been seen"
        tests = ", ".join(cell.test for cell in counted)
        return Conclusion.CLEAN, f"not found by {tests}{seen}" + (f"; {also}" if void else "")

    def _share(self, missed: Sequence[Cell]) -> float | None:
        """The least share of remembered rows that these cells would have seen; not known of the published rules."""
        shares = [cell.numbers["detectable_share"] for cell in missed if "detectable_share" in cell.numbers]
        return None if self._paper else min(shares, default=None)

    def _unsure(self, llm: str, place: Place) -> str:
        """Why it cannot be told that the dataset is not known; empty where it can."""
        cells = self._knowing(llm, place)
        if short := [cell.test for cell in cells if cut_short(cell)]:
            return f"not asked to the end: {', '.join(short)}"
        missed = any(cell.verdict is Verdict.NOT_DETECTED for cell in cells)
        return "" if missed else "no row was found, but whether the dataset is known was not decided by any test"

    def _knowing(self, llm: str, place: Place) -> list[Cell]:
        """The cells of tests 1 to 6; those that show no rows are asked in one serializer alone, and go for all."""
        here = (llm, place.dataset, place.edition)
        known = [cell for cell in self.view.cells if (cell.llm, cell.dataset, cell.edition) == here]
        return [cell for cell in known if cell.test in KNOWLEDGE]

    def _void(self, control: str, llm: str, place: Place) -> frozenset[str]:
        """The row tests that a control shows to be worth nothing here: for `clean`, or for `contaminated`."""
        if llm == control:
            return frozenset()
        cells, table = self._rows(control, place), self._tables.get((control, place))
        if control == EXPOSED:
            return frozenset(cell.test for cell in cells if cell.verdict is Verdict.NOT_DETECTED)
        return frozenset(_flagged(cells, table))

    def _without(self, control: str) -> dict[Subject, TableVerdict]:
        """The verdicts of all tables without the row tests that a control voids, as the report would have them."""
        cells = [
            {
                **{name: getattr(cell, name) for name in ("llm", "dataset", "edition", "serializer", "test")},
                **{name: cell.numbers.get(name) for name in ("p_value", "recalled_bits", "detectable_share")},
                "verdict": cell.outcome,
            }
            for (llm, place), group in self._by_subject.items()
            for cell in group
            if cell.test in ROW_TESTS and cell.test not in self._void(control, llm, place)
        ]
        alpha = self.view.run.get("alpha")
        again = tables(cells, PAPER if self._paper else CALIBRATED, alpha if isinstance(alpha, float) else ALPHA)
        return _verdicts(typed({"schema": SCHEMA, "run": {}, "cells": [], "tables": again}).table_verdicts)

    @cached_property
    def _without_plausible(self) -> dict[Subject, TableVerdict]:
        return self._without(UNEXPOSED)

    @cached_property
    def _without_powerless(self) -> dict[Subject, TableVerdict]:
        return self._without(EXPOSED)

    @cached_property
    def _paper(self) -> bool:
        return self.view.run.get("rules") == PAPER

    @cached_property
    def _tables(self) -> dict[Subject, TableVerdict]:
        return _verdicts(self.view.table_verdicts)

    @cached_property
    def _by_subject(self) -> dict[Subject, list[Cell]]:
        cells: dict[Subject, list[Cell]] = {}
        for cell in self.view.cells:
            cells.setdefault((cell.llm, Place.of(cell)), []).append(cell)
        return cells

    @cached_property
    def _labels(self) -> dict[Place, str]:
        return {Place.of(cell): self.view.label(cell) for cell in self.view.cells}

    def _rows(self, llm: str, place: Place) -> list[Cell]:
        return [cell for cell in self._by_subject.get((llm, place), []) if cell.test in ROW_TESTS]


def _verdicts(verdicts: Sequence[TableVerdict]) -> dict[Subject, TableVerdict]:
    return {(verdict.llm, Place.of(verdict)): verdict for verdict in verdicts}


def _flagged(cells: Sequence[Cell], table: TableVerdict | None) -> list[str]:
    """The row tests that found the rows: those whose cell did, else of all together that with the least p-value."""
    if found := [cell.test for cell in cells if cell.verdict is Verdict.CONTAMINATED]:
        return found
    if table is None or table.verdict is not Verdict.CONTAMINATED:
        return []
    least = min((cell.numbers.get("p_value", 1.0) for cell in cells), default=1.0)
    return [cell.test for cell in cells if cell.numbers.get("p_value", 1.0) == least]


def cut_short(cell: Cell) -> bool:
    """Whether a cell was planned, but not asked to the end, or not at all: then there is nothing measured."""
    if cell.verdict not in (Verdict.SKIPPED, Verdict.NO_ANSWER) or not cell.numbers.get("queries"):
        return False
    return cell.statistic is None or cell.reason.startswith(ENDED)


def _weak(share: float | None, wanted: float) -> str:
    if share is None:
        return f"no one can say what would have been found, and {wanted:.0%} of the rows are asked for"
    return f"{share:.0%} of the rows are the least that would have been seen, and {wanted:.0%} are asked for"
