"""Recorded answers to the Data Contamination Quiz (Golchin and Surdeanu 2025): the published levels, and no verdict.

An LLM wrote the distractors as other wordings of the original. It is unknown how the original can be recognised without
memory, so there is no null model. The share of instances whose shortest option is the original shows how much the texts
reveal.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabcontam.config import PAPER
from tabcontam.evidence.base import Evidence, Verdict
from tabcontam.extensions.papers.quiz.quiz_answers import LETTERS, PLACES, levels
from tabcontam.extensions.papers.quiz.quizzes import Quiz
from tabcontam.groups import grouped
from tabcontam.reading.word_decision import Dictionary
from tabcontam.replay.record_kind import RecordKind
from tabcontam.replay.record_lines import Lines, optional_text, parse_lines, text_of
from tabcontam.replay.replay_outcome import ReplayOutcome, place_of
from tabcontam.verdicts.decisions import Decision
from tabcontam.verdicts.recorded_differences import RuleDifference
from tabcontam.verdicts.result_types import Result

KEYS = ("llm", "dataset", "split", "instance", "original", "distractors", "bias_quiz", "quiz")
NO_NULL = "the distractors are an LLM's rewordings of the original, and it is unknown how often they show"


@dataclass(frozen=True)
class QuizRecord:
    """One instance: the `original`, its `distractors`, and the letters that the LLM chose.

    `without`: the answer when no option was the original, None if that was not asked. `answers`: the answers with the
    original at a place, by the place's letter. An answer other than A to E is "".
    """

    llm: str
    dataset: str
    split: str | None
    original: str
    distractors: tuple[str, ...]
    without: str | None
    answers: Mapping[str, str]

    @property
    def setting(self) -> tuple[str, str, str | None]:
        return self.llm, self.dataset, self.split

    @property
    def shortest(self) -> float:
        """The chance of naming the original by naming the shortest option, at random among equally short ones."""
        own = " ".join(self.original.split())
        others = {" ".join(text.split()) for text in self.distractors} - {own}
        least = min(map(len, (own, *others)))
        return 0.0 if len(own) > least else 1 / (1 + sum(len(other) == least for other in others))


def judged(path: Path, lines: Lines, rules: str, dictionary: Dictionary, with_differences: bool) -> ReplayOutcome:
    """Return the outcome of a file under the `rules`; with disagreements if `with_differences`. Raises `UsageError`."""
    questions = parse_lines(path, lines, _question, KEYS)
    results = [_result(own, path.name, rules) for own in grouped(questions, lambda one: one.setting).values()]
    differences = [
        RuleDifference(
            **place_of(result),
            paper=None,
            calibrated=Verdict.UNINFORMATIVE,
            group=NO_NULL,
            explanation=result.evidence.sentence,
        )
        for result in results
    ]
    return ReplayOutcome(results, [], differences)


def _question(raw: Mapping[str, Any], number: int) -> QuizRecord:
    distractors, answers = raw["distractors"], raw["quiz"]
    if not isinstance(distractors, list) or not all(isinstance(text, str) for text in distractors):
        raise TypeError("'distractors' is not a list of texts")
    if not isinstance(answers, dict):
        raise TypeError("'quiz' is not an object of letters")
    if unknown := set(answers) - set(PLACES):
        raise ValueError(f"'quiz' has the original at {sorted(unknown)[0]!r}, which is none of {', '.join(PLACES)}")
    raw["bias_quiz"]  # must be there; null if it was not asked
    without = optional_text(raw, "bias_quiz")
    return QuizRecord(
        llm=text_of(raw, "llm"),
        dataset=text_of(raw, "dataset"),
        split=optional_text(raw, "split"),
        original=text_of(raw, "original"),
        distractors=tuple(distractors),
        without=None if without is None else _letter(without),
        answers={place: _letter(optional_text(answers, place) or "") for place in answers},
    )


def _letter(text: str) -> str:
    letter = text.strip().rstrip(").").upper()
    return letter if letter in LETTERS else ""


def _result(questions: Sequence[QuizRecord], source: str, rules: str) -> Result:
    first, count = questions[0], len(questions)
    asked = {place for one in questions for place in one.answers}
    right = {place: sum(one.answers.get(place) == place for one in questions) for place in PLACES if place in asked}
    found = None
    if any(one.without is not None for one in questions):
        found = levels(Counter(one.without for one in questions if one.without), right, count)
    shortest = sum(one.shortest for one in questions)
    sentence = "the published count needs right answers, and answers without the original"
    if found is not None:
        sentence = (
            f"{right[found.place]} of {count} originals are chosen at {found.place}, the best of {len(right)} places; "
            f"by the published count {found.lowest:.2%} to {found.highest:.2%} are contaminated "
            f"(kappa {found.kappa:.2f})"
        )
    shown = f"the shortest option is the original in {shortest:.0f} of {count}"
    return Result(
        llm=first.llm,
        dataset=first.dataset,
        split=first.split,
        serializer=None,
        prompts=None,
        test=Quiz.id,
        source=source,
        kind=Quiz.kind,
        queries=count,
        evidence=Evidence(
            score=round(found.highest, 4) if found else None,
            hits=right[found.place] if found else 0,
            answered=sum(any(one.answers.values()) for one in questions),
            sentence=f"{sentence}; {shown}",
        ),
        decision=Decision() if rules == PAPER else Decision(Verdict.UNINFORMATIVE, f"{NO_NULL}: {shown}"),
    )


READER = RecordKind(KEYS, judged)
