"""Weighted sums of any number of columns that equal a column's values, found even if some rows break them."""

from dataclasses import dataclass

import numpy as np

from tabcontam.baseline.coded_columns import Bools, Floats
from tabcontam.baseline.solving import inverse_of, weights_of
from tabcontam.baseline.thresholds import (
    DEVIATION_PASSES,
    FRACTION_DENOMINATORS,
    LEAST_MEAN_COLUMNS,
    LEAST_SUM_SHARE,
    MEAN_WEIGHT_TOLERANCE,
    MOST_SPARSE_COLUMNS,
    PLAIN_WEIGHT_DISTANCE,
    SURE_SPARSE_SHARE,
)


@dataclass(frozen=True, eq=False)
class Sum:
    """A weighted sum of columns plus a constant.

    `used` counts the weights and constants that were learned; plain numbers such as 1 do not count.
    """

    weights: Floats
    constant: float
    used: int

    def values(self, columns: Floats) -> Floats:
        """Return the sum in each row of `columns` (rows by columns); NaN where a needed cell is NaN."""
        needed = self.weights != 0
        return np.asarray(columns[:, needed] @ self.weights[needed] + self.constant)


def sums(x: Floats, y: Floats, unit: float) -> list[Sum]:
    """Return weighted sums that are near `y` in many rows: as fitted, with plain weights, and as a mean.

    `x` is rows by columns, without NaN. `unit` is the difference between neighbouring values of `y`.
    """
    middle, spread = x.mean(axis=0), x.std(axis=0)
    varied = spread > 1e-12 * (1 + np.abs(middle))
    if not varied.any():
        return []
    if len(y) < varied.sum() + 4:
        return _sparse(x, y, varied, unit)
    scaled = np.column_stack([(x[:, varied] - middle[varied]) / spread[varied], np.ones(len(x))])
    if (close := _robust(scaled, y, unit)) is None:
        return []
    weights = np.zeros(x.shape[1])
    weights[varied] = _fit(scaled[close], y[close])[:-1] / spread[varied]
    constant = float(np.median(y[close] - x[close] @ weights))
    whole = Sum(weights, constant, int(varied.sum()) + 1)
    plain = _plain(x[close], y[close], varied, unit)
    mean = None if plain is None else _mean(x[close], y[close], plain)
    return [one for one in (mean, plain, whole) if one is not None]


def _sparse(x: Floats, y: Floats, varied: Bools, unit: float) -> list[Sum]:
    """Return a sum of a few of more columns than rows, by orthogonal matching pursuit (Pati et al. 1993)."""
    scaled = np.where(varied, (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-300), 0.0)
    chosen: list[int] = []
    left = y - y.mean()
    for _ in range(min(MOST_SPARSE_COLUMNS, len(y) // 4)):
        chosen.append(int(np.abs(scaled.T @ left).argmax()))
        ones = np.column_stack([x[:, chosen], np.ones(len(x))])
        fitted = _fit(ones, y)
        left = y - ones @ fitted
        if np.mean(np.abs(left) <= unit) >= SURE_SPARSE_SHARE:
            weights = np.zeros(x.shape[1])
            plain = np.rint(fitted[:-1])
            weights[chosen] = np.where(np.abs(fitted[:-1] - plain) < PLAIN_WEIGHT_DISTANCE, plain, fitted[:-1])
            constant = float(np.median(y - x @ weights))
            rounded = round(constant) if abs(constant - round(constant)) < PLAIN_WEIGHT_DISTANCE else constant
            return [Sum(weights, float(rounded), len(chosen))]
    return []


def _fit(x: Floats, y: Floats) -> Floats:
    return weights_of(x, y, rcond=1e-10)


def _robust(x: Floats, y: Floats, unit: float) -> Bools | None:
    """Return a mask of the rows that one sum is near; None if they are too few."""
    beta = _fit(x, y)
    off = np.abs(y - x @ beta)
    if np.mean(off <= unit) < 0.95:
        if off.var() > 0.7 * y.var():
            return None
        worth = np.ones(len(y))
        for _ in range(DEVIATION_PASSES):
            ridge = (x * worth[:, None]).T @ x + 1e-10 * len(y) * np.eye(x.shape[1])
            beta = np.asarray(np.linalg.solve(ridge, (x * worth[:, None]).T @ y), dtype=np.float64)
            off = np.abs(y - x @ beta)
            worth = 1 / np.maximum(off, 0.3 * unit + 1e-9 * (1 + np.median(off)))
            worth /= worth.mean()
    close = np.asarray(off <= np.maximum(3 * unit, np.quantile(off, 0.3)))
    for _ in range(3):
        if close.sum() < max(x.shape[1] + 3, LEAST_SUM_SHARE * len(y)):
            return None
        off = np.abs(y - x @ _fit(x[close], y[close]))
        close = np.asarray(off <= 1.5 * unit + 1e-9 * np.abs(y))
    return close if close.sum() >= max(x.shape[1] + 3, LEAST_SUM_SHARE * len(y)) else None


def _plain(x: Floats, y: Floats, varied: Bools, unit: float) -> Sum | None:
    """Return the sum without useless columns and with plain weights; None if it is not near nine in ten rows."""
    free = np.flatnonzero(varied)
    while True:
        beta, error = _with_errors(x[:, free], y, unit)
        useless = np.abs(beta[:-1]) < 3 * error[:-1]
        if not useless.any():
            break
        worst = np.argsort(np.abs(beta[:-1]) / error[:-1])[: max(1, int(useless.sum()) // 2)]
        free = np.delete(free, worst)
        if not len(free):
            return None
    weights = np.zeros(x.shape[1])
    fixed: dict[int, float] = {}
    rest = y.copy()
    learned = 0
    for _ in range(len(free)):
        open_ones = [place for place in free.tolist() if place not in fixed]
        beta, error = _with_errors(x[:, open_ones], rest, unit)
        widths = np.maximum(3 * error[:-1], 1e-9 * np.abs(beta[:-1]))
        choices = [_plainest(value, width) for value, width in zip(beta[:-1], widths, strict=True)]
        best = min(range(len(open_ones)), key=lambda one: (choices[one][1], one))
        level = choices[best][1]
        for one, place in enumerate(open_ones):
            if choices[one][1] == level:  # fix all equally plain weights at once
                fixed[place] = choices[one][0]
                learned += level > 1
                rest = rest - fixed[place] * x[:, place]
        if len(fixed) == len(free):
            break
    weights[list(fixed)] = list(fixed.values())
    middle, width = float(np.median(rest)), max(unit * 0.5 / np.sqrt(len(y)), float(np.ptp(rest)) / 8)
    constant, digits = _plainest(middle, width) if abs(middle) > unit / 4 else (0.0, 0)  # small ones are chance
    if np.mean(np.abs(rest - constant) <= 1.05 * unit + 1e-9 * np.abs(y)) < 0.9:
        return None
    return Sum(weights, constant, learned + (digits > 1))


def _mean(x: Floats, y: Floats, plain: Sum) -> Sum | None:
    """Return the mean of a plain sum's columns, some negated, if the sum is nearly this mean, as for scale items."""
    size = np.abs(plain.weights)
    used = size > np.median(size[size > 0]) / 2 if size.any() else size > 0
    weights = np.where(used, np.sign(plain.weights) / max(1, used.sum()), 0.0)
    if used.sum() < LEAST_MEAN_COLUMNS or np.abs(weights - plain.weights).max() > MEAN_WEIGHT_TOLERANCE / used.sum():
        return None
    rest = y - x @ weights
    return Sum(weights, _plainest(float(np.median(rest)), max(float(np.ptp(rest)) / 8, 1e-9))[0], 0)


def _with_errors(x: Floats, y: Floats, unit: float) -> tuple[Floats, Floats]:
    """Return the weights, the constant last, and their standard errors."""
    middle, spread = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-300)
    scaled = np.column_stack([(x - middle) / spread, np.ones(len(x))])
    beta = _fit(scaled, y)
    off = y - scaled @ beta
    noise = max(float(off.std()), 1e-6 * unit)
    inverse = inverse_of(scaled.T @ scaled, rcond=1e-12)
    error = noise * np.sqrt(np.maximum(np.diag(inverse), 0)) + 1e-13
    return np.append(beta[:-1] / spread, beta[-1]), np.append(error[:-1] / spread, error[-1])


def _plainest(value: float, width: float) -> tuple[float, int]:
    """Return the number with the fewest digits at most `width` from `value`, and its number of digits."""
    if abs(value) <= width:
        return 0.0, 0
    for digits in range(12):
        rounded = float(f"{value:.{digits}e}")
        if abs(rounded - value) <= width:
            return rounded, 0 if abs(rounded) == 1 else digits + 1
        if digits == 3:
            for parts in FRACTION_DENOMINATORS:
                if abs(round(value * parts) / parts - value) <= width:
                    return round(value * parts) / parts, 2
    return value, 12


def powers(logs: Floats, log_y: Floats, worth: Floats) -> Floats:
    """Return the powers of columns with a product near most values.

    `logs` (rows by columns) and `log_y` are logarithms. `worth` is each value in units of its last digit: it measures
    how exact the logarithm is.
    """
    varied = logs.std(axis=0) > 1e-9
    design = np.column_stack([logs[:, varied] - logs[:, varied].mean(axis=0), np.ones(len(logs))])
    kept = np.ones(len(logs), dtype=np.bool_)
    for _ in range(5):
        beta = _fit(design[kept] * worth[kept, None], log_y[kept] * worth[kept])
        off = np.abs(log_y - design @ beta) * worth
        kept = np.asarray(off <= max(2.0, float(np.quantile(off, 0.6))))
    found = np.zeros(logs.shape[1])
    found[varied] = beta[:-1]
    return found
