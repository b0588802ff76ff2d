"""Few-shot results at each number of shots: accuracy, AUC, the learners' results, and memory's share."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev

from tabcontam.evidence.base import Likelihoods, Query, ReplyState, Trial
from tabcontam.evidence.rows.choice_test import valid_answers
from tabcontam.evidence.score.memory_share import MemoryShare, by_row
from tabcontam.evidence.score.shares import chances_of
from tabcontam.extensions.evaluate.class_auc import RatedRow, ranked
from tabcontam.extensions.evaluate.shot_learners import LEARNERS
from tabcontam.groups import grouped
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.statistics.paired_gains import gained

SHOWN = "shown"  # the key, in the chances of a query, of the class shares of its shots
TITLE = "Classification by shots"
SHARE = MemoryShare.title
WORDS, CHANCES = "words", "log-probabilities"  # the ways in which an answer is given
DIGITS = re.compile(r"\d")
Interval = tuple[float, float]


@dataclass(frozen=True)
class ClassifierScore:
    """The accuracy and the AUC of the model, or of a learner of the shown rows, on the same asked rows.

    Intervals have a confidence of 95 % and account for the choice of rows, not of shots. A spread is the standard
    deviation over draws; each draw has other shots and other rows, so the spread includes the effects of both. `auc` is
    None without probabilities, or if all rows are of one class.
    """

    name: str
    right: int
    rows: int
    accuracy: float
    interval: Interval
    spread: float | None = None
    auc: float | None = None
    auc_interval: Interval | None = None
    auc_spread: float | None = None


@dataclass(frozen=True)
class ShotMemory:
    """Memory's share of the accuracy at one number of shots, its interval, and the sentence of `memory_share`."""

    share: float
    interval: Interval
    pairs: int
    sentence: str


@dataclass(frozen=True)
class ShotResult:
    """The results of a model at one number of shots.

    `asked` is the number of rows that got a reply. In `own`, refused and unreadable answers count as errors; in `read`
    they are left out. A missing reply, for example to a prompt longer than the model's context, is in neither. `failed`
    counts missing replies; `reasons` has each of their reasons once. `by` states how answers were given: in words, or
    by log-probabilities. `shown` has the share of each class among the shots; it is empty without shots.
    """

    shots: int
    asked: int
    refused: int
    unreadable: int
    failed: int
    reasons: tuple[str, ...]
    by: str
    majority: float
    own: ClassifierScore
    read: ClassifierScore | None
    learners: tuple[ClassifierScore, ...]
    memory: ShotMemory | None
    shown: Mapping[str, float]
    draws: int


@dataclass(frozen=True)
class MemoryFading:
    """Memory's share at the most shots minus its share at the fewest, on the same rows; below 0 if the share fades."""

    fewest: int
    most: int
    difference: float
    interval: Interval
    pairs: int


def place_of(query: Query) -> tuple[int, int, int]:
    """Return the number of shots, the draw, and the row's index in the draw, from a query's id: `ID-16-2-7`."""
    _, shots, draw, number, *_ = query.id.split("-")
    return int(shots), int(draw), int(number)


def evaluated(trials: Sequence[Trial]) -> tuple[ShotResult, ...]:
    """Return the results for each number of shots, fewest first."""
    own = [trial for trial in trials if not trial.query.decoy_of]
    by_shots = sorted(grouped(own, lambda trial: place_of(trial.query)[0]).items())
    twins = {trial.query.decoy_of: trial for trial in trials if trial.query.decoy_of}
    return tuple(_at(shots, found, twins) for shots, found in by_shots)


def fading(trials: Sequence[Trial]) -> MemoryFading | None:
    """Return how memory's share changes from the fewest to the most shots; None if fewer than two have a share.

    Only rows count that were answered, with their twins, at both numbers of shots. The twins' difficulty is the same at
    both numbers, and cancels.
    """
    gains: dict[int, dict[tuple[int, int], float]] = {}
    places = {trial.query.id: place_of(trial.query) for trial in trials}
    for (name, _), pair in by_row(trials).items():
        shots, draw, number = places[name]
        gains.setdefault(shots, {})[draw, number] = pair.gain
    if len(gains) < 2:
        return None
    fewest, most = min(gains), max(gains)
    both = sorted(gains[fewest].keys() & gains[most].keys())
    if not both:
        return None
    found = gained([gains[most][place] - gains[fewest][place] for place in both])
    return MemoryFading(fewest, most, found.mean, found.interval, len(both))


def _at(shots: int, trials: Sequence[Trial], twins: Mapping[str, Trial]) -> ShotResult:
    came = [trial for trial in trials if trial.reply.state is not ReplyState.FAILED]
    failed = [trial for trial in trials if trial.reply.state is ReplyState.FAILED]
    named = {trial.query.id: answer for trial, answer in valid_answers(came)}
    refused = sum(trial.reply.state is ReplyState.REFUSED for trial in came)
    classes = trials[0].query.asked
    predictions = [_rated(trial, chances_of(trial), named.get(trial.query.id)) for trial in came]
    readable = [one for one in predictions if one.answer is not None]
    rows = came or trials  # the learners' results are known even without answers of the model
    truths = Counter(str(trial.query.expected[0]) for trial in rows)
    return ShotResult(
        shots=shots,
        asked=len(came),
        refused=refused,
        unreadable=len(came) - len(readable) - refused,
        failed=len(failed),
        reasons=tuple({DIGITS.sub("", trial.reply.detail): trial.reply.detail for trial in failed}.values()),
        by=CHANCES if any(isinstance(trial.reply, Likelihoods) for trial in trials) else WORDS,
        majority=max(truths.values()) / truths.total(),
        own=_measured("", predictions, classes),
        read=_measured("", readable, classes) if readable else None,
        learners=tuple(
            _measured(one.name, _of_learner(rows, one.name), classes)
            for one in LEARNERS
            if all(one.name in trial.query.chance for trial in rows)
        ),
        memory=_memory(trials, twins),
        shown=_shown(trials),
        draws=len({place_of(trial.query)[1] for trial in trials}),
    )


def _rated(trial: Trial, chances: Mapping[str, float] | None, answer: str | None) -> RatedRow:
    return RatedRow(str(trial.query.expected[0]), chances, place_of(trial.query)[1], answer)


def _of_learner(trials: Sequence[Trial], name: str) -> list[RatedRow]:
    values = [trial.query.chance[name].values for trial in trials]
    named = [max(chances, key=chances.__getitem__) for chances in values]
    return [_rated(*each) for each in zip(trials, values, named, strict=True)]


def _measured(name: str, rows: Sequence[RatedRow], classes: Sequence[str]) -> ClassifierScore:
    right = sum(row.answer == row.label for row in rows)
    ranking, by_group = ranked(rows, classes), list(grouped(rows, lambda row: row.group).values())
    return ClassifierScore(
        name,
        right,
        len(rows),
        right / len(rows) if rows else 0.0,
        clopper_pearson(right, len(rows)),
        _spread([sum(row.answer == row.label for row in group) / len(group) for group in by_group]),
        None if ranking is None else ranking.value,
        None if ranking is None else ranking.interval,
        _spread([each.value for group in by_group if (each := ranked(group, classes)) is not None]),
    )


def _spread(values: Sequence[float]) -> float | None:
    """Return the standard deviation over draws; None for fewer than two draws."""
    return stdev(values) if len(values) > 1 else None


def _memory(trials: Sequence[Trial], twins: Mapping[str, Trial]) -> ShotMemory | None:
    """Return memory's share on the rows that have a twin; None if no row has one."""
    both = [each for trial in trials if (twin := twins.get(trial.query.id)) for each in (trial, twin)]
    if not both:
        return None
    found = MemoryShare().weigh(both, 0.0)
    return ShotMemory(found.measured.value, found.interval or (-1.0, 1.0), found.answered, found.sentence)


def _shown(trials: Sequence[Trial]) -> dict[str, float]:
    """Return the share of each class among the shots, averaged over the asked rows."""
    held = [trial.query.chance[SHOWN].values for trial in trials if SHOWN in trial.query.chance]
    names = dict.fromkeys(name for values in held for name in values)
    return {name: sum(values.get(name, 0.0) for values in held) / len(held) for name in names}
