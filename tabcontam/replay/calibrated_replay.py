"""Recorded results under the calibrated rules, and why they differ from the published rules."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from tabcontam.config import CALIBRATED
from tabcontam.evidence.base import DECIDED, Family, Verdict
from tabcontam.groups import grouped
from tabcontam.reading.word_decision import Dictionary
from tabcontam.replay.answer_records import MEMBERSHIP, ROW_TESTS, Record, by_result
from tabcontam.replay.published_replay import published_result
from tabcontam.replay.recorded_null_model import known_edition
from tabcontam.replay.recorded_trials import PREAMBLE, RecordedEvidence, asked_rows, asked_words
from tabcontam.verdicts.decisions import level
from tabcontam.verdicts.recorded_differences import RuleDifference
from tabcontam.verdicts.result_building import build_result, conclude
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.run_facts import known_tests
from tabcontam.verdicts.thresholds import ALPHA

EXPLAINED = "the baseline explains it"
TOO_FEW = "too few queries to tell memory from prediction"
SILENT = "no readable answer"
PARTLY = "cells that the baseline does not explain are right, but not the whole row"
OWN_WORDS = "the answers hold words that answers on no other dataset hold"

Group = Sequence[Record]  # the records of one result


def replay_calibrated(records: Iterable[Record], dictionary: Dictionary) -> tuple[list[Result], list[RuleDifference]]:
    """Return the results under the calibrated rules, and each difference from the published rules.

    The results of one LLM and family of tests share an error budget. Those of a serializer study have a separate
    budget.
    """
    groups = by_result(records)
    results = [published_result(group, dictionary) for group in groups]
    judged = [number for number, group in enumerate(groups) if group[0].test != MEMBERSHIP]  # which has only a score
    asked = dict(zip(judged, _asked([groups[number] for number in judged]), strict=True))
    firsts = [group[0] for group in groups]
    facts = known_tests()

    def budget(number: int) -> tuple[str, bool, Family]:
        return firsts[number].llm, firsts[number].serializer is None, facts[results[number].test].family

    for numbers in grouped(judged, budget).values():
        judge_together(numbers, results, asked)
    other = [number for number in judged if results[number].verdict is not results[number].decision.paper_verdict]
    return results, [_contrast(groups[number][0], results[number], asked[number]) for number in other]


def _asked(groups: Sequence[Group]) -> list[RecordedEvidence | str]:
    """Return the queries of each result, or why its queries are not known."""
    edition_of = cache(known_edition)
    alike = grouped(groups, lambda group: _kind(group[0]))

    def asked(group: Group) -> RecordedEvidence | str:
        first = group[0]
        if first.test in ROW_TESTS:
            known = edition_of(first.dataset, tuple(first.values or ()))
            return known if isinstance(known, str) else asked_rows(group, known)
        others = [other for other in alike[_kind(first)] if other[0].dataset != first.dataset]
        return asked_words(group, others)

    return [asked(group) for group in groups]


def _kind(record: Record) -> tuple[str | None, ...]:
    """Return the key of a record's result. Results with equal keys are each other's decoys."""
    return record.llm, record.serializer, record.test


def judge_together(numbers: Sequence[int], results: list[Result], asked: Mapping[int, RecordedEvidence | str]) -> None:
    """Judge, in place, the results that share an error budget. Uninformative results use none of this budget."""
    at = level(ALPHA, sum(isinstance(asked[number], RecordedEvidence) for number in numbers))
    for number in numbers:
        results[number] = _judged(results[number], asked[number], at)
    concluded = conclude_informative([results[number] for number in numbers])
    for number, single_result in zip(numbers, concluded, strict=True):
        results[number] = single_result


def conclude_informative(results: Sequence[Result]) -> list[Result]:
    """Return the concluded results of one error budget. Uninformative results use none of it and stay unchanged."""
    asked = [one for one in results if one.verdict is not Verdict.UNINFORMATIVE]
    concluded = iter(conclude(asked, CALIBRATED, ALPHA))
    return [one if one.verdict is Verdict.UNINFORMATIVE else next(concluded) for one in results]


def _judged(single_result: Result, asked: RecordedEvidence | str, level_of_one: float) -> Result:
    """Return a result with the evidence of its answers, before it is corrected for other results of its family."""
    if isinstance(asked, str):
        verdict = Verdict.UNINFORMATIVE
        return single_result.changed(verdict=verdict, hits=0, answered=0, score=None, reason=asked, sentence=asked)
    found = build_result(single_result.key, asked.test, asked.trials, len(asked.trials), CALIBRATED, level_of_one)
    found = found.changed(
        edition=None,
        serializer=single_result.serializer,
        prompts=single_result.prompts,
        source=single_result.source,
        kind=single_result.kind,
        paper_verdict=single_result.decision.paper_verdict,
        queries=asked.queries,
        null=asked.null,
        sentence=asked.counted + found.evidence.sentence,
        without={},  # a record has one feature a result, so test 9 without one column would have nothing
    )
    if reason := asked.uninformative(level_of_one):
        return found.changed(verdict=Verdict.UNINFORMATIVE, reason=reason)
    if found.verdict is Verdict.UNINFORMATIVE:  # its test is never asked about a single row in a run
        return found.changed(verdict=Verdict.NOT_DETECTED, reason=None)
    return found


def _contrast(record: Record, single_result: Result, asked: RecordedEvidence | str) -> RuleDifference:
    """Return the difference between a result's calibrated verdict and its published one, with the reason."""
    decision = single_result.decision
    return RuleDifference(
        **record.place,
        paper=decision.paper_verdict,
        calibrated=decision.verdict,
        group=_cause(single_result, asked),
        explanation=single_result.evidence.sentence if decision.verdict in DECIDED else decision.reason,
    )


def _cause(single_result: Result, asked: RecordedEvidence | str) -> str:
    """Return why the two rule sets differ, in words that are equal for similar results."""
    if isinstance(asked, str):
        return asked
    if single_result.verdict is Verdict.CONTAMINATED:
        if not asked.test.row_test:
            return OWN_WORDS
        return PREAMBLE if PREAMBLE in asked.notes else PARTLY
    if single_result.verdict is Verdict.NO_ANSWER:
        return SILENT
    cause = EXPLAINED if single_result.verdict is Verdict.NOT_DETECTED else TOO_FEW
    first = next(iter(asked.notes), None)
    return f"{cause}: {first}" if first and single_result.decision.paper_verdict is Verdict.CONTAMINATED else cause
