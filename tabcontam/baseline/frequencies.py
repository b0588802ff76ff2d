"""Predictors by counting: the frequency of each value in all rows, and in rows with equal shown cells."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from tabcontam.baseline.coded_columns import Bools, Column, Floats, Ints, count_codes
from tabcontam.baseline.fit import CountedProbabilities, Fit, leave_for_new_values
from tabcontam.baseline.thresholds import ESCAPE_WEIGHTS, MARGINAL_ROWS, MOST_CLASS_VALUES, MOST_PAIRED_COLUMNS

SHRUNK = np.array(MARGINAL_ROWS)[:, None]


def informative(target: Column, shown: Sequence[Column], train: Ints, most: int) -> list[tuple[Column, float]]:
    """Return the `most` most informative shown columns, each with the bits that it saves about the target."""
    classes = target.binned[train]
    alone = left_out(np.zeros(len(train), dtype=np.int64), classes)
    gains = [(one, max(left_out(codes[train], classes) for codes in codings(one)) - alone) for one in shown]
    return sorted(gains, key=lambda item: (-item[1], item[0].name))[:most]


def frequencies(fit: Fit) -> tuple[dict[str, Floats], dict[str, CountedProbabilities]]:
    """Return value frequencies: in all rows, and in rows equal in the best column, pair, or column of many values."""
    dense = {"marginal": np.tile(fit.marginal, (len(fit.predicted), 1))}
    counted = {}
    singles = [
        (left_out(codes[fit.train], fit.codes), place, number, codes)
        for place, one in enumerate(fit.shown)
        for number, codes in enumerate(codings(one))
    ]
    singles.sort(key=lambda item: (-item[0], item[1:3]))
    if singles:
        dense["single"], counted["single"] = _given(fit, singles[0][3])
    many = [codes for _, _, _, codes in singles if codes.max() > MOST_CLASS_VALUES]
    if many:
        counted["many"] = _given(fit, many[0])[1]
    pairs = [
        (left_out(both[fit.train], fit.codes), one[1:3], other[1:3], both)
        for one, other in combinations(singles[:MOST_PAIRED_COLUMNS], 2)
        if one[1] != other[1]
        for both in [paired(one[3], other[3])]
    ]
    if pairs:
        dense["pair"], counted["pair"] = _given(fit, min(pairs, key=lambda item: (-item[0], *item[1:3]))[3])
    return dense, counted


def codings(one: Column) -> list[Ints]:
    return [one.codes] if one.binned is one.codes else [one.binned, one.codes]


def left_out(given: Ints, target: Ints, counted: Bools | None = None) -> float:
    """Return the mean log2 probability of the codes `target` given the codes `given`, each row from all other rows.

    It is the best mean over the weights in `MARGINAL_ROWS`. If `counted` is given, only target codes that it marks
    contribute.
    """
    return max(_by_shrink(given, target, counted))


def _by_shrink(given: Ints, target: Ints, counted: Bools | None = None) -> list[float]:
    """Return the mean of `left_out` for each weight of the marginal frequencies in `MARGINAL_ROWS`."""
    total = len(target)
    if total < 2:
        return [0.0] * len(MARGINAL_ROWS)
    width = int(target.max()) + 1
    kinds, both, _ = count_codes(given * width + target)
    givens, targets = np.divmod(kinds, width)
    group, prior = np.bincount(given)[givens] - 1, (np.bincount(target)[targets] - 1) / (total - 1)
    chances = (both - 1 + SHRUNK * prior) / (group + SHRUNK)
    weights = both if counted is None else both * counted[targets]
    means = np.log2(np.maximum(chances, 1 / total)) @ (weights / total)
    return [float(mean) for mean in means]


def paired(one: Ints, other: Ints) -> Ints:
    return np.asarray(np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1])


def _given(fit: Fit, codes: Ints) -> tuple[Floats, CountedProbabilities]:
    from scipy.sparse import csr_matrix

    shape = (int(codes.max()) + 1, len(fit.keys))
    counts = csr_matrix((np.ones(len(fit.train)), (codes[fit.train], fit.codes)), shape=shape)
    means = _by_shrink(codes[fit.train], fit.codes)
    shrink = MARGINAL_ROWS[means.index(max(means))]
    matrix: Floats = np.asarray(counts[codes[fit.predicted]].todense(), dtype=np.float64)
    dense = (matrix + shrink * fit.marginal) / (matrix.sum(axis=1, keepdims=True) + shrink)
    return dense, leave_for_new_values(matrix, _escape(codes[fit.train], fit))


def _escape(given: Ints, fit: Fit) -> float:
    """Return the weight of unseen values, per distinct value, that maximises the rows' leave-one-out likelihood."""
    pairs = given * len(fit.keys) + fit.codes
    kinds, _, both = count_codes(pairs)
    matching, group = both - 1, np.bincount(given)[given] - 1
    different = np.maximum(1, np.bincount(kinds // len(fit.keys))[given] - (matching == 0))
    prior = np.maximum((fit.counts[fit.codes] - 1) / len(given), 1 / len(given))

    def likelihood(size: float) -> float:
        left = size * different
        return float(np.log((matching + left * prior) / (group + left)).sum())

    return max(ESCAPE_WEIGHTS, key=likelihood)
