"""What follows from a whole number by its class: odd or even, its remainder, the decade or the band that it lies in."""

from collections.abc import Iterator

import numpy as np

from tabcontam.guesser.columns import MISSING, Column, Ints
from tabcontam.guesser.fit import Fit
from tabcontam.guesser.frequencies import left_out
from tabcontam.guesser.laws.base import Follows

MOST = 2  # laws that are followed
REMAINDERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 25, 28, 30, 31, 50, 52, 60, 97, 100)
BANDS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 24, 25, 30, 50, 60, 100, 365, 1000, 3600, 10000, 100000)
SHIFTED = (10, 5, 4, 3)  # bands that may begin elsewhere than at a multiple
LARGEST = 1e9
LOOKED_AT = 24  # columns of whole numbers
ROWS = 240  # on which a law is tried
BETTER = 0.25  # bits a row that a law has to tell more than the number's own classes


def periods(fit: Fit) -> list[Follows]:
    """What follows from the remainder of a shown whole number, or from the band that it lies in."""
    train = fit.train[:: max(1, len(fit.train) // ROWS)]
    own = fit.target.codes[train]
    if len(train) < 8 or len(np.unique(own)) > max(6, len(train) // 3):
        return []
    alone = left_out(np.zeros(len(train), dtype=np.int64), own)
    found: list[tuple[float, int, Ints]] = []
    number = 0
    for one in _whole(fit)[:LOOKED_AT]:
        plain = max(left_out(codes[train], own) for codes in (one.codes, one.binned))
        for codes in _classes(one):
            number += 1
            mine = np.unique(codes[train], return_inverse=True)[1]
            if 1 < mine.max() + 1 <= len(train) // 3:
                told = _purity(mine, own)
                if told > 0.5 and (score := left_out(mine, own)) > max(plain, alone) + BETTER:
                    found.append((-score, number, codes))
    found.sort(key=lambda item: item[:2])
    return [_follows(fit, codes) for _, _, codes in found[:MOST]]


def _whole(fit: Fit) -> list[Column]:
    """The shown columns of whole numbers of which a few hundred or more differ."""
    found = []
    for one in fit.shown:
        numbers = one.numbers
        if numbers is not None and one.decimals == 0 and one.distinct > 8 and np.nanmax(np.abs(numbers)) < LARGEST:
            found.append(one)
    return found


def _classes(one: Column) -> Iterator[Ints]:
    """The classes of each row's number by each remainder and each band; those without a number are one class."""
    assert one.numbers is not None  # noqa: S101 - looked at before
    known = np.isfinite(one.numbers)
    whole = np.rint(np.where(known, one.numbers, 0)).astype(np.int64)
    spread = int(whole[known].max() - whole[known].min())
    for by in REMAINDERS:
        if by < spread:
            yield np.where(known, whole % by, -1)
    lowest = int(whole[known].min())
    for by in BANDS:
        if by < spread:
            for shift in range(by if by in SHIFTED else 1):
                yield np.where(known, (whole + shift) // by - lowest // by + 1, -1)
    if one.distinct > 30:  # digits from the left: the first of a code
        with np.errstate(divide="ignore"):
            size = np.floor(np.log10(np.maximum(np.abs(whole), 1))).astype(np.int64)
        for kept in (1, 2):
            yield np.where(known, whole // 10 ** np.maximum(0, size - kept + 1) + 100 * size, -1)


def _purity(mine: Ints, own: Ints) -> float:
    """The share of rows that have their class's most frequent value."""
    width = int(own.max()) + 1
    counts = np.bincount(mine * width + own, minlength=(int(mine.max()) + 1) * width).reshape(-1, width)
    return float(counts.max(axis=1).sum() / len(own))


def _follows(fit: Fit, codes: Ints) -> Follows:
    counts: dict[int, dict[str, int]] = {}
    for row in fit.train.tolist():
        mine = counts.setdefault(int(codes[row]), {})
        mine[fit.target.keys[row]] = mine.get(fit.target.keys[row], 0) + 1
    shares: dict[int, dict[str, float]] = {}
    for code, mine in counts.items():
        total = sum(mine.values())
        # what was seen once in a class of its own says little (Witten and Bell 1991)
        shares[code] = {
            key: count / (total + 0.3 * len(mine)) for key, count in mine.items() if key != MISSING and total > 1
        }
    return Follows.of([dict(shares.get(int(codes[row]), {})) for row in fit.predicted])
