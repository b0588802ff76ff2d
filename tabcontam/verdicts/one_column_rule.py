"""The rule of one column: evidence in a single column may be facts from other sources, and does not count.

Tests whose null model is the baseline's state for each column their p-value, and the outcome of the bets on their
answers, without its cells. Their finding counts if it still stands when any one column is left out of all of them; the
columns of one entity are one. A finding that rests on one column is reported as such. A test with another null model,
such as one of free text, has no evidence by column and is not bound.

Matched membership shows whole rows: a model that knows a law by which one column follows from others sees it broken in
a row in which one of these columns was altered. So its finding would never stand without any one column, and it is left
out of the tests' joint evidence, unless it is the only one.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from tabcontam.evidence.base import EvidenceKind, Family
from tabcontam.statistics.eprocess import ALL, Wealth, join_bets, standing
from tabcontam.statistics.exact_statistics import any_dependence
from tabcontam.verdicts.decisions import corrected
from tabcontam.verdicts.result_types import FamilyEvidence, Result
from tabcontam.verdicts.thresholds import LEAST_EXPLAINED_P
from tabcontam.verdicts.wording import rounded

Key = TypeVar("Key", bound=Hashable)
ELSEWHERE = "facts from other sources would explain this as well"


class StandingPValue(NamedTuple):
    """A p-value that stands whichever column is left out, and the column without which it is largest, if any."""

    p_value: float
    without: str | None


class JointEvidence(NamedTuple):
    """The joint evidence of several results on a table: p-value, the one that stands, and E if answers are bet on."""

    p_value: float
    standing: StandingPValue
    e_value: float | None


def p_value_of(result: Result) -> float | None:
    """Return the p-value of a result: 1 / E if its table was asked in turns; None if it has neither."""
    if result.sequential:
        return _p_value(wealth_by_column(result)[ALL]) if result.bets else None
    return result.p_value


def standing_of(result: Result) -> StandingPValue:
    """Return the standing p-value of a result that has a p-value."""
    without = result.without
    if result.sequential:
        without = {group: _p_value(wealth) for group, wealth in wealth_by_column(result).items() if group != ALL}
    return _largest(p_value_of(result) or 0.0, without)


def _p_value(wealth: Wealth) -> float:
    """Return 1 / E, at most 1."""
    return float(2.0 ** -max(0.0, wealth.bits))


def join_evidence(results: Sequence[Result]) -> JointEvidence:
    """Return the joint evidence of several results on a table, whatever their dependence.

    The results are combined in two ways, each at half the level if there are both. One is 1 / E of all bets on their
    answers, if those of several tests are bet on; it finds memory that shows a little in each test. The other is
    Bonferroni's rule over their p-values, which finds memory that shows in one test. A result of a table asked in turns
    has no p-value. A column is left out of all results at once; a result in which it was not asked is unchanged.
    Matched membership would never stand, so it counts only if no other test has a p-value or bets.
    """
    several = sum(bool(cell.bets) for cell in results) > 1  # one test alone has its own p-value, which is exact
    bets = join_bets(wealth_by_column(cell) for cell in results if several or cell.sequential)
    known = [(cell, cell.p_value) for cell in results if cell.p_value is not None and not cell.sequential]
    known = [one for one in known if not _shows_whole_rows(one[0])] or ([] if bets else known)
    groups = dict.fromkeys((*(group for cell, _ in known for group in cell.without), *bets))

    def p_value_without(group: str) -> float:
        one_by_one = [result.without.get(group, p_value) for result, p_value in known]
        ways = [_p_value(bets.get(group, bets[ALL]))] if bets else []
        return any_dependence([*ways, any_dependence(one_by_one)] if known else ways)

    p_value = p_value_without(ALL)
    least = _largest(p_value, {group: p_value_without(group) for group in groups if group != ALL})
    return JointEvidence(p_value, least, 2.0 ** standing(bets)[0] if bets else None)


def family_evidence(
    joint: Mapping[Key, JointEvidence], budget: Callable[[Key], Hashable], family: Callable[[Key], Family]
) -> dict[Key, FamilyEvidence]:
    """Return joint evidence of families of tests with its q-values, over that which shares an error budget."""
    q_values = corrected({key: one.p_value for key, one in joint.items()}, budget)
    q_without = corrected({key: one.standing.p_value for key, one in joint.items()}, budget)
    return {
        key: FamilyEvidence(
            family=family(key),
            p_value=one.p_value,
            q_value=q_values[key],
            e_value=one.e_value,
            p_without=one.standing.p_value,
            q_without=q_without[key],
            without=one.standing.without,
        )
        for key, one in joint.items()
    }


def wealth_by_column(result: Result) -> dict[str, Wealth]:
    """Return the outcome of the bets on a result's answers."""
    return {group: Wealth(own.memory, own.honest, own.rows) for group, own in result.bets.items()}


def _shows_whole_rows(result: Result) -> bool:
    """Return whether a result is of a test of membership whose null model is the baseline's."""
    return result.kind is EvidenceKind.MEMBERSHIP and bool(result.without)


def _largest(p_value: float, without: Mapping[str, float]) -> StandingPValue:
    group = max(without, key=without.__getitem__, default=None)
    if group is None or without[group] <= p_value:
        return StandingPValue(p_value, None)
    return StandingPValue(without[group], group)


def reason_of(results: Sequence[Result], group: str, p_value: float) -> str:
    """Return why a finding of these results does not count; `p_value` is that without the column `group`."""
    if not any(bits for result in results for column, bits in result.columns.items() if column != group):
        return f"all right answers are in {group}: {ELSEWHERE}"
    without = f"(without this column p = {rounded('p_value', p_value)})"
    if p_value > LEAST_EXPLAINED_P:
        return f"the baseline explains the answers in all columns but {group} {without}: {ELSEWHERE}"
    return f"the result rests on {group} {without}: {ELSEWHERE}"
