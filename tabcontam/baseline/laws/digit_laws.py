"""Laws on the digits of a number or of a code: their sum, a remainder, a check digit."""

from collections.abc import Iterator

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Column, Floats, Ints, number_key
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.thresholds import (
    CHECK_MODULI,
    DIGIT_TRIAL_ROWS,
    FEW_VALUES,
    LEAST_DIGIT_LIFT,
    LEAST_DIGIT_SHARE,
    MOST_DIGIT_COLUMNS,
    MOST_LAW_DIGITS,
)


def digits(fit: Fit) -> list[LawPredictions]:
    """Return the whole number that follows from the digits of a shown column, by the law that is most often right."""
    target = fit.target.numbers
    if target is None or fit.target.decimals or len(fit.train) < DIGIT_TRIAL_ROWS // 6:
        return []
    known = fit.train[np.isfinite(target[fit.train])]
    if len(known) < DIGIT_TRIAL_ROWS // 6 or np.nanmin(target[known]) < 0:
        return []
    wanted, tried = target[known], known[:: max(1, len(known) // DIGIT_TRIAL_ROWS)]
    commonest = float(np.unique(wanted, return_counts=True)[1].max())
    least = max(LEAST_DIGIT_SHARE, LEAST_DIGIT_LIFT * commonest / len(known))
    if least >= 1:
        return []  # no law can be right so much more often than the most frequent value
    best, share = np.zeros(0), least
    for one in [one for one in fit.shown if one.distinct > FEW_VALUES][:MOST_DIGIT_COLUMNS]:
        few = [(found == target[tried][:, None]).mean(axis=0) for found in _laws(one.in_rows(tried.tolist()))]
        if max((float(right.max()) for right in few), default=0.0) < least:
            continue
        for found in _laws(one):
            right = (found[known] == wanted[:, None]).mean(axis=0)
            if float(right.max()) > share:
                best, share = found[:, int(right.argmax())], float(right.max())
    if not len(best):
        return []
    sure = share * len(known) / (len(known) + 1)
    numbers = best[fit.predicted].tolist()
    return [LawPredictions.of([{number_key(int(one), 0): sure} if np.isfinite(one) else {} for one in numbers])]


def _laws(one: Column) -> Iterator[Floats]:
    """Yield arrays of laws' results on a column, rows by laws; NaN where the row has no digits."""
    texts = {key: "".join(letter for letter in text if letter in "0123456789") for key, text in one.texts.items()}
    written = [texts.get(key, "") if key != MISSING else "" for key in one.keys]
    sizes = np.array([len(text) for text in written])
    longest = int(sizes.max(initial=0))
    if not 1 < longest <= MOST_LAW_DIGITS:
        return
    none = sizes == 0
    places = np.array([[int(digit) for digit in text.rjust(longest, "0")] for text in written], dtype=np.int64)
    numbers = np.array([int(text or "0") for text in written], dtype=np.int64)
    for total in (*_weighed(places), numbers, numbers % 10**15 * 100):  # the last: ISO 7064, account numbers
        by = np.array(CHECK_MODULI)
        left = total[:, None] % by
        made = np.column_stack([total, sizes, left, left + 1, (by - left) % by, by - left, by + 1 - left])
        yield np.where(none[:, None], np.nan, made)


def _weighed(places: Ints) -> Iterator[Ints]:
    """Yield weighted sums of the digits: plain, alternating, rising, falling, as in bar codes, and Luhn's sum."""
    length = places.shape[1]
    rising = np.arange(1, length + 1)
    yield places.sum(axis=1)
    yield (places * np.where(rising % 2, 1, -1)).sum(axis=1)
    yield places @ rising
    yield places @ rising[::-1]
    yield places @ np.where(rising % 2, 1, 3)
    yield places @ np.where(rising % 2, 3, 1)
    for first in (0, 1):
        doubled = places * np.where((rising + first) % 2, 2, 1)
        yield np.where(doubled > 9, doubled - 9, doubled).sum(axis=1)
