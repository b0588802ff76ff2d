"""Exact permutation tests of two samples: which has larger values, and can features predict the labels of rows?"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tabcontam.baseline.coded_columns import Bools, Floats
from tabcontam.baseline.solving import weights_of
from tabcontam.statistics.thresholds import (
    PERMUTATION_DRAWS,
    PREDICTOR_DRAWS,
    PREDICTOR_NEIGHBOURS,
    PREDICTOR_PENALTY,
    SAME_STATISTIC,
)


def larger(own: Sequence[float], others: Sequence[float], seed: int = 0) -> float:
    """Return the one-sided p-value that the `own` values are no larger than the `others`.

    The statistic is the rank sum of the own values among all values (Wilcoxon 1945). The p-value is the share of 10,000
    choices of the own values with a rank sum at least as large. One of these choices is the observed one, the others
    are random. The p-value is valid for any values, also with ties, and never below 1 / 10,000. It is 1 if a sample is
    empty.
    """
    return _larger(tuple(own), tuple(others), seed) if len(own) and len(others) else 1.0


@lru_cache(maxsize=64)  # a result is judged several times
def _larger(own: tuple[float, ...], others: tuple[float, ...], seed: int) -> float:
    together = 500  # permutations that are drawn at a time
    from scipy.stats import rankdata

    ranks = rankdata([*own, *others])
    labels = np.arange(len(ranks)) < len(own)
    observed = float(ranks[labels].sum())
    rng, as_large, left = np.random.default_rng(seed), 0, PERMUTATION_DRAWS
    while left:
        several = min(together, left)
        as_large += int((_permuted(labels, several, rng) @ ranks >= observed - SAME_STATISTIC).sum())
        left -= several
    return (1 + as_large) / (PERMUTATION_DRAWS + 1)


def _permuted(labels: Bools, times: int, rng: np.random.Generator) -> Floats:
    """Return the labels in `times` random orders, one per line."""
    return labels[np.argsort(rng.random((times, len(labels))), axis=1)].astype(np.float64)


def predictor_p_values(features: Floats, labels: Bools, seed: int = 0) -> dict[str, float]:
    """Return the p-value of each of three predictors of `labels`, from `features` (rows by features).

    The predictors are: the single feature that differs most, a weighted sum fitted on all other rows, and the labels of
    the five nearest rows. The p-values are exact: predictors are fitted anew for each permutation of the labels.
    """
    varied: Floats = features[:, features.std(axis=0) > SAME_STATISTIC]
    if not varied.shape[1] or labels.all() or not labels.any():
        return {}
    scaled = (varied - varied.mean(axis=0)) / varied.std(axis=0)
    permuted = _permuted(labels, PREDICTOR_DRAWS, np.random.default_rng(seed))
    drawn = np.concatenate([labels[None].astype(np.float64), permuted])
    signs = drawn - drawn.mean(axis=1, keepdims=True)
    statistics: dict[str, Floats] = {
        "a single feature": np.abs(signs @ scaled).max(axis=1),
        "a weighted sum of all features": _left_out(signs, *_hat(scaled)),
        "rows that are like it": ((signs @ _nearest(scaled)) * signs).sum(axis=1),
    }
    least = {name: own[0] - SAME_STATISTIC * max(1.0, abs(float(own[0]))) for name, own in statistics.items()}
    return {name: float((own >= least[name]).sum() / len(own)) for name, own in statistics.items()}


def _hat(scaled: Floats) -> tuple[Floats, Floats]:
    """Return the matrix that maps labels to the fit of a ridge regression, and its diagonal."""
    inner = scaled.T @ scaled + PREDICTOR_PENALTY * len(scaled) ** 0.5 * np.eye(scaled.shape[1])
    hat = scaled @ np.linalg.solve(inner, scaled.T)
    return hat, np.clip(np.diag(hat), 0.0, 1 - 1e-6)


def _left_out(signs: Floats, hat: Floats, leverage: Floats) -> Floats:
    """Return for each line of labels how strongly they correlate with predictions by fits without the predicted row."""
    without = (signs @ hat.T - signs * leverage) / (1 - leverage)
    return np.asarray((without * signs).sum(axis=1) / (np.linalg.norm(without, axis=1) + SAME_STATISTIC))


def _nearest(scaled: Floats) -> Floats:
    """Return a matrix of rows by rows: in how many directions (0, 1 or 2) the rows are nearest neighbours."""
    squares = (scaled**2).sum(axis=1)
    apart = squares[:, None] + squares[None, :] - 2 * scaled @ scaled.T
    np.fill_diagonal(apart, np.inf)
    near = np.zeros_like(apart)
    places = np.argsort(apart, axis=1, kind="stable")[:, : min(PREDICTOR_NEIGHBOURS, len(scaled) - 1)]
    np.put_along_axis(near, places, 1.0, axis=1)
    return np.asarray(near + near.T)


def residuals(values: Sequence[float], features: Floats) -> Floats:
    """Return the values minus their least-squares fit on the features. The fit does not use the rows' labels."""
    own = np.asarray(values, dtype=np.float64)
    spread = features.std(axis=0)
    varied = features[:, spread > SAME_STATISTIC]
    given = np.column_stack([np.ones(len(own)), (varied - varied.mean(axis=0)) / varied.std(axis=0)])
    return np.asarray(own - given @ weights_of(given, own))
