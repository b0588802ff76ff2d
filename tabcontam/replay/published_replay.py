"""Recorded results under the published rules, and the recorded decisions that differ from them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from tabcontam.evidence.base import PublishedRule, Query, Reading, Reply, ReplyState, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.reading.answer_text import declines
from tabcontam.reading.value_decision import completion_line, decide_values, first_line
from tabcontam.reading.word_decision import Dictionary, WordDecision, appears, decide_names, decide_words
from tabcontam.replay.answer_records import MEMBERSHIP, NAME_TESTS, NEXT_ROW, ROW_TESTS, Record, by_result, unrecorded
from tabcontam.verdicts.decisions import published
from tabcontam.verdicts.recorded_differences import RecordedDifference
from tabcontam.verdicts.result_building import published_counts
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.run_facts import known_tests

DICTIONARY = "dictionary version"
LENGTH = "older value match without the length check (B3)"
CAPITALS = "older word match that distinguishes capitals"
UNEXPLAINED = "unexplained"


def replay_published(records: Iterable[Record], dictionary: Dictionary) -> list[Result]:
    """Return the results of a file of records, in the order of the file."""
    return [published_result(group, dictionary) for group in by_result(records)]


def differences(records: Iterable[Record], dictionary: Dictionary) -> list[RecordedDifference]:
    """Return the differences of the published algorithms' decisions from the record: on answers, then results."""
    answers: list[RecordedDifference] = []
    of_results: list[RecordedDifference] = []
    for group in by_result(records):
        found = [
            _differing("answer", record, ours, record.decision, *_explanation(record, dictionary, ours))
            for record in group
            if record.decision is not None and (ours := detected(record, dictionary)) != record.decision
        ]
        answers += found
        if found:
            of_results += _result_difference(group, found, dictionary)
    return answers + of_results


def detected(record: Record, dictionary: Dictionary) -> bool:
    """Return whether the published algorithms detect contamination in one answer."""
    if record.values is None:
        return _words(record, dictionary).detected
    return decide_values(_line(record), {name: record.values[name] for name in record.asked})


def _words(record: Record, dictionary: Dictionary) -> WordDecision:
    if record.test in NAME_TESTS:
        names = [name for name in record.words if name is not None]
        return decide_names(record.output, names, dictionary)
    return decide_words(record.output, record.words, dictionary)


def _line(record: Record) -> str:
    return completion_line(record.output) if record.test == NEXT_ROW else first_line(record.output)


def published_result(group: Sequence[Record], dictionary: Dictionary) -> Result:
    """Return the result of these records under the published rules."""
    result = Result(**group[0].place, prompts=None, kind=known_tests()[group[0].test].kind)
    if result.test == MEMBERSHIP:
        return _membership(result, group)
    rule, trials = _rule(result.test), [_trial(record, detected(record, dictionary)) for record in group]
    return by_published_rule(result, rule, trials)


def by_published_rule(result: Result, rule: PublishedRule, trials: Sequence[Trial]) -> Result:
    """Return a result with the verdict and the counts that a published rule gives for its trials."""
    found, queries = published(rule, trials), len(trials)
    result = result.changed(verdict=found.verdict, paper_verdict=found.verdict, reason=found.reason, queries=queries)
    return published_counts(result, rule, trials)


def _membership(result: Result, group: Sequence[Record]) -> Result:
    hits, queries = sum(record.right for record in group), sum(record.queries for record in group)
    return result.changed(
        score=hits / queries,
        hits=hits,
        answered=sum(record.answered for record in group),
        queries=queries,
        sentence=f"{hits} of {queries} rows correctly recognised as original or modified",
    )


def _rule(test: str) -> PublishedRule:
    """Return the published rule of a recorded test. Without a rule, a single hit makes a result contaminated."""
    claim = f"answers {'hold every asked value' if test in ROW_TESTS else 'pass the word rule'}"
    known = by_id().get(test)
    return replace(known.published, claim=claim) if known and known.published else PublishedRule(claim)


def _trial(record: Record, hit: bool) -> Trial:
    """Return a recorded answer as a trial, without its query. The authors judged every text, even a blank one."""
    readable = hit or not (declines(record.output) or not record.output.strip())
    return Trial(
        query=Query(f"line {record.line}", unrecorded, record.asked, record.words, max_tokens=0),
        reply=Reply(record.output, ReplyState.OK),
        reading=Reading(record.output, hit=hit, paper_hit=hit, readable=readable),
    )


def _differing(
    level: Literal["answer", "cell"],
    record: Record,
    ours: bool | None,
    recorded: bool | None,
    group: str,
    explanation: str,
) -> RecordedDifference:
    return RecordedDifference(
        level=level,
        **record.place,
        line=record.line,
        ours=bool(ours),
        recorded=recorded,
        group=group,
        explanation=explanation,
    )


def _explanation(record: Record, dictionary: Dictionary, ours: bool) -> tuple[str, str]:
    """Return a differing record's group and its explanation: another rule, which the authors used at another date."""
    if record.values is not None:
        shown = {name: record.values[name] or "nan" for name in record.asked}
        if not ours and all(value in _line(record) for value in shown.values()):
            return LENGTH, f"{' and '.join(shown.values())} stands inside a longer word of the answer"
        return UNEXPLAINED, ""
    looked_for = _words(record, dictionary).looked_for
    taken = [word for word in record.asked if dictionary.knows(word)]
    named = any(appears(word, record.output) for word in record.asked)
    if taken and set(record.asked) != set(looked_for) and named == record.decision:
        return DICTIONARY, f"the authors' dictionary does not know {', '.join(taken)}; this one does"
    if ours and not any(word in record.output for word in looked_for):
        found = [word for word, there in looked_for.items() if there]
        return CAPITALS, f"{', '.join(found)} stands in the answer only with other capitals"
    return UNEXPLAINED, ""


def _result_difference(
    group: Sequence[Record], found: Sequence[RecordedDifference], dictionary: Dictionary
) -> list[RecordedDifference]:
    """Return the difference of a result; empty if the differences of its answers do not change its decision."""
    rule = _rule(group[0].test)
    recorded = rule.detects(sum(record.decision is True for record in group), len(group))
    ours = rule.detects(sum(detected(record, dictionary) for record in group), len(group))
    if ours == recorded:
        return []
    causes = "; ".join(dict.fromkeys(difference.group for difference in found))
    explanations = "; ".join(dict.fromkeys(difference.explanation for difference in found))
    return [_differing("cell", group[0], ours, recorded, causes, explanations)]
