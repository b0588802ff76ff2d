"""What both ways to find memory's share have in common: its level, models that learned beside it, and its words."""

from collections import Counter
from collections.abc import Sequence

from tabcontam.evidence.base import Query
from tabcontam.evidence.sentences import signed
from tabcontam.guesser.chance import Guess
from tabcontam.statistics.paired_gains import Gained

LEVEL = 0.01  # of the p-value from which on a share is said to be above 0
LEAST = 0.0005  # a smaller difference is none in three digits
SUPERVISED = "supervised"  # what the models that learned are called among the chances of a query
MODELS = "gradient boosting and logistic regression"


def guess_of(said: Sequence[str]) -> Guess:
    """What models say, as chances: the share of them that say it."""
    return Guess({answer: count / len(said) for answer, count in Counter(said).items()}, 0.0)


def learned(query: Query) -> float:
    """The share of models that are right; where nothing is known of them, they make no difference."""
    return query.chance[SUPERVISED].of(str(query.expected[0])) if SUPERVISED in query.chance else 0.0


def share_in_words(found: Gained, own: float, other: float) -> str:
    """Memory's share with its interval, and what models are right on of the rows and of the others."""
    low, high = found.interval
    above = "above 0" if found.p_value <= LEVEL else "not shown to be above 0"
    return (
        f"memory's share {signed(found.mean)} ({signed(low)} to {signed(high)}), {above} (p = {found.p_value:.2g})"
        f"{_difficulty(own, other)}"
    )


def _difficulty(own: float, other: float) -> str:
    if abs(own - other) < LEAST:
        return f"; {MODELS} get {own:.3f} on both"
    taken = "taken off" if own > other else "added"
    get = f"get on average {own:.3f} of the first and {other:.3f} of the second"
    return f"; {MODELS} {get}, and this difference is {taken}"
