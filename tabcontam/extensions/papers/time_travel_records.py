"""Recorded answers to Time Travel (Golchin and Surdeanu 2024): one instance a line, in the authors' form.

Its judgements are in the form that results.json has for a run. The same LLM, dataset and split may be in several files,
with different instances. So the file's name takes the place of the edition.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tabcontam.evidence.completion_pairs import CompletionPair, Likeness
from tabcontam.extensions.papers.completion_judgements import Judgement, Judgements, judged_by, pair_of
from tabcontam.extensions.papers.guided.guided_match import PERSONS
from tabcontam.replay.record_lines import optional_number, optional_text, text_of
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.verdicts.result_types import ResultKey

KEYS = ("llm", "dataset", "split", "instance", "shown", "expected", "guided")  # every line has these
SIDES = ("guided", "general")
OVERLAPS = ("rouge", "bleurt")
PERSON = re.compile(r"annotator(\d+)")
JUDGE = "the recorded judge"


@dataclass(frozen=True)
class Instance:
    """One instance, its completions, and the judgements of its guided completion. `line` is its number in the file.

    `shown` and `expected`: its two pieces of text. `guided` and `general`: the completions with and without the
    dataset's name, None if not recorded. `overlaps`: by the name of a score, its values for `guided` and `general`.
    `judge`: the judge's word. `people`: the words of persons, by their numbers.
    """

    line: int
    llm: str
    dataset: str
    split: str | None
    shown: str
    expected: str
    guided: str | None
    general: str | None
    overlaps: Mapping[str, tuple[float, float]]
    judge: Likeness | None
    people: Mapping[str, Likeness]

    @property
    def setting(self) -> tuple[str, str, str | None]:
        return self.llm, self.dataset, self.split


def parse_instance(raw: Mapping[str, Any], number: int) -> Instance:
    """Return the instance in a line; `guided` may be null. Raises KeyError, TypeError or ValueError without one."""
    raw["guided"]  # null if the LLM gave no completion; a line without the key is no record
    overlaps = {}
    for name in OVERLAPS:
        guided, general = (optional_number(raw, f"{name}_{side}") for side in SIDES)
        if guided is not None and general is not None:
            overlaps[name] = (guided, general)
    people = {}
    for key in raw:
        if (person := PERSON.fullmatch(key)) and (word := _word(raw, key)):
            people[person[1]] = word
    return Instance(
        line=number,
        llm=text_of(raw, "llm"),
        dataset=text_of(raw, "dataset"),
        split=optional_text(raw, "split"),
        shown=text_of(raw, "shown"),
        expected=text_of(raw, "expected"),
        guided=optional_text(raw, "guided"),
        general=optional_text(raw, "general"),
        overlaps=overlaps,
        judge=_word(raw, "judge"),
        people=people,
    )


def _word(raw: Mapping[str, Any], key: str) -> Likeness | None:
    """Return the judgement under a key; None if missing. As in the authors' code, an unknown word means no match."""
    word = optional_text(raw, key)
    if word is None or not word.strip():
        return None
    text = word.casefold()
    if not text.strip().startswith("yes"):
        return Likeness.NONE
    return Likeness.NEAR if "near" in text else Likeness.EXACT if "exact" in text else Likeness.NONE


@dataclass(frozen=True)
class RecordedCompletions:
    """The instances of each result with judgements."""

    instances: Mapping[ResultKey, Sequence[Instance]]


def judges(found: ReplayOutcome) -> dict[str, Any]:
    """Return the fields of results.json about recorded judges; results of people are no methods, too."""
    compared: dict[ResultKey, list[CompletionPair]] = {}
    judgements: list[Judgement] = []
    for recorded in found.further:
        for place, instances in recorded.instances.items() if isinstance(recorded, RecordedCompletions) else ():
            for one in instances:
                if one.guided and one.guided.strip():
                    pair = CompletionPair(f"line {one.line}", one.shown, one.expected, one.guided)
                    compared.setdefault(place, []).append(pair)
                    words = {JUDGE: one.judge} | {f"person {number}": word for number, word in one.people.items()}
                    judgements += [
                        Judgement(place, pair.query_id, by, pair_of(pair), word, person=by != JUDGE)
                        for by, word in words.items()
                        if word
                    ]
    methods = [replace(result, edition=result.source) for result in found.results if result.test not in PERSONS]
    return judged_by(Judgements(judgements), compared, methods)
