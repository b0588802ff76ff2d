"""The rule of one column: evidence in a single column may be facts from other sources, and does not count.

The rule applies to tests with the baseline's null model. They compute their p-value, and the outcome of the bets on
their answers, once more without each column. A finding counts if it remains a finding whichever one column is left out
of all tests at once. Columns that describe one entity are left out together. A finding that depends on one column is
reported as such. Tests with another null model, such as tests of free text, have no evidence by column, and the rule
skips them.

Matched membership shows whole rows. If a model knows a law between columns, it recognises an altered row in which the
law is broken. Therefore a finding of this test would always depend on a column. The tests' joint evidence does not
include it, unless it is the only test.
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
    """The largest of the p-values with all columns and without any one column, and the column left out, if any."""

    p_value: float
    without: str | None


class JointEvidence(NamedTuple):
    """The joint evidence of several results on a table: p-value, standing p-value, and E if answers are bet on."""

    p_value: float
    standing: StandingPValue
    e_value: float | None


def p_value_of(result: Result) -> float | None:
    """Return the p-value of a result, or 1 / E if the table's tests were asked in turns; None if it has neither."""
    if result.sequential:
        return _p_value(result.evidence.bets[ALL]) if result.evidence.bets else None
    return result.evidence.p_value


def standing_of(result: Result) -> StandingPValue:
    """Return the standing p-value of a result with a p-value."""
    without = result.evidence.without
    if result.sequential:
        without = {group: _p_value(wealth) for group, wealth in result.evidence.bets.items() if group != ALL}
    return _largest(p_value_of(result) or 0.0, without)


def _p_value(wealth: Wealth) -> float:
    """Return the p-value of bets, which is 1 / E, at most 1."""
    return float(2.0 ** -max(0.0, wealth.bits))


def join_evidence(results: Sequence[Result]) -> JointEvidence:
    """Return the joint evidence of several results on a table, whatever their dependence.

    The results are combined in two ways, each at half the level if both are possible. The first is 1 / E of all bets on
    their answers, if several tests are bet on; it detects memory that shows a little in each test. The second is
    Bonferroni's rule over their p-values; it detects memory that shows in one test. A result of a table whose tests
    were asked in turns has no p-value. A column is left out of all results at once. This changes only results with
    queries about the column. Matched membership never has a standing p-value, so it counts only if no other test has a
    p-value or bets.
    """
    several = sum(bool(cell.evidence.bets) for cell in results) > 1  # a single test has its own p-value, which is exact
    bets = join_bets(cell.evidence.bets for cell in results if several or cell.sequential)
    one_by_one = [(cell, cell.evidence.p_value) for cell in results if not cell.sequential]
    known = [(cell, p_value) for cell, p_value in one_by_one if p_value is not None]
    known = [one for one in known if not _shows_whole_rows(one[0])] or ([] if bets else known)
    groups = dict.fromkeys((*(group for cell, _ in known for group in cell.evidence.without), *bets))

    def p_value_without(group: str) -> float:
        one_by_one = [result.evidence.without.get(group, p_value) for result, p_value in known]
        ways = [_p_value(bets.get(group, bets[ALL]))] if bets else []
        return any_dependence([*ways, any_dependence(one_by_one)] if known else ways)

    p_value = p_value_without(ALL)
    least = _largest(p_value, {group: p_value_without(group) for group in groups if group != ALL})
    return JointEvidence(p_value, least, 2.0 ** standing(bets)[0] if bets else None)


def family_evidence(
    joint: Mapping[Key, JointEvidence], budget: Callable[[Key], Hashable], family: Callable[[Key], Family]
) -> dict[Key, FamilyEvidence]:
    """Return the joint evidence of families of tests, with q-values over all evidence that shares an error budget."""
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


def _shows_whole_rows(result: Result) -> bool:
    """Return whether a result is from matched membership: a membership test with the baseline's null model."""
    return result.kind is EvidenceKind.MEMBERSHIP and bool(result.evidence.without)


def _largest(p_value: float, without: Mapping[str, float]) -> StandingPValue:
    group = max(without, key=without.__getitem__, default=None)
    if group is None or without[group] <= p_value:
        return StandingPValue(p_value, None)
    return StandingPValue(without[group], group)


def reason_of(results: Sequence[Result], group: str, p_value: float) -> str:
    """Return the reason why a finding does not count: without the column `group`, the p-value is only `p_value`."""
    if not any(bits for result in results for column, bits in result.evidence.columns.items() if column != group):
        return f"all right answers are in {group}: {ELSEWHERE}"
    without = f"(without this column p = {rounded('p_value', p_value)})"
    if p_value > LEAST_EXPLAINED_P:
        return f"the baseline explains the answers in all columns but {group} {without}: {ELSEWHERE}"
    return f"the result rests on {group} {without}: {ELSEWHERE}"
