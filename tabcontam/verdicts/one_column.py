"""The rule of one column: what a single column carries alone may be facts that stand elsewhere, and is no finding.

The tests whose null is the guesser's say for each column what their p-value is without its cells. A finding of theirs
counts where it still stands when any one column is left out of all of them; columns of one entity are one. What rests
on one column is told as that. A test with another null, as of free text, says nothing by column and is not bound.

Matched membership shows whole rows: whoever knows a law by which one column follows from others sees it broken where
one of those was altered. So it would never stand where any column is left out, and takes no part in what the tests say
together, unless it is the only one.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tabcontam.evidence.base import Kind
from tabcontam.statistics.exact import any_dependence
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.wording import rounded

GUESSED = 0.05  # a p-value above it is explained by guessing, in words
ELSEWHERE = "facts from elsewhere would do the same"


class Standing(NamedTuple):
    """A p-value that stands whichever column is left out, and the column that it is largest without, if any is."""

    p_value: float
    without: str | None


def of_cell(cell: Result) -> Standing:
    """What stands of a cell that has a p-value."""
    return _largest(cell.p_value or 0.0, cell.without)


def together(cells: Sequence[Result]) -> tuple[float, Standing]:
    """The p-value of several cells of a table, whatever their dependence, and what of it stands.

    A column is left out of all cells at once. A cell in which it was not asked keeps its p-value. Matched membership,
    which would never stand, takes no part beside other tests.
    """
    known = [(cell, cell.p_value) for cell in cells if cell.p_value is not None]
    known = [one for one in known if not _shows_whole_rows(one[0])] or known
    groups = dict.fromkeys(group for cell, _ in known for group in cell.without)
    without = {group: any_dependence([cell.without.get(group, p_value) for cell, p_value in known]) for group in groups}
    p_value = any_dependence([p_value for _, p_value in known])
    return p_value, _largest(p_value, without)


def _shows_whole_rows(cell: Result) -> bool:
    """Whether it is of a test of membership whose null is the guesser's."""
    return cell.kind is Kind.MEMBERSHIP and bool(cell.without)


def _largest(p_value: float, without: Mapping[str, float]) -> Standing:
    group = max(without, key=without.__getitem__, default=None)
    if group is None or without[group] <= p_value:
        return Standing(p_value, None)
    return Standing(without[group], group)


def reason_of(cells: Sequence[Result], group: str, p_value: float) -> str:
    """Why a finding of these cells does not count, whose p-value without this column is `p_value`."""
    if not any(bits for cell in cells for column, bits in cell.columns.items() if column != group):
        return f"all that is right is in {group}: {ELSEWHERE}"
    without = f"(without it p = {rounded('p_value', p_value)})"
    if p_value > GUESSED:
        return f"all that guessing does not explain is in {group} {without}: {ELSEWHERE}"
    return f"it rests on {group} {without}: {ELSEWHERE}"
