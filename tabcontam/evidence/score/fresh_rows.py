"""Memory's share by fresh rows: the accuracy on the table's rows minus that on rows that no model can have read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pvariance

from tabcontam.evidence.base import Evidence, Query, ReplyState, Statistic, Trial
from tabcontam.evidence.rows.choice_test import valid_answers
from tabcontam.evidence.score.shares import learned, share_in_words, wrong_in_words
from tabcontam.evidence.twin_comparison import TwinComparison
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
    found, if_wrong = _share(rows, fresh), _as_wrong(trials, len(rows.right) + len(fresh.right))
    left_out, twins = len(trials) - len(rows.right) - len(fresh.right), None
    if rows.right and fresh.right:
        twins = TwinComparison(
            pairs=min(len(rows.right), len(fresh.right)),
            left_out=left_out,
            accuracy=fmean(rows.right),
            twin_accuracy=fmean(fresh.right),
            share=found.mean,
            interval=found.interval,
            p_value=found.p_value,
            deviation=(pvariance(rows.beyond) + pvariance(fresh.beyond)) ** 0.5,
            if_wrong=if_wrong.interval if if_wrong else None,
            fresh=len(fresh.right),
        )
    return Evidence(
        statistic=Statistic(name="memory's share", value=found.mean, expected=0.0),
        null="the model is right as often on fresh rows, given how hard they are for the learners",
        sentence="; ".join(filter(None, (_describe(rows, fresh, found), _left_out(left_out, if_wrong)))),
        hits=sum(rows.right),
        asked=sum(not is_fresh(trial.query) for trial in trials),
        answered=len(rows.right),
        score=min(1.0, max(0.0, found.mean)),
        interval=found.interval,
        interval_of="memory's share",
        memory=twins,
    )


def _as_wrong(trials: Sequence[Trial], count: int) -> MeanGain | None:
    """Return the share if answers without a class count as wrong; None if it stays equal or no answer is right."""
    rows, fresh = _sides(trials, wrong=True)
    more = len(rows.right) + len(fresh.right) > count and any((*rows.right, *fresh.right))
    return _share(rows, fresh) if more else None


def _sides(trials: Sequence[Trial], *, wrong: bool = False) -> tuple[AnsweredRows, AnsweredRows]:
    fresh = [trial for trial in trials if is_fresh(trial.query)]
    return answered([trial for trial in trials if not is_fresh(trial.query)], wrong=wrong), answered(fresh, wrong=wrong)


def answered(trials: Sequence[Trial], *, wrong: bool = False) -> AnsweredRows:
    """Return the rows whose answer names a class.

    With `wrong`, return all rows that had a reply; a reply that names no class is then a wrong answer.
    """
    right = {trial.query.id: False for trial in trials if wrong and trial.reply.state is not ReplyState.FAILED}
    right |= {trial.query.id: answer == trial.query.expected[0] for trial, answer in valid_answers(trials)}
    by_id = {trial.query.id: learned(trial.query) for trial in trials}
    return AnsweredRows(tuple(right.values()), tuple(by_id[name] for name in right))


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
