"""The answers of a quiz: the letter that an answer chooses, the worth of each question, and the published counts.

Golchin and Surdeanu 2025, "Data Contamination Quiz: A Tool to Detect and Estimate Contamination in Large Language
Models": the options of a question are an original instance and altered copies of it. There are two quizzes. In the
*bias detector quiz* all options are copies, so that the answers show which letters a model prefers. In the *bias
compensator quiz* the original is put at each letter that the model does not prefer.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

from tabcontam.evidence.base import PublishedRule, Trial
from tabcontam.extensions.papers.thresholds import LEAST_ANSWERED_PLACES, QUIZ_OPTIONS
from tabcontam.groups import grouped
from tabcontam.reading.answer_text import declines, plain

PLACES = ("A", "B", "C", "D")  # of the options
NONE = "E"  # the choice that no option is right
SHARES = len(PLACES) + 1  # a model without bias names each letter in this fraction of its answers
LETTERS = (*PLACES, NONE)
ANY = "".join(LETTERS)
OPTION = re.compile(rf"^([{ANY}])\) (.+)$", re.MULTILINE)
ALONE = re.compile(rf"^\W*([{ANY}])(?:\W*$|\s*[).:,\]*\"'-])", re.MULTILINE)
NAMED_LETTER = re.compile(
    rf"(?:\b(?i:answer|option|choice|letter|row|value|choose|pick|select)\b|:)\W*(?i:is|would be|was)?\W*"
    rf"(?<![\w'])([{ANY}])(?![\w'])"
)
AT, BIASED = "-at-", "-without-original"  # in the id of a query, after the id of its question


def options_of(text: str) -> dict[str, str]:
    return {letter: option.strip() for letter, option in OPTION.findall(text)}


def chosen_letter(text: str, options: Mapping[str, str]) -> str | None:
    """Return the letter that an answer chooses, or None if it chooses none or several.

    The letter comes first, or after a word such as `answer`. An answer may also repeat the text of one of the
    `options`.
    """
    answer = plain(text).strip()
    if not answer or (declines(answer) and not ALONE.match(answer)):
        return None
    first = answer.splitlines()[0]
    if found := ALONE.match(first):
        others = set(re.findall(rf"(?<![\w'])([{ANY}])(?![\w'])", first[: found.end() + 8])) - {found[1], "A"}
        either = re.match(rf"\W*[{ANY}]\W*(?:or|and|/|,)\W*[{ANY}](?!\w)", first)
        return None if either and others else found[1]
    named = set(NAMED_LETTER.findall(answer))
    if len(named) == 1:
        return str(named.pop())
    lines = [line.strip() for line in answer.splitlines()]
    whole = [letter for letter, option in options.items() if option in lines]
    return whole[0] if len(whole) == 1 else None


@dataclass(frozen=True)
class ContaminationLevels:
    """The smallest and the largest contaminated share of a dataset, by the quiz's own count; from 0 to 1.

    `highest` is the share of right answers with the original at the best place: where most answers are right. `kappa`
    corrects this share for the answers that the same letter got without the original (Cohen's kappa). `lowest` is the
    larger of `kappa` and the share of right answers at the second-best place.
    """

    lowest: float
    highest: float
    kappa: float
    place: str


def non_preferred(bias: Mapping[str, int], questions: int) -> tuple[str, ...]:
    """Return the letters that fewer than a fifth of the answers without an original named, or all if there are none.

    `bias` counts the answers to `questions` quizzes without the original, by letter. If `questions` is not a multiple
    of five, the fifth is rounded up, as in the published code. `NONE` is never among the letters.
    """
    fifth = -(-questions // SHARES)
    return tuple(place for place in PLACES if bias.get(place, 0) < fifth) or PLACES


def levels(bias: Mapping[str, int], right: Mapping[str, int], questions: int) -> ContaminationLevels | None:
    """Return the levels of contamination, or None if nothing was asked.

    `bias` counts the answers without the original by letter, and `right` the right answers by the letter of the
    original. If only one letter is not preferred, the lowest level is kappa; the published code fails in this case,
    since it needs a second letter.
    """
    if not right or questions < 1:
        return None
    ranked = sorted(right, key=lambda place: (-right[place], place))
    place, second = ranked[0], [right[other] / questions for other in ranked[1:2]]
    most, usual = right[place], min(bias.get(place, 0), questions)
    kappa = (most - usual) / (questions - usual) if usual < questions else 0.0
    return ContaminationLevels(max([kappa, *second]), most / questions, kappa, place)


@dataclass(frozen=True)
class QuizRule(PublishedRule):
    """The rule of a quiz, which reports a range of levels of contamination instead of a share of hits."""

    def hits(self, trials: Sequence[Trial]) -> int:
        """Return the number of right answers at the best place that the model does not prefer."""
        right = _right(trials)
        return max((right[place] for place in _places(trials) if place in right), default=0)


def published_levels(trials: Sequence[Trial]) -> ContaminationLevels | None:
    """Return the levels of contamination by the published count, or None if its queries were not asked."""
    trials = [trial for trial in trials if trial.query.paper]  # of several answers to a query, only the first
    right = {place: count for place, count in _right(trials).items() if place in _places(trials)}
    asked = len({question_of(trial.query.id) for trial in trials})
    return levels(_bias(trials), right, asked) if _bias_trials(trials) else None


def _bias_trials(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in trials if trial.query.decoy_of]


def _bias(trials: Sequence[Trial]) -> dict[str, int]:
    """Return how often each letter was named in queries without an original."""
    named = grouped(_bias_trials(trials), lambda trial: trial.reading.parsed if trial.reading else None)
    return {letter: len(named[letter]) for letter in LETTERS if letter in named}


def _places(trials: Sequence[Trial]) -> tuple[str, ...]:
    return non_preferred(_bias(trials), len(_bias_trials(trials)))


def _right(trials: Sequence[Trial]) -> dict[str, int]:
    """Return how many answers are right, by the place of the original."""
    asked = grouped((trial for trial in trials if not trial.query.decoy_of), lambda trial: str(trial.query.expected[0]))
    return {place: sum(bool(one.reading and one.reading.hit) for one in own) for place, own in asked.items()}


def question_of(name: str) -> str:
    """Return the id of the question that a query asks, from the query's id."""
    return name.partition(AT)[0].partition(BIASED)[0]


@dataclass(frozen=True)
class QuizAnswer:
    """The answers to one question, at all places of the original.

    `outcomes` has a pair for each option that scores: its bits if it is the original, and the chance that it is. `bits`
    are the bits of the true original. `hit` is true if the original was chosen at more than half of the places.
    `chance` is the chance that the option chosen at more than half of the places is right.
    """

    lies_in: str
    outcomes: tuple[tuple[float, float], ...]
    bits: float
    answered: bool
    hit: bool
    chance: float
    surest: float


def units(trials: Sequence[Trial]) -> list[QuizAnswer]:
    own = [trial for trial in trials if trial.query.chance and not trial.query.decoy_of]
    return [_unit(asked) for asked in grouped(own, lambda trial: question_of(trial.query.id)).values()]


def _unit(trials: Sequence[Trial]) -> QuizAnswer:
    """Return a question's answer; an option counts more bits the more often it was chosen than the least chosen one."""
    times, chances = [0] * QUIZ_OPTIONS, [0.0] * QUIZ_OPTIONS
    for trial in trials:
        query = trial.query
        first = PLACES.index(str(query.expected[0]))
        for place, letter in enumerate(PLACES):
            option = (place - first) % QUIZ_OPTIONS
            chances[option] = max(chances[option], min(1.0, query.chance[letter].chance_of(letter)))
            times[option] += bool(trial.readable and trial.reading and trial.reading.parsed == letter)
    worth = [(count - min(times)) / len(trials) * -log2(chance) for count, chance in zip(times, chances, strict=True)]
    outcomes = tuple((bits, chance) for bits, chance in zip(worth, chances, strict=True) if bits > 0)
    clear = [option for option, count in enumerate(times) if count > len(trials) / 2]
    return QuizAnswer(
        lies_in=trials[0].query.features.lies_in.get(PLACES[0], ""),
        outcomes=outcomes,
        bits=worth[0],
        answered=sum(trial.readable for trial in trials) >= LEAST_ANSWERED_PLACES * len(trials),
        hit=clear == [0],
        chance=chances[clear[0]] if clear else 0.0,
        surest=max(chances),
    )
