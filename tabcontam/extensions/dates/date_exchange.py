"""Tests and intervals for chronology: are tables published before an LLM's training data end classified better?

Most tests are those of Li and Flanigan (2024), *Task Contamination*, section 4. They compare an LLM's accuracy on a
dataset with the share of the majority class, and earlier datasets with later ones, over all LLMs and for each LLM. They
assume that pairs of an LLM and a dataset are independent. But pairs with one dataset are dependent: a dataset that is
hard for one LLM is hard for others. `exchanged` does not assume independence: it permutes the release dates of the
datasets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial, prod, sqrt

import numpy as np

from tabcontam.extensions.dates.thresholds import DATE_EXCHANGES, DATE_LEVEL, DRAWN_P_CONFIDENCE, LEAST_TREND_DATASETS
from tabcontam.statistics.auc import Floats, Ints
from tabcontam.statistics.correlations import spearman
from tabcontam.statistics.exact_statistics import clopper_pearson
from tabcontam.statistics.thresholds import SAME_SUM
from tabcontam.verdicts.dating import AFTER, BEFORE, NEITHER


@dataclass(frozen=True)
class DateExchange:
    """The result of a test that exchanges release dates between datasets.

    A lift is an accuracy minus the majority class's share. `difference` is the mean lift of datasets released before an
    LLM's training data end, minus the mean lift of those released after. It is averaged over the `llms` LLMs that have
    both. `p_value` is the share of ways to exchange dates with at least this difference. `ways` counts the computed
    ways: all if `exact`, otherwise random draws. For random draws, `p_value` is the upper limit of that share (Clopper
    and Pearson, one-sided, 99.9%): trying many seeds gains little.
    """

    difference: float
    p_value: float
    llms: int
    ways: int
    exact: bool


@dataclass(frozen=True)
class Trend:
    """Values by years: least-squares `slope` per year and `r_squared`; Spearman's `rho` with its p-value."""

    items: int
    slope: float
    r_squared: float
    rho: float
    p_value: float


def t_test(hits: int, answered: int, majority: float) -> tuple[float, float]:
    """Return the width of a one-sided 99% interval of the accuracy, and the one-sided p-value of an accuracy above
    `majority`. The test is Student's t of zeros and ones. `majority` is the share of the majority class, from 0 to 1.
    If all answers are right, or all wrong, the width is 0 and the p-value is from the exact binomial test.
    """
    from scipy.stats import t

    if answered < 2:
        return 0.0, 1.0
    share = hits / answered
    error = sqrt(share * (1 - share) / (answered - 1))
    if error == 0:
        return 0.0, exceeds(hits, answered, majority)
    half = float(t.ppf(1 - DATE_LEVEL, answered - 1)) * error
    return half, float(t.sf((share - majority) / error, answered - 1))


def exceeds(hits: int, answered: int, majority: float) -> float:
    """Return the exact binomial p-value of an accuracy above `majority`, the share of the majority class."""
    from scipy.stats import binom

    return float(binom.sf(hits - 1, answered, majority)) if answered else 1.0


def mann_whitney(before: Sequence[float], after: Sequence[float]) -> float | None:
    """Return the two-sided p-value of Mann and Whitney (1947), corrected for ties; None if a sample is empty."""
    from scipy.stats import mannwhitneyu

    if not before or not after:
        return None
    if len({*before, *after}) == 1:
        return 1.0
    return float(mannwhitneyu(before, after, alternative="two-sided").pvalue)


def sign_test(pairs: Sequence[tuple[float, float]]) -> tuple[int, int, float]:
    """Return how often the first and how often the second is larger, and the exact p-value (Dixon and Mood 1946)."""
    from scipy.stats import binomtest

    first, second = sum(one > two for one, two in pairs), sum(one < two for one, two in pairs)
    return first, second, float(binomtest(first, first + second).pvalue) if first + second else 1.0


def trend(years: Sequence[float], values: Sequence[float]) -> Trend | None:
    """Return the trend of values over years; None for fewer than four, or if all years or all values are equal."""
    found = spearman(years, values) if len(years) >= LEAST_TREND_DATASETS else None
    if found is None or found.p_value is None:
        return None
    correlation = float(np.corrcoef(years, values)[0, 1])
    slope = correlation * np.std(values) / np.std(years)  # of the least-squares line
    return Trend(len(years), float(slope), correlation**2, found.value, found.p_value)


def exchanged(lifts: Floats, sides: Ints, seed: int = 0) -> DateExchange | None:
    """Return the result of exchanging release dates between datasets.

    `lifts` are the accuracies minus the majority's share, LLMs by datasets, NaN where nothing was measured. `sides` has
    the same shape: 1 for before, -1 for after, 0 for neither. Return None if no LLM has both sides, or if there is only
    one way to exchange.
    """
    eras, own = _eras(sides)
    observed = float(_differences(lifts[None], eras, own[None])[0, 0])
    measured = ~np.isnan(lifts)
    both = int((((sides == BEFORE) & measured).any(axis=1) & ((sides == AFTER) & measured).any(axis=1)).sum())
    if not both or len(eras) < 2:
        return None
    labels, exact = _labels(own, np.random.default_rng(seed))
    return DateExchange(observed, float(_shares(lifts[None], eras, own, labels, exact)[0]), both, len(labels), exact)


def exchanged_p_values(lifts: Floats, sides: Ints, seed: int = 0, draws: int = DATE_EXCHANGES) -> Floats:
    """Return the p-values of `exchanged` for simulated `lifts`, one a line, all with NaN at the same places."""
    eras, own = _eras(sides)
    labels, exact = _labels(own, np.random.default_rng(seed), draws)
    return _shares(lifts, eras, own, labels, exact)


def without(lifts: Floats, difficulty: Floats) -> Floats:
    """Return the lifts minus the part that a supervised baseline's lift explains, by least squares.

    `difficulty` is that baseline's lift on each dataset. All LLMs share one slope, and each has an intercept. A dataset
    with NaN in `difficulty` is NaN for every LLM.
    """
    known = ~np.isnan(difficulty)
    known_lifts = np.where(known, lifts, np.nan)
    measured = ~np.isnan(known_lifts)
    counts = np.maximum(measured.sum(axis=-1, keepdims=True), 1)
    own = np.where(measured, difficulty, 0.0)
    across = np.where(measured, difficulty - own.sum(axis=-1, keepdims=True) / counts, 0.0)
    up = np.where(measured, known_lifts, 0.0)
    spread = (across**2).sum(axis=(-2, -1), keepdims=True)
    slope = (across * up).sum(axis=(-2, -1), keepdims=True) / np.where(spread > SAME_SUM, spread, np.inf)
    return np.asarray(np.where(measured, known_lifts - slope * np.where(known, difficulty, 0.0), np.nan))


def _eras(sides: Ints) -> tuple[Ints, Ints]:
    """Return the distinct columns of `sides` (the eras), one per line, and for each dataset the index of its era."""
    eras, own = np.unique(sides.T, axis=0, return_inverse=True)
    return eras.astype(np.int64), own.reshape(-1).astype(np.int64)


def _labels(own: Ints, rng: np.random.Generator, draws: int = DATE_EXCHANGES) -> tuple[Ints, bool]:
    """Return ways to reassign eras (columns of `sides`) to datasets, one per line: all, or `draws` random ways."""
    sizes = np.bincount(own)
    if factorial(len(own)) // prod(factorial(int(size)) for size in sizes) <= DATE_EXCHANGES:
        return _all_labels([int(size) for size in sizes], len(own)), True
    return _drawn(own, draws, rng), False


def _drawn(own: Ints, draws: int, rng: np.random.Generator) -> Ints:
    return own[np.argsort(rng.random((draws, len(own))), axis=1)]


def _all_labels(sizes: Sequence[int], places: int) -> Ints:
    ways: list[tuple[Ints, tuple[int, ...]]] = [(np.zeros(places, np.int64), tuple(range(places)))]
    for era, size in enumerate(sizes):
        further = []
        for labels, free in ways:
            for chosen in combinations(free, size):
                filled = labels.copy()
                filled[list(chosen)] = era
                further.append((filled, tuple(sorted({*free} - {*chosen}))))
        ways = further
    return np.array([labels for labels, _ in ways])


def _shares(lifts: Floats, eras: Ints, own: Ints, labels: Ints, exact: bool) -> Floats:
    """Return the share of ways with at least the observed difference; for random ways, its upper limit."""
    observed = _differences(lifts, eras, own[None])
    as_large = (_differences(lifts, eras, labels) >= observed - SAME_SUM).sum(axis=1)
    if exact:
        return np.asarray(as_large / len(labels))  # the observed way is among them
    confidence = 2 * DRAWN_P_CONFIDENCE - 1  # of an interval with 0.1 % of shares above its upper limit
    limits = {count: clopper_pearson(count, len(labels), confidence)[1] for count in {*as_large.tolist()}}
    return np.array([limits[count] for count in as_large.tolist()])


def _differences(lifts: Floats, eras: Ints, labels: Ints) -> Floats:
    """Return the mean lift before minus that after, over LLMs with both, by array of lifts (line) and way (column)."""
    measured = ~np.isnan(lifts[0])
    values = np.nan_to_num(lifts)
    total = np.zeros((len(lifts), len(labels)))
    llms = np.zeros(len(labels))
    for llm in range(lifts.shape[1]):
        side = np.where(measured[llm], eras[:, llm][labels], NEITHER)
        before, after = ((side == which).astype(np.float64) for which in (BEFORE, AFTER))
        counts = [own.sum(axis=1, keepdims=True) for own in (before, after)]
        there = (counts[0] > 0) & (counts[1] > 0)
        weights = np.where(there, before / np.maximum(counts[0], 1.0) - after / np.maximum(counts[1], 1.0), 0.0)
        total += values[:, llm] @ weights.T
        llms += there[:, 0]
    return np.asarray(total / np.maximum(llms, 1.0))
