"""The scores of rows beside a twin's rows, for each LLM and table: how often a row stands first, and what is known.

They rank rows and are no verdict. Beside each other stand tables that an LLM surely read or surely did not, as the
contamination test of LatestEval compares them (Li, Guerin and Lin 2024, section Experiments): by the exposure of a
model that was made for it, or by when a table was released and when the LLM's training data end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tabcontam.evidence.base import RANKS
from tabcontam.statistics.chronology import BEFORE
from tabcontam.statistics.exact import clopper_pearson
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.dating import card_of, entry_of, side
from tabcontam.verdicts.results import RunResults

ABOUT = (
    "Each score puts the rows of a table and those of a shuffled twin in one order. Drawn is how often a row of the "
    "table stands before a twin's row, with its 95% interval; the upright line is one half, which is what it comes to "
    "where nothing tells them apart. This is no verdict: whoever knows how features hang together finds real rows "
    "likelier than shuffled ones without having read them. Compare a table with others that the LLM surely read, or "
    "surely did not; whether rows were seen is for the row tests to say."
)
EARLY, LATE = "released before the LLM's training data end", "released after the LLM's training data end"


@dataclass(frozen=True)
class Scored:
    """One score of an LLM on a table, from 0 to 1, with its interval; `words` state what it is made of."""

    share: float
    interval: tuple[float, float] | None
    words: str


@dataclass(frozen=True)
class ScoredTable:
    """The scores of an LLM on a table, by test, and what is known of whether it read the table; "" where nothing is."""

    llm: str
    label: str
    known: str
    scores: Mapping[str, Scored]


def context(view: RunResults) -> dict[str, Any]:
    """What the page's template is given: the tables that were scored, and the tests whose scores they are."""
    tables = scored_tables(view)
    tests = [test for test in view.tests if any(test in table.scores for table in tables)]
    return {"scored_tables": tables, "score_titles": {test: view.test_titles[test] for test in tests},
            "scores_about": ABOUT}  # fmt: skip


def scored_tables(view: RunResults) -> list[ScoredTable]:
    """The tables of each LLM that were scored; of one LLM those come first of which more is known to be read."""
    found = []
    for block in view.blocks:
        own = []
        for column in block.columns:
            cells = [cell for cell in column.cells.values() if RANKS in view.facts[cell.test].marks]
            scores = {cell.test: one for cell in cells if (one := _scored(cell)) is not None}
            if scores:
                order, known = _known(view, cells[0])
                own.append((order, ScoredTable(block.llm, column.label, known, scores)))
        found += [table for _, table in sorted(own, key=lambda one: -one[0])]
    return found


def _scored(cell: Result) -> Scored | None:
    """The score of a cell; None where nothing was scored. A score in another unit is the share of pairs in order."""
    statistic = cell.statistic
    if cell.score is None or statistic is None or not cell.answered:
        return None
    if statistic.expected == 0.5:
        return Scored(cell.score, cell.interval, "")
    interval = clopper_pearson(cell.hits or 0, cell.answered)
    return Scored(cell.score, interval, f"{statistic.value:.2f}, twin {statistic.expected or 0.0:.2f} {statistic.name}")


def _known(view: RunResults, cell: Result) -> tuple[float, str]:
    """How surely an LLM read a table, from -1 to above 0, and in words what says so."""
    if cell.exposure is not None:
        read = f"{cell.exposure:,.3g} {'copy' if cell.exposure == 1 else 'copies'} of each row read"
        return (cell.exposure or -1.0), read if cell.exposure else "none of its rows read"
    card, entry = card_of(view, cell), entry_of(view, cell.llm)
    released, cutoff = card.released if card else "", (entry.cutoff or "") if entry else ""
    which = side(released, cutoff)
    if not which:
        return 0.0, ""
    return 0.5 * which, f"{EARLY if which == BEFORE else LATE} ({released}, {cutoff})"
