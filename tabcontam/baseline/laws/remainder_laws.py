"""Laws on the class of a whole number: odd or even, its remainder, the decade or the band in which it lies."""

from collections import Counter

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Column, Floats, Ints
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.frequencies import left_out
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.thresholds import (
    BAND_WIDTHS,
    LARGEST_CLASSED_NUMBER,
    LEAST_PURITY,
    LEAST_REMAINDER_GAIN,
    MOST_REMAINDER_LAWS,
    MOST_WHOLE_COLUMNS,
    REMAINDER_DIVISORS,
    REMAINDER_ROWS,
    SHIFTED_BAND_WIDTHS,
)


def periods(fit: Fit) -> list[LawPredictions]:
    """Return values that follow from the remainder of a shown whole number, or from the band in which it lies."""
    train = fit.train[:: max(1, len(fit.train) // REMAINDER_ROWS)]
    own = fit.target.codes[train]
    if len(train) < 8 or len(np.unique(own)) > max(6, len(train) // 3):
        return []
    alone = left_out(np.zeros(len(train), dtype=np.int64), own)
    found: list[tuple[float, int, Column, int]] = []
    number = 0
    for one in _whole(fit)[:MOST_WHOLE_COLUMNS]:
        plain = max(left_out(codes[train], own) for codes in (one.codes, one.binned))
        ranked, counts = _numbered(_classes(one, train))
        likely = np.flatnonzero((counts > 1) & (counts <= len(train) // 3))
        for way in likely[_purities(ranked[likely], own) > LEAST_PURITY].tolist():
            if (score := left_out(ranked[way], own)) > max(plain, alone) + LEAST_REMAINDER_GAIN:
                found.append((-score, number + way, one, way))
        number += len(ranked)
    found.sort(key=lambda item: item[:2])
    best = found[:MOST_REMAINDER_LAWS]
    return [_follows(fit, _classes(one, np.arange(len(one.keys)))[way]) for _, _, one, way in best]


def _whole(fit: Fit) -> list[Column]:
    """Return the shown columns of whole numbers with more than eight distinct values."""
    many = ((one, one.numbers) for one in fit.shown if one.numbers is not None and one.distinct > 8)
    whole = ((one, numbers) for one, numbers in many if numbers is not None and one.decimals == 0)
    return [one for one, numbers in whole if np.nanmax(np.abs(numbers)) < LARGEST_CLASSED_NUMBER]


def _classes(one: Column, rows: Ints) -> Ints:
    """Return the classes of these rows' numbers: one line for each way to classify, one column for each row.

    Numbers are classified by each remainder, by each band and by their first digits. Rows without one form a class.
    """
    assert one.numbers is not None  # noqa: S101 - checked before
    known = np.isfinite(one.numbers)
    every = np.rint(np.where(known, one.numbers, 0)).astype(np.int64)
    lowest, highest = int(every[known].min()), int(every[known].max())
    whole = every[rows]
    by = np.array([by for by in REMAINDER_DIVISORS if by < highest - lowest], dtype=np.int64)[:, None]
    bands = [by for by in BAND_WIDTHS if by < highest - lowest]
    shifted = np.array(
        [(by, shift) for by in bands for shift in range(by if by in SHIFTED_BAND_WIDTHS else 1)], dtype=np.int64
    )
    size, shift = shifted.reshape(-1, 2).T[:, :, None]
    ways = [whole % by, (whole + shift) // size - lowest // size + 1]
    if one.distinct > 30:  # the first one and two digits
        digits = np.floor(np.log10(np.maximum(np.abs(whole), 1))).astype(np.int64)
        ways += [(whole // 10 ** np.maximum(0, digits - kept + 1) + 100 * digits)[None] for kept in (1, 2)]
    return np.where(known[rows], np.concatenate(ways), -1)


def _numbered(classes: Ints) -> tuple[Ints, Ints]:
    """Return the classes of each line renumbered from 0, and each line's number of classes."""
    order = np.argsort(classes, axis=1, kind="stable")
    new = np.diff(np.take_along_axis(classes, order, axis=1), axis=1) > 0
    places = np.cumsum(np.insert(new, 0, False, axis=1), axis=1)
    found = np.empty_like(classes)
    np.put_along_axis(found, order, places, axis=1)
    return found, places[:, -1] + 1


def _purities(ranked: Ints, own: Ints) -> Floats:
    """Return for each line of classes the share of rows that have their class's most frequent value."""
    values = np.unique(own, return_inverse=True)[1]
    width, deep = int(values.max()) + 1, int(ranked.max(initial=0)) + 1
    flat = (np.arange(len(ranked))[:, None] * deep + ranked) * width + values[None, :]
    counts = np.bincount(flat.ravel(), minlength=len(ranked) * deep * width).reshape(len(ranked), deep, width)
    return np.asarray(counts.max(axis=2, initial=0).sum(axis=1) / len(own))


def _follows(fit: Fit, codes: Ints) -> LawPredictions:
    counts: dict[int, Counter[str]] = {}
    for row in fit.train.tolist():
        counts.setdefault(int(codes[row]), Counter())[fit.target.keys[row]] += 1
    shares: dict[int, dict[str, float]] = {}
    for code, mine in counts.items():
        total = mine.total() + 0.3 * len(mine)  # a class with one row is no evidence
        known = mine.items() if mine.total() > 1 else ()  # (Witten and Bell 1991)
        shares[code] = {key: count / total for key, count in known if key != MISSING}
    return LawPredictions.of([dict(shares.get(int(codes[row]), {})) for row in fit.predicted])
