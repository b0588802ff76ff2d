"""The common parts of both ways to find memory's share: its level, the learners' predictions, and its words."""

from collections import Counter
from collections.abc import Sequence

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.evidence.base import Query
from tabcontam.evidence.number_wording import format_signed
from tabcontam.evidence.thresholds import MEMORY_SHARE_LEVEL
from tabcontam.statistics.paired_gains import MeanGain

SUPERVISED = "supervised"  # the name of the fitted learners among the chances of a query
MODELS = "gradient boosting and logistic regression"


def prediction_of(answers: Sequence[str]) -> CellPrediction:
    """Return the learners' predictions as chances: each answer's share of them."""
    return CellPrediction({answer: count / len(answers) for answer, count in Counter(answers).items()}, 0.0)


def learned(query: Query) -> float:
    """Return the share of learners that are right; if there are none, they make no difference."""
    return query.chance[SUPERVISED].chance_of(str(query.expected[0])) if SUPERVISED in query.chance else 0.0


def share_in_words(found: MeanGain, own: float, other: float) -> str:
    """Return memory's share and its interval in words, with the learners' accuracy on the rows and the others."""
    low, high = found.interval
    above = "above 0" if found.p_value <= MEMORY_SHARE_LEVEL else "not shown to be above 0"
    return (
        f"memory's share {format_signed(found.mean)} ({format_signed(low)} to {format_signed(high)}), {above} (p = "
        f"{found.p_value:.2g})"
        f"{_difficulty(own, other)}"
    )


# least: a smaller difference is none in three digits
def _difficulty(own: float, other: float, *, least: float = 0.0005) -> str:
    if abs(own - other) < least:
        return f"; {MODELS} get {own:.3f} on both"
    taken = "subtracted" if own > other else "added"
    get = f"get {own:.3f} on the first and {other:.3f} on the second"
    return f"; {MODELS} {get}, and this difference is {taken}"
