"""The gate: the decision whether an experiment may continue, for `gate`, the pytest plugin and Python.

The decision rests on the row tests, as the report shows them. A table is contaminated if its verdict, or the verdict of
one of its row tests, is `contaminated`. It is clean if its verdict is `not detected` and every planned row test was
asked to the end. Otherwise the gate cannot tell: for example, no answer was readable, nothing was asked, or the run
ended early.

Controls get no conclusion, but they show how good a row test is on a table (same dataset, edition and serializer):

- The test missed a control that is known to have read the table (`control:exposed`): the test has no power on this
  table, and makes no table clean.
- The test flagged a control that is known to have read none of its rows (`control:unexposed`): the test measures
  plausibility on this table, and makes no table contaminated. If only the row tests together flagged the control, the
  rule applies to the test with the smallest p-value.

A verdict that rests on such tests is computed again without them: by the same method, at the same level, with all
tables of the model that share an error budget. If the other row tests give the same verdict, it counts; if not, the
gate cannot tell. A test still counts if its result for the control is no answer, skipped or uninformative. No control
voids findings about itself.

A control that the user named (`--control`) and that has read none of the rows follows the same rule as
`control:unexposed`. A named control that has read rows voids nothing: it may be missed because it has not learned them.

A corpus that the user declared to be training data of a model makes a table contaminated if it contains rows of the
table. It makes no table clean, and controls do not apply to it. A corpus that was searched is itself a model under test
here.

A limit of memory's share is a separate condition: see `memory_share_limit`. Each model and table then has one finding
on its rows and one on the share, and the worst of all findings decides. A table with only scores has only the finding
on the share, and the finding states so.

If the finding on a table rests on one column, the gate cannot tell. A results.json with parts that contradict each
other, for example after an edit by hand, is an error. No table is clean unless its results show it.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from tabcontam.config import FAILURES, PAPER
from tabcontam.errors import Exit, UsageError, unknown
from tabcontam.evidence.base import Family, Verdict
from tabcontam.groups import grouped
from tabcontam.verdicts import memory_share_limit, one_column_rule
from tabcontam.verdicts.consistency import check_whole
from tabcontam.verdicts.name_lookup import llms_named, places_named
from tabcontam.verdicts.result_building import tables
from tabcontam.verdicts.result_types import Result, TableName, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import Conclusion as Conclusion
from tabcontam.verdicts.thresholds import ALPHA
from tabcontam.verdicts.training_evidence import (
    CorpusEvidence,
    RowsKey,
    corpus_evidence,
    phrase_corpus_rows,
    phrase_detectable,
    phrase_no_rows,
    rows_of,
)
from tabcontam.verdicts.wording import rounded, shorten, visible

ROWS, SHARE = "rows", "memory's share"  # the possible subjects of a finding
Tested = tuple[str, TableName]  # an LLM and a table


EXIT = {
    Conclusion.CLEAN: Exit.DONE,
    Conclusion.KNOWN: Exit.DONE,
    Conclusion.CONTAMINATED: Exit.CONTAMINATED,
    Conclusion.CANNOT_TELL: Exit.CANNOT_TELL,
}


@dataclass(frozen=True)
class GateFinding:
    """The gate's finding on one model and table: `dataset` is its label in the report, `reason` one sentence.

    `subject` is "rows", or "memory's share" for a finding on this share and its limit.
    """

    llm: str
    dataset: str
    conclusion: Conclusion
    reason: str
    subject: str = ROWS

    def __str__(self) -> str:
        return f"{self.llm} on {self.dataset}: {self.reason}"


@dataclass(frozen=True)
class GateDecision:
    """The gate's decision on all models and tables together, in one line, with each finding.

    `undecided_fails` is true if the gate also stops an experiment when it cannot tell. `baseline` is the folder of an
    earlier run, with known findings; empty without such a run.
    """

    conclusion: Conclusion
    reason: str
    findings: tuple[GateFinding, ...]
    undecided_fails: bool = False
    baseline: str = ""

    def __str__(self) -> str:
        return f"{self.conclusion}: {self.reason}"

    @property
    def exit_code(self) -> Exit:
        """0 for clean or known, 1 for contaminated, 6 for cannot tell (1 if `undecided_fails`)."""
        fails = self.undecided_fails and self.conclusion is Conclusion.CANNOT_TELL
        return Exit.CONTAMINATED if fails else EXIT[self.conclusion]

    def document(self) -> dict[str, Any]:
        """Return the document that `gate --json` prints."""
        findings = [asdict(finding) for finding in self.findings]
        compared = {"baseline": self.baseline} if self.baseline else {}
        return {"conclusion": self.conclusion, "reason": self.reason, **compared, "findings": findings}


@dataclass(frozen=True)
class TableRuling:
    """The gate's decision on one model and table, for callers that write their own message.

    `void` contains the row tests that do not count for the conclusion, because of the control named in `control`.
    `share`, in [0, 1], is the smallest share of remembered rows that the other tests would have detected; None if it is
    not known.
    """

    conclusion: Conclusion
    reason: str
    void: tuple[str, ...]
    share: float | None
    control: str


def rulings(
    view: RunResults, llms: Sequence[str] = (), datasets: Sequence[str] = (), *, knowledge: bool = False
) -> dict[Tested, TableRuling]:
    """Return the gate's decision on each model and table, chosen as in `judge`; none for recorded answers.

    With `knowledge`, tests of knowledge count as well.
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
) -> GateDecision:
    """Return the gate's decision on the results of a run: the worst finding on any model and table.

    `llms` and `datasets` choose from the results (default: all except controls that joined). `fail_on` contains
    "knowledge", "undecided" or both. With "knowledge", tests of knowledge count as well. With "undecided", an undecided
    table has the exit code of a contaminated one. `min_power`, in (0, 1), is a share of rows: a table is clean only if
    a model that remembers this share would have been detected. `max_memory_share`, in (0, 1), is the largest part of an
    accuracy that may be memory.

    Raises `UsageError` for a name that is not in the results, for another condition, and if `view` is not a run's
    results.
    """
    findings = findings_of(view, llms, datasets, fail_on, min_power, max_memory_share)
    return mark_partial(view, combine_findings(tuple(finding for _, finding in findings), "undecided" in fail_on))


def findings_of(
    view: RunResults,
    llms: Sequence[str],
    datasets: Sequence[str],
    fail_on: Sequence[str],
    min_power: float | None,
    max_memory_share: float | None,
) -> list[tuple[Tested, GateFinding]]:
    """Return each finding with its model and table. Arguments and errors are the same as in `judge`."""
    for word in fail_on:
        if word not in FAILURES:
            raise unknown("condition to fail on", str(word), FAILURES)
    if min_power is not None and not (isinstance(min_power, int | float) and 0 < min_power < 1):
        raise UsageError(f"the least power is a share between 0 and 1, not {min_power!r}")
    if max_memory_share is not None and not (isinstance(max_memory_share, int | float) and 0 < max_memory_share < 1):
        raise UsageError(f"the limit of memory's share is a number between 0 and 1, not {max_memory_share!r}")
    check_whole(view)
    gate, subjects = _Gate(view, "knowledge" in fail_on, min_power), _subjects(view, llms, datasets)
    if max_memory_share is None:
        findings = [(one, gate.finding(*one)) for one in subjects]
    else:
        shares = [(one, gate.of_share(*one, max_memory_share)) for one in subjects if one[0] not in view.corpora]
        findings = [(one, gate.finding(*one)) for one in subjects if gate.beyond_scores(*one)] + shares
    if view.run.shard is None:
        return findings
    return [(one, replace(finding, conclusion=Conclusion.CANNOT_TELL)) for one, finding in findings]


def mark_partial(view: RunResults, judgement: GateDecision) -> GateDecision:
    """Return the judgement. If only some parts of a run are given, it is undecided and names the missing parts."""
    shard = view.run.shard
    if shard is None:
        return judgement
    missing = f"part{'s' * (len(shard.missing) > 1)} {', '.join(map(str, shard.missing))}"
    line = f"these are {shard} of a run, and {missing} can change their verdicts; join all parts with `report` first"
    return replace(judgement, conclusion=Conclusion.CANNOT_TELL, reason=f"{line} ({judgement.reason})")


def _subjects(view: RunResults, llms: Sequence[str], datasets: Sequence[str]) -> list[Tested]:
    """Return each chosen model with each chosen table. A named pair that was not asked is included, not skipped."""
    chosen = llms_named(view, llms)
    named = dict.fromkeys(place for name in datasets for place in places_named(view, name))
    if not datasets:
        by_llm = grouped(view.results, lambda cell: cell.llm)
        stated = grouped(view.tables, lambda table: table.llm)
        return [
            (llm, place)
            for llm in view.llms
            if llm in chosen
            for place in dict.fromkeys(one.table for one in (*by_llm.get(llm, ()), *stated.get(llm, ())))
        ]
    return [(llm, place) for llm in chosen for place in named]


# named: the largest number of findings that the line names
# longest: the largest number of characters of a finding in the line
def combine_findings(
    findings: tuple[GateFinding, ...], undecided_fails: bool, *, named: int = 3, longest: int = 240
) -> GateDecision:
    """Return the judgement on all findings: the worst decide. Its line names some findings and counts the rest."""
    numbers = {word: sum(finding.conclusion is word for finding in findings) for word in Conclusion}
    worst = next((word for word, number in numbers.items() if number), Conclusion.CANNOT_TELL)
    worst_findings = [shorten(str(finding), longest) for finding in findings if finding.conclusion is worst]
    more = [f"and {len(worst_findings) - named} more"] if len(worst_findings) > named else []
    line = "; ".join([*worst_findings[:named], *more]) or "no model was tested"
    others = ", ".join(f"{number} {word}" for word, number in numbers.items() if number and word is not worst)
    return GateDecision(worst, f"{line} (besides: {others})" if others else line, findings, undecided_fails)


@dataclass(frozen=True)
class _Gate:
    """The results of a run, with the conditions of the gate."""

    view: RunResults
    knowledge: bool
    min_power: float | None

    def finding(self, llm: str, place: TableName) -> GateFinding:
        """Return the finding on the rows of one model and table."""
        found = self.ruling(llm, place)
        llm, label = (visible(words, line=True) for words in (llm, self._labels[place]))
        return GateFinding(llm, label, found.conclusion, found.reason)

    def of_share(self, llm: str, place: TableName, limit: float) -> GateFinding:
        """Return the finding on memory's share of a model's accuracy on a table."""
        results = self._shares.get((llm, place), ())
        conclusion, reason = memory_share_limit.rule_on_share(results, limit, self.view.run.rows)
        alone = conclusion is Conclusion.CLEAN and not self.beyond_scores(llm, place)
        reason += "; recall of rows was not tested" * alone
        llm, label = (visible(words, line=True) for words in (llm, self._labels[place]))
        return GateFinding(llm, label, conclusion, visible(reason, line=True), SHARE)

    def beyond_scores(self, llm: str, place: TableName) -> bool:
        """Return whether the run planned tests with a verdict for a table, not only scores."""
        facts, here = self.view.facts, (llm, place)
        asked = (
            (result.llm, result.table) == here and facts[result.test].family is not Family.SCORE
            for result in self.view.results
        )
        return here in self._tables or any(asked)

    @cached_property
    def _shares(self) -> dict[Tested, list[Result]]:
        shares = (result for result in self.view.results if memory_share_limit.is_share(self.view, result))
        return grouped(shares, lambda result: (result.llm, result.table))

    def ruling(self, llm: str, place: TableName) -> TableRuling:
        """Return the decision on one model and table, with its reason."""
        flagged = self._flagged(llm, place)
        missed = self._missed(llm, place)
        worthless = self._void(llm, place, exposed=not flagged)
        void = tuple(test for test in flagged or [result.test for result in missed] if test in worthless)
        # The published rules state no detectable share.
        counted = [] if self.view.run.rules == PAPER else [result for result in missed if result.test not in void]
        shares = [share for result in counted if (share := result.evidence.detectable_share) is not None]
        share = min(shares, default=None)
        if void and any(result.sequential for result in counted):  # the share was computed for all tests together
            share = None
        if flagged:
            conclusion, reason = self._contaminated(llm, place, flagged, void)
        else:
            conclusion, reason = self._not_detected(llm, place, void, share)
        if self.knowledge and conclusion is not Conclusion.CONTAMINATED:
            known = [result.test for result in self._knowing(llm, place) if result.verdict is Verdict.CONTAMINATED]
            if known:
                tests = ", ".join(dict.fromkeys(known))
                conclusion, reason = Conclusion.CONTAMINATED, f"the dataset is known: detected by {tests}"
            elif conclusion is Conclusion.CLEAN and (unknown_why := self._unsure(llm, place)):
                conclusion, reason = Conclusion.CANNOT_TELL, unknown_why
        if corpus_reason := self._corpus_reason(llm, place):
            also = flagged and conclusion is Conclusion.CONTAMINATED
            conclusion, reason = Conclusion.CONTAMINATED, f"{reason}; {corpus_reason}" if also else corpus_reason
        control = self._controls(place, exposed=not flagged)
        return TableRuling(conclusion, visible(reason, line=True), void, share, control)

    def _contaminated(
        self, llm: str, place: TableName, flagged: Sequence[str], void: Sequence[str]
    ) -> tuple[Conclusion, str]:
        """Return the conclusion on a table that the tests `flagged` call contaminated. Tests in `void` do not count."""
        if not void:
            return Conclusion.CONTAMINATED, self._detected_by(llm, place, flagged)
        control = self._controls(place, exposed=False)
        also = f"{control}, which has read none of its rows, was flagged by {', '.join(void)}, too"
        if standing := [test for test in flagged if test not in void]:
            return Conclusion.CONTAMINATED, f"detected by {', '.join(standing)}; {also}"
        again = self._without_implausible.get((llm, place))
        if again is not None and again.verdict is Verdict.CONTAMINATED:
            return Conclusion.CONTAMINATED, f"{again.reason}, without {', '.join(void)}; {also}"
        return Conclusion.CANNOT_TELL, f"the model may only write plausible values: {also}"

    def _detected_by(self, llm: str, place: TableName, flagged: Sequence[str]) -> str:
        table, found = self._tables.get((llm, place)), f"detected by {', '.join(flagged)}"
        if table and not any(result.verdict is Verdict.CONTAMINATED for result in self._rows(llm, place)):
            return table.reason
        together = table and table.verdict is Verdict.CONTAMINATED and self.view.run.rules != PAPER
        if not table or not together or table.p_value is None:
            return found
        if table.sequential_queries and table.e_value is not None:
            return f"{found}, E = {rounded('e_value', table.e_value)} together after {table.decided_after} queries"
        return f"{found}, p = {rounded('p_value', table.p_value)} together"

    def _not_detected(
        self, llm: str, place: TableName, void: Sequence[str], share: float | None
    ) -> tuple[Conclusion, str]:
        """Return the conclusion on a table that no row test flagged: clean if its verdict and the tests allow it."""
        results, table = self._rows(llm, place), self._tables.get((llm, place))
        own = self._corpora_of(llm, place)
        corpus_notes = [phrase_no_rows(own)] if own is not None else []
        if not results or table is None:
            return Conclusion.CANNOT_TELL, "; ".join(["no row test was asked", *corpus_notes])
        if short := [result for result in results if cut_short(result)]:
            tests = ", ".join(result.test for result in short)
            return Conclusion.CANNOT_TELL, f"not all queries were asked: {tests} ({short[0].decision.reason})"
        if table.rests_on:
            return Conclusion.CANNOT_TELL, table.reason
        if table.verdict is not Verdict.NOT_DETECTED:
            reasons = (result.decision.reason for result in results if result.verdict is table.verdict)
            why = next(filter(None, reasons), "")
            return Conclusion.CANNOT_TELL, f"{table.reason}{why and f' ({why})'}"
        also = f"{self._controls(place, exposed=True)}, which has read the table, was missed by {', '.join(void)}, too"
        again = self._without_powerless.get((llm, place))
        if again is None or again.verdict is not Verdict.NOT_DETECTED:
            unsure = also if void else "the verdict does not follow from its row tests"
            return Conclusion.CANNOT_TELL, f"nothing was detected, but this is not certain: {unsure}"
        families = {self.view.facts[result.test].family for result in results}
        if self.min_power is not None and (share is None or share > self.min_power):
            return Conclusion.CANNOT_TELL, f"nothing was detected, but {_weak(share, self.min_power, families)}"
        power = "" if share is None else f", and {phrase_detectable(share, families)} would have been detected"
        counted = ", ".join(result.test for result in self._missed(llm, place) if result.test not in void)
        more = [also] * bool(void) + self._silent(llm, place) + corpus_notes
        return Conclusion.CLEAN, "; ".join([f"not detected by {counted}{power}", *more])

    def _silent(self, llm: str, place: TableName) -> list[str]:
        """Return a line on the tests of a clean table that gave no readable answer; no line if there are none."""
        results = [*self._rows(llm, place), *(self._knowing(llm, place) if self.knowledge else [])]
        tests = list(dict.fromkeys(result.test for result in results if result.verdict is Verdict.NO_ANSWER))
        what = "test" if len(tests) == 1 else "tests"
        return [f"no answer in {len(tests)} {what}: {', '.join(tests)}"] if tests else []

    def _unsure(self, llm: str, place: TableName) -> str:
        """Return why tests have not shown if the model knows the dataset; "" if they have."""
        results = self._knowing(llm, place)
        if short := [result.test for result in results if cut_short(result)]:
            return f"not all queries were asked: {', '.join(short)}"
        missed = any(result.verdict is Verdict.NOT_DETECTED for result in results)
        return "" if missed else "no row was detected, but no test decided whether the dataset is known"

    def _knowing(self, llm: str, place: TableName) -> list[Result]:
        """Return the results of tests of knowledge. They apply to all serializers, because no query shows rows."""
        here, facts = rows_of(place), self.view.facts
        known = [result for result in self.view.results if result.llm == llm and rows_of(result) == here]
        return [result for result in known if facts[result.test].family is Family.KNOWLEDGE]

    def _checking(self, place: TableName, exposed: bool) -> dict[str, list[Result]]:
        """Return the row-test results of controls that have read the table or, without `exposed`, of the others."""
        checking = self.view.checking if exposed else self.view.checking | self.view.joined
        own = {llm: self._rows(llm, place) for llm in self.view.llms if llm in checking}
        return {
            llm: results
            for llm, results in own.items()
            if results and (results[0].exposed if exposed else results[0].exposure == 0)
        }

    def _controls(self, place: TableName, exposed: bool) -> str:
        """Return in words the controls because of which some row test does not count on this table."""
        return " or ".join(self._voiding(place, exposed))

    def _void(self, llm: str, place: TableName, exposed: bool) -> frozenset[str]:
        """Return the row tests that, because of a control, make no table clean (`exposed`) or none contaminated."""
        if llm in self._checking(place, exposed):
            return frozenset()
        return frozenset().union(*self._voiding(place, exposed).values())

    def _voiding(self, place: TableName, exposed: bool) -> dict[str, list[str]]:
        """Return the controls because of which row tests do not count on this table, each with these tests."""
        checking = self._checking(place, exposed)
        if exposed:
            tests = {one: [result.test for result in self._missed(one, place)] for one in checking}
        else:
            tests = {one: self._flagged(one, place) for one in checking}
        return {control: void for control, void in tests.items() if void}

    @cached_property
    def _without_powerless(self) -> dict[Tested, TableVerdict]:
        """The verdicts of all tables, without each row test that misses a control which has read the table."""
        return self._recomputed(exposed=True)

    @cached_property
    def _without_implausible(self) -> dict[Tested, TableVerdict]:
        """The verdicts of all tables, without each row test that flags a control which has read none of its rows."""
        return self._recomputed(exposed=False)

    def _recomputed(self, exposed: bool) -> dict[Tested, TableVerdict]:
        """Return the verdicts of all tables, as in a report, without the row tests that a control makes void."""
        worth: list[Result] = []
        for (llm, place), results in self._row_results.items():
            void = self._void(llm, place, exposed)
            worth += [result for result in results if result.test not in void]
        return self._judged(worth)

    def _judged(self, results: Sequence[Result]) -> dict[Tested, TableVerdict]:
        run = self.view.run
        return _verdicts(tables(results, run.rules, self._alpha, self.view.facts, run.family_over))

    @property
    def _alpha(self) -> float:
        return ALPHA if self.view.run.alpha is None else self.view.run.alpha

    @cached_property
    def _tables(self) -> dict[Tested, TableVerdict]:
        """The verdict of the row tests alone on each model and table, without corpora declared as training data."""
        stated, again = _verdicts(self.view.tables), self._alone

        def alone(key: Tested, table: TableVerdict) -> TableVerdict | None:
            explained = bool(self._corpus_reason(*key)) or table.verdict is not Verdict.CONTAMINATED
            return again.get(key) if explained and self._corpora_of(*key) else table

        return {key: own for key, table in stated.items() if (own := alone(key, table)) is not None}

    @cached_property
    def _alone(self) -> dict[Tested, TableVerdict]:
        own = [result for results in self._row_results.values() for result in results]
        return self._judged(own if self.view.run.trained_on else [])

    @cached_property
    def _corpora(self) -> dict[tuple[str, RowsKey], CorpusEvidence]:
        run = self.view.run
        return corpus_evidence(self.view.results, run.trained_on, self.view.facts, run.family_over)

    def _corpora_of(self, llm: str, place: TableName) -> CorpusEvidence | None:
        return self._corpora.get((llm, rows_of(place)))

    def _corpus_reason(self, llm: str, place: TableName) -> str:
        """Return in words how many rows of a table are in a model's training corpora, if that is a finding; else "".

        Controls do not apply: a row in a corpus is no answer.
        """
        own = self._corpora_of(llm, place)
        return phrase_corpus_rows(own) if own is not None and own.evidence.finds(self._alpha) else ""

    @cached_property
    def _row_results(self) -> dict[Tested, list[Result]]:
        of_rows = (result for result in self.view.results if result.test in self.view.row_tests)
        return grouped(of_rows, lambda result: (result.llm, result.table))

    @cached_property
    def _labels(self) -> dict[TableName, str]:
        return {result.table: self.view.label(result) for result in self.view.results}

    def _flagged(self, llm: str, place: TableName) -> list[str]:
        """Return the row tests with a finding. If only all tests together have one, return the one with the smallest
        p-value.
        """
        results, table = self._rows(llm, place), self._tables.get((llm, place))
        if found := [result.test for result in results if result.verdict is Verdict.CONTAMINATED]:
            return found
        if table is None or table.verdict is not Verdict.CONTAMINATED:
            return []
        finding = {one.family for one in table.families if one.q_value == table.q_value}
        own = [result for result in results if not finding or self.view.facts[result.test].family in finding]
        p_values = [1.0 if p_value is None else p_value for p_value in map(one_column_rule.p_value_of, own)]
        return [result.test for result, p_value in zip(own, p_values, strict=True) if p_value == min(p_values)]

    def _missed(self, llm: str, place: TableName) -> list[Result]:
        return [result for result in self._rows(llm, place) if result.verdict is Verdict.NOT_DETECTED]

    def _rows(self, llm: str, place: TableName) -> list[Result]:
        return self._row_results.get((llm, place), [])


def _verdicts(verdicts: Sequence[TableVerdict]) -> dict[Tested, TableVerdict]:
    return {(verdict.llm, verdict.table): verdict for verdict in verdicts}


def cut_short(result: Result) -> bool:
    """Return whether a result is unknown because some or all of its queries were not asked."""
    return result.cut_short and result.verdict in (Verdict.SKIPPED, Verdict.NO_ANSWER)


def _weak(share: float | None, required: float, families: Collection[Family]) -> str:
    if share is None:
        return f"the detectable share is not known, and at most {required:.0%} of the rows is required"
    return f"only {phrase_detectable(share, families)} would have been detected, and {required:.0%} is required"
