"""Recorded answers to Time Travel (Golchin and Surdeanu 2024): one instance a line, in the form of their authors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tabcontam.evidence.completion_pairs import Likeness
from tabcontam.replay.record_lines import optional_number, optional_text, text_of

KEYS = ("llm", "dataset", "split", "instance", "shown", "expected", "guided")  # in every line
SIDES = ("guided", "general")
OVERLAPS = ("rouge", "bleurt")
PERSON = re.compile(r"annotator(\d+)")


@dataclass(frozen=True)
class Instance:
    """One instance, its completions, and the judgements of the guided one; `line` is its place in the file.

    `shown` and `expected` are its two pieces. `guided` and `general` are the completions, None where none is recorded.
    `overlaps` has the recorded scores of the two, in this order, by the name of the score. `judge` is the judge's word
    and `people` are those of persons, by their numbers.
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
        """The LLM, the dataset and its split, which are called contaminated together, or not."""
        return self.llm, self.dataset, self.split


def parse_instance(raw: Mapping[str, Any], number: int) -> Instance:
    """Return the instance of a line. Raises KeyError, TypeError or ValueError for a line that is none.

    All keys but the LLM, the dataset, the two pieces and the guided completion may be missing; the guided completion
    may be null if the LLM gave none.
    """
    raw["guided"]  # a completion that was not given is null; a line without the key is no such record
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
    """Return the judgement of a completion; None without one. As in the authors' code, any other word is no match."""
    word = optional_text(raw, key)
    if word is None or not word.strip():
        return None
    text = word.casefold()
    if not text.strip().startswith("yes"):
        return Likeness.NONE
    return Likeness.NEAR if "near" in text else Likeness.EXACT if "exact" in text else Likeness.NONE
