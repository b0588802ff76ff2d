"""Dose and response: how often tests detect LLMs, by how many copies of a table's rows each LLM has read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tabcontam.calibration.thresholds import LEAST_ARMS
from tabcontam.evidence.base import Family, Verdict
from tabcontam.groups import grouped
from tabcontam.statistics.correlations import spearman
from tabcontam.statistics.exact_statistics import clopper_pearson

TABLE = "table"  # the name of the verdict of all row tests together
HALF, NEARLY_ALL = 0.5, 0.95  # shares of detected pairs for which the smallest number of copies is reported


@dataclass(frozen=True)
class Observation:
    """A verdict of one test, or of all row tests together, on rows that one LLM has read in the same number of copies.

    `test` is the test's id, or `TABLE` for all row tests together. `p_value` is None if the test has no p-value. `rows`
    is the number of these rows, or None if all rows of the table have the same exposure.
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
        """True if the verdict is contaminated."""
        return self.verdict is Verdict.CONTAMINATED

    @property
    def decided(self) -> bool:
        """True if the verdict is contaminated or not detected."""
        return self.verdict in (Verdict.CONTAMINATED, Verdict.NOT_DETECTED)


@dataclass(frozen=True)
class Rung:
    """The pairs of an LLM and a table's rows at one number of copies.

    `contaminated` is the number of the `pairs` with the verdict contaminated. `share` is their share of all pairs, with
    the exact 95 % interval from `low` to `high` (Clopper and Pearson 1934). `undecided` pairs have neither verdict,
    contaminated or not detected; they count as not contaminated.
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
    """The response of one test, or of all row tests together, to the number of copies.

    `half` and `nearly_all` are the smallest numbers of copies from which on the test detects half and 95 % of the
    pairs. They are None if no such number was tried. `unread` are the p-values of the pairs whose LLM has read no copy,
    in ascending order. `uniform` is the p-value of a one-sided Kolmogorov-Smirnov test that the `unread` p-values are
    not too small, None if there are no such p-values. For each LLM and table with four numbers of copies or more, the
    number of copies is correlated with -p by ranks (Spearman). `correlation` is the median of these coefficients, and
    `arms` is their number.
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
    """Return each test's response to the number of copies.

    The response of all row tests together comes first. `families` maps the id of a test to its family. Observations
    that have no verdict or were skipped are left out.
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
    """Return the least number of copies, above 0, from which on every number has at least this `share`."""
    least = None
    for rung in reversed(rungs):
        if rung.copies == 0 or rung.share < share:
            break
        least = rung.copies
    return least


def _not_smaller(p_values: Sequence[float]) -> float | None:
    """Return the one-sided p-value that the p-values are uniform on 0 to 1, or larger; None if there are none."""
    if not p_values:
        return None
    from scipy.stats import kstest

    return float(kstest(p_values, "uniform", alternative="greater").pvalue)


def _correlations(own: Sequence[Observation]) -> list[float]:
    """Return the correlation of copies with -p for each LLM and table that has enough different numbers of copies."""
    found = []
    for arms in grouped(own, lambda one: (one.llm, one.dataset)).values():
        known = [(one.copies, -one.p_value) for one in arms if one.p_value is not None]
        if len({copies for copies, _ in known}) >= LEAST_ARMS:
            correlated = spearman([copies for copies, _ in known], [place for _, place in known])
            found += [correlated.value] if correlated else []
    return found


def amount(copies: float) -> str:
    """Return a number of copies in a short form for people."""
    return f"{copies:,.2f}".rstrip("0").rstrip(".")
