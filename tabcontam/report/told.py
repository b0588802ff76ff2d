"""What the trials of an LLM's cells tell its page, taken in cell by cell: the evidence, and the rows that it recalls.

It needs a few facts of the run and the cells of this one LLM, so that another process can do it as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tabcontam.groups import grouped
from tabcontam.report.evidence import Looks, Packed, Packing
from tabcontam.report.recalled_rows import Compared, Reading
from tabcontam.report.trials import Trial
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.results import RunResults


class Placed(NamedTuple):
    """A cell where it stands on the page: its place as in `RunResults.placed`, and the label of its column."""

    place: str
    label: str
    cell: Result


@dataclass(frozen=True)
class Facts:
    """What is to be known of a run: how its evidence looks, its row tests, and what its tests are called."""

    looks: Looks
    row_tests: frozenset[str]
    titles: Mapping[str, str]

    @classmethod
    def of(cls, view: RunResults) -> "Facts":
        """Those of these results."""
        return cls(Looks.of(view), frozenset(view.row_tests), view.test_titles)


@dataclass(frozen=True)
class Told:
    """What the trials of an LLM tell."""

    packed: Packed
    compared: Sequence[Compared]


class Telling:
    """The trials of an LLM's cells, of which each is taken in once; only what is told of them is kept."""

    def __init__(self, facts: Facts, placed: Sequence[Placed]) -> None:
        self._placed = placed
        self._packing = Packing(facts.looks, {one.place: one.cell for one in placed})
        self._rows = Reading(facts.row_tests, facts.titles)

    def take(self, cell: Result, asked: Mapping[str, Trial]) -> None:
        """Take in the trials of a cell, by query."""
        self._packing.take(cell, asked)
        self._rows.take(cell, asked)

    def told(self) -> Told:
        """What all of them tell."""
        compared = self._rows.compared((one.label, one.cell) for one in self._placed)
        return Told(self._packing.packed(), compared)


def placed(view: RunResults) -> dict[str, list[Placed]]:
    """The cells of each LLM that has a block, in the order of the page."""
    labels = [column.label for block in view.blocks for column in block.columns for _ in column.cells]
    found = [Placed(place, label, cell) for (place, cell), label in zip(view.placed.items(), labels, strict=True)]
    return grouped(found, lambda one: one.cell.llm)
