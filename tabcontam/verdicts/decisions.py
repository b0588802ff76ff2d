"""The only place where measurements become verdicts.

The rules `calibrated` decide over all results of a model and a family of tests at once, by Benjamini and Hochberg's
correction at the run's level. The rules `paper` repeat the published decision on each result's unchanged replies.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tabcontam.evidence.base import READ, Evidence, PublishedRule, Reply, ReplyState, Test, Trial, Verdict
from tabcontam.groups import grouped
from tabcontam.statistics.exact_statistics import benjamini_hochberg
from tabcontam.statistics.number_types import Share
from tabcontam.verdicts.thresholds import LEAST_READ_SHARE

# The share of queries that must have a readable answer for "not detected", in a result or in all row tests of a
# table. Below it, more rows are without an answer than with one.

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, with the corrected p-values and the reason that it rests on."""

    verdict: Verdict | None = None
    """The verdict under the rules of this run; null for a score alone."""
    reason: str | None = None
    """The reason why the verdict is not contaminated, if that needs an explanation."""
    otherwise: Verdict | None = None
    """The verdict that the result would have without its finding, if it is contaminated or its finding rests on one
    column; else null."""
    paper_verdict: Verdict | None = None
    """The verdict by the published rules, on the paper's own queries; null if there are none, or for a score alone."""
    q_value: Share | None = None
    """The p-value corrected for all results of this model and family (Benjamini and Hochberg); at most alpha in a
    finding, also in one that rests on one column."""
    q_without: Share | None = None
    """The largest of p_value and without, corrected as q_value is; at most alpha if no column is decisive."""
    rests_on: str | None = None
    """The column, or the columns of one entity, without which it is no finding; null if there is none."""


def level(alpha: float, results: int) -> float:
    """Return the p-value that makes one of `results` results a finding, whatever the others show."""
    return alpha / max(results, 1)


def corrected(p_values: Mapping[Key, float], budget: Callable[[Key], Hashable]) -> dict[Key, float]:
    """Return each p-value's q-value, over all p-values that share its error budget (Benjamini and Hochberg 1995)."""
    q_values: dict[Key, float] = {}
    for sharing in grouped(p_values, budget).values():
        q_values |= zip(sharing, benjamini_hochberg([p_values[key] for key in sharing]), strict=True)
    return q_values


def without_evidence(evidence: Evidence, trials: Sequence[Trial], test: Test, level: float) -> Decision:
    """Return the calibrated rules' decision on a result without contamination: not detected, uninformative or no
    answer.

    The result is not detected only if its answers could have reached `level`. They could not, for example, if too few
    decoys were answered, or if the published rules asked queries that the calibrated rules do not ask.
    """
    if test.decides and trials and not evidence.asked:  # no query has a null model: no answer can be evidence
        reason = test.uninformative([trial.query for trial in trials], level)
        if reason:
            return Decision(Verdict.UNINFORMATIVE, reason)
    if evidence.answered < LEAST_READ_SHARE * (evidence.asked or 0) or not evidence.answered:
        return Decision(Verdict.NO_ANSWER, unanswered(trials))
    if not test.decides:
        return Decision(None)
    counted = [trial.query for trial in trials if test.counts(trial)]
    if reason := test.uninformative(counted, level):
        if len(counted) == len(trials) or test.uninformative([trial.query for trial in trials], level):
            return Decision(Verdict.UNINFORMATIVE, reason)
        silent = f"{len(trials) - len(counted)} of {len(trials)} queries without a readable answer"
        return Decision(Verdict.NO_ANSWER, f"{silent}: {reason}")
    return Decision(Verdict.NOT_DETECTED)


def published(rule: PublishedRule, trials: Sequence[Trial]) -> Decision:
    """Return the decision of the published algorithms on all texts. A failed or declined call is no answer."""
    detected = rule.finds(trials)
    if detected:
        return Decision(Verdict.CONTAMINATED)
    answered = texts(trials)
    if answered < LEAST_READ_SHARE * len(trials) or not answered:
        return Decision(Verdict.NO_ANSWER, unanswered(trials))
    if detected is not None and (lacking := rule.lacks(trials)):
        return Decision(Verdict.NO_ANSWER, lacking)
    return Decision(None if detected is None else Verdict.NOT_DETECTED)


def texts(trials: Sequence[Trial]) -> int:
    """Return the number of replies with a text: the published algorithms need nothing else."""
    return sum(trial.reply.state in READ for trial in trials)


# reasons: the largest number of reasons for unread answers that are named
def unanswered(trials: Sequence[Trial], *, reasons: int = 3) -> str:
    """Return in words the number of queries (if none, of decoys) without a readable answer, and the main reasons."""
    own = [trial for trial in trials if not trial.query.decoy_of]
    silent = [trial for trial in own if not trial.readable]
    if own and not silent:
        own = [trial for trial in trials if trial.query.decoy_of]
        silent = [trial for trial in own if not trial.readable]
    found = Counter(map(_why_unread, silent)).most_common(reasons)
    if len(found) > 1:
        why = "; ".join(f"{count} {reason}" for reason, count in found)
    else:
        why = found[0][0] if found else "none was asked"
    what = "decoys" if own and own[0].query.decoy_of else "queries"
    return f"no readable answer to {len(silent)} of {len(own)} {what}: {why}"


def _why_unread(trial: Trial) -> str:
    if trial.reply.state is ReplyState.OK:
        return trial.unread or "the scored tokens are not those of its values"
    return ", ".join(filter(None, (trial.reply.state, trial.reply.detail)))


def answers_read(trials: Sequence[Trial]) -> str:
    """Return how many answers in words were read, without decoys and queries that do not count; "" if none."""
    own = [trial for trial in trials if not trial.query.decoy_of and isinstance(trial.reply, Reply)]
    own = [trial for trial in own if trial.query.chance] or own
    if not own:
        return ""
    read = sum(trial.readable for trial in own)
    unread = len(own) - read
    were = "1 answer was read" if read == 1 else f"{read} answers were read"
    return f"{were}, {unread} {'was' if unread == 1 else 'were'} not" if unread else f"{'all ' * (read > 1)}{were}"
