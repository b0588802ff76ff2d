"""Memory's share by fresh rows: the accuracy on the table's rows minus that on rows that no model can have read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pvariance

from tabcontam.evidence.base import Evidence, Query, Trial
from tabcontam.evidence.score.shares import learned, right_answers, share_evidence, share_in_words, wrong_in_words
from tabcontam.statistics.paired_gains import MeanGain
from tabcontam.statistics.unpaired_gains import mean_difference

FRESH = "fresh"  # the ending of the id of a query about a fresh row


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
