"""Memory's share by fresh rows, and what all measures of the share use: the learners' predictions, the evidence."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp
from statistics import fmean, pvariance
from typing import TYPE_CHECKING

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Evidence, Likelihoods, Query, ReplyState, Statistic, Trial
from tabcontam.evidence.number_wording import format_signed
from tabcontam.evidence.rows.choice_test import valid_answers
from tabcontam.evidence.thresholds import MEMORY_SHARE_LEVEL
from tabcontam.evidence.twin_comparison import TwinComparison
from tabcontam.statistics.paired_gains import MeanGain
from tabcontam.statistics.unpaired_gains import mean_difference
from tabcontam.tables.table import Table

if TYPE_CHECKING:
    from tabcontam.twins.base import UnseenTwin

SUPERVISED = "supervised"  # the key of the learners in the chances of a query
FRESH = "fresh"  # the ending of the id of a query about a fresh row
MODELS = "gradient boosting and logistic regression"


def unseen_twin(table: Table, kind: str) -> "UnseenTwin":
    """Return the unseen twin of a table; its slow module is imported only here. Raises `Skip`."""
    from tabcontam.twins.twin_making import unseen

    return unseen(table, kind)


def prediction_of(answers: Sequence[str]) -> CellPrediction:
    """Return the learners' predictions as chances: the share of the learners that gave each answer."""
    return CellPrediction({answer: count / len(answers) for answer, count in Counter(answers).items()}, 0.0)


def learned(query: Query) -> float:
    """Return the share of learners that are right about the row of a query; 0 without learners."""
    return query.chance[SUPERVISED].chance_of(str(query.expected[0])) if SUPERVISED in query.chance else 0.0


def right_answers(trials: Iterable[Trial], *, wrong: bool = False) -> dict[str, bool]:
    """Return by query id whether each valid answer is right.

    With `wrong`, a reply that names no class is a wrong answer; a missing reply is not.
    """
    trials = list(trials)
    right = {trial.query.id: False for trial in trials if wrong and trial.reply.state is not ReplyState.FAILED}
    return right | {trial.query.id: answer == trial.query.expected[0] for trial, answer in valid_answers(trials)}


def share_evidence(
    null: str,
    sentences: Iterable[str],
    trials: Sequence[Trial],
    sides: tuple[Sequence[bool], Sequence[bool]],
    found: MeanGain,
    if_wrong: MeanGain | None,
    left_out: int,
    deviation: float,
    fresh: int = 0,
) -> Evidence:
    """Return the evidence of a memory's share; `sides` has the right answers to rows, and to twins or fresh rows."""
    rows, others = sides
    memory = None
    if rows and others:
        memory = TwinComparison(
            pairs=min(len(rows), len(others)),
            left_out=left_out,
            accuracy=fmean(rows),
            twin_accuracy=fmean(others),
            share=found.mean,
            interval=found.interval,
            p_value=found.p_value,
            deviation=deviation,
            if_wrong=if_wrong.interval if if_wrong else None,
            fresh=fresh,
        )
    return Evidence(
        statistic=Statistic(name="memory's share", value=found.mean, expected=0.0),
        null=null,
        sentence="; ".join(filter(None, sentences)),
        hits=sum(rows),
        asked=sum(not trial.query.decoy_of for trial in trials),
        answered=len(rows),
        score=min(1.0, max(0.0, found.mean)),
        interval=found.interval,
        interval_of="memory's share",
        memory=memory,
    )


def share_in_words(found: MeanGain, own: float, other: float) -> str:
    """Return a sentence on memory's share and its interval, with the learners' accuracies `own` and `other`."""
    low, high = found.interval
    above = "above 0" if found.p_value <= MEMORY_SHARE_LEVEL else "not shown to be above 0"
    return (
        f"memory's share {format_signed(found.mean)} ({format_signed(low)} to {format_signed(high)}), {above} "
        f"(p = {found.p_value:.2g}){_difficulty(own, other)}"
    )


def wrong_in_words(found: MeanGain | None) -> str:
    """Return, in brackets, the share if answers without a class count as wrong; "" if there is none."""
    if found is None:
        return ""
    mean, low, high = map(format_signed, (found.mean, *found.interval))
    return f" (if they count as wrong, the share is {mean}, {low} to {high})"


# least: smaller differences vanish in three digits
def _difficulty(own: float, other: float, *, least: float = 0.0005) -> str:
    if abs(own - other) < least:
        return f"; {MODELS} get {own:.3f} on both"
    taken = "subtracted" if own > other else "added"
    get = f"get {own:.3f} on the first and {other:.3f} on the second"
    return f"; {MODELS} {get}, and this difference is {taken}"


def chances_of(trial: Trial) -> dict[str, float] | None:
    """Return the probability of each class among the classes; None if the model reports none."""
    answer = trial.reply
    if not isinstance(answer, Likelihoods) or answer.state is not ReplyState.OK:
        return None
    highest = max(answer.values)
    weights = [exp(value - highest) for value in answer.values]
    return {name: weight / sum(weights) for name, weight in zip(trial.query.asked, weights, strict=True)}


def is_fresh(query: Query) -> bool:
    """Return whether a query is about a fresh row, by its id, which the trials of a run have, too."""
    return bool(query.decoy_of) and query.id == f"{query.decoy_of}-{FRESH}"


@dataclass(frozen=True)
class AnsweredRows:
    """Rows with a valid answer: whether each answer is right, and the share of learners that are right."""

    right: tuple[bool, ...]
    learned: tuple[float, ...]

    @property
    def beyond(self) -> list[float]:
        """For each row, 1 or 0 for a right or wrong answer, minus the share of learners that are right."""
        return [one - other for one, other in zip(self.right, self.learned, strict=True)]


def against_fresh(trials: Sequence[Trial]) -> Evidence:
    """Return the difference of the two accuracies minus the learners' difference, with a 95 % interval and a p-value.

    Rows and fresh rows are two independent samples, not pairs.
    """
    rows, fresh = _sides(trials)
    found, answered = _share(rows, fresh), len(rows.right) + len(fresh.right)
    if_wrong, left_out = _as_wrong(trials, answered), len(trials) - answered
    variances = [pvariance(side.beyond) if side.right else 0.0 for side in (rows, fresh)]
    return share_evidence(
        "the model is right as often on fresh rows, given how hard they are for the learners",
        (_describe(rows, fresh, found), _left_out(left_out, if_wrong)),
        trials,
        (rows.right, fresh.right),
        found,
        if_wrong,
        left_out,
        deviation=sum(variances) ** 0.5,
        fresh=len(fresh.right),
    )


def _as_wrong(trials: Sequence[Trial], count: int) -> MeanGain | None:
    """Return the share if answers without a class count as wrong; None if it stays equal or no answer is right."""
    rows, fresh = _sides(trials, wrong=True)
    more = len(rows.right) + len(fresh.right) > count and any((*rows.right, *fresh.right))
    return _share(rows, fresh) if more else None


def _sides(trials: Sequence[Trial], *, wrong: bool = False) -> tuple[AnsweredRows, AnsweredRows]:
    """Return the rows and the fresh rows that were answered."""

    def side(fresh: bool) -> AnsweredRows:
        own = [trial for trial in trials if is_fresh(trial.query) is fresh]
        right, by_id = right_answers(own, wrong=wrong), {trial.query.id: learned(trial.query) for trial in own}
        return AnsweredRows(tuple(right.values()), tuple(by_id[name] for name in right))

    return side(fresh=False), side(fresh=True)


def _share(rows: AnsweredRows, fresh: AnsweredRows) -> MeanGain:
    """Return the accuracies' difference minus the learners'; of two p-values the larger, of two limits the smaller.

    The second p-value and limit come from the model's answers alone. So a model that does equally well on both kinds of
    rows gets no share from learners that do better on fresh rows.
    """
    if not rows.right or not fresh.right:
        return MeanGain(0.0, (-1.0, 1.0), 1.0)
    found, plain = mean_difference(rows.beyond, fresh.beyond), mean_difference(rows.right, fresh.right)
    low = min(found.interval[0], plain.interval[0])
    return replace(found, interval=(low, found.interval[1]), p_value=max(found.p_value, plain.p_value))


def _describe(rows: AnsweredRows, fresh: AnsweredRows, found: MeanGain) -> str:
    if not rows.right or not fresh.right:
        return f"the model answered no {'fresh ' if rows.right else ''}row"
    return (
        f"accuracy {fmean(rows.right):.2f}, on {len(fresh.right)} fresh rows {fmean(fresh.right):.2f}; "
        f"{share_in_words(found, fmean(rows.learned), fmean(fresh.learned))}"
    )


def _left_out(silent: int, if_wrong: MeanGain | None) -> str:
    """Return, in words, the number of answers that are left out, and the share if they count as wrong."""
    if not silent:
        return ""
    names = "answer names" if silent == 1 else "answers name"
    return f"{silent} {names} no class and count for nothing{wrong_in_words(if_wrong)}"
