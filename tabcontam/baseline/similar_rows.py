"""Predictors by the rows that are most similar to the predicted row."""

import numpy as np
from numpy.typing import NDArray

from tabcontam.baseline.coded_columns import Floats
from tabcontam.baseline.fit import CountedProbabilities, Fit, leave_for_new_values
from tabcontam.baseline.regression import bandwidth, spread_over
from tabcontam.baseline.thresholds import CLOSE_ROW_ESCAPE, LEAST_NUMBERS

Small = NDArray[np.float32]  # 32 bits, since matrices have a number for each pair of rows


def neighbours(fit: Fit) -> tuple[dict[str, Floats], dict[str, CountedProbabilities]]:
    """Return predictions from similar rows: from the 3 and the 20 nearest rows, and from all very close rows."""
    if not fit.shown:
        return {}, {}
    alike, by_score = _distances(fit)
    near = _nearest(by_score, min(20, len(fit.train) - 1))
    dense = {"near": _with_marginal(fit, near)}
    dense["few"] = _with_marginal(fit, _nearest(by_score, min(3, len(fit.train) - 1)))
    if fit.gridded:
        dense["smoothed"] = _smoothed(fit, near)
    close = {"alike": _close(alike), "close": _close(by_score)}
    return dense, {
        name: leave_for_new_values(_shares(fit, weights), CLOSE_ROW_ESCAPE) for name, weights in close.items()
    }


def _distances(fit: Fit) -> tuple[Small, Small]:
    """Return distances of predicted to training rows: with equal weights of columns, and with weights by saved bits."""
    scores = np.maximum(np.array(fit.scores), 0.02 * max(*fit.scores, 0.01))
    alike = np.zeros((len(fit.predicted), len(fit.train)), dtype=np.float32)
    by_score, apart = np.zeros_like(alike), np.empty_like(alike)
    for one, weight in zip(fit.shown, np.sqrt(scores / scores.sum()), strict=True):
        values = one.ranks.astype(np.float32)
        here, there = values[fit.predicted][:, None], values[fit.train][None, :]
        if one.numbers is None:
            np.not_equal(here, there, out=apart)
        else:
            np.abs(np.subtract(here, there, out=apart), out=apart)
        if np.isnan(values).any():
            apart[np.isnan(apart)] = 1
            apart[np.isnan(here) & np.isnan(there)] = 0
        alike += apart
        apart *= np.float32(weight)
        by_score += apart
    return alike, by_score


def _nearest(distances: Small, count: int) -> Small:
    """Return training rows' weights, which fall with the distance relative to that of the `count` nearest rows."""
    reach = np.partition(distances, count, axis=1)[:, count : count + 1] + np.float32(1e-9)
    weights = _bell(distances, np.float32(0.6) * reach)
    weights *= distances <= 2 * reach
    return weights


def _close(distances: Small) -> Small:
    """Return training rows' weights, which fall with the distance on one scale: without close rows, all are near 0."""
    return _bell(distances, np.float32(0.5 * float(np.median(distances.min(axis=1))) + 1e-3))


def _bell(distances: Small, reach: Small | np.float32) -> Small:
    """Return weights that fall with the distance like a normal density. Computed in place to save memory."""
    weights = distances / reach
    weights *= weights
    weights *= np.float32(-0.5)
    return np.asarray(np.exp(weights, out=weights))


def _with_marginal(fit: Fit, weights: Small) -> Floats:
    """Return the weighted frequencies of the training rows' values, with the marginal frequencies as one more row."""
    found = _shares(fit, weights)
    found += fit.marginal
    found /= weights.sum(axis=1, keepdims=True) + 1
    return found


def _smoothed(fit: Fit, weights: Small) -> Floats:
    """Return the weighted frequencies of the neighbours' numbers, each spread over nearby values."""
    assert fit.numbers is not None  # noqa: S101 - a column with a grid has numbers
    known = np.isfinite(fit.numbers) & ~fit.spikes[fit.codes]
    matrix = _shares(fit, weights / weights.sum(axis=1, keepdims=True))
    if known.sum() < LEAST_NUMBERS:
        return matrix
    numbers, places = np.unique(fit.numbers[known], return_index=True)
    spread = spread_over(fit, numbers, 0.5 * bandwidth(fit.numbers[known]))
    seen = fit.codes[known][places]
    smooth = (matrix[:, seen].astype(np.float32) @ spread.astype(np.float32)).astype(np.float64)
    matrix[:, seen] = 0
    return np.asarray(matrix + smooth)


def _shares(fit: Fit, weights: Small) -> Floats:
    """Return for each predicted row the total weight of each value in the training rows."""
    from scipy.sparse import csr_matrix

    shape = (len(fit.train), len(fit.keys))
    ones = np.ones(len(fit.train), dtype=np.float32)
    values = csr_matrix((ones, (np.arange(len(fit.train)), fit.codes)), shape)
    return np.asarray((values.T @ weights.T).T, dtype=np.float64)
