"""Judgements of recorded completions by a judge and by people, in the form that results.json has for a run.

The same LLM, dataset and split may be in several files, with different instances. So the file's name takes the place of
the edition.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.evidence.completion_pairs import CompletionPair
from tabcontam.extensions.papers.completion_judgements import Judgement, Judgements, judged_by, pair_of
from tabcontam.extensions.papers.guided.guided_match import PERSONS
from tabcontam.extensions.papers.time_travel_records import Instance
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.verdicts.result_types import Result, ResultKey

JUDGE = "the recorded judge"


@dataclass(frozen=True)
class RecordedCompletions:
    """The recorded completions that are compared with the true pieces of text, by result, and their judgements."""

    compared: Mapping[ResultKey, Sequence[CompletionPair]]
    judgements: Sequence[Judgement]


def result_key(result: Result) -> ResultKey:
    """Return the key of a recorded result, with the name of its file in place of the edition."""
    return replace(result, edition=result.source).key


def answered(instances: Iterable[Instance]) -> list[Instance]:
    """Return the instances that have a guided completion."""
    return [one for one in instances if one.guided and one.guided.strip()]


def compared_of(instances: Iterable[Instance]) -> list[CompletionPair]:
    """Return the recorded guided completions, each with the true piece of text."""
    return [
        CompletionPair(f"line {one.line}", one.shown, one.expected, one.guided or "") for one in answered(instances)
    ]


def judgements_of(place: ResultKey, instances: Sequence[Instance]) -> list[Judgement]:
    """Return the judgements of these completions: by the recorded judge, and by each person, who has a number."""
    found = []
    for one, pair in zip(answered(instances), compared_of(instances), strict=True):
        people = {f"person {number}": word for number, word in one.people.items()}
        words = {JUDGE: one.judge, **people} if one.judge else people
        found += [
            Judgement(place, pair.query_id, by, pair_of(pair), word, person=by != JUDGE) for by, word in words.items()
        ]
    return found


def judges(found: ReplayOutcome) -> dict[str, Any]:
    """Return the fields of results.json about the judges of recorded completions and their agreement.

    Results of people consist of their judgements. They are left out of the methods: people would else be counted twice.
    """
    methods = [replace(result, edition=result.source) for result in found.results if result.test not in PERSONS]
    recorded = [one for one in found.further if isinstance(one, RecordedCompletions)]
    judgements = Judgements(judgement for one in recorded for judgement in one.judgements)
    return judged_by(judgements, {place: own for one in recorded for place, own in one.compared.items()}, methods)
