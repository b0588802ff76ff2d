"""The likelihood of each number of a column in a row, predicted from the row's other cells.

A prediction gives probabilities of single values, and says little about a number that occurs once. For cell draws, a
column's cells are distributed among its rows anew: all values are known, and their distances from the predicted
number decide how likely they are.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from tabcontam.baseline.coded_columns import Column, Floats, Ints, as_number
from tabcontam.baseline.regression import ErrorDistribution, boosted_numbers, least_squares, logarithm
from tabcontam.baseline.thresholds import LEAST_NUMBER_STEP, LEAST_NUMBERS, LEAST_PROBABILITY


def densities(
    target: Column, shown: Sequence[Column], fits: Sequence[tuple[Ints, Ints]], rows: Ints, values: Sequence[str]
) -> list[Floats]:
    """Return each number predictor's chance of each of `values` in each of `rows`, one line per row that sums to 1.

    Each fit is a pair: indices of rows to learn from and of rows to predict. The distribution of a row's number is made
    of the prediction errors in all other `rows`. The result is empty for texts, and if fewer than 40 of `rows` have
    numbers.
    """
    listed = np.array([as_number(value) for value in values])
    if target.numbers is None or not shown or np.isfinite(target.numbers[rows]).sum() < LEAST_NUMBERS:
        return []
    found, features = [], _features(shown)
    for numbers, positions, linear, logs in _scales(target.numbers, rows, listed):
        predictions = np.full(len(numbers), np.nan)
        for train, predicted in fits:
            learned = train[np.isfinite(numbers[train])]
            base = least_squares(shown, learned, numbers[learned], logs) if linear else np.zeros(len(numbers))
            left = numbers[learned] - base[learned]
            predictions[predicted] = base[predicted] + boosted_numbers(features, learned, left, predicted)
        own, expected = numbers[rows], predictions[rows]
        known = np.isfinite(own)
        errors = ErrorDistribution(expected[known], own[known] - expected[known], LEAST_NUMBER_STEP)
        chances = np.nan_to_num(errors.density(expected, positions, own)) + LEAST_PROBABILITY
        found.append(chances / chances.sum(axis=1, keepdims=True))
    return found


def _features(shown: Sequence[Column]) -> Floats:
    """Return the shown columns as numbers: texts by alphabetic order, and by the last number in them."""
    found = [one.numbers if one.numbers is not None else one.codes.astype(np.float64) for one in shown]
    found += [order for one in shown if one.numbers is None and (order := one.order_in_text) is not None]
    return np.column_stack(found)


def _scales(numbers: Floats, rows: Ints, listed: Floats) -> Iterator[tuple[Floats, Floats, bool, bool]]:
    """Yield the column and the listed values on three scales: by rank, as they are, and by logarithm if none is
    negative. The first flag means that least squares come before boosting; the second, that they use other columns'
    logarithms.
    """
    present = np.sort(numbers[rows][np.isfinite(numbers[rows])])
    yield _scores(present, numbers), _scores(present, listed), False, False
    yield numbers, listed, True, False
    if np.nanmin(numbers) >= 0:
        yield logarithm(numbers, numbers), logarithm(listed, numbers), True, True


def _scores(present: Floats, numbers: Floats) -> Floats:
    """Return the normal scores of `numbers` by their rank among `present`."""
    from scipy.special import ndtri

    low, high = np.searchsorted(present, numbers), np.searchsorted(present, numbers, "right")
    places = (low + high + 1) / (2 * len(present) + 2)
    return np.where(np.isfinite(numbers), ndtri(places), np.nan)
