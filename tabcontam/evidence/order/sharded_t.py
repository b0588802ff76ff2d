"""The rule of Oren et al. 2024, section 3.2: are shards of rows likelier in the file's order than in others?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from tabcontam.evidence.base import PublishedRule, Trial
from tabcontam.evidence.sentences import stated

LEVEL = 0.05  # the source states p-values; at this one a table counts as found
READ = re.compile(r"(\S+) nats")


@dataclass(frozen=True)
class ShardedT(PublishedRule):
    """Contaminated where shards are likelier in the file's order by Student's t over their gains, p <= 0.05."""

    def finds(self, trials: Sequence[Trial]) -> bool | None:
        """What the rule decides; where the t-test is not defined it finds nothing."""
        p_value = published_p_value(gains_of(trials))
        return p_value is not None and p_value <= LEVEL

    def lacks(self, trials: Sequence[Trial]) -> str | None:
        """Without two shards that differ there is no deviation to hold the mean against."""
        if published_p_value(gains_of(trials)) is not None:
            return None
        return "fewer than two shards were scored, or all gain the same"

    def hits(self, trials: Sequence[Trial]) -> int:
        """How many shards are likelier in the file's order than in the other."""
        return sum(gain > 0 for gain in gains_of(trials))

    def said(self, trials: Sequence[Trial]) -> str:
        """The mean gain, and the p-value."""
        gains = gains_of(trials)
        if not gains:
            return "no shard was scored"
        p_value = published_p_value(gains)
        decided = "no t-test" if p_value is None else f"{stated(p_value)} by the t-test over shards"
        return f"{super().said(trials)}: by {fmean(gains):+.2f} nats in the mean ({decided})"


def gains_of(trials: Sequence[Trial]) -> list[float]:
    """By how many nats each shard is likelier in the file's order; those that were not scored are left out."""
    read = [trial.reading.parsed for trial in trials if trial.reading and isinstance(trial.reading.parsed, str)]
    return [float(match[1]) for match in map(READ.fullmatch, read) if match]


def published_p_value(gains: Sequence[float]) -> float | None:
    """The p-value of Oren et al. 2024, section 3.2: Student's t over the shards' gains, one-sided.

    With the deviation of a sample, and from the tail itself. None where it is not defined: fewer than two shards, or
    the same gain in all.
    """
    if len(gains) < 2 or not (deviation := stdev(gains)):
        return None
    from scipy.special import stdtr

    return float(stdtr(len(gains) - 1, -fmean(gains) / deviation * sqrt(len(gains))))
