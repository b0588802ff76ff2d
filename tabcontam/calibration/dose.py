"""Dose and response: how often tests find LLMs, by how many copies of a table's rows these are known to have read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tabcontam.calibration.thresholds import LEAST_ARMS
from tabcontam.evidence.base import Family, Verdict
from tabcontam.groups import grouped
from tabcontam.statistics.correlations import spearman
from tabcontam.statistics.exact_statistics import clopper_pearson

TABLE = "table"  # the name of the joint verdict of a table's row tests
HALF, NEARLY_ALL = 0.5, 0.95  # the shares that a smallest exposure is stated for


@dataclass(frozen=True)
class Observation:
    """A verdict of one test, or of the table, on rows of one table of which one LLM has read a number of copies.

    `test` is the test's id, or `TABLE`; `p_value` is None if it has none; `rows` is how many rows have this exposure,
    if the table's rows have several.
    """

    llm: str
    dataset: str
    copies: float
    test: str
    verdict: Verdict | None
    p_value: float | None
    rows: int | None = None

    @property
    def contaminated(self) -> bool:
        """True if it was called contaminated."""
        return self.verdict is Verdict.CONTAMINATED

    @property
    def decided(self) -> bool:
        """True if it was decided: it was neither uninformative nor without an answer."""
        return self.verdict in (Verdict.CONTAMINATED, Verdict.NOT_DETECTED)


@dataclass(frozen=True)
class Rung:
    """The pairs of an LLM and a table's rows at one number of copies.

    `contaminated` of `pairs` were called contaminated, which is the share `share` with the exact 95 % interval from
    `low` to `high` (Clopper and Pearson 1934); for `undecided` others the test was undecided, and they count as not
    found.
    """

    copies: float
    pairs: int
    contaminated: int
    undecided: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Dose:
    """The response of one test to the number of copies, or of the table's verdict.

    `half` and `nearly_all` are the smallest numbers of copies from which on it finds so many of the pairs, None if no
    such number was tried; `unread` are the p-values of pairs that were never read, from the smallest; `uniform` is the
    p-value of their one-sided Kolmogorov-Smirnov test against being smaller than uniform, None without any;
    `correlation` is the median over LLMs and tables with four arms or more of the rank correlation (Spearman) of copies
    with how small the arm's p-value is, over `arms` of them.
    """

    test: str
    family: Family | None
    rungs: tuple[Rung, ...]
    half: float | None
    nearly_all: float | None
    unread: tuple[float, ...]
    uniform: float | None
    correlation: float | None
    arms: int


def doses(observations: Sequence[Observation], families: Mapping[str, Family]) -> list[Dose]:
    """Return each test's response to the number of copies, the table's verdict first, then in order of occurrence.

    `families` are those of the tests by id. Observations without a verdict are scores and left out, as are skipped
    ones, which were not asked.
    """
    asked = [one for one in observations if one.verdict not in (None, Verdict.SKIPPED)]
    by_test = grouped(sorted(asked, key=lambda one: one.test != TABLE), lambda one: one.test)
    return [_dose(test, own, families.get(test)) for test, own in by_test.items()]


def _dose(test: str, own: Sequence[Observation], family: Family | None) -> Dose:
    by_copies = grouped(own, lambda one: one.copies)
    rungs = tuple(_rung(copies, by_copies[copies]) for copies in sorted(by_copies))
    unread = tuple(sorted(one.p_value for one in own if one.copies == 0 and one.p_value is not None))
    half, nearly_all = (_from(rungs, share) for share in (HALF, NEARLY_ALL))
    correlations = _correlations(own)
    middle = median(correlations) if correlations else None
    return Dose(test, family, rungs, half, nearly_all, unread, _not_smaller(unread), middle, len(correlations))


def _rung(copies: float, own: Sequence[Observation]) -> Rung:
    found = sum(one.contaminated for one in own)
    low, high = clopper_pearson(found, len(own))
    undecided = sum(not one.decided for one in own)
    return Rung(copies, len(own), found, undecided, found / len(own), low, high)


def _from(rungs: Sequence[Rung], share: float) -> float | None:
    """Return the least number of copies above 0 from which on at least this share is found at every number."""
    least = None
    for rung in reversed(rungs):
        if rung.copies == 0 or rung.share < share:
            break
        least = rung.copies
    return least


def _not_smaller(p_values: Sequence[float]) -> float | None:
    """Return the chance of so many small p-values if each is uniform on 0 to 1, or larger; None without any."""
    if not p_values:
        return None
    from scipy.stats import kstest

    return float(kstest(p_values, "uniform", alternative="greater").pvalue)


def _correlations(own: Sequence[Observation]) -> list[float]:
    """Return for each LLM and table with several arms how their p-values go with their copies."""
    found = []
    for arms in grouped(own, lambda one: (one.llm, one.dataset)).values():
        known = [(one.copies, -one.p_value) for one in arms if one.p_value is not None]
        if len({copies for copies, _ in known}) >= LEAST_ARMS:
            correlated = spearman([copies for copies, _ in known], [place for _, place in known])
            found += [correlated.value] if correlated else []
    return found
