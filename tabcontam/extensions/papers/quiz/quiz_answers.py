"""The answers of a quiz: the worth of each question in bits, and the published count of all answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from tabcontam.evidence.base import PublishedRule, Trial
from tabcontam.extensions.papers.quiz.letters import LETTERS
from tabcontam.extensions.papers.quiz.levels import PLACES, ContaminationLevels, levels, non_preferred
from tabcontam.extensions.papers.thresholds import LEAST_ANSWERED_PLACES, QUIZ_OPTIONS
from tabcontam.groups import grouped

AT, BIASED = "-at-", "-without-original"  # in the id of a query, after the id of its question


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
