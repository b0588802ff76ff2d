"""The statistics of the calibrated rules: exact tails, intervals, discrimination, and corrections for several tests.

A cell of a row test is a Bernoulli trial: it succeeds with the baseline's chance of the answered value. A right cell's
weight is its surprisal in bits. Arguments that describe cells are parallel sequences. scipy's `false_discovery_control`
has equal results, but its import takes half a second. scipy is imported in functions, because its import is slow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, log2
from statistics import fmean, stdev
from sys import float_info

import numpy as np
from numpy.typing import NDArray

from tabcontam.statistics.thresholds import AUC_INTERVAL_RATES, BIT_UNITS

GRID, FINER = 32, 6  # parts of an interval, and how often it is divided: 32 ** 6 is about 10 ** 9


def units(chance: float) -> int:
    """Return the surprisal of a right cell in eighths of bits, rounded. Raises `ValueError` at chance 0."""
    return weight_of(-log2(chance))


def weight_of(bits: float) -> int:
    """Return `bits` in eighths of bits, rounded."""
    return round(bits * BIT_UNITS)


def weighted_tail(weights: Sequence[int], chances: Sequence[float], observed: int) -> float:
    """Return P(sum of the successes' weights >= observed) of independent trials with unequal chances, exactly.

    Only positive terms are summed, so even the smallest tail keeps all its digits. The tail is 0 if the sum is
    impossible. Raises `ValueError` if a weight is negative.
    """
    return outcome_tail([[pair] for pair in zip(weights, chances, strict=True)], observed)


def outcome_tail(trials: Sequence[Sequence[tuple[int, float]]], observed: int) -> float:
    """Return P(sum of weights >= observed) of independent trials with several outcomes, exactly.

    Each trial is a list of outcomes as (weight, chance). At most one of them occurs; if none occurs, the weight is 0.
    Only positive terms are summed. Raises `ValueError` if a weight is negative.
    """
    likely = ([(weight, min(chance, 1.0)) for weight, chance in outcomes if chance > 0] for outcomes in trials)
    cells = sorted((sorted(outcomes, reverse=True) for outcomes in likely if outcomes), key=lambda cell: cell[0])
    if any(weight < 0 for cell in cells for weight, _ in cell):
        raise ValueError(f"a weight is negative: {min(weight for cell in cells for weight, _ in cell)}")
    left = sum(cell[0][0] for cell in cells)
    if observed <= 0 or left < observed:
        return 1.0 if observed <= 0 else 0.0
    state = np.zeros(observed)  # probability of each sum below the observed one
    state[0] = 1.0
    tail, top = 0.0, 0
    for cell in cells:
        low = max(0, observed - left)  # a lower sum cannot reach the observed one any more
        left -= cell[0][0]
        moved = []
        for weight, chance in cell:
            tail += chance * float(state[max(low, observed - weight) : top + 1].sum())
            moved.append((weight, state[low : max(low, min(top + 1, observed - weight))] * chance))
        state[low : top + 1] *= max(0.0, 1 - sum(chance for _, chance in cell))
        for weight, masses in moved:
            state[low + weight : low + weight + len(masses)] += masses
        top = min(top + cell[0][0], observed - 1)
    return min(1.0, max(tail, float_info.min))


def poisson_binomial_tail(chances: Sequence[float], hits: int) -> float:
    """Return P(successes >= `hits`) of independent trials with unequal chances, exactly."""
    return weighted_tail([1] * len(chances), chances, hits)


def poisson_binomial(chances: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each number of successes in independent trials with these `chances`, to 15 decimals.

    Use `poisson_binomial_tail` for a small tail. If `chances` has several lines, each line has a line of probabilities.
    """
    trials = np.asarray(chances, dtype=np.float64)
    turns = np.exp(2j * np.pi * np.arange(trials.shape[-1] + 1) / (trials.shape[-1] + 1)) - 1
    transform = np.prod(1 + np.multiply.outer(trials, turns), axis=-2)
    return np.asarray(np.clip(np.fft.fft(transform).real / len(turns), 0.0, 1.0))


def hypergeometric_tail(hits: int, drawn: int, marked: int, total: int) -> float:
    """Return P(at least `hits` of the `marked` are among `drawn` of `total`): Fisher's exact test, one-sided."""
    counts = range(max(hits, 0), min(marked, drawn) + 1)
    return sum(comb(marked, found) * comb(total - marked, drawn - found) for found in counts) / comb(total, drawn)


def clopper_pearson(hits: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a binomial share (Clopper and Pearson 1934); (0, 1) without trials.

    Raises `ValueError` if `hits` is not from 0 to `trials`.
    """
    from scipy import special

    if not 0 <= hits <= trials:
        raise ValueError(f"{trials} trials cannot have {hits} hits")
    level = (1 - confidence) / 2
    low = float(special.betaincinv(hits, trials - hits + 1, level)) if hits else 0.0
    high = float(special.betaincinv(hits + 1, trials - hits, 1 - level)) if hits < trials else 1.0
    return low, high


def share_interval(chances: Sequence[float], hits: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of the share of known trials, if each other trial succeeds with its chance.

    Both tails of the Poisson-binomial distribution are inverted, as Clopper and Pearson invert the binomial. If hits
    are fewer than the chances make likely, the interval is (0, 0). Raises `ValueError` if there are more hits than
    trials.
    """
    if not 0 <= hits <= len(chances):
        raise ValueError(f"{len(chances)} trials cannot have {hits} hits")
    level = (1 - confidence) / 2
    by_chance = np.array(chances)

    def successes(shares: NDArray[np.float64]) -> NDArray[np.float64]:
        return poisson_binomial(shares[:, None] + (1 - shares[:, None]) * by_chance)

    low = _rise(lambda shares: successes(shares)[:, hits:].sum(axis=1) - level)
    high = _rise(lambda shares: level - successes(shares)[:, : hits + 1].sum(axis=1))
    return low, high if hits < len(chances) else 1.0


def _rise(excess: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    """Return where `excess`, an increasing vectorized function on 0 to 1, crosses 0; 0 if it is positive at 0.

    The search uses ever finer grids, to 9 decimals, because importing a root finder is slower.
    """
    low, width = 0.0, 1.0
    for _ in range(FINER):
        grid = low + width * np.linspace(0.0, 1.0, GRID + 1)
        above = excess(grid) >= 0
        if above[0]:
            return low
        low, width = float(grid[int(above.argmax()) - 1 if above.any() else -1]), width / GRID
    return low + width / 2


@dataclass(frozen=True)
class Discrimination:
    """The four counts of yes/no answers to items of two kinds. A rate without trials is one half."""

    hits: int
    misses: int
    false_alarms: int
    correct_rejections: int

    @property
    def auc(self) -> float:
        """The area under the two lines through the one operating point: (hit rate + 1 - false-alarm rate) / 2."""
        return (_rate(self.hits, self.misses) + 1 - _rate(self.false_alarms, self.correct_rejections)) / 2

    @property
    def d_prime(self) -> float:
        """Sensitivity in standard deviations, with the log-linear correction (Hautus 1995); 0 is no discrimination."""
        return _probit(self.hits, self.misses) - _probit(self.false_alarms, self.correct_rejections)

    def auc_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the exact AUC interval: each tail is inverted where it is largest over hit rates (Buehler 1957)."""
        level = (1 - confidence) / 2
        low = _least_auc((self.hits, self.misses), (self.correct_rejections, self.false_alarms), level)
        high = _least_auc((self.misses, self.hits), (self.false_alarms, self.correct_rejections), level)
        return low, 1 - high


def _rate(yes: int, no: int) -> float:
    return yes / (yes + no) if yes + no else 0.5


def _probit(yes: int, no: int) -> float:
    from scipy import special

    return float(special.ndtri((yes + 0.5) / (yes + no + 1)))


def _least_auc(first: tuple[int, int], second: tuple[int, int], level: float) -> float:
    """Return the AUC at which at least so many right answers have probability `level`. Pairs are (right, wrong)."""
    ones, twos = sum(first), sum(second)
    observed = first[0] * twos + second[0] * ones
    if not observed:
        return 0.0
    right = np.arange(ones + 1)
    needed = np.clip(-((right * twos - observed) // ones), 0, twos + 1)

    def excess(auc: float) -> float:
        rates = np.linspace(max(0.0, 2 * auc - 1), min(1.0, 2 * auc), AUC_INTERVAL_RATES)
        tails = np.cumsum(_binomial(twos, 2 * auc - rates)[:, ::-1], axis=1)[:, ::-1]
        tails = np.concatenate([tails, np.zeros((AUC_INTERVAL_RATES, 1))], axis=1)
        return float((_binomial(ones, rates) * tails[:, needed]).sum(axis=1).max()) - level

    from scipy.optimize import brentq

    return 0.0 if excess(0.0) >= 0 else float(brentq(excess, 0.0, 1.0, xtol=1e-9))


def _binomial(trials: int, rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each number of successes, one line for each rate."""
    from scipy import special

    hits = np.arange(trials + 1)
    ways = special.gammaln(trials + 1) - special.gammaln(hits + 1) - special.gammaln(trials - hits + 1)
    rates = np.clip(rates, 0, 1)[:, None]
    return np.asarray(np.exp(ways + special.xlogy(hits, rates) + special.xlog1py(trials - hits, -rates)))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return the q-value of each p-value: the smallest false discovery rate at which it is a discovery."""
    ranked = np.sort(p_values)
    ratios = np.minimum(1.0, ranked * (len(ranked) / np.arange(1, len(ranked) + 1)))
    found = np.minimum.accumulate(ratios[::-1])[::-1]  # for each rank, the smallest ratio at this rank or a later one
    return [float(q) for q in found[np.searchsorted(ranked, p_values)]]


def any_dependence(p_values: Sequence[float]) -> float:
    """Return Bonferroni's p-value for several p-values that may depend on each other; 1 if there are none."""
    return min(1.0, len(p_values) * min(p_values)) if p_values else 1.0


def t_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Return Student's interval of the mean, a point for equal values. Raises `ValueError` below two values."""
    from scipy import special

    if len(values) < 2:
        raise ValueError(f"an interval of the mean needs two values or more, not {len(values)}")
    error = stdev(values) / len(values) ** 0.5
    reach = float(special.stdtrit(len(values) - 1, (1 + confidence) / 2)) * error
    mean = fmean(values)
    return mean - reach, mean + reach


def mean_interval(
    values: Sequence[float], intervals: Sequence[tuple[float, float]], weights: Sequence[float]
) -> tuple[float, float]:
    """Return the interval of the weighted mean of independent values, each with its interval.

    `weights` sum to 1. Distances to the limits are combined like standard errors (Zou and Donner 2008), so asymmetric
    intervals give an asymmetric one. The interval is for the mean of these items, not of other items.
    """
    weighed = list(zip(values, intervals, weights, strict=True))
    mean = sum(weight * value for value, _, weight in weighed)
    below = sum((weight * (value - low)) ** 2 for value, (low, _), weight in weighed) ** 0.5
    above = sum((weight * (high - value)) ** 2 for value, (_, high), weight in weighed) ** 0.5
    return mean - below, mean + above


@lru_cache(maxsize=2**16)  # large grids repeat equal arguments
def mcnemar(first_only: int, second_only: int) -> float:
    """Return the two-sided p-value of McNemar's exact test, from the numbers of pairs in which only one is right."""
    from scipy.stats import binomtest

    discordant = first_only + second_only
    return float(binomtest(first_only, discordant).pvalue) if discordant else 1.0


@lru_cache(maxsize=2**16)
def fisher(first_hits: int, first_trials: int, second_hits: int, second_trials: int) -> float:
    """Return the two-sided p-value of Fisher's exact test that two groups of trials are equally likely to succeed."""
    from scipy.stats import fisher_exact

    misses = [first_trials - first_hits, second_trials - second_hits]
    return float(fisher_exact(np.array([[first_hits, second_hits], misses])).pvalue)
