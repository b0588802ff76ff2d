"""Contexts (values of a shown column) in which a law is right: a date advances by one day, after a Friday by three."""

from collections.abc import Sequence

import numpy as np

from tabcontam.baseline.coded_columns import Floats, Ints
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.frequencies import codings, left_out
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.thresholds import (
    CONTEXT_PRIOR_ROWS,
    LEAST_CONTEXT_GAIN,
    LEAST_CONTEXT_GAIN_IN_ALL,
    LEAST_LAW_SHARE_FOR_LIMITS,
    LEAST_LEAF_ROWS,
    MOST_CONTEXT_LEAVES,
    MOST_CONTEXT_VALUES,
)


def in_context(fit: Fit, law: LawPredictions) -> LawPredictions:
    """Return a law's predictions with probabilities by the shown column that best separates right from wrong values.

    The rows of `law` are the training rows of `fit`, then its predicted rows.
    """
    count = len(fit.train)
    predicted = law.values[count:]
    keys = [fit.target.keys[row] for row in fit.train.tolist()]
    pairs = zip(law.values, keys, strict=False)  # 1-based index of the right value; 0 if no value is right
    outcomes = np.array([[*values].index(key) + 1 if key in values else 0 for values, key in pairs], dtype=np.int64)
    without = LawPredictions(predicted, law.left[count:])
    if len(np.unique(outcomes)) < 2:
        return without
    alone = left_out(np.zeros(count, dtype=np.int64), outcomes)
    gains = [
        (left_out(codes[fit.train], outcomes) - alone, -place, codes)
        for place, one in enumerate(fit.shown)
        for codes in codings(one)
        if codes.max(initial=0) <= MOST_CONTEXT_VALUES
    ]
    if (limits := _limits(fit, outcomes)) is not None:
        gains.append((left_out(limits[fit.train], outcomes) - alone, 1, limits))
    gain, _, codes = max(gains, key=lambda item: item[:2], default=(0.0, 0, np.zeros(0, dtype=np.int64)))
    if gain < max(LEAST_CONTEXT_GAIN, LEAST_CONTEXT_GAIN_IN_ALL / max(1, count)):
        return without
    shares = _shares(codes, fit.train, outcomes)
    of_rows = zip(predicted, codes[fit.predicted].tolist(), strict=True)
    return LawPredictions.of([_shared(values, shares[code]) for values, code in of_rows])


def _limits(fit: Fit, outcomes: Ints) -> Ints | None:
    """Return each row's leaf in a small decision tree over its numbers: one rate up to a limit, another above it."""
    from sklearn.tree import DecisionTreeClassifier

    numbers = [one.numbers for one in fit.shown if one.numbers is not None]
    if not numbers or not LEAST_LAW_SHARE_FOR_LIMITS <= np.mean(outcomes > 0) <= 1 - LEAST_LAW_SHARE_FOR_LIMITS / 10:
        return None
    columns = np.nan_to_num(np.column_stack(numbers), nan=-1e30, posinf=1e30, neginf=-1e30).astype(np.float32)
    tree = DecisionTreeClassifier(max_leaf_nodes=MOST_CONTEXT_LEAVES, min_samples_leaf=LEAST_LEAF_ROWS, random_state=0)
    tree.fit(columns[fit.train], outcomes)
    return np.asarray(tree.apply(columns), dtype=np.int64)


def _shares(codes: Ints, train: Ints, outcomes: Ints) -> Floats:
    """Return for each context the share of rows in which each of the law's values was right, never 1."""
    counts = np.zeros((int(codes.max()) + 1, int(outcomes.max()) + 1))
    np.add.at(counts, (codes[train], outcomes), 1)
    whole = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * counts.shape[1])
    return np.asarray((counts + CONTEXT_PRIOR_ROWS * whole) / (counts.sum(axis=1, keepdims=True) + CONTEXT_PRIOR_ROWS))


def _shared(values: dict[str, float], shares: Sequence[float] | Floats) -> dict[str, float]:
    found = {key: float(share) for key, share in zip(values, shares[1:], strict=False)}
    return {key: found.get(key, 0.0) for key in values if found.get(key, 0.0) > 0}
