"""The power of tests against a model that remembers a share of the rows and guesses the others.

Power is simulated with a seed: equal arguments give equal power. The many p-values of a simulation are saddlepoint
approximations. They may be several times too large, but at most a few per cent too small: so power is rather too
low, and a detectable share too high. Verdicts never use these p-values.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.rounded_numbers import WEIGHTS
from tabcontam.statistics.auc import Floats
from tabcontam.statistics.eprocess import ALL, Bets
from tabcontam.statistics.exact_statistics import poisson_binomial, poisson_binomial_tail
from tabcontam.statistics.thresholds import (
    BET_SHARES,
    BIT_UNITS,
    LEAST_EVIDENT_ROWS,
    POWER_RUNS,
    SMALLEST_DIVISOR,
    TARGET_POWER,
)

TILTS = np.log(2) / BIT_UNITS * 2.0 ** np.arange(-5, 4.01, 0.25)  # log(2) / BIT_UNITS: right as likely as wrong


@dataclass(frozen=True)
class Odds:
    """An asked cell, after its answer is known."""

    known: float | None  # the baseline's chance of the true value; None if the cell is missing in the table
    likeliest: float  # the baseline's chance of the value that it thinks likeliest
    likeliest_right: bool  # True if that value is the true one
    known_rounded: tuple[float, ...] = ()  # chances of the true value in one digit fewer, two fewer, ...
    likeliest_rounded: tuple[float, ...] = ()  # likewise for the likeliest value


# most_kept: the number of powers in the cache
def row_power(
    rows: Sequence[Sequence[CellPrediction]],
    share: float,
    level: float,
    runs: int = POWER_RUNS,
    seed: int = 0,
    *,
    most_kept: int = 64,
) -> float:
    """Return the share of runs with p <= `level`, if the model remembers each row with probability `share`.

    Each hidden cell's true value is drawn from its prediction. A remembered row is answered with these true values, any
    other row with the likeliest values. A value that the prediction does not list has the chance `rest`. A missing cell
    counts as no answer, and a value with chance 0 has no weight. The last powers are cached: they are needed before the
    LLM is asked and again for each verdict.
    """
    key = (tuple(tuple(map(id, row)) for row in rows), share, level, runs, seed)
    if key not in _POWERS:
        if len(_POWERS) >= most_kept:
            del _POWERS[next(iter(_POWERS))]
        _POWERS[key] = ([list(row) for row in rows], _row_power(rows, share, level, runs, seed))
    return _POWERS[key][1]


# The predictions are stored too, so that no new object gets the id of one of them.
_POWERS: dict[object, tuple[list[list[CellPrediction]], float]] = {}


def _row_power(rows: Sequence[Sequence[CellPrediction]], share: float, level: float, runs: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    lines: list[tuple[float, ...]] = []  # chances of the answers that occur, cell after cell
    answered: list[tuple[NDArray[np.int64], NDArray[np.bool_]]] = []  # by cell: each run's index in lines; right
    for row in rows:
        remembered = rng.random(runs) < share
        for prediction in row:
            listed = np.array(list(prediction.values.values()))
            chances = _answers(prediction)
            likeliest = int(listed.argmax()) if len(listed) else len(chances) - 1
            ends = np.cumsum([*listed, max(0.0, 1 - prediction.missing - float(listed.sum()))])
            hidden = np.searchsorted(ends, rng.random(runs) * max(1.0, ends[-1] + prediction.missing), side="right")
            answers = np.where(remembered, hidden, likeliest)
            different, places = np.unique(answers, return_inverse=True)  # few of the many values occur
            answered.append((len(lines) + places, answers == hidden))
            lines += map(tuple, chances[different].tolist())
    every = _padded(lines)
    units, sums, given = _units(every)[:, 0], np.zeros(runs), np.zeros((runs, len(lines)))
    for places, right in answered:
        given[np.arange(runs), places] = 1
        sums += units[places] * right
    cumulants = _summed(given, _cumulants(every).reshape(len(lines), 4 * len(TILTS)))
    return float(np.mean(_tails(cumulants.reshape(runs, 4, len(TILTS)), sums) <= level))


def _summed(given: Floats, values: Floats) -> Floats:
    """Return the matrix product without BLAS, because threads of BLAS wait for each other."""
    return np.asarray(np.einsum("ij,jk->ik", given, values))


def detectable_share(
    rows: Sequence[Sequence[Odds]],
    level: float,
    target: float = TARGET_POWER,
    runs: int = POWER_RUNS,
    seed: int = 0,
    ahead: int = 0,
) -> float | None:
    """Return the smallest share of remembered rows, in hundredths, with p <= `level` in at least `target` of the runs.

    The other rows are guessed. `ahead` eighths of bits are subtracted from the evidence of each run. Return None if not
    even a model that remembers all rows is detected so often.
    """
    known = [[((odds.known, *odds.known_rounded), True) for odds in row if odds.known is not None] for row in rows]
    likeliest = [[((odds.likeliest, *odds.likeliest_rounded), odds.likeliest_right) for odds in row] for row in rows]
    predicted = _answered(likeliest)
    gains = _answered(known) - predicted
    draws = np.random.default_rng(seed).random((runs, len(rows)))  # for all shares, so that a larger one adds rows

    def reached(share: float) -> bool:
        totals = predicted.sum(axis=0) + _summed((draws < share).astype(np.float64), gains)
        cumulants = totals[:, :-1].reshape(runs, 4, len(TILTS))
        return bool(np.mean(_tails(cumulants, np.rint(totals[:, -1]) - ahead) <= level) >= target)

    return smallest(reached)


def _answered(rows: Sequence[Sequence[tuple[tuple[float, ...], bool]]]) -> Floats:
    """Return the cumulants of each row of (chances, right) cells, and in the last column its right weight in units."""
    chances = _padded([chances for row in rows for chances, _ in row])
    right = np.array([right for row in rows for _, right in row], dtype=np.bool_)
    cells = np.column_stack([_cumulants(chances).reshape(len(chances), 4 * len(TILTS)), _units(chances)[:, 0] * right])
    totals = np.zeros((len(rows), cells.shape[1]))
    np.add.at(totals, np.repeat(np.arange(len(rows)), [len(row) for row in rows]), cells)
    return totals


def _answers(prediction: CellPrediction) -> Floats:
    """Return the chances of each listed value, of an unlisted value and of no answer; one column for each precision."""
    if prediction.coarser:
        listed = [prediction.chances(value) for value in prediction.values]
        rest = (prediction.rest, *(max(prediction.rest, one.rest) for one in prediction.coarser))
        return np.array([*listed, rest, (1.0,) * len(rest)])
    chances = np.array([*np.maximum(list(prediction.values.values()), prediction.rest), prediction.rest, 1.0])
    chances[chances <= 0] = 1.0
    return np.asarray(chances[:, None])


def _padded(chances: Sequence[tuple[float, ...]]) -> Floats:
    """Return one line for each cell and one column for each precision, NaN for precisions that the cell lacks."""
    width = max(map(len, chances), default=1)
    return np.array([(*one, *[np.nan] * (width - len(one))) for one in chances]).reshape(len(chances), width)


def _units(chances: Floats) -> Floats:
    """Return cells' weights in eighths of bits, one column for each precision at which an answer may be right."""
    if not np.all(np.isnan(chances) | (chances > 0)):
        raise ValueError("a chance is 0")
    found = np.zeros_like(chances)
    counts = np.isfinite(chances).sum(axis=1)
    for count in set(counts.tolist()):
        rows = counts == count
        parts = np.array(WEIGHTS[count - 1]) / chances[rows, :count]
        bits = np.log2(np.cumsum(parts[:, ::-1], axis=1)[:, ::-1])
        found[rows, :count] = np.rint((np.maximum(bits, 0.0) if count > 1 else bits) * BIT_UNITS)
    return found


def _cumulants(chances: Floats) -> Floats:
    """Return each cell's log moment, mean, variance and variance times weight under the null model, at each tilt.

    A tilt is a parameter of the saddlepoint approximation.
    """
    chances = np.minimum(chances, 1.0)
    weights = _units(chances)[:, :, None]
    known = np.where(np.isnan(chances), chances[:, :1], chances)
    each = np.diff(np.maximum.accumulate(known, axis=1), prepend=0.0, axis=1)  # chance of exactly so many right digits
    each[np.isnan(chances)] = 0.0
    with np.errstate(divide="ignore"):  # log of 0: at chance 1, and for two precisions of equal chance
        right = np.log(each)[:, :, None] + weights * TILTS
        wrong = np.log1p(-np.minimum(1.0, each.sum(axis=1)))[:, None]
        moments = np.logaddexp(np.logaddexp.reduce(right, axis=1), wrong)
    tilted = np.exp(right - moments[:, None, :])
    mean = (weights * tilted).sum(axis=1)
    apart = (weights - mean[:, None, :]) ** 2 * tilted
    variance = apart.sum(axis=1) + mean**2 * np.exp(wrong - moments)
    return np.stack([moments, mean, variance, weights[:, 0] * variance], axis=1)


def _tails(cumulants: Floats, sums: Floats) -> Floats:
    """Return for each run P(sum of units >= observed): the leading term of the saddlepoint (Daniels 1987).

    If all cells have one weight, the possible sums are multiples of it, and the lattice form is accurate. For unequal
    weights the mean weight is used, which overstates the tail. Chernoff's bound limits the result.
    """
    below = sums <= cumulants[:, 1, 0]
    left = np.clip((cumulants[:, 1] < sums[:, None]).sum(axis=1) - 1, 0, len(TILTS) - 2)
    runs = np.arange(len(sums))
    moments, mean, variance, weighted = cumulants[runs, :, left].T
    next_mean, next_variance = cumulants[runs, 1:3, left + 1].T
    part = np.clip((sums - mean) / np.maximum(next_mean - mean, SMALLEST_DIVISOR), 0.0, 1.0)
    end_variance = variance + part * (next_variance - variance)  # as linear between two tilts
    between = part * (next_mean - mean) / np.maximum((variance + end_variance) / 2, SMALLEST_DIVISOR)
    between = np.minimum(between, TILTS[left + 1] - TILTS[left])
    tilt = TILTS[left] + between
    exponent = moments + mean * between + (2 * variance + end_variance) * between**2 / 6 - tilt * sums
    spacing = np.maximum(weighted / np.maximum(variance, SMALLEST_DIVISOR), 1.0)
    density = spacing / np.sqrt(2 * np.pi * np.maximum(end_variance, SMALLEST_DIVISOR)) / -np.expm1(-tilt * spacing)
    return np.asarray(np.where(below, 1.0, np.minimum(np.exp(exponent) * np.minimum(density, 1.0), 1.0)))


class BetPower:
    """The power of the bets so far against a model that remembers a share of the rows and guesses the others.

    Many runs are simulated in parallel, query by query. In each run, each row is remembered with the chance `share`. A
    run is detected, and remains so, once log2 of E has reached `bits` with all columns and without each one (see
    `eprocess`).
    """

    def __init__(self, share: float, bits: float, runs: int = POWER_RUNS, seed: int = 0) -> None:
        self._share, self._bits = share, bits
        self._rng = np.random.default_rng(seed)
        none = np.zeros((runs, len(BET_SHARES)))  # log-wealth as in `Wealth`, one line for each run
        self._wealth: dict[str, tuple[Floats, ...]] = {ALL: (none, none, np.zeros(runs))}
        self._detected = np.zeros(runs, dtype=np.bool_)

    @property
    def power(self) -> float:
        """The share of runs in which the model has been detected."""
        return float(self._detected.mean())

    def add(self, remembered: Bets, predicted: Bets) -> None:
        """Add one query: the bets on the answers of a model that remembers its row, and of a model that guesses it."""
        known = self._rng.random(len(self._detected)) < self._share
        groups = dict.fromkeys((*self._wealth, *remembered, *predicted))
        self._wealth = {group: self._with(group, known, remembered, predicted) for group in groups}
        least = np.min([self._standing(*wealth) for wealth in self._wealth.values()], axis=0)
        self._detected |= least >= self._bits

    def _with(self, group: str, known: NDArray[np.bool_], remembered: Bets, predicted: Bets) -> tuple[Floats, ...]:
        """Return the wealth of every run after one more query, without the column `group`."""
        won, other = remembered.get(group, remembered[ALL]), predicted.get(group, predicted[ALL])
        memory, honest, rows = self._wealth.get(group, self._wealth[ALL])
        return (
            memory + np.where(known[:, None], won.memory, other.memory),
            honest + np.where(known[:, None], won.honest, other.honest),
            rows + np.where(known, won.rows, other.rows),
        )

    @staticmethod
    def _standing(memory: Floats, honest: Floats, rows: Floats) -> Floats:
        """Return log2 of E in every run, as `Wealth.bits` computes it."""
        mixed = [np.logaddexp2.reduce(own, axis=1) - np.log2(len(BET_SHARES)) for own in (memory, honest)]
        won = mixed[0] - np.maximum(0.0, mixed[1])
        return np.asarray(np.where(rows >= LEAST_EVIDENT_ROWS, won, np.minimum(0.0, won)))


def choice_power(chances: Sequence[float], share: float, level: float) -> float:
    """Return P(p <= `level`), exactly, if each choice is known with probability `share`.

    A choice that is not known is right with its chance in `chances`.
    """
    right = share + (1 - share) * np.array(chances)
    return min(1.0, float(poisson_binomial(right)[_needed(tuple(chances), level) :].sum()))


def detectable_choice_share(chances: Sequence[float], level: float, target: float = TARGET_POWER) -> float | None:
    """Return the smallest share of known choices, in hundredths, with a power of `target`; None if no share has it."""
    return smallest(lambda share: choice_power(chances, share, level) >= target)


@lru_cache(maxsize=64)
def _needed(chances: tuple[float, ...], level: float) -> int:
    """Return the fewest right choices with p <= `level`; the number of choices plus one if no number suffices."""
    hits = range(len(chances) + 1)
    return bisect_left(hits, True, key=lambda count: poisson_binomial_tail(chances, count) <= level)


def smallest(found: Callable[[float], bool]) -> float | None:
    """Return the smallest share, in hundredths, at which `found` is true, or None if it is false at 1."""
    hundredths = bisect_left(range(1, 101), True, key=lambda hundredth: found(hundredth / 100)) + 1
    return hundredths / 100 if hundredths <= 100 else None
