"""Tables whose rows are dated: how an LLM classifies those from before its training data end, and those from after it.

The table and the question are the same on both sides, so that only the rows differ. A row of a public record may be
harder in one year than in another, and what is older has been told more often: this has no verdict, either.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tabcontam.groups import grouped
from tabcontam.statistics.exact import fisher
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.dating import entry_of
from tabcontam.verdicts.results import RunResults

BEFORE, AFTER = "before", "after"


class Right:
    """What follows from how many answers were right, of how many, and what the majority class gets: a dataclass that
    has these fields inherits from it."""

    hits: int
    answered: int
    majority: float

    @property
    def accuracy(self) -> float:
        """The share that is right."""
        return self.hits / self.answered

    @property
    def lift(self) -> float:
        """The accuracy less the majority's."""
        return self.accuracy - self.majority


@dataclass(frozen=True)
class Rows(Right):
    """The rows on one side: how many answers were right, of how many, what the majority class gets, and the split."""

    split: str
    hits: int
    answered: int
    majority: float


@dataclass(frozen=True)
class BothSides:
    """An LLM on both sides of its cut-off in one table; `p_value` is Fisher's exact test of the two accuracies."""

    llm: str
    title: str
    cutoff: str
    test: str
    dataset: str
    before: Rows
    after: Rows
    p_value: float


def side_of_split(split: str, cutoff: str) -> str:
    """Which side of a cut-off the rows of a split by dates are on; "" where some of them are on the other one.

    >>> side_of_split("after-2024-06", "2023-10"), side_of_split("after-2023-09", "2023-10")
    ('after', '')
    """
    side, _, month = split.partition("-")
    return side if (month >= cutoff if side == AFTER else month <= cutoff) else ""


def both_sides(view: RunResults, cells: Sequence[Result]) -> tuple[BothSides, ...]:
    """The LLMs and tables that have classification on both sides of the LLM's cut-off; of several splits of a side the
    first. `cells` are those of splits by dates."""
    found = []
    for (llm, dataset, test), own in grouped(cells, lambda cell: (cell.llm, cell.dataset, cell.test)).items():
        entry = entry_of(view, llm)
        if entry is None or not entry.cutoff:
            continue
        sides: dict[str, Rows] = {}
        for cell in own:
            side = side_of_split(cell.split or "", entry.cutoff)
            majority = cell.statistic.expected if cell.statistic else None
            if side and majority is not None and cell.hits is not None and cell.answered:
                sides.setdefault(side, Rows(cell.split or "", cell.hits, cell.answered, majority))
        if len(sides) == 2:
            before, after = sides[BEFORE], sides[AFTER]
            p_value = fisher(before.hits, before.answered, after.hits, after.answered)
            found.append(BothSides(llm, entry.title, entry.cutoff, test, dataset, before, after, p_value))
    return tuple(found)
