"""Computation of results, verdicts on tables and the ranking from trials, for `run`, `rescore`, `replay` and others."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tabcontam.config import ALL, LLM, PAPER
from tabcontam.evidence.base import DECIDED, Evidence, Facts, Family, PublishedRule, Test, Trial, Verdict
from tabcontam.evidence.mixins import PooledTest, ShareTest
from tabcontam.evidence.number_wording import format_signed
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.rows.repeated_answers import without_repeats
from tabcontam.evidence.twin_comparison import TwinComparison
from tabcontam.groups import grouped
from tabcontam.statistics.eprocess import ALL as ALL_BETS
from tabcontam.verdicts import one_column_rule
from tabcontam.verdicts.decisions import Decision, answers_read, corrected, published, texts, without_evidence
from tabcontam.verdicts.generation_accuracy import generations
from tabcontam.verdicts.llm_ranking import correlations, ranking
from tabcontam.verdicts.reference_correction import Reference, concede
from tabcontam.verdicts.result_types import FamilyEvidence, Result, ResultKey, TableName, TableVerdict
from tabcontam.verdicts.results import RunResults
from tabcontam.verdicts.rules import Over
from tabcontam.verdicts.run_facts import RunFacts, TrainingDeclaration, in_order, known_tests
from tabcontam.verdicts.thresholds import ALPHA, LEAST_READ_SHARE
from tabcontam.verdicts.training_evidence import (
    CorpusEvidence,
    corpus_evidence,
    join_corpus_evidence,
    phrase_detectable,
    phrase_own_rows,
)
from tabcontam.verdicts.wording import rounded, visible

# The words before the names of the row tests with a verdict. The table gets the first of these that a test has.
BY_TESTS = {
    Verdict.CONTAMINATED: "detected by",
    Verdict.NOT_DETECTED: "not detected by",
    Verdict.NO_ANSWER: "no answer to",
    Verdict.UNINFORMATIVE: "nothing could be learned from",
    Verdict.SKIPPED: "not asked:",
}
Tests = Mapping[str, Facts]
FamilyFindings = Mapping[tuple[str, TableName], tuple[FamilyEvidence, ...]]  # by LLM and table
Part = TypeVar("Part")


def build_result(
    name: ResultKey,
    test: Test,
    trials: Sequence[Trial],
    planned: int,
    rules: str,
    level: float,
    ended: str = "",
    reference: Reference | None = None,
    pooled_trials: Sequence[Trial] = (),
    in_turns: bool = False,
) -> Result:
    """Return the result of a test from its trials with answers read. With fewer trials than planned it is never clean.

    `level` is the p-value that a result of this run must reach. `ended` states why asking ended early, if that is
    known. `pooled_trials` are trials of the table's other tests of the same pool. They are used, too, if the test's own
    trials could not reach `level`. With `in_turns`, the table's tests were asked in turns, and the result has E in
    place of a p-value. Right answers that the `reference` also gave are no evidence. Under the calibrated rules,
    `conclude` may change the verdict when all results of the model are known.
    """
    trials = without_repeats(test, trials)
    conceded = concede(test, trials, reference)
    evidence, informative = test.weigh(conceded.weighed, level), conceded.informative
    if (
        pooled_trials
        and isinstance(test, PooledTest)
        and test.uninformative([trial.query for trial in informative], level)
    ):
        evidence = test.pooled(evidence, test.weigh([*conceded.weighed, *pooled_trials], level))
        informative = [*informative, *pooled_trials]
    own = _whole(without_evidence(evidence, informative, test, level), trials, planned, ended)
    of_paper = [trial for trial in trials if trial.query.paper]
    rule = test.published if of_paper else None
    paper = _whole(published(rule, of_paper), trials, planned, ended) if rule else Decision(None)
    e_value = 2.0 ** evidence.bets[ALL_BETS].won if evidence.bets else None
    bet = f"{evidence.without_p_value} (E = {rounded('e_value', e_value or 1.0)})"
    read = answers_read(trials) if test.decides else ""
    memory, compared = _memory(evidence.memory, test, trials, reference)
    clauses = (bet if in_turns else evidence.sentence, conceded.sentence, compared, read)
    sentence = visible("; ".join(filter(None, clauses)), line=True)  # may quote documents
    evidence = replace(evidence, score=_score(evidence), e_value=e_value, sentence=sentence, memory=memory)
    result = Result(
        **name._asdict(),
        kind=test.kind,
        cut_short=len(trials) != planned,
        queries=planned,
        reference=reference.llm if reference else None,
        evidence=evidence,
        decision=replace(own, paper_verdict=paper.verdict),
    )
    if rules == PAPER and rule:
        return published_counts(result.changed(verdict=paper.verdict, reason=paper.reason), rule, of_paper)
    return result


def _score(evidence: Evidence) -> float | None:
    """Return the share of right answers; without a p-value the own score of the test, or else its statistic."""
    share = evidence.hits / evidence.asked if evidence.asked else None
    if evidence.p_value is None:
        share = evidence.measured.value if evidence.score is None else evidence.score
    return None if share is None else round(share, 4)


def _memory(
    own: TwinComparison | None, test: Test, trials: Sequence[Trial], reference: Reference | None
) -> tuple[TwinComparison | None, str]:
    """Return memory's share for results.json, and in words its comparison with one or several references."""
    if own is None or reference is None or not isinstance(test, ShareTest):
        return own, ""
    unseen = "fresh rows" if own.fresh else "twins"
    if not reference.further:
        excess = test.compare_with_reference(trials, reference.trials)
        if excess is None:
            return own, ""
        low, high = (format_signed(limit) for limit in excess.interval)
        own_two = f"{excess.accuracy:.2f} and {excess.twin_accuracy:.2f}, {excess.pairs} pairs"
        larger = f"{format_signed(excess.share)} ({low} to {high}) larger than that of the reference {reference.llm}"
        comparison = f"its loss on {unseen} is {larger} ({own_two}; p = {excess.p_value:.2g})"
        return replace(own, single_reference=excess), comparison
    named = {reference.llm: reference.trials, **reference.further}
    curve = test.compare_with_references(trials, named)
    own = replace(own, several_references=curve, further=tuple(reference.further))
    if curve is None:
        return own, "no row was answered by this model and all references, or fewer than two references answered any"
    low, high = (format_signed(limit) for limit in curve.interval)
    least, most = (format_signed(limit) for limit in curve.apart)
    comparison = (
        f"by the curve of {len(curve.references)} reference models an accuracy of {curve.expected:.2f} is expected "
        f"with {curve.twin_accuracy:.2f} on {unseen}, and its own is {format_signed(curve.share)} ({low} to {high}) "
        f"above that (p = {curve.p_value:.2g}, {curve.pairs} pairs; without one reference {least} to {most})"
    )
    if curve.outside:
        twin = [one.twin_accuracy for one in curve.references]
        comparison += (
            f"; the curve is extrapolated beyond the references' {min(twin):.2f} to {max(twin):.2f} on {unseen}"
        )
    if silent := len(named) - len(curve.references):
        comparison += f"; {silent} of {len(named)} references answered nothing"
    return own, comparison


def pool_parts(name: ResultKey, test: Test, parts: Mapping[ResultKey, Iterable[Part]]) -> list[Part]:
    """Return the trials of the table's other tests that `test` may use (its pool), because it asks too little alone.

    Before there are trials, `parts` contains queries instead. If a test was asked in several serializers or prompt
    sets, only the trials in the serializer and prompt set of `name` are returned or, without any, those in the first.
    """
    if not isinstance(test, PooledTest):
        return []
    pooled = {other for other, known in by_id().items() if isinstance(known, PooledTest) and known.pool == test.pool}
    found: dict[str, ResultKey] = {}
    for other in parts:
        place, here = ((one.llm, one.dataset, one.edition, one.split) for one in (other, name))
        same = (other.serializer, other.prompts) == (name.serializer, name.prompts)
        if place == here and other.test in pooled - {test.id} and (same or other.test not in found):
            found[other.test] = other
    return [part for result in found.values() for part in parts[result]]


def _whole(decision: Decision, trials: Sequence[Trial], planned: int, ended: str) -> Decision:
    """Return the decision, but `no answer` in place of `not detected` if not all planned queries were asked."""
    if len(trials) == planned or decision.verdict is Verdict.CONTAMINATED:
        return decision
    asked = f"the run ended after {len(trials)} of {planned} queries"
    return Decision(Verdict.NO_ANSWER, f"{asked}{ended and f': {ended}'}")


def published_counts(result: Result, rule: PublishedRule, trials: Sequence[Trial]) -> Result:
    """Return the result with the counts of the published rules and their sentence."""
    own = rule.counted(trials)
    asked, hits, answered = len(own), rule.hits(trials), texts(own)
    score = round(hits / asked, 4) if asked else None
    sentence = "; ".join(filter(None, (rule.describe(trials), answers_read(own))))
    return result.changed(hits=hits, answered=answered, asked=asked, score=score, sentence=sentence)


def build_unjudged(
    name: ResultKey, test: Test, verdict: Verdict | None, reason: str | None, queries: int = 0, lacks: str | None = None
) -> Result:
    """Return a result without weighed trials: not asked yet, skipped, or not answered.

    `lacks` names the need of the test that the model does not meet, if that is the reason.
    """
    return Result(
        **name._asdict(),
        kind=test.kind,
        lacks=lacks,
        cut_short=queries > 0,
        queries=queries,
        evidence=Evidence(sentence=reason or ""),
        decision=Decision(verdict, reason),
    )


def conclude(
    results: Sequence[Result],
    rules: str,
    alpha: float,
    tests: Tests | None = None,
    over: Over = LLM,
    evidence: FamilyFindings | None = None,
) -> list[Result]:
    """Return the results with their q-values and, under the calibrated rules, their verdicts.

    A q-value is over the results of the same model and family of tests, so no test of another family changes it
    (Benjamini and Hochberg 1995). With `over` "all", it is over all models except controls that joined. A finding
    counts if it, or the joint finding of the family's row tests, does not depend on one column. `evidence` is the
    evidence of each family on each table, if it is known.
    """
    known = tests or known_tests()
    p_values = {number: p for number, cell in enumerate(results) if (p := one_column_rule.p_value_of(cell)) is not None}
    stands = {number: one_column_rule.standing_of(results[number]) for number in p_values}

    def budget(number: int) -> Hashable:
        return _sharing(results[number], over), known[results[number].test].family

    q_values = corrected(p_values, budget)
    q_without = corrected({number: one.p_value for number, one in stands.items()}, budget)
    evidence = _family_evidence(results, known, over) if evidence is None else evidence
    detected = {(table, one.family) for table, families in evidence.items() for one in families if one.finds(alpha)}

    def decided(number: int, result: Result) -> Result:
        changes: dict[str, Any] = {"q_value": q_values[number], "q_without": q_without[number], "rests_on": None}
        if rules == PAPER and (known[result.test].number is not None or result.decision.paper_verdict is not None):
            return result.changed(**changes)
        # an earlier run with fewer results in this family may have detected it
        own = result.decision.otherwise or result.verdict
        if own is Verdict.CONTAMINATED:
            own = Verdict.NOT_DETECTED
        reason = None if own is Verdict.NOT_DETECTED else result.decision.reason
        of_table = known[result.test].row_test and ((result.llm, result.table), known[result.test].family) in detected
        if result.sequential:
            changes |= {"q_value": None, "q_without": None}
            if q_without[number] <= alpha or (of_table and (result.evidence.e_value or 0) > 1):
                return result.changed(**changes, verdict=Verdict.CONTAMINATED, otherwise=own)
            return result.changed(**changes, verdict=own, otherwise=None)
        if q_values[number] > alpha:
            power = _would_find(result.evidence.detectable_share, known[result.test].family)
            reason = power if own is Verdict.NOT_DETECTED else result.decision.reason
            return result.changed(**changes, verdict=own, otherwise=None, reason=reason)
        if q_without[number] <= alpha or of_table:
            return result.changed(**changes, verdict=Verdict.CONTAMINATED, otherwise=own, reason=reason)
        p_value, column = stands[number]
        changes["rests_on"] = column = column or ""
        if own is Verdict.NOT_DETECTED:
            reason = one_column_rule.reason_of([result], column, p_value)
            return result.changed(**changes, verdict=Verdict.UNINFORMATIVE, otherwise=own, reason=reason)
        return result.changed(**changes, verdict=own, otherwise=None, reason=reason)

    return [decided(number, cell) if number in q_values else cell for number, cell in enumerate(results)]


def _sharing(result: Result, over: Over) -> str:
    """Return the model that shares an error budget with this result; "" if all models under test share one."""
    return "" if over == ALL and not result.control else result.llm


def surely_contaminated(result: Result, rules: str, level: float) -> bool:
    """Return whether a result is contaminated, whatever the remaining tests will show."""
    if rules == PAPER:
        return result.verdict is Verdict.CONTAMINATED
    return result.evidence.p_value is not None and one_column_rule.standing_of(result).p_value <= level


def _would_find(share: float | None, family: Family) -> str | None:
    return None if share is None else f"{phrase_detectable(share, [family])} would have been detected"


def build_results(run: RunFacts, results: Sequence[Result]) -> RunResults:
    """Return the results of a run: its tests, a verdict for each table, the ranking and its correlations.

    Comparisons are missing: they need the trials, and `runs.folder.record` adds them.
    """
    alpha, known = run.alpha or ALPHA, known_tests() | {test.id: test for test in run.tests}
    run = replace(run, tests=in_order(known[result.test] for result in results))
    evidence = _family_evidence(results, known, run.family_over)
    concluded = conclude(results, run.rules, alpha, known, run.family_over, evidence)
    corpora = {llm.spec for llm in run.llms if llm.is_corpus}
    ranks = ranking([result for result in concluded if result.llm not in corpora], run.rules, known)
    return RunResults(
        run=run,
        results=tuple(concluded),
        tables=tuple(tables(concluded, run.rules, alpha, known, run.family_over, run.trained_on, evidence)),
        ranking=ranks,
        correlations=correlations(ranks),
        generations=generations(concluded, known),
    )


def tables(
    results: Iterable[Result],
    rules: str,
    alpha: float,
    tests: Tests | None = None,
    over: Over = LLM,
    declared: Sequence[TrainingDeclaration] = (),
    evidence: FamilyFindings | None = None,
) -> list[TableVerdict]:
    """Return the joint verdict of the row tests on each model and table, which is valid even if the tests are
    dependent.

    Each family tests the table separately, at `alpha` over all tables of the model, or of all models. The table is
    contaminated if one family detects it. With several families, the chance of a false finding is at most the sum of
    their levels. Corpora that are `declared` to be training data of a model are one more family. `evidence` is as in
    `conclude`.
    """
    known, results = tests or known_tests(), list(results)
    of_rows = (cell for cell in results if known[cell.test].row_test)
    by_table = grouped(of_rows, _place)
    if evidence is None:
        evidence = _family_evidence([cell for own in by_table.values() for cell in own], known, over)
    several = len({one.family for families in evidence.values() for one in families}) > 1

    def decided(table: TableVerdict) -> TableVerdict:
        if rules == PAPER or not table.families:
            return table
        own = by_table[table.llm, table.table]
        if finding := [one for one in table.families if one.finds(alpha)]:
            by_family = grouped(own, lambda result: known[result.test].family)
            together = [_finding_words(one, table, by_family[one.family], several) for one in finding]
            return replace(table, verdict=Verdict.CONTAMINATED, reason="; ".join(together))
        if lacking := [one for one in table.families if one.q_value <= alpha and one.without]:
            column, p_value = lacking[0].without or "", lacking[0].p_without or 0.0
            of_family = [result for result in own if known[result.test].family is lacking[0].family]
            reason = one_column_rule.reason_of(of_family, column, p_value)
            return replace(table, verdict=Verdict.UNINFORMATIVE, reason=reason, rests_on=column)
        if lone := [result for result in own if result.decision.rests_on]:
            reason = f"{lone[0].test}: {lone[0].decision.reason}"
            return replace(table, verdict=Verdict.UNINFORMATIVE, reason=reason, rests_on=lone[0].decision.rests_on)
        if table.verdict in DECIDED:
            least = next((one for one in own if one.evidence.detectable_share == table.detectable_share), own[0])
            power = _would_find(table.detectable_share, known[least.test].family)
            power = power or "the row tests together detect nothing"
            reason = f"decided {_after(table)}: {power}" if table.sequential_queries else power
            return replace(table, verdict=Verdict.NOT_DETECTED, reason=reason)
        return table

    verdicts = [_read(decided(_table(own, evidence.get(table, ()), alpha)), own) for table, own in by_table.items()]
    if not declared:
        return verdicts
    return join_corpus_evidence(verdicts, corpus_evidence(results, declared, known, over), alpha)


def _read(table: TableVerdict, results: Sequence[Result]) -> TableVerdict:
    """Return the verdict on a table: `no answer` in place of `not detected` if most answers to row tests were unread.

    The share of readable answers that one test needs must be reached by all answers together; as large a share of the
    tests must have an answer.
    """
    weighed = [result for result in results if result.evidence.asked]
    read = sum(result.evidence.answered for result in weighed)
    asked = sum(result.evidence.asked or 0 for result in weighed)
    silent = [result.test for result in weighed if result.verdict is Verdict.NO_ANSWER]
    enough = read >= LEAST_READ_SHARE * asked and len(weighed) - len(silent) >= LEAST_READ_SHARE * len(weighed)
    if table.verdict is not Verdict.NOT_DETECTED or enough:
        return table
    needed = f"{LEAST_READ_SHARE:.0%} of answers and tests are needed"
    reason = f"{read} of {asked} answers to its row tests were read, and {needed}"
    none = f"; {BY_TESTS[Verdict.NO_ANSWER]} {len(silent)} of {len(weighed)} tests ({', '.join(silent)})"
    return replace(table, verdict=Verdict.NO_ANSWER, reason=reason + (none if silent else ""))


def _finding_words(evidence: FamilyEvidence, table: TableVerdict, results: Sequence[Result], several: bool) -> str:
    """Return in words the joint finding of a family's tests. With `several` families, the words name the family."""
    if evidence.family is Family.CORPUS:
        return phrase_own_rows(CorpusEvidence(tuple(results), evidence))
    if table.sequential_queries and evidence.e_value is not None:
        return f"decided {_after(table)}: E = {rounded('e_value', evidence.e_value)}"
    tests = f"{evidence.family} tests" if several and evidence.family is not Family.ROWS else "row tests"
    return f"the {tests} together: p = {evidence.p_value:.2g}"


def _after(table: TableVerdict) -> str:
    return f"after {table.decided_after} of {table.sequential_queries} queries"


def _place(result: Result) -> tuple[str, TableName]:
    return result.llm, result.table


def _family_evidence(results: Iterable[Result], known: Tests, over: Over) -> FamilyFindings:
    """Return the evidence of each family of row tests on each model and table, if answers were weighed."""
    of_rows = [
        result for result in results if known[result.test].row_test and one_column_rule.p_value_of(result) is not None
    ]
    own = grouped(of_rows, lambda result: (_place(result), known[result.test].family))
    weighed = {key: one_column_rule.join_evidence(results) for key, results in own.items()}

    def budget(key: tuple[tuple[str, TableName], Family]) -> Hashable:
        return _sharing(own[key][0], over), key[1]

    found = one_column_rule.family_evidence(weighed, budget, lambda key: key[1])
    return {table: tuple(found[key] for key in keys) for table, keys in grouped(found, lambda key: key[0]).items()}


def _table(results: Sequence[Result], families: tuple[FamilyEvidence, ...], alpha: float) -> TableVerdict:
    verdicts = {result.verdict for result in results}
    verdict = next((word for word in BY_TESTS if word in verdicts), Verdict.SKIPPED)
    shares = [result.evidence.detectable_share for result in results if result.evidence.detectable_share is not None]
    recalled = [result.evidence.recalled_bits for result in results if result.evidence.recalled_bits is not None]
    first = min(families, key=lambda one: (one.q_without or one.q_value, one.q_value, one.p_value), default=None)
    in_turns = [result for result in results if result.sequential]
    return TableVerdict(
        **results[0].table_fields,
        verdict=verdict,
        p_value=first.p_value if first else None,
        q_value=first.q_value if first else None,
        e_value=first.e_value if first else None,
        decided_after=in_turns[0].decided_after if in_turns else None,
        sequential_queries=sum(result.queries or 0 for result in in_turns) if in_turns else None,
        families=families,
        bound=min(1.0, round(alpha * len(families), 12)) if families else None,
        recalled_bits=sum(recalled) if recalled else None,
        detectable_share=min(shares, default=None),
        reason=f"{BY_TESTS[verdict]} {', '.join(one.test for one in results if one.verdict is verdict)}",
    )
