"""The rule of one column: what a single column carries alone may be facts that stand elsewhere, and is no finding.

The tests whose null is the guesser's say for each column what their p-value, and what was won by bets on their answers,
is without its cells. A finding of theirs counts where it still stands when any one column is left out of all of them;
columns of one entity are one. What rests on one column is told as that. A test with another null, as of free text, says
nothing by column and is not bound.

Matched membership shows whole rows: whoever knows a law by which one column follows from others sees it broken where
one of those was altered. So it would never stand where any column is left out, and takes no part in what the tests say
together, unless it is the only one.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tabcontam.evidence.base import Kind
from tabcontam.statistics.eprocess import ALL, Wealth, joined, standing
from tabcontam.statistics.exact import any_dependence
from tabcontam.verdicts.cells import Result
from tabcontam.verdicts.wording import rounded

GUESSED = 0.05  # a p-value above it is explained by guessing, in words
ELSEWHERE = "facts from elsewhere would do the same"


class Standing(NamedTuple):
    """A p-value that stands whichever column is left out, and the column that it is largest without, if any is."""

    p_value: float
    without: str | None


class Together(NamedTuple):
    """What several cells of a table say together: the p-value, what of it stands, and E where answers are bet on."""

    p_value: float
    standing: Standing
    e_value: float | None


def p_value_of(cell: Result) -> float | None:
    """The p-value of a cell: 1 / E where its table was asked in turns; None where it has neither."""
    if cell.sequential:
        return _p_value(won(cell)[ALL]) if cell.bets else None
    return cell.p_value


def of_cell(cell: Result) -> Standing:
    """What stands of a cell that has a p-value."""
    without = cell.without
    if cell.sequential:
        without = {group: _p_value(wealth) for group, wealth in won(cell).items() if group != ALL}
    return _largest(p_value_of(cell) or 0.0, without)


def _p_value(wealth: Wealth) -> float:
    """1 / E, at most 1."""
    return float(2.0 ** -max(0.0, wealth.bits))


def together(cells: Sequence[Result]) -> Together:
    """The p-value of several cells of a table, whatever their dependence, and what of it stands.

    Cells are added up in two ways, each at half the level where there are both: by 1 / E of all bets on their answers,
    where those of several tests are bet on, which finds memory that shows a little in each test; and by Bonferroni's
    rule over their p-values, which finds what shows in one of them. A cell of a table that was asked in turns has no
    p-value. A column is left out of all cells at once; a cell in which it was not asked stays as it is. Matched
    membership would never stand, so that it counts only where no other test has a p-value or bets.
    """
    several = sum(bool(cell.bets) for cell in cells) > 1  # one test alone has its own p-value, which is exact
    bets = joined(won(cell) for cell in cells if several or cell.sequential)
    known = [(cell, cell.p_value) for cell in cells if cell.p_value is not None and not cell.sequential]
    known = [one for one in known if not _shows_whole_rows(one[0])] or ([] if bets else known)
    groups = dict.fromkeys((*(group for cell, _ in known for group in cell.without), *bets))

    def p_value_without(group: str) -> float:
        one_by_one = [cell.without.get(group, p_value) for cell, p_value in known]
        ways = [_p_value(bets.get(group, bets[ALL]))] if bets else []
        return any_dependence([*ways, any_dependence(one_by_one)] if known else ways)

    p_value = p_value_without(ALL)
    least = _largest(p_value, {group: p_value_without(group) for group in groups if group != ALL})
    return Together(p_value, least, 2.0 ** standing(bets)[0] if bets else None)


def won(cell: Result) -> dict[str, Wealth]:
    """What the bets on a cell's answers came to."""
    return {group: Wealth(own.memory, own.honest, own.rows) for group, own in cell.bets.items()}


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
