"""The one place that turns what was measured into verdicts.

`calibrated` decides over all cells of an LLM and a family of tests at once: Benjamini-Hochberg on their p-values, at
one level for the run.
`paper` repeats the published decisions on the text as it came, cell by cell.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tabcontam.evidence.base import READ, Evidence, PublishedRule, Reply, State, Test, Trial, Verdict
from tabcontam.groups import grouped
from tabcontam.statistics.exact import benjamini_hochberg

# The share of queries that must have an answer that was read before a cell, or a table by all of its row tests, can be
# called "not detected": below it the rows that an LLM keeps silent about outnumber those that it was seen to answer.
ENOUGH = 0.5
REASONS = 3  # why answers were not read that are named

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Decision:
    """A verdict, None where there is only a score, and the reason where one is needed."""

    verdict: Verdict | None
    reason: str | None = None


def level(alpha: float, cells: int) -> float:
    """The p-value at which one of so many cells of an LLM and family is a finding for sure, whatever the rest show."""
    return alpha / max(cells, 1)


def corrected(p_values: Mapping[Key, float], budget: Callable[[Key], Hashable]) -> dict[Key, float]:
    """The q-value of each p-value, over those that share its error budget (Benjamini and Hochberg 1995)."""
    q_values: dict[Key, float] = {}
    for sharing in grouped(p_values, budget).values():
        q_values |= zip(sharing, benjamini_hochberg([p_values[key] for key in sharing]), strict=True)
    return q_values


def without_evidence(evidence: Evidence, trials: Sequence[Trial], test: Test, level: float) -> Decision:
    """What a cell is called under the calibrated rules where its p-value is no finding.

    It is clean only if what was answered could have reached `level`: not where too few decoys were, for example, or
    where the published rules asked what the calibrated ones would not have.
    """
    if test.decides and trials and not evidence.asked:  # no query has a null: whatever is answered says nothing
        reason = test.uninformative([trial.query for trial in trials], level)
        if reason:
            return Decision(Verdict.UNINFORMATIVE, reason)
    if evidence.answered < ENOUGH * evidence.asked or not evidence.answered:
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
    """By the published algorithms, on every text that came; a failed or refused call is still no answer."""
    detected = rule.finds(trials)
    if detected:
        return Decision(Verdict.CONTAMINATED)
    answered = texts(trials)
    if answered < ENOUGH * len(trials) or not answered:
        return Decision(Verdict.NO_ANSWER, unanswered(trials))
    if detected is not None and (lacking := rule.lacks(trials)):
        return Decision(Verdict.NO_ANSWER, lacking)
    return Decision(None if detected is None else Verdict.NOT_DETECTED)


def texts(trials: Sequence[Trial]) -> int:
    """How many replies brought a text, which is all that the published algorithms ask for."""
    return sum(trial.reply.state in READ for trial in trials)


def unanswered(trials: Sequence[Trial]) -> str:
    """How many queries had no readable answer, and the most frequent reasons; of decoys, where there is none else."""
    own = [trial for trial in trials if not trial.query.decoy_of]
    silent = [trial for trial in own if not trial.readable]
    if own and not silent:
        own = [trial for trial in trials if trial.query.decoy_of]
        silent = [trial for trial in own if not trial.readable]
    found = Counter(map(_why_unread, silent)).most_common(REASONS)
    if len(found) > 1:
        why = "; ".join(f"{count} {reason}" for reason, count in found)
    else:
        why = found[0][0] if found else "none was asked"
    what = "decoys" if own and own[0].query.decoy_of else "queries"
    return f"no readable answer to {len(silent)} of {len(own)} {what}: {why}"


def _why_unread(trial: Trial) -> str:
    """Return why an answer was not read."""
    if trial.reply.state is State.OK:
        return trial.unread or "scored in tokens that are not its values'"
    return ", ".join(filter(None, (trial.reply.state, trial.reply.detail)))


def answers_read(trials: Sequence[Trial]) -> str:
    """Return how many answers in words were read; decoys and what is not weighed aside, "" where there are none."""
    own = [trial for trial in trials if not trial.query.decoy_of and isinstance(trial.reply, Reply)]
    own = [trial for trial in own if trial.query.chance] or own
    if not own:
        return ""
    read = sum(trial.readable for trial in own)
    unread = len(own) - read
    were = "1 answer was read" if read == 1 else f"{read} answers were read"
    return f"{were}, {unread} {'was' if unread == 1 else 'were'} not" if unread else f"{'all ' * (read > 1)}{were}"
