"""The rule of Oren et al. 2024, section 3.2: shards (runs of rows) are likelier in the file's order than in others."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from tabcontam.evidence.base import PublishedRule, Trial
from tabcontam.evidence.number_wording import describe_p_value
from tabcontam.evidence.thresholds import SHARDED_T_LEVEL

READ = re.compile(r"(\S+) nats")


@dataclass(frozen=True)
class ShardedTRule(PublishedRule):
    """The rule that calls a table contaminated if its shards are likelier in the file's order, by Student's t."""

    def finds(self, trials: Sequence[Trial]) -> bool | None:
        """Return the rule's decision: False if the t-test is not defined."""
        p_value = published_p_value(gains_of(trials))
        return p_value is not None and p_value <= SHARDED_T_LEVEL

    def lacks(self, trials: Sequence[Trial]) -> str | None:
        """Return why the t-test is not defined, or None if it is.

        It needs the deviation of at least two different gains.
        """
        if published_p_value(gains_of(trials)) is not None:
            return None
        return "fewer than two shards were scored, or all differ by the same amount"

    def hits(self, trials: Sequence[Trial]) -> int:
        """Return how many shards are likelier in the file's order than in the other order."""
        return sum(gain > 0 for gain in gains_of(trials))

    def describe(self, trials: Sequence[Trial]) -> str:
        """Return the mean gain and the p-value, in words."""
        gains = gains_of(trials)
        if not gains:
            return "no shard was scored"
        p_value = published_p_value(gains)
        decided = "no t-test" if p_value is None else f"{describe_p_value(p_value)} by the t-test over shards"
        return f"{super().describe(trials)}: by {fmean(gains):+.2f} nats on average ({decided})"


def gains_of(trials: Sequence[Trial]) -> list[float]:
    """Return by how many nats each shard is likelier in the file's order; shards that were not scored are left out."""
    read = [trial.reading.parsed for trial in trials if trial.reading and isinstance(trial.reading.parsed, str)]
    return [float(match[1]) for match in map(READ.fullmatch, read) if match]


def published_p_value(gains: Sequence[float]) -> float | None:
    """Return the p-value of Oren et al. 2024, section 3.2: Student's t over the shards' gains, one-sided.

    The deviation is that of a sample, and the tail is computed directly. Return None if the test is not defined: there
    are fewer than two shards, or all gains are equal.
    """
    if len(gains) < 2 or not (deviation := stdev(gains)):
        return None
    from scipy.special import stdtr

    return float(stdtr(len(gains) - 1, -fmean(gains) / deviation * sqrt(len(gains))))
