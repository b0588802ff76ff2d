"""A formula's values compared with a column: rounded like the column, with the frequencies of the errors."""

from dataclasses import dataclass

import numpy as np

from tabcontam.baseline.coded_columns import Bools, Floats, Ints, scaled
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.laws.quantities import Quantity
from tabcontam.baseline.thresholds import (
    LEAST_ROWS_IN_THIRDS,
    LEAST_SHARP_SHARE,
    MOST_FORMULA_ERRORS,
    ROUNDING_NOISE,
    SELDOM_RIGHT_ROWS,
    SHARP_DISTANCE,
)

MODES = ("half even", "half up", "computed", "down", "up")


@dataclass(frozen=True, eq=False)
class FormulaTarget:
    """The column to explain: its numbers, the training rows, and the step between its values."""

    quantity: Quantity
    train: Ints
    step: int  # units of the last digit: nearly all values are multiples of the step

    @property
    def unit(self) -> float:
        """The difference between neighbouring values."""
        return float(self.step * 10.0**-self.quantity.decimals)

    def half(self, y: Floats) -> Floats:
        """Return how far a formula's value may be from each value and still be rounded to it."""
        if self.quantity.long:
            return np.asarray(np.abs(y) * 6e-12 + 1e-300)
        return np.full(y.shape, self.unit * (0.5 + ROUNDING_NOISE))


def formula_target(quantity: Quantity, train: Ints) -> FormulaTarget:
    """Return the target with its step, which is at least one unit of the last digit."""
    whole = np.unique(np.abs(scaled(quantity.values[train][np.isfinite(quantity.values[train])], quantity.decimals)))
    whole = whole[whole > 0]
    sizes = [base * 10**power for power in range(7) for base in (1, 2, 5)]
    fitting = [size for size in sizes if len(whole) >= 10 and np.mean(whole % size == 0) >= 0.97]
    return FormulaTarget(quantity, train, max(fitting, default=1))


@dataclass(frozen=True, eq=False)
class FormulaFit:
    """A formula that was checked on the training rows. `wholes` are its values in all rows, in steps of the target."""

    name: str
    wholes: Floats
    ties: Floats  # where a value is midway between two whole numbers, the one not in `wholes`; else NaN
    tied: float  # how often the number in `ties` is right
    shares: tuple[tuple[tuple[int, float], ...], ...]  # for each third of the values by size: (error, frequency)
    edges: Floats
    gain: float  # bits that it saves in all training rows
    hits: int
    constants: int

    def meets(self, target: FormulaTarget, rows: Ints) -> Bools:
        """Return for each of these rows whether the formula gives the target's number."""
        y = target.quantity.values[rows]
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(numbers(self.wholes[rows], target) - y) <= target.half(y) / 2)

    def sharp(self, target: FormulaTarget, rows: Ints) -> bool:
        """Return whether the formula is mostly right where it is near, like a formula that is valid up to a limit."""
        y = target.quantity.values[rows]
        with np.errstate(invalid="ignore"):
            near = SHARP_DISTANCE * np.maximum(target.unit, target.half(y))
            close = np.abs(numbers(self.wholes[rows], target) - y) <= near
        return bool(self.meets(target, rows).sum() >= LEAST_SHARP_SHARE * close.sum() > 0)

    def follows(self, target: FormulaTarget, predicted: Ints) -> LawPredictions:
        """Return the predictions for the predicted rows."""
        wholes = self.wholes[predicted]
        thirds = _thirds(wholes, self.edges)
        values: list[dict[str, float]] = [{} for _ in predicted]
        for off in sorted({off for shares in self.shares for off, _ in shares}):
            chances = np.array([dict(shares).get(off, 0.0) for shares in self.shares])[thirds]
            for place, key in enumerate(target.quantity.keys(numbers(wholes + off, target))):
                if key is not None and chances[place] > 0:
                    values[place][key] = values[place].get(key, 0.0) + float(chances[place])
        if self.tied:
            for place, key in enumerate(target.quantity.keys(numbers(self.ties[predicted], target))):
                first = max(values[place], key=values[place].__getitem__, default=None)
                if key is not None and first is not None and key not in values[place]:
                    values[place][key] = values[place][first] * self.tied
                    values[place][first] *= 1 - self.tied
        return LawPredictions.of(values)


def numbers(wholes: Floats, target: FormulaTarget) -> Floats:
    """Return values in steps of the target as numbers of the column."""
    return wholes if target.quantity.long else wholes * target.step / 10.0**target.quantity.decimals


def fit_formula(name: str, formula: Floats, target: FormulaTarget, constants: int) -> FormulaFit | None:
    """Return the checked formula, rounded in the way that fits best; None if too few rows have values."""
    train = target.train
    y = target.quantity.values[train]
    known = np.isfinite(formula[train])
    if (known & np.isfinite(y)).sum() < constants + 3:
        return None
    ties, tied = np.full(len(formula), np.nan), 0.0
    if target.quantity.long:
        with np.errstate(invalid="ignore"):
            off = np.where(np.abs(formula[train] - y) <= target.half(y), 0.0, np.nan)
        wholes = formula
    else:
        whole = np.rint(y / target.unit)
        few = slice(None, None, max(1, len(train) // 300))
        hits = [int((_rounded(formula[train[few]], target, mode) == whole[few]).sum()) for mode in MODES]
        mode = MODES[int(np.argmax(hits))]
        wholes = _rounded(formula, target, mode)
        off = np.where(np.isfinite(y), whole - wholes[train], np.nan)
        if mode not in ("down", "up"):
            ties = _others(formula / target.unit, wholes)
            with np.errstate(invalid="ignore"):
                turned, kept = whole == ties[train], np.isfinite(ties[train]) & (off == 0)
            tied = float((turned.sum() + 0.5) / (turned.sum() + kept.sum() + 1))
            off = np.where(turned, 0.0, off)
    shares, edges, gain = _measure_errors(wholes[train][known], off[known], priors(target)[known], target, constants)
    return FormulaFit(name, wholes, ties, tied, shares, edges, gain, int((off[known] == 0).sum()), constants)


def _others(exact: Floats, wholes: Floats) -> Floats:
    """Return, for values midway between two whole numbers, the one not in `wholes`; NaN for all other values."""
    with np.errstate(invalid="ignore"):
        middle = np.abs(exact - np.floor(exact) - 0.5) <= ROUNDING_NOISE + np.abs(exact) * 1e-13
        return np.asarray(np.where(middle, 2 * np.floor(exact) + 1 - wholes, np.nan))


def _measure_errors(
    inner: Floats, offs: Floats, prior: Floats, target: FormulaTarget, constants: int
) -> tuple[tuple[tuple[tuple[int, float], ...], ...], Floats, float]:
    """Return a formula's `shares`, `edges` and `gain`, from its values `inner` and errors `offs` in training rows."""
    edges = np.array([])
    exact = float(np.mean(offs == 0))
    if not target.quantity.long and exact < 0.8 and len(inner) >= LEAST_ROWS_IN_THIRDS:
        edges = np.unique(np.quantile(np.abs(inner), (1 / 3, 2 / 3)))
    thirds = _thirds(inner, edges)
    gain, shares = 0.0, []
    for third in range(len(edges) + 1):
        mine, before = offs[thirds == third], prior[thirds == third]
        lost = {0.0: constants * len(mine) / max(1, len(inner))}
        counts = ((away, count - lost.get(away, 0.0) - 0.5) for away, count in _common(mine))
        chances = {away: max(0.0, count) / (len(mine) + 1) for away, count in counts}
        if exact:  # the formula may be valid up to a limit within a third
            chances[0.0] = max(chances.get(0.0, 0.0), SELDOM_RIGHT_ROWS / (len(mine) + 1))
        left = 1 - sum(chances.values())
        saved = sum(np.log2(chance / before[mine == away] + left).sum() for away, chance in chances.items())
        other = ~np.isin(mine, list(chances))
        gain += float(saved + other.sum() * np.log2(left))
        shares.append(tuple(sorted((int(away), chance) for away, chance in chances.items() if chance > 0)))
    return tuple(shares), edges, gain


def priors(target: FormulaTarget) -> Floats:
    """Return the probability of each training row's value by the other rows' frequencies, never 0."""
    y = target.quantity.values[target.train]
    _, places, counts = np.unique(y, return_inverse=True, return_counts=True)  # NaN is one value
    return np.asarray(np.maximum(counts[places] - 1, 0.5) / max(1, len(y)))


def _common(offs: Floats) -> list[tuple[float, int]]:
    """Return the most frequent errors and their counts."""
    near = offs[np.abs(offs) <= 12]
    values, counts = np.unique(near, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_FORMULA_ERRORS]
    least = max(2, 0.02 * len(offs))
    return [(float(values[one]), int(counts[one])) for one in order if counts[one] >= least]


def _thirds(wholes: Floats, edges: Floats) -> Ints:
    return np.asarray(np.searchsorted(edges, np.nan_to_num(np.abs(wholes)), "right"), dtype=np.int64)


def _rounded(formula: Floats, target: FormulaTarget, mode: str) -> Floats:
    """Return values in steps of the target, corrected for floating-point errors except in mode "computed"."""
    with np.errstate(over="ignore", invalid="ignore"):
        exact = formula / target.unit
        noise = ROUNDING_NOISE + np.abs(exact) * 1e-13
        if mode == "half up":
            return np.asarray(np.sign(exact) * np.floor(np.abs(exact) + 0.5 + noise))
        if mode == "down":
            return np.asarray(np.sign(exact) * np.floor(np.abs(exact) + noise))
        if mode == "up":
            return np.asarray(np.sign(exact) * np.ceil(np.abs(exact) - noise))
        close = np.rint(exact * 2) / 2
        found = np.rint(np.where(np.abs(exact - close) <= noise, close, exact))
        if mode == "computed" and target.step == 1:
            decimals = target.quantity.decimals
            for place in np.flatnonzero((np.abs(exact - close) <= noise) & (np.mod(close, 1) != 0)):
                found[place] = round(round(float(formula[place]), decimals) * 10**decimals)
        return found
