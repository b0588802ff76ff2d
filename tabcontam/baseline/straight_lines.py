"""Numbers on a straight line for each kind of row (rows with one class): a meter's readings by date, a price by weight.

A model that has read the other rows of a kind can extend their line. The baseline fits a line to these rows. It uses
the line if the rows lie on it to the last digit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.baseline.coded_columns import Column, Floats, Ints, number_key, scaled
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.ordered_keys import classes_of, keys_of
from tabcontam.baseline.thresholds import (
    FEW_VALUES,
    GROUP_PRIOR_ROWS,
    LEAST_LINE_ROWS,
    LEAST_LINE_SHARE,
    LINE_DISTANCE,
    LINE_ERROR,
    LINE_GROUP_SIZES,
    ROW_PARTS,
)
from tabcontam.baseline.view import View


def numbers_near(
    probed: tuple[Ints, Ints], true: Ints, predicted: tuple[Ints, Ints], decimals: int, sizes: Sequence[int], reach: int
) -> LawPredictions:
    """Return for each predicted row the numbers at most `reach` units from its computed number.

    Their probabilities are hit rates in the probed rows. `probed` and `predicted` are pairs: each row's computed
    number, and the number of rows of its kind, 0 if no number was computed. `true` are the probed rows' true numbers.
    All numbers are in units of the last of `decimals` decimals. Hit rates are counted by the number of rows of a kind,
    in classes with the edges `sizes`.
    """
    wholes, counts = probed
    off, classes, known = true - wholes, np.searchsorted(sizes, counts), counts > 0
    members = [(classes == one, (known & (classes == one)).sum()) for one in range(len(sizes) + 1)]
    shares = {}
    for away in range(-reach, reach + 1):
        hits = known & (off == away)
        prior = GROUP_PRIOR_ROWS * (hits.sum() / (known.sum() + 1))
        shares[away] = [((hits & own).sum() + prior) / (rows + GROUP_PRIOR_ROWS) for own, rows in members]
    values: list[dict[str, float]] = []
    for whole, count in zip(*(line.tolist() for line in predicted), strict=True):
        size = int(np.searchsorted(sizes, count))
        likely = {away: float(share[size]) for away, share in shares.items() if count and share[size] > 0}
        values.append({number_key(whole + away, decimals): share for away, share in likely.items()})
    return LawPredictions.of(values)


def lines(view: View) -> list[LawPredictions]:
    """Return the numbers on the lines over the best key (such as a column of dates) for the best kinds of row."""
    target = view.target
    if target.numbers is None or target.distinct <= FEW_VALUES:
        return []
    best: tuple[float, _KindLines] | None = None
    for key in keys_of(view):
        for one in classes_of(view):
            found = _KindLines.of(view, key, one)
            if found is not None and (share := found.share()) > max(LEAST_LINE_SHARE, best[0] if best else 0.0):
                best = share, found
    return [best[1].follows(view)] if best else []


@dataclass(frozen=True, eq=False)
class _KindLines:
    """A key `x` and kinds: the numbers `y` of each kind may lie on a line over `x`."""

    x: Floats
    y: Floats
    codes: Ints
    learned: Ints  # training rows with a key, a number and a kind
    probed: Ints
    decimals: int

    @classmethod
    def of(cls, view: View, key: Floats, one: Column) -> "_KindLines | None":
        """Return the lines by this key and these kinds; None if too few rows have a key, a number and a kind."""
        y = view.target.numbers
        assert y is not None  # noqa: S101 - checked above
        complete = np.isfinite(key) & np.isfinite(y) & (one.codes > 0)
        learned = view.learned[complete[view.learned]]
        if len(learned) < 4 * LEAST_LINE_ROWS:
            return None
        middle = key[learned].mean()
        return cls(key - middle, y, one.codes, learned, learned[:: max(1, len(learned) // 800)], view.target.decimals)

    def share(self) -> float:
        """Return the share of probed rows on the line of their kind. The line is fitted with the probed rows too."""
        made, counts = self._made(self._fitted(self.learned), self.probed)
        near = np.abs(made - self.y[self.probed]) <= LINE_DISTANCE * 10.0**-self.decimals
        return float((near & (counts > LEAST_LINE_ROWS)).mean())

    def follows(self, view: View) -> LawPredictions:
        """Return the numbers on the lines and adjacent numbers. Their probabilities are hit rates in other rows."""
        own = np.full(len(self.y), ROW_PARTS)
        own[self.learned] = np.arange(len(self.learned)) % ROW_PARTS
        fits = [self._fitted(self.learned[own[self.learned] != part]) for part in range(ROW_PARTS)]
        fits.append(self._fitted(self.learned))

        def predict(rows: Ints) -> tuple[Ints, Ints]:
            every = [self._made(fit, rows) for fit in fits]
            made = np.choose(own[rows], [one for one, _ in every])
            counts = np.choose(own[rows], [count for _, count in every])
            return scaled(made, self.decimals), np.where(np.isfinite(made) & (counts >= LEAST_LINE_ROWS), counts, 0)

        true = scaled(self.y[self.probed], self.decimals)
        return numbers_near(
            predict(self.probed), true, predict(view.predicted), self.decimals, LINE_GROUP_SIZES, LINE_ERROR
        )

    def _fitted(self, rows: Ints) -> tuple[Floats, Floats, Ints]:
        """Return the intercept and slope of each kind's least-squares line, and the kind's number of rows."""
        codes, x, y, kinds = self.codes[rows], self.x[rows], self.y[rows], int(self.codes.max()) + 1
        count = np.bincount(codes, minlength=kinds)
        with np.errstate(all="ignore"):
            mean_x, mean_y = np.bincount(codes, x, kinds) / count, np.bincount(codes, y, kinds) / count
            away = x - mean_x[codes]
            slope = np.bincount(codes, away * (y - mean_y[codes]), kinds) / np.bincount(codes, away**2, kinds)
            return mean_y - slope * mean_x, slope, count

    def _made(self, fit: tuple[Floats, Floats, Ints], rows: Ints) -> tuple[Floats, Ints]:
        """Return the number on the line of each row's kind, and the number of rows that define the line."""
        height, slope, count = fit
        kinds = self.codes[rows]
        return height[kinds] + slope[kinds] * self.x[rows], count[kinds]
