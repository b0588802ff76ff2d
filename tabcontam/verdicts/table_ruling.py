"""The gate's decision on the rows of one model and table.

It rests on the row tests, as the report shows them. A table is contaminated if its verdict, or the verdict of one of
its row tests, is `contaminated`. It is clean if its verdict is `not detected` and every planned row test was asked to
the end. Otherwise the gate cannot tell: for example, no answer was readable, nothing was asked, the run ended early, or
the finding rests on one column.

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
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from tabcontam.config import PAPER
from tabcontam.evidence.base import Family, Verdict
from tabcontam.groups import grouped
from tabcontam.verdicts import one_column_rule
from tabcontam.verdicts.result_building import tables
from tabcontam.verdicts.result_types import Result, TableName, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import Conclusion
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
from tabcontam.verdicts.wording import rounded, visible

Tested = tuple[str, TableName]  # an LLM and a table


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


@dataclass(frozen=True)
class TableRulings:
    """The rulings on the tables of a run.

    With `knowledge`, tests of knowledge count as well. With `min_power`, a table is clean only if a model that
    remembers this share of the rows would have been detected.
    """

    view: RunResults
    knowledge: bool = False
    min_power: float | None = None

    def ruling(self, tested: Tested) -> TableRuling:
        """Return the decision on one model and table, with its reason."""
        flagged, missed = self._flagged(tested), self._missed(tested)
        worthless = self._void(tested, exposed=not flagged)
        void = tuple(test for test in flagged or [result.test for result in missed] if test in worthless)
        control = " or ".join(self._voiding(tested[1], exposed=not flagged))
        # The published rules state no detectable share.
        counted = [] if self.view.run.rules == PAPER else [result for result in missed if result.test not in void]
        shares = [share for result in counted if (share := result.evidence.detectable_share) is not None]
        share = min(shares, default=None)
        if void and any(result.sequential for result in counted):  # the share was computed for all tests together
            share = None
        if flagged:
            conclusion, reason = self._contaminated(tested, flagged, void, control)
        else:
            conclusion, reason = self._not_detected(tested, void, control, share)
        if self.knowledge and conclusion is not Conclusion.CONTAMINATED:
            known = [result.test for result in self._knowing(tested) if result.verdict is Verdict.CONTAMINATED]
            if known:
                tests = ", ".join(dict.fromkeys(known))
                conclusion, reason = Conclusion.CONTAMINATED, f"the dataset is known: detected by {tests}"
            elif conclusion is Conclusion.CLEAN and (unknown_why := self._unsure(tested)):
                conclusion, reason = Conclusion.CANNOT_TELL, unknown_why
        if corpus_reason := self._corpus_reason(tested):
            also = flagged and conclusion is Conclusion.CONTAMINATED
            conclusion, reason = Conclusion.CONTAMINATED, f"{reason}; {corpus_reason}" if also else corpus_reason
        return TableRuling(conclusion, visible(reason, line=True), void, share, control)

    def _contaminated(
        self, tested: Tested, flagged: Sequence[str], void: Sequence[str], control: str
    ) -> tuple[Conclusion, str]:
        """Return the conclusion on a table that the tests `flagged` call contaminated. Tests in `void` do not count."""
        if not void:
            return Conclusion.CONTAMINATED, self._detected_by(tested, flagged)
        also = f"{control}, which has read none of its rows, was flagged by {', '.join(void)}, too"
        if standing := [test for test in flagged if test not in void]:
            return Conclusion.CONTAMINATED, f"detected by {', '.join(standing)}; {also}"
        again = self._without_implausible.get(tested)
        if again is not None and again.verdict is Verdict.CONTAMINATED:
            return Conclusion.CONTAMINATED, f"{again.reason}, without {', '.join(void)}; {also}"
        return Conclusion.CANNOT_TELL, f"the model may only write plausible values: {also}"

    def _detected_by(self, tested: Tested, flagged: Sequence[str]) -> str:
        table, found = self._tables.get(tested), f"detected by {', '.join(flagged)}"
        if table and not any(result.verdict is Verdict.CONTAMINATED for result in self._rows(tested)):
            return table.reason
        together = table and table.verdict is Verdict.CONTAMINATED and self.view.run.rules != PAPER
        if not table or not together or table.p_value is None:
            return found
        if table.sequential_queries and table.e_value is not None:
            return f"{found}, E = {rounded('e_value', table.e_value)} together after {table.decided_after} queries"
        return f"{found}, p = {rounded('p_value', table.p_value)} together"

    def _not_detected(
        self, tested: Tested, void: Sequence[str], control: str, share: float | None
    ) -> tuple[Conclusion, str]:
        """Return the conclusion on a table that no row test flagged: clean if its verdict and the tests allow it."""
        results, table, own = self._rows(tested), self._tables.get(tested), self._corpora_of(tested)
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
        also = f"{control}, which has read the table, was missed by {', '.join(void)}, too"
        again = self._without_powerless.get(tested)
        if again is None or again.verdict is not Verdict.NOT_DETECTED:
            unsure = also if void else "the verdict does not follow from its row tests"
            return Conclusion.CANNOT_TELL, f"nothing was detected, but this is not certain: {unsure}"
        families = {self.view.facts[result.test].family for result in results}
        if self.min_power is not None and (share is None or share > self.min_power):
            return Conclusion.CANNOT_TELL, f"nothing was detected, but {_weak(share, self.min_power, families)}"
        power = "" if share is None else f", and {phrase_detectable(share, families)} would have been detected"
        counted = ", ".join(result.test for result in self._missed(tested) if result.test not in void)
        asked = [*results, *(self._knowing(tested) if self.knowledge else [])]
        silent = list(dict.fromkeys(result.test for result in asked if result.verdict is Verdict.NO_ANSWER))
        unanswered = f"no answer in {len(silent)} {'test' if len(silent) == 1 else 'tests'}: {', '.join(silent)}"
        more = [also] * bool(void) + [unanswered] * bool(silent) + corpus_notes
        return Conclusion.CLEAN, "; ".join([f"not detected by {counted}{power}", *more])

    def _unsure(self, tested: Tested) -> str:
        """Return why tests have not shown if the model knows the dataset; "" if they have."""
        results = self._knowing(tested)
        if short := [result.test for result in results if cut_short(result)]:
            return f"not all queries were asked: {', '.join(short)}"
        missed = any(result.verdict is Verdict.NOT_DETECTED for result in results)
        return "" if missed else "no row was detected, but no test decided whether the dataset is known"

    def _knowing(self, tested: Tested) -> list[Result]:
        """Return the results of tests of knowledge. They apply to all serializers, because no query shows rows."""
        return self._knowledge_results.get((tested[0], rows_of(tested[1])), [])

    @cached_property
    def _knowledge_results(self) -> dict[tuple[str, RowsKey], list[Result]]:
        facts = self.view.facts
        known = (result for result in self.view.results if facts[result.test].family is Family.KNOWLEDGE)
        return grouped(known, lambda result: (result.llm, rows_of(result)))

    def _void(self, tested: Tested, exposed: bool) -> frozenset[str]:
        """Return the row tests that, because of a control, make no table clean (`exposed`) or none contaminated."""
        llm, place = tested
        if llm in self._checking(place, exposed):
            return frozenset()
        return frozenset().union(*self._voiding(place, exposed).values())

    def _voiding(self, place: TableName, exposed: bool) -> dict[str, list[str]]:
        """Return the controls because of which row tests do not count on this table, each with these tests."""
        tests = {
            llm: [result.test for result in self._missed((llm, place))] if exposed else self._flagged((llm, place))
            for llm in self._checking(place, exposed)
        }
        return {control: void for control, void in tests.items() if void}

    def _checking(self, place: TableName, exposed: bool) -> list[str]:
        """Return the controls that have read the table and were asked row tests; without `exposed`, the others."""
        checking = self.view.checking if exposed else self.view.checking | self.view.joined
        first = {llm: own[0] for llm in self.view.llms if llm in checking and (own := self._rows((llm, place)))}
        return [llm for llm, result in first.items() if (result.exposed if exposed else result.exposure == 0)]

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
        for tested, results in self._row_results.items():
            void = self._void(tested, exposed)
            worth += [result for result in results if result.test not in void]
        return self._judged(worth)

    def _judged(self, results: Sequence[Result]) -> dict[Tested, TableVerdict]:
        run = self.view.run
        return _by_tested(tables(results, run.rules, run.alpha or ALPHA, self.view.facts, run.family_over))

    @cached_property
    def _tables(self) -> dict[Tested, TableVerdict]:
        """The verdict of the row tests alone on each model and table, without corpora declared as training data."""
        stated = _by_tested(self.view.tables)
        if self._corpora:
            again = self._judged([result for results in self._row_results.values() for result in results])
            for tested, table in list(stated.items()):
                explained = self._corpus_reason(tested) or table.verdict is not Verdict.CONTAMINATED
                if explained and self._corpora_of(tested):
                    del stated[tested]
                    if tested in again:
                        stated[tested] = again[tested]
        return stated

    @cached_property
    def with_verdict(self) -> frozenset[Tested]:
        """The models and tables for which tests with a verdict were planned, not only scores."""
        results, facts = self.view.results, self.view.facts
        planned = {(one.llm, one.table) for one in results if facts[one.test].family is not Family.SCORE}
        return frozenset(planned | self._tables.keys())

    @cached_property
    def _corpora(self) -> dict[tuple[str, RowsKey], CorpusEvidence]:
        run = self.view.run
        return corpus_evidence(self.view.results, run.trained_on, self.view.facts, run.family_over)

    def _corpora_of(self, tested: Tested) -> CorpusEvidence | None:
        return self._corpora.get((tested[0], rows_of(tested[1])))

    def _corpus_reason(self, tested: Tested) -> str:
        """Return in words how many rows of a table are in a model's training corpora, if that is a finding; else "".

        Controls do not apply: a row in a corpus is no answer.
        """
        own = self._corpora_of(tested)
        return phrase_corpus_rows(own) if own is not None and own.evidence.finds(self.view.run.alpha or ALPHA) else ""

    @cached_property
    def _row_results(self) -> dict[Tested, list[Result]]:
        of_rows = (result for result in self.view.results if result.test in self.view.row_tests)
        return grouped(of_rows, lambda result: (result.llm, result.table))

    def _rows(self, tested: Tested) -> list[Result]:
        return self._row_results.get(tested, [])

    def _missed(self, tested: Tested) -> list[Result]:
        return [result for result in self._rows(tested) if result.verdict is Verdict.NOT_DETECTED]

    def _flagged(self, tested: Tested) -> list[str]:
        """Return the row tests with a finding. If only all tests together have one, return the one with the smallest
        p-value.
        """
        results, table = self._rows(tested), self._tables.get(tested)
        if found := [result.test for result in results if result.verdict is Verdict.CONTAMINATED]:
            return found
        if table is None or table.verdict is not Verdict.CONTAMINATED:
            return []
        finding = {one.family for one in table.families if one.q_value == table.q_value}
        own = [result for result in results if not finding or self.view.facts[result.test].family in finding]
        p_values = [1.0 if p_value is None else p_value for p_value in map(one_column_rule.p_value_of, own)]
        return [result.test for result, p_value in zip(own, p_values, strict=True) if p_value == min(p_values)]


def _by_tested(verdicts: Sequence[TableVerdict]) -> dict[Tested, TableVerdict]:
    return {(verdict.llm, verdict.table): verdict for verdict in verdicts}


def cut_short(result: Result) -> bool:
    """Return whether a result is unknown because some or all of its queries were not asked."""
    return result.cut_short and result.verdict in (Verdict.SKIPPED, Verdict.NO_ANSWER)


def _weak(share: float | None, required: float, families: Collection[Family]) -> str:
    if share is None:
        return f"the detectable share is not known, and at most {required:.0%} of the rows is required"
    return f"only {phrase_detectable(share, families)} would have been detected, and {required:.0%} is required"
