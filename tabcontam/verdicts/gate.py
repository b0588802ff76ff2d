"""The gate: may an experiment go on, given the results of a run? One decision for `gate`, the plugin and Python.

It rests on the row tests, as they stand in the report: a table is contaminated where its verdict is, or that of one of
its row tests. It is clean where its verdict is `not detected` and every row test that was to be asked was asked to the
end. Of all else the gate cannot tell: no readable answer, asking could not have told, nothing asked, a run cut short.

The controls decide nothing, but say what a row test is worth on a table (same dataset, edition and serializer):

- One that is known to have read the table (`control:exposed`) was missed by it: it has no power there, and makes no
  table clean.
- One that is known to have read none of its rows (`control:unexposed`) was flagged by it: it measures plausibility
  there, and makes no table contaminated. Where only the row tests together flagged it, this goes for the one with the
  least p-value.

Where a verdict rests on such tests, it is taken anew without them, in the same way and at the same level, with all
tables of the LLM that share an error budget. If the other row tests carry it, it stands; if not, the gate cannot tell.
A control that gave no answer, was skipped or could not have told says nothing of a test, so that it counts. No control
voids what was found of itself.

A control that the user named (`--control`) and that has read none of the rows goes for the second rule as
`control:unexposed` does. One that has read them voids nothing: that it is missed says no more than that it, or a model
like it, has not learned them.

Documents that an LLM was trained on, by the user's word, make a table contaminated of which they hold rows, and make
none clean. No control says anything of them, and a body of documents that was searched is an LLM under test here.

Where a limit of memory's share is given, it is a condition of its own: see `memory`. Each LLM and table then has a
finding of its rows and one of the share, and of all of them the worst decides. A table of which scores alone were asked
has the one of the share alone, which says so: whoever measures nothing else wants to know nothing else.

A table whose finding rests on one column is none that the gate can tell of. A results.json whose parts contradict each
other, as after an edit by hand, is an error; and no table is clean that its cells do not show to be so.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from tabcontam.errors import Exit, UsageError, unknown
from tabcontam.evidence.base import Family, Verdict
from tabcontam.groups import grouped
from tabcontam.verdicts import memory, one_column
from tabcontam.verdicts.cells import Result, TableName, TableVerdict
from tabcontam.verdicts.judge import tables
from tabcontam.verdicts.names import llms_named, places_named
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import ALPHA, FAILURES, PAPER
from tabcontam.verdicts.rules import Conclusion as Conclusion
from tabcontam.verdicts.trained import Held, Rows, held, not_held, told, who
from tabcontam.verdicts.whole import check_whole
from tabcontam.verdicts.wording import rounded, shorten, visible

ROWS, SHARE = "rows", "memory's share"  # what a finding is of
NAMED = 3  # findings that the one line names
LONGEST = 240  # characters of a finding there
Tested = tuple[str, TableName]  # an LLM and a table


EXIT = {
    Conclusion.CLEAN: Exit.DONE,
    Conclusion.KNOWN: Exit.DONE,
    Conclusion.CONTAMINATED: Exit.CONTAMINATED,
    Conclusion.CANNOT_TELL: Exit.CANNOT_TELL,
}


@dataclass(frozen=True)
class Finding:
    """What the gate says of one (LLM, table): `dataset` is its label in the report, `reason` one sentence.

    `of` is "rows", or "memory's share" where it is of that and its limit.
    """

    llm: str
    dataset: str
    conclusion: Conclusion
    reason: str
    of: str = ROWS

    def __str__(self) -> str:
        return f"{self.llm} on {self.dataset}: {self.reason}"


@dataclass(frozen=True)
class Judgement:
    """What the gate says of all of them together, in one line, and of each.

    `undecided_fails` says that it is to stop an experiment, too, where it cannot tell. `baseline` is the folder of the
    run whose findings are known, or empty.
    """

    conclusion: Conclusion
    reason: str
    findings: tuple[Finding, ...]
    undecided_fails: bool = False
    baseline: str = ""

    def __str__(self) -> str:
        return f"{self.conclusion}: {self.reason}"

    @property
    def exit_code(self) -> Exit:
        """0 clean or known, 1 contaminated, 6 cannot tell, or 1 for that as well."""
        fails = self.undecided_fails and self.conclusion is Conclusion.CANNOT_TELL
        return Exit.CONTAMINATED if fails else EXIT[self.conclusion]

    def document(self) -> dict[str, Any]:
        """What `gate --json` prints."""
        findings = [asdict(finding) for finding in self.findings]
        compared = {"baseline": self.baseline} if self.baseline else {}
        return {"conclusion": self.conclusion, "reason": self.reason, **compared, "findings": findings}


@dataclass(frozen=True)
class Ruling:
    """What the gate says of one (LLM, table), for those who put it in words of their own.

    `void` has the row tests that a control, named in `control`, shows to be worth nothing for what was found, or for
    finding nothing;
    `share`, in [0, 1]: an LLM that remembers this share of the rows would have been found by the others; None where
    that is not known.
    """

    conclusion: Conclusion
    reason: str
    void: tuple[str, ...]
    share: float | None
    control: str


def rulings(
    view: RunResults, llms: Sequence[str] = (), datasets: Sequence[str] = (), *, knowledge: bool = False
) -> dict[Tested, Ruling]:
    """The gate's decision on each LLM and table, chosen as by `judge`; none on recorded answers.

    With `knowledge` tests of knowledge count as well.
    """
    if view.run.recorded:
        return {}
    gate = _Gate(view, knowledge, min_power=None)
    return {(llm, place): gate.ruling(llm, place) for llm, place in _subjects(view, llms, datasets)}


def judge(
    view: RunResults,
    *,
    llms: Sequence[str] = (),
    datasets: Sequence[str] = (),
    fail_on: Sequence[str] = (),
    min_power: float | None = None,
    max_memory_share: float | None = None,
) -> Judgement:
    """The gate's decision on the results of a run; the worst of what is found of each LLM and table.

    `llms` and `datasets` choose from it (default: all but controls that joined). `fail_on` has "knowledge", "undecided"
    or both: tests of knowledge count as well, and what cannot be told exits as what is contaminated. `min_power`, in
    (0, 1): clean counts only where an LLM that remembers this share of the rows would have been found.
    `max_memory_share`, in (0, 1): how much of an accuracy may be memory.

    Raises `UsageError` for a name that the results do not have, another condition, and what is not a run's results.
    """
    found = findings_of(view, llms, datasets, fail_on, min_power, max_memory_share)
    return in_parts(view, together(tuple(finding for _, finding in found), "undecided" in fail_on))


def findings_of(
    view: RunResults,
    llms: Sequence[str],
    datasets: Sequence[str],
    fail_on: Sequence[str],
    min_power: float | None,
    max_memory_share: float | None,
) -> list[tuple[Tested, Finding]]:
    """What is found, with the LLM and table that it is found of. Arguments and errors are those of `judge`."""
    for word in fail_on:
        if word not in FAILURES:
            raise unknown("condition to fail on", str(word), FAILURES)
    if min_power is not None and not (isinstance(min_power, int | float) and 0 < min_power < 1):
        raise UsageError(f"the least power is a share between 0 and 1, not {min_power!r}")
    if max_memory_share is not None and not (isinstance(max_memory_share, int | float) and 0 < max_memory_share < 1):
        raise UsageError(f"the most of memory's share is a number between 0 and 1, not {max_memory_share!r}")
    check_whole(view)
    found = _found(view, llms, datasets, "knowledge" in fail_on, min_power, max_memory_share)
    if view.run.shard is None:
        return found
    return [(one, replace(finding, conclusion=Conclusion.CANNOT_TELL)) for one, finding in found]


def in_parts(view: RunResults, judgement: Judgement) -> Judgement:
    """The judgement; of some parts of a run it says what is missing, and which conclusion waits for the others."""
    shard = view.run.shard
    if shard is None:
        return judgement
    missing = f"part{'s' * (len(shard.missing) > 1)} {', '.join(map(str, shard.missing))}"
    line = f"these are {shard} of a run, and {missing} can change their verdicts; join all with report, and gate that"
    return replace(judgement, conclusion=Conclusion.CANNOT_TELL, reason=f"{line} ({judgement.reason})")


def _found(
    view: RunResults,
    llms: Sequence[str],
    datasets: Sequence[str],
    knowledge: bool,
    min_power: float | None,
    max_memory_share: float | None,
) -> list[tuple[Tested, Finding]]:
    gate, subjects = _Gate(view, knowledge, min_power), _subjects(view, llms, datasets)
    if max_memory_share is None:
        return [(one, gate.finding(*one)) for one in subjects]
    shares = [(one, gate.of_share(*one, max_memory_share)) for one in subjects if one[0] not in view.documents]
    return [(one, gate.finding(*one)) for one in subjects if gate.beyond_scores(*one)] + shares


def _subjects(view: RunResults, llms: Sequence[str], datasets: Sequence[str]) -> list[Tested]:
    """Each LLM with each table that is chosen. What is named stays, so that nothing unasked is passed over."""
    chosen = llms_named(view, llms)
    named = dict.fromkeys(place for name in datasets for place in places_named(view, name))
    if not datasets:
        by_llm = grouped(view.cells, lambda cell: cell.llm)
        stated = grouped(view.tables, lambda table: table.llm)
        return [
            (llm, place)
            for llm in view.llms
            if llm in chosen
            for place in _tables_of([*by_llm.get(llm, ()), *stated.get(llm, ())])
        ]
    return [(llm, place) for llm in chosen for place in named]


def _tables_of(found: Sequence[Result | TableVerdict]) -> Iterable[TableName]:
    return dict.fromkeys(one.table for one in found)


def together(findings: tuple[Finding, ...], undecided_fails: bool) -> Judgement:
    """The worst decide; one line names some of them and counts the others."""
    numbers = {word: sum(finding.conclusion is word for finding in findings) for word in Conclusion}
    worst = next((word for word, number in numbers.items() if number), Conclusion.CANNOT_TELL)
    those = [shorten(str(finding), LONGEST) for finding in findings if finding.conclusion is worst]
    more = [f"and {len(those) - NAMED} more"] if len(those) > NAMED else []
    line = "; ".join([*those[:NAMED], *more]) or "no LLM was tested"
    others = ", ".join(f"{number} {word}" for word, number in numbers.items() if number and word is not worst)
    return Judgement(worst, f"{line} (besides: {others})" if others else line, findings, undecided_fails)


@dataclass(frozen=True)
class _Gate:
    """The results of a run, and what is asked of them."""

    view: RunResults
    knowledge: bool
    min_power: float | None

    def finding(self, llm: str, place: TableName) -> Finding:
        """What is found of one LLM and one table."""
        found = self.ruling(llm, place)
        llm, label = (visible(words, line=True) for words in (llm, self._labels[place]))
        return Finding(llm, label, found.conclusion, found.reason)

    def of_share(self, llm: str, place: TableName, limit: float) -> Finding:
        """What is found of memory's share of an LLM's accuracy on a table."""
        conclusion, reason = memory.ruled(self._shares.get((llm, place), ()), limit, self.view.run.rows)
        alone = conclusion is Conclusion.CLEAN and not self.beyond_scores(llm, place)
        reason += "; whether it recalls rows was not asked" * alone
        llm, label = (visible(words, line=True) for words in (llm, self._labels[place]))
        return Finding(llm, label, conclusion, visible(reason, line=True), SHARE)

    def beyond_scores(self, llm: str, place: TableName) -> bool:
        """Whether anything but scores was to be asked about a table, so that there may be a finding of its rows."""
        facts, here = self.view.facts, (llm, place)
        asked = (
            (cell.llm, cell.table) == here and facts[cell.test].family is not Family.SCORE for cell in self.view.cells
        )
        return here in self._tables or any(asked)

    @cached_property
    def _shares(self) -> dict[Tested, list[Result]]:
        shares = (cell for cell in self.view.cells if memory.is_share(self.view, cell))
        return grouped(shares, lambda cell: (cell.llm, cell.table))

    def ruling(self, llm: str, place: TableName) -> Ruling:
        """What is found of one LLM and one table, and what it rests on."""
        cells = self._rows(llm, place)
        flagged = self._flagged(llm, place)
        missed = [cell for cell in cells if cell.verdict is Verdict.NOT_DETECTED]
        worthless = self._void(llm, place, exposed=not flagged)
        void = tuple(test for test in flagged or [cell.test for cell in missed] if test in worthless)
        # The published rules do not say what would have been found.
        counted = [] if self.view.run.rules == PAPER else [cell for cell in missed if cell.test not in void]
        share = min((cell.detectable_share for cell in counted if cell.detectable_share is not None), default=None)
        if void and any(cell.sequential for cell in counted):  # the share is that of all tests together
            share = None
        if flagged:
            conclusion, reason = self._found(llm, place, flagged, void)
        else:
            conclusion, reason = self._not_found(llm, place, void, share)
        if self.knowledge and conclusion is not Conclusion.CONTAMINATED:
            known = [cell.test for cell in self._knowing(llm, place) if cell.verdict is Verdict.CONTAMINATED]
            if known:
                tests = ", ".join(dict.fromkeys(known))
                conclusion, reason = Conclusion.CONTAMINATED, f"the dataset is known: found by {tests}"
            elif conclusion is Conclusion.CLEAN and (unknown_why := self._unsure(llm, place)):
                conclusion, reason = Conclusion.CANNOT_TELL, unknown_why
        if documents := self._documents(llm, place):
            also = flagged and conclusion is Conclusion.CONTAMINATED
            conclusion, reason = Conclusion.CONTAMINATED, f"{reason}; {documents}" if also else documents
        control = self._controls(place, exposed=not flagged)
        return Ruling(conclusion, visible(reason, line=True), void, share, control)

    def _found(self, llm: str, place: TableName, flagged: Sequence[str], void: Sequence[str]) -> tuple[Conclusion, str]:
        """Of a table that is contaminated in the report by these row tests, of which some may be worth nothing."""
        if not void:
            return Conclusion.CONTAMINATED, self._found_by(llm, place, flagged)
        control = self._controls(place, exposed=False)
        also = f"{control}, which has none of its rows, was flagged by {', '.join(void)} as well"
        if standing := [test for test in flagged if test not in void]:
            return Conclusion.CONTAMINATED, f"found by {', '.join(standing)}; {also}"
        again = self._without_implausible.get((llm, place))
        if again is not None and again.verdict is Verdict.CONTAMINATED:
            return Conclusion.CONTAMINATED, f"{again.reason}, without {', '.join(void)}; {also}"
        return Conclusion.CANNOT_TELL, f"what was found may be plausibility: {also}"

    def _found_by(self, llm: str, place: TableName, flagged: Sequence[str]) -> str:
        table, found = self._tables.get((llm, place)), f"found by {', '.join(flagged)}"
        if table and not any(cell.verdict is Verdict.CONTAMINATED for cell in self._rows(llm, place)):
            return table.reason
        together = table and table.verdict is Verdict.CONTAMINATED and self.view.run.rules != PAPER
        if not table or not together or table.p_value is None:
            return found
        if table.in_turns and table.e_value is not None:
            return f"{found}, E = {rounded('e_value', table.e_value)} together after {table.decided_after} queries"
        return f"{found}, p = {rounded('p_value', table.p_value)} together"

    def _not_found(
        self, llm: str, place: TableName, void: Sequence[str], share: float | None
    ) -> tuple[Conclusion, str]:
        """Of a table that no row test flagged: it is clean only if its verdict says so, and enough tests carry that."""
        cells, table = self._rows(llm, place), self._tables.get((llm, place))
        own = self._rows_held(llm, place)
        beside = [not_held(own)] if own is not None else []
        if not cells or table is None:
            return Conclusion.CANNOT_TELL, "; ".join(["no row test was asked", *beside])
        if short := [cell for cell in cells if cut_short(cell)]:
            tests = ", ".join(cell.test for cell in short)
            return Conclusion.CANNOT_TELL, f"not asked to the end: {tests} ({short[0].reason})"
        if table.rests_on:
            return Conclusion.CANNOT_TELL, table.reason
        if table.verdict is not Verdict.NOT_DETECTED:
            why = next((cell.reason for cell in cells if cell.verdict is table.verdict and cell.reason), "")
            return Conclusion.CANNOT_TELL, f"{table.reason}{why and f' ({why})'}"
        also = f"{self._controls(place, exposed=True)}, which has the table, was missed by {', '.join(void)} as well"
        again = self._without_powerless.get((llm, place))
        if again is None or again.verdict is not Verdict.NOT_DETECTED:
            unsure = also if void else "the verdict is not what its row tests say together"
            return Conclusion.CANNOT_TELL, f"nothing was found, but not for sure: {unsure}"
        families = {self.view.facts[cell.test].family for cell in cells}
        if self.min_power is not None and (share is None or share > self.min_power):
            return Conclusion.CANNOT_TELL, f"nothing was found, but {_weak(share, self.min_power, families)}"
        power = "" if share is None else f", and {who(share, families)} would have been found"
        missed = [cell.test for cell in cells if cell.verdict is Verdict.NOT_DETECTED and cell.test not in void]
        more = [also] * bool(void) + self._silent(llm, place) + beside
        return Conclusion.CLEAN, "; ".join([f"not found by {', '.join(missed)}{power}", *more])

    def _silent(self, llm: str, place: TableName) -> list[str]:
        """The tests of a clean table that count and gave no answer that could be read."""
        cells = [*self._rows(llm, place), *(self._knowing(llm, place) if self.knowledge else [])]
        tests = list(dict.fromkeys(cell.test for cell in cells if cell.verdict is Verdict.NO_ANSWER))
        return (
            [f"no answer in {len(tests)} {'test' if len(tests) == 1 else 'tests'}: {', '.join(tests)}"] if tests else []
        )

    def _unsure(self, llm: str, place: TableName) -> str:
        """Why it cannot be told that the dataset is not known; empty where it can."""
        cells = self._knowing(llm, place)
        if short := [cell.test for cell in cells if cut_short(cell)]:
            return f"not asked to the end: {', '.join(short)}"
        missed = any(cell.verdict is Verdict.NOT_DETECTED for cell in cells)
        return "" if missed else "no row was found, but whether the dataset is known was not decided by any test"

    def _knowing(self, llm: str, place: TableName) -> list[Result]:
        """What tests of knowledge found; those that show no rows are asked in one serializer alone, and go for all."""
        here, facts = (llm, place.dataset, place.edition, place.split), self.view.facts
        known = [cell for cell in self.view.cells if (cell.llm, cell.dataset, cell.edition, cell.split) == here]
        return [cell for cell in known if facts[cell.test].family is Family.KNOWLEDGE]

    def _checking(self, place: TableName, exposed: bool) -> dict[str, list[Result]]:
        """The row tests' results of each control that is known to have read the table, or none of its rows."""
        checking = self.view.checking if exposed else self.view.checking | self.view.joined
        own = {llm: self._rows(llm, place) for llm in self.view.llms if llm in checking}
        return {
            llm: cells
            for llm, cells in own.items()
            if cells and (cells[0].exposed if exposed else cells[0].exposure == 0)
        }

    def _controls(self, place: TableName, exposed: bool) -> str:
        """Those that show a row test to be worth nothing here; in a sentence it is one of them."""
        return " or ".join(self._voiding(place, exposed))

    def _void(self, llm: str, place: TableName, exposed: bool) -> frozenset[str]:
        """The row tests that a control shows to be worth nothing here: for `clean`, or for `contaminated`."""
        if llm in self._checking(place, exposed):
            return frozenset()
        return frozenset().union(*self._voiding(place, exposed).values())

    def _voiding(self, place: TableName, exposed: bool) -> dict[str, list[str]]:
        """The controls that show row tests to be worth nothing here, each with these tests."""
        checking = self._checking(place, exposed)
        if exposed:
            missed = Verdict.NOT_DETECTED
            tests = {one: [cell.test for cell in cells if cell.verdict is missed] for one, cells in checking.items()}
        else:
            tests = {one: self._flagged(one, place) for one in checking}
        return {control: void for control, void in tests.items() if void}

    @cached_property
    def _without_powerless(self) -> dict[Tested, TableVerdict]:
        """The verdicts of all tables without the row tests that miss a control which has the table."""
        return self._anew(exposed=True)

    @cached_property
    def _without_implausible(self) -> dict[Tested, TableVerdict]:
        """The verdicts of all tables without the row tests that flag a control which has none of its rows."""
        return self._anew(exposed=False)

    def _anew(self, exposed: bool) -> dict[Tested, TableVerdict]:
        """The verdicts of all tables, as a report has them, without the row tests that a control voids."""
        run, alpha = self.view.run, ALPHA if self.view.run.alpha is None else self.view.run.alpha
        worth = [
            cell
            for (llm, place), cells in self._row_results.items()
            for void in [self._void(llm, place, exposed)]
            for cell in cells
            if cell.test not in void
        ]
        return _verdicts(tables(worth, run.rules, alpha, self.view.facts, run.family_over))

    @cached_property
    def _tables(self) -> dict[Tested, TableVerdict]:
        """What the row tests say of each LLM and table by themselves, without documents that it was trained on."""
        stated, again = _verdicts(self.view.tables), self._alone

        def alone(key: Tested, table: TableVerdict) -> TableVerdict | None:
            explained = bool(self._documents(*key)) or table.verdict is not Verdict.CONTAMINATED
            return again.get(key) if explained and self._rows_held(*key) else table

        return {key: own for key, table in stated.items() if (own := alone(key, table)) is not None}

    @cached_property
    def _alone(self) -> dict[Tested, TableVerdict]:
        run, alpha = self.view.run, ALPHA if self.view.run.alpha is None else self.view.run.alpha
        own = [cell for cells in self._row_results.values() for cell in cells] if run.trained_on else []
        return _verdicts(tables(own, run.rules, alpha, self.view.facts, run.family_over))

    @cached_property
    def _held(self) -> dict[tuple[str, Rows], Held]:
        run = self.view.run
        return held(self.view.cells, run.trained_on, self.view.facts, run.family_over)

    def _rows_held(self, llm: str, place: TableName) -> Held | None:
        return self._held.get((llm, Rows(place.dataset, place.edition, place.split)))

    def _documents(self, llm: str, place: TableName) -> str:
        """What documents that an LLM was trained on hold of a table, in words, where that finds it; else nothing.

        No control says anything of it: what stands in documents is no answer.
        """
        own = self._rows_held(llm, place)
        alpha = ALPHA if self.view.run.alpha is None else self.view.run.alpha
        return told(own) if own is not None and own.evidence.finds(alpha) else ""

    @cached_property
    def _row_results(self) -> dict[Tested, list[Result]]:
        of_rows = (cell for cell in self.view.cells if cell.test in self.view.row_tests)
        return grouped(of_rows, lambda cell: (cell.llm, cell.table))

    @cached_property
    def _labels(self) -> dict[TableName, str]:
        return {cell.table: self.view.label(cell) for cell in self.view.cells}

    def _flagged(self, llm: str, place: TableName) -> list[str]:
        """The row tests that found the rows: those whose cell did, else of all together that with the least p-value."""
        cells, table = self._rows(llm, place), self._tables.get((llm, place))
        if found := [cell.test for cell in cells if cell.verdict is Verdict.CONTAMINATED]:
            return found
        if table is None or table.verdict is not Verdict.CONTAMINATED:
            return []
        finding = {one.family for one in table.families if one.q_value == table.q_value}
        own = [cell for cell in cells if not finding or self.view.facts[cell.test].family in finding]
        p_values = [1.0 if p_value is None else p_value for p_value in map(one_column.p_value_of, own)]
        return [cell.test for cell, p_value in zip(own, p_values, strict=True) if p_value == min(p_values)]

    def _rows(self, llm: str, place: TableName) -> list[Result]:
        return self._row_results.get((llm, place), [])


def _verdicts(verdicts: Sequence[TableVerdict]) -> dict[Tested, TableVerdict]:
    return {(verdict.llm, verdict.table): verdict for verdict in verdicts}


def cut_short(cell: Result) -> bool:
    """Whether nothing is known of a cell because it was not asked to the end, or not at all."""
    return cell.cut_short and cell.verdict in (Verdict.SKIPPED, Verdict.NO_ANSWER)


def _weak(share: float | None, wanted: float, families: Collection[Family]) -> str:
    if share is None:
        return f"no one can say what would have been found, and {wanted:.0%} of the rows are asked for"
    return f"only {who(share, families)} would have been found, and {wanted:.0%} are asked for"
