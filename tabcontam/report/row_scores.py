"""The scores of a table's rows compared with a twin's rows, for each LLM, and what is known of the LLM's exposure.

Scores rank rows and are no verdict. Tables that an LLM surely read are shown next to tables that it surely did not
read, as in LatestEval's contamination test (Li, Guerin and Lin 2024, section Experiments).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tabcontam.evidence.base import RANKS
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.verdicts.dating import BEFORE, card_of, entry_of, side
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.results import RunResults

ABOUT = (
    "Each score ranks the rows of a table and those of a shuffled twin together. The dot is how often a row of the "
    "table ranks before a twin's row, with its 95% interval; the vertical line is one half, the value if the score "
    "cannot distinguish them. This is no verdict: a model that knows how features are related scores real rows as "
    "likelier than shuffled ones without having read them. Compare a table with others that the LLM surely read, or "
    "surely did not read; only the row tests show whether rows were seen."
)
EARLY, LATE = "released before the LLM's training data end", "released after the LLM's training data end"


@dataclass(frozen=True)
class RowScore:
    """One score of an LLM on a table, from 0 to 1, with its interval. `words` describe its statistic."""

    share: float
    interval: tuple[float, float] | None
    words: str


@dataclass(frozen=True)
class ScoredTable:
    """The scores of an LLM on a table, by test. `known` states whether the LLM read the table ("" if unknown)."""

    llm: str
    label: str
    known: str
    scores: Mapping[str, RowScore]


def scored_tables(view: RunResults) -> list[ScoredTable]:
    """Return the tables with scores for each LLM. The tables that it most surely read come first."""
    found = []
    for block in view.blocks:
        own = []
        for column in block.columns:
            results = [result for result in column.results.values() if RANKS in view.facts[result.test].marks]
            scores = {result.test: one for result in results if (one := _scored(result)) is not None}
            if scores:
                order, known = _known(view, results[0])
                own.append((order, ScoredTable(block.llm, column.label, known, scores)))
        found += [table for _, table in sorted(own, key=lambda one: -one[0])]
    return found


def _scored(result: Result) -> RowScore | None:
    """Return the score of a result, as a share of ordered pairs even if in another unit; None if nothing was scored."""
    statistic = result.evidence.statistic
    if result.evidence.score is None or statistic is None or not result.evidence.answered:
        return None
    if statistic.expected == 0.5:
        return RowScore(result.evidence.score, result.evidence.interval, "")
    interval = clopper_pearson(result.evidence.hits, result.evidence.answered)
    of_twin = f"{statistic.expected or 0.0:.2f}"
    return RowScore(result.evidence.score, interval, f"{statistic.name}: rows {statistic.value:.2f}, twin {of_twin}")


def _known(view: RunResults, result: Result) -> tuple[float, str]:
    """Return how surely an LLM read a table, as a number from -1 upwards, and the evidence for it in words."""
    if result.exposure is not None:
        read = f"the LLM read {result.exposure:,.3g} {'copy' if result.exposure == 1 else 'copies'} of each row"
        return (result.exposure or -1.0), read if result.exposure else "the LLM read none of its rows"
    card, entry = card_of(view, result), entry_of(view, result.llm)
    released, cutoff = card.dates.released if card else "", (entry.cutoff or "") if entry else ""
    which = side(released, cutoff)
    if not which:
        return 0.0, ""
    return 0.5 * which, f"{EARLY if which == BEFORE else LATE} ({released}, {cutoff})"
