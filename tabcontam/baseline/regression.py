"""Predictors by gradient boosting: of classes, and of numbers with the distribution of their errors."""

from collections.abc import Sequence

import numpy as np

from tabcontam.baseline.coded_columns import Column, Floats, Ints
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.solving import thin_svd
from tabcontam.baseline.thresholds import (
    FEW_VALUES,
    LEAST_NUMBERS,
    LEAST_ROWS_PER_CLASS,
    MOST_INFORMATIVE_COLUMNS,
    MOST_LEVERAGE,
    MOST_SQUARED_FEATURES,
    REGRESSION_SHRINKAGES,
)

BOOSTING = {"max_bins": 64, "max_leaf_nodes": 8, "l2_regularization": 1.0, "early_stopping": False, "random_state": 0}


def boosted(fit: Fit) -> Floats | None:
    """Return gradient boosting's probabilities of the frequent values. Other values share the rest by frequency."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    classes = frequent(fit)
    if not fit.shown or classes is None:
        return None
    model = HistGradientBoostingClassifier(learning_rate=0.2, max_iter=12, **BOOSTING)
    features = _design(fit.shown)
    model.fit(features[fit.train], classes[fit.codes])
    return spread(fit, classes, model.predict_proba(features[fit.predicted]), model.classes_)


def frequent(fit: Fit) -> Ints | None:
    """Return the class of each key: one for each frequent value, one for all others; None if rows are too few."""
    order = np.argsort(-fit.counts, kind="stable")[:FEW_VALUES]
    many = fit.target.numbers is not None and (fit.counts > 0).sum() > FEW_VALUES
    kept = order[fit.counts[order] >= max(2, (0.04 if many else 0.01) * len(fit.train))]
    if not len(kept) or len(fit.train) < LEAST_ROWS_PER_CLASS * len(kept):
        return None
    classes = np.full(len(fit.keys), len(kept))
    classes[kept] = np.arange(len(kept))
    return classes if len(set(classes[fit.codes])) > 1 else None


def spread(fit: Fit, classes: Ints, given: Floats, labels: Ints) -> Floats:
    """Return the probability of each key, from the probabilities `given` of classes.

    Keys of one class share its probability by frequency. `labels` are the classes in the columns of `given`.
    """
    shares = np.zeros((len(labels), len(fit.keys)))
    for place, label in enumerate(labels):
        members = (classes == label) & (fit.marginal > 0)
        if members.any():
            shares[place, members] = fit.marginal[members] / fit.marginal[members].sum()
    return np.asarray(given @ shares)


def regressed(fit: Fit) -> Floats | None:
    """Return the hidden numbers by least squares plus gradient boosting of the residuals; None if that cannot help.

    Errors in held-out rows later give the distribution of each number (`ErrorDistribution`).
    """
    if fit.numbers is None or not fit.shown:
        return None
    rows, numbers = _regular(fit)
    if len(np.unique(numbers)) <= FEW_VALUES or len(rows) < LEAST_NUMBERS:
        return None
    linear = least_squares(fit.shown, rows, numbers)
    residuals = numbers - linear[rows]
    spread = float(np.quantile(residuals, 0.75) - np.quantile(residuals, 0.25))
    if spread > 20 * len(rows) * float(np.median(fit.step(numbers))):
        return None  # no value would be likelier than one that was never seen
    return np.asarray(linear[fit.predicted] + boosted_numbers(_design(fit.shown), rows, residuals, fit.predicted))


def squared(fit: Fit) -> Floats | None:
    """Return the hidden numbers by ridge regression on all shown columns; None if other predictors use all of them too.

    The ridge penalty is the one with the least leave-one-out error. In a wide table many columns together determine a
    number more exactly than the few most informative columns.
    """
    if len(fit.shown) <= MOST_INFORMATIVE_COLUMNS or fit.numbers is None:
        return None
    rows, numbers = _regular(fit)
    features = _features(fit.shown, logs=False)
    if not features:
        return None
    design = np.column_stack(features)[:, :MOST_SQUARED_FEATURES]
    left, sizes, right = thin_svd(design[rows] - design[rows].mean(axis=0))
    along = left.T @ (numbers - numbers.mean())
    tried = []
    for shrunk in REGRESSION_SHRINKAGES:
        factors = sizes**2 / (sizes**2 + shrunk * len(rows))
        hat = np.minimum(left**2 @ factors + 1 / len(rows), MOST_LEVERAGE)
        off = (numbers - numbers.mean() - left @ (factors * along)) / (1 - hat)
        tried.append((float(np.abs(off).mean()), factors))
    _, factors = min(tried, key=lambda one: one[0])
    weights = right.T @ (factors * along / np.maximum(sizes, 1e-12))
    return np.asarray(numbers.mean() + (design[fit.predicted] - design[rows].mean(axis=0)) @ weights)


def _regular(fit: Fit) -> tuple[Ints, Floats]:
    """Return the training rows with a number that is no spike, and these numbers."""
    assert fit.numbers is not None  # noqa: S101 - called for numbers alone
    known = np.isfinite(fit.numbers) & ~fit.spikes[fit.codes]
    return fit.train[known], fit.numbers[known]


def boosted_numbers(features: Floats, rows: Ints, numbers: Floats, predicted: Ints) -> Floats:
    """Return the predicted rows' numbers by gradient boosting, learned from `rows` and their `numbers`."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(max_iter=60, **BOOSTING)
    model.fit(features[rows], numbers)
    return np.asarray(model.predict(features[predicted]))


class ErrorDistribution:
    """The errors of predicted numbers: their mean size near each prediction, and the distribution of scaled errors."""

    def __init__(self, expected: Floats, errors: Floats, step: float) -> None:
        order = np.argsort(expected, kind="stable")
        window = max(10, len(expected) // 6)
        sizes = np.convolve(np.abs(errors[order]), np.ones(window) / window, mode="valid")
        self.centres = np.convolve(expected[order], np.ones(window) / window, mode="valid")
        self.sizes = np.maximum(sizes, max(0.1 * step, 0.02 * float(np.abs(errors).mean())))
        self.width = max(0.3 * step / float(np.median(self.sizes)), 0.02)
        self.count = len(errors)
        self.scaled = np.clip(errors / self._size(expected), -30, 30)

    def density(self, expected: Floats, values: Floats, own: Floats) -> Floats:
        """Return the density of each value in each row, by the errors of all rows except the row itself."""
        size = self._size(expected)[:, None]
        width = max(0.7 * bandwidth(self.scaled), self.width)
        axis = np.arange(-32, 32, width / 4)
        table = np.histogram(self.scaled, np.append(axis, axis[-1] + width / 4) - width / 8)[0]
        smooth = np.convolve(table, kernel(np.arange(-16, 17) * width / 4, width), mode="same")
        places = (values[None, :] - expected[:, None]) / size
        found = np.interp(places, axis, smooth, left=0, right=0)
        mine = (own[:, None] - expected[:, None]) / size
        has_number = np.isfinite(mine)
        found = found - np.where(has_number, kernel(places - np.where(has_number, mine, 0), width), 0)
        return np.asarray(np.maximum(found, 0) / (self.count - has_number) / size)

    def peak(self, expected: Floats, step: Floats) -> Floats:
        """Return the largest probability of a single value in each row. Values are multiples of `step`."""
        width = max(bandwidth(self.scaled), self.width)
        axis = np.arange(-3, 3, width / 4)
        most = kernel(axis[:, None] - self.scaled[None, :], width).mean(axis=1).max()
        return np.asarray(np.minimum(1.0, most * step / self._size(expected)))

    def _size(self, expected: Floats) -> Floats:
        return np.asarray(np.interp(expected, self.centres, self.sizes))


def heaped(fit: Fit) -> Floats:
    """Return how much more frequent each listed value is than nearby values: numbers heap at round values."""
    _, regular = _regular(fit)
    numbers, counts = np.unique(regular, return_counts=True)
    smooth = (counts / counts.sum()) @ spread_over(fit, numbers, bandwidth(regular) or 1.0)
    found: Floats = (0.9 * fit.counts / counts.sum() + 0.1 * smooth) / np.maximum(smooth, 1e-12)
    found[:2] = 0
    return found


def spread_over(fit: Fit, numbers: Floats, width: float) -> Floats:
    """Return the probabilities of the listed values around each number, one line per number."""
    sizes = fit.step(fit.positions)
    width = max(width, 0.5 * float(sizes.min()))
    found = np.nan_to_num(kernel(fit.positions[None, :] - numbers[:, None], width) * sizes)
    found /= np.maximum(found.sum(axis=1, keepdims=True), 1e-12)
    return found


def kernel(distances: Floats, width: float) -> Floats:
    """Return the density of a normal distribution at these distances."""
    return np.asarray(np.exp(-0.5 * (distances / width) ** 2) / (width * np.sqrt(2 * np.pi)))


def bandwidth(numbers: Floats) -> float:
    """Return the width of a smoothing kernel by Silverman's rule of thumb (Density Estimation, 1986, section 3.4.2)."""
    spread = min(float(np.std(numbers)), float(np.subtract(*np.quantile(numbers, (0.75, 0.25)))) / 1.34)
    return float(0.9 * (spread or float(np.std(numbers))) * len(numbers) ** -0.2)


def _design(shown: Sequence[Column]) -> Floats:
    return np.column_stack([one.numbers if one.numbers is not None else one.binned for one in shown]).astype(np.float64)


def least_squares(shown: Sequence[Column], rows: Ints, numbers: Floats, logs: bool = False) -> Floats:
    """Return the least-squares prediction of all rows' numbers, learned from `rows`, with a slight ridge penalty.

    If `logs`, shown numbers are replaced by their logarithms, and columns with negative numbers are left out.
    """
    parts = _features(shown, logs)
    count = len(shown[0].keys)
    design = np.column_stack([*parts, np.ones(count)]) if parts else np.ones((count, 1))
    learned, mean = design[rows], float(numbers.mean())
    square = learned.T @ learned + 1e-3 * len(rows) * np.eye(learned.shape[1]) * 0.1
    return np.asarray(mean + design @ np.linalg.solve(square, learned.T @ (numbers - mean)))


def _features(shown: Sequence[Column], logs: bool) -> list[Floats]:
    """Return the columns of a design matrix: standardized numbers or logarithms, and 0/1 flags of few texts."""
    parts: list[Floats] = []
    for one in shown:
        if one.numbers is not None:
            if logs and np.nanmin(one.numbers) < 0:
                continue
            seen = logarithm(one.numbers, one.numbers) if logs else one.numbers
            filled = np.nan_to_num(seen, nan=float(np.nanmean(seen)))
            parts.append(((filled - filled.mean()) / (filled.std() or 1.0))[:, None])
        elif int(one.binned.max()) <= FEW_VALUES + 1:
            parts.append((one.binned[:, None] == np.arange(1, int(one.binned.max()) + 1)[None, :]).astype(np.float64))
    return parts


def logarithm(numbers: Floats, column: Floats) -> Floats:
    """Return the logarithms of a column's `numbers`, or of 1 + the number if the column contains 0."""
    return np.asarray(np.log1p(numbers) if np.nanmin(column) <= 0 else np.log(numbers))
