"""The one place that turns a measurement into a verdict.

`calibrated` decides, for now, at the paper's thresholds, on answers read by feature, and never calls a cell clean whose
answers could not be read. `paper` repeats the published decisions on the text as it came.
"""

from collections import Counter
from dataclasses import dataclass

from tabcontam.suite.base import Measurement, State, Trial, Verdict

CALIBRATED = "calibrated"
PAPER = "paper"
RULES = (CALIBRATED, PAPER)
ENOUGH = 0.5  # the share of queries that must have an answer before a cell can be called "not detected"


@dataclass(frozen=True)
class Decision:
    """A verdict, None where there is only a score, and the reason where one is needed."""

    verdict: Verdict | None
    reason: str | None = None


def decide(measurement: Measurement, rules: str) -> Decision:
    """The verdict of a measured cell under `rules`."""
    return published(measurement) if rules == PAPER else calibrated(measurement)


def calibrated(measurement: Measurement) -> Decision:
    """By the answers as understood."""
    return _decided(measurement.detected, measurement.answered, measurement)


def published(measurement: Measurement) -> Decision:
    """By the published algorithms, on every text that came; a failed or refused call is still no answer."""
    return _decided(measurement.paper_detected, texts(measurement), measurement)


def texts(measurement: Measurement) -> int:
    """How many replies brought a text, which is all that the published algorithms ask for."""
    return sum(trial.reply.state in (State.OK, State.TRUNCATED) for trial in measurement.trials)


def _decided(detected: bool | None, answered: int, measurement: Measurement) -> Decision:
    if detected:
        return Decision(Verdict.CONTAMINATED)
    if answered < ENOUGH * len(measurement.trials) or not answered:
        return Decision(Verdict.NO_ANSWER, unanswered(measurement))
    return Decision(None if detected is None else Verdict.NOT_DETECTED)


def unanswered(measurement: Measurement) -> str:
    """How many queries had no readable answer, and the most frequent reason."""
    silent = [trial for trial in measurement.trials if trial.reading is None or not trial.reading.readable]
    reasons = Counter(why_silent(trial) for trial in silent)
    ((reason, count),) = reasons.most_common(1) or [("none was asked", 0)]
    return f"no readable answer to {len(silent)} of {len(measurement.trials)} queries ({count}: {reason})"


def why_silent(trial: Trial) -> str:
    """Why a trial has no readable answer."""
    if trial.reply.state is State.OK:
        return "declined, or in no form that could be read"
    detail = f" ({trial.reply.detail})" if trial.reply.detail else ""
    return f"{trial.reply.state}{detail}"
