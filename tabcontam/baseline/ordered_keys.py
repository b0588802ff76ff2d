"""Predictions from the nearest rows by a key: a number, code or date that sorts all rows, or those of a class.

The nearer a neighbour's key is, the likelier is its value. This likelihood is counted in the training rows, each left
out in turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Bools, Column, Floats, Ints, number_key, scaled
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.laws.calendar import dates_of
from tabcontam.baseline.thresholds import (
    FEW_VALUES,
    GAP_SIZES,
    GROUP_PRIOR_ROWS,
    LEAST_ORDER_GAIN,
    LEAST_ORDER_ROWS,
    MOST_KEY_CLASSES,
    MOST_KEYS_IN_CLASSES,
    MOST_ORDER_KEYS,
    MOST_ORDERS,
    MOST_RATIO_COLUMNS,
)
from tabcontam.baseline.view import View


def ordered(view: View) -> list[LawPredictions]:
    """Return the values of the neighbours along the best keys, and the numbers interpolated between neighbours."""
    if len(view.learned) < LEAST_ORDER_ROWS:
        return []
    codes, thin = view.target.codes, view.thinned
    keys = [*keys_of(thin), *_ratios(thin)]
    least = float(np.bincount(codes[thin.learned]).max() / len(thin.learned)) + LEAST_ORDER_GAIN
    numeric = view.target.numbers is not None

    def between(line: _KeyOrder) -> float:
        return _Interpolation.of(line).share if numeric else 0.0

    def whole(line: _KeyOrder) -> _KeyOrder:
        return line if thin is view else _KeyOrder.of(view, codes, line.key, line.one)

    alone = [_KeyOrder.of(thin, codes, key, None) for key in keys]
    best = sorted(alone, key=lambda line: -max(line.right, between(line)))[:MOST_KEYS_IN_CLASSES]
    classes = classes_of(view)
    lines = [
        line for first in best for line in (first, *(_KeyOrder.of(thin, codes, first.key, one) for one in classes))
    ]
    copied = sorted((line for line in lines if line.right > least), key=lambda line: -line.right)
    found = [whole(line).follows() for line in copied[:MOST_ORDERS]]
    if numeric and lines:
        most = max(lines, key=between)
        found += [_Interpolation.of(whole(most)).follows()] if between(most) > LEAST_ORDER_GAIN else []
    return found


def keys_of(view: View) -> list[Floats]:
    """Return the shown columns of numbers, dates or texts with a number, those with most distinct values first."""
    found = []
    for one in view.shown:
        dates = None if one.numbers is not None else dates_of(one)
        numbers = one.order_in_text if dates is None else dates.seconds
        if numbers is None:
            continue
        different = len(np.unique(numbers[view.learned][np.isfinite(numbers[view.learned])]))
        if different > FEW_VALUES:
            found.append((-different, one.name, numbers))
    found.sort(key=lambda item: item[:2])
    return [numbers for _, _, numbers in found[:MOST_ORDER_KEYS]]


def _ratios(view: View) -> Iterator[Floats]:
    """Yield the ratio and the difference of every two number columns: keys that similar rows may share."""
    lines = [one.numbers for one in view.of_many_numbers[:MOST_RATIO_COLUMNS] if one.numbers is not None]
    for first, second in combinations(lines, 2):
        with np.errstate(all="ignore"):
            ratio = first / second
        yield np.where(np.isfinite(ratio), ratio, np.nan)
        yield first - second


def classes_of(view: View) -> list[Column]:
    """Return the shown columns of few values, and the shown columns of many values that several rows share."""
    few = [(-one.distinct, one.name, one) for one in view.shown if 1 < one.distinct <= FEW_VALUES + 1]
    most = len(view.learned) / 4
    many = [(one.distinct, one.name, one) for one in view.shown if FEW_VALUES + 1 < one.distinct < most]
    return [one for found in (few, many) for _, _, one in sorted(found, key=lambda item: item[:2])[:MOST_KEY_CLASSES]]


@dataclass(frozen=True, eq=False)
class _KeyOrder:
    """The training rows sorted by a key, and the neighbours of each examined row.

    `below` and `above` are the indices of the neighbouring rows, or -1. Examined rows are first the probed rows
    (training rows on which hits are counted), then the predicted ones. `codes` are the target's codes.
    """

    view: View
    codes: Ints
    key: Floats
    one: Column | None  # the classes, if there are any
    below: Ints
    above: Ints
    shares: Floats  # share of nearest neighbours with the row's value, by the size of the gap
    edges: Floats  # sizes of the gap at which classes of `shares` begin
    right: float  # share of probed rows with the value of their nearest neighbour

    @classmethod
    def of(cls, view: View, codes: Ints, key: Floats, one: Column | None) -> "_KeyOrder":
        """Return the rows ordered by one key, within the classes of the column `one` if it is given."""
        classes = np.zeros(len(key), dtype=np.int64) if one is None else one.codes
        line = view.learned[np.isfinite(key[view.learned])]
        line = line[np.lexsort((key[line], classes[line]))]
        asked = np.concatenate([view.learned[view.probed], view.predicted])
        place = np.full(len(key), -1)
        place[line] = np.arange(len(line))
        own = place[asked]
        first = np.where(own >= 0, own, _place(key, classes, line, asked)) - 1
        second = np.where(own >= 0, own + 1, first + 1)
        known = np.isfinite(key[asked])
        below = _inside(line, first, classes, asked, known)
        above = _inside(line, second, classes, asked, known)
        near = _nearer(key, asked, below, above)[0]
        gaps = np.abs(key[asked] - np.where(near >= 0, key[near], np.nan))
        probes = len(view.probed)
        has_near = np.isfinite(gaps[:probes])
        parts = np.linspace(0, 1, GAP_SIZES + 1)[1:-1]
        edges = np.unique(np.quantile(gaps[:probes][has_near], parts)) if has_near.any() else np.zeros(0)
        size = np.searchsorted(edges, gaps[:probes][has_near], "left")
        hits = (codes[near[:probes]] == codes[asked[:probes]])[has_near]
        share = hits.mean() if has_near.any() else 0.0
        sums = [(hits[size == one].sum(), (size == one).sum()) for one in range(len(edges) + 1)]
        shares = np.array([(right + GROUP_PRIOR_ROWS * share) / (rows + GROUP_PRIOR_ROWS) for right, rows in sums])
        right = float(hits.sum() / max(1, probes))
        return cls(view, codes, key, one, below, above, shares, edges, right)

    @property
    def asked(self) -> Ints:
        """The examined rows: the probed rows, then the predicted ones."""
        return np.concatenate([self.view.learned[self.view.probed], self.view.predicted])

    def share(self, gaps: Floats) -> Floats:
        """Return how often a neighbour at this distance has the row's value; 0 where there is no neighbour."""
        sizes = np.searchsorted(self.edges, np.nan_to_num(gaps, nan=np.inf), "left")
        return np.where(np.isfinite(gaps), self.shares[np.minimum(sizes, len(self.shares) - 1)], 0.0)

    def follows(self) -> LawPredictions:
        """Return the values of the two neighbours of each predicted row, with their probabilities."""
        view, asked = self.view, self.asked
        near, far = _nearer(self.key, asked, self.below, self.above)
        probes = len(view.probed)
        agree = (near >= 0) & (far >= 0) & (self.codes[near] == self.codes[far])
        right = self.codes[near] == self.codes[asked]
        other = (far >= 0) & ~agree & (self.codes[far] == self.codes[asked])
        has_near = near[:probes] >= 0
        both, apart = _share(right[:probes], agree[:probes]), _share(right[:probes], has_near & ~agree[:probes])
        second = _share(other[:probes], has_near & ~agree[:probes])
        gaps = np.abs(self.key[asked] - np.where(near >= 0, self.key[near], np.nan))
        by_gap, overall = self.share(gaps), max(self.right, 1e-6) * probes / max(1, has_near.sum())
        values: list[dict[str, float]] = []
        for place in range(probes, len(asked)):
            if near[place] < 0:
                values.append({})
                continue
            gap = by_gap[place] / overall
            first = _odds(both if agree[place] else apart, gap)
            found = {view.target.keys[near[place]]: first}
            if far[place] >= 0 and not agree[place]:
                found[view.target.keys[far[place]]] = min(second, 1 - first)
            found.pop(MISSING, None)
            values.append(found)
        return LawPredictions.of(values)


def _odds(share: float, factor: float) -> float:
    """Return the probability `share` after its odds are multiplied by `factor`, at most 0.999."""
    odds = share / max(1e-6, 1 - share) * factor
    return float(min(0.999, odds / (1 + odds)))


def _share(hits: Bools, among: Bools) -> float:
    """Return the share of hits among these rows, as if there were one more miss."""
    return float((hits & among).sum() / (among.sum() + 1))


def _place(key: Floats, classes: Ints, line: Ints, asked: Ints) -> Ints:
    """Return where each examined row (`asked`) would be in `line`, the training rows sorted by class and key."""
    found = np.zeros(len(asked), dtype=np.int64)
    for one in np.unique(classes[asked]):
        start, end = np.searchsorted(classes[line], [one, one + 1])
        of_class = classes[asked] == one
        found[of_class] = start + np.searchsorted(key[line[start:end]], key[asked[of_class]])
    return found


def _inside(line: Ints, places: Ints, classes: Ints, asked: Ints, known: Bools) -> Ints:
    """Return the rows at these `places` of the sorted `line`; -1 where there is no row of the class."""
    if not len(line):
        return np.full(len(asked), -1)
    inside = (places >= 0) & (places < len(line)) & known
    rows = line[np.clip(places, 0, len(line) - 1)]
    return np.where(inside & (classes[rows] == classes[asked]), rows, -1)


def _nearer(key: Floats, asked: Ints, below: Ints, above: Ints) -> tuple[Ints, Ints]:
    """Return the nearer neighbour and the farther neighbour of each row."""
    down = np.where(below >= 0, np.abs(key[asked] - key[below]), np.inf)
    up = np.where(above >= 0, np.abs(key[above] - key[asked]), np.inf)
    first = down <= up
    return np.where(first, below, above), np.where(first, above, below)


@dataclass(frozen=True, eq=False)
class _Interpolation:
    """The number interpolated between the two neighbours along the key, and how often it is the row's number."""

    line: _KeyOrder
    known: Bools  # the examined rows with two neighbours that have different numbers
    wholes: Ints  # the numbers, in units of the last decimal
    share: float

    @classmethod
    def of(cls, line: _KeyOrder) -> "_Interpolation":
        """Return the numbers interpolated between neighbours along this line."""
        target, asked, numbers = line.view.target, line.asked, line.view.target.numbers
        assert numbers is not None  # noqa: S101 - asked of a column of numbers alone
        low, high = line.key[line.below], line.key[line.above]
        part = np.where(high > low, (line.key[asked] - low) / np.where(high > low, high - low, 1), 0.5)
        between = numbers[line.below] + part * (numbers[line.above] - numbers[line.below])
        known = (line.below >= 0) & (line.above >= 0) & np.isfinite(between)
        known &= numbers[line.below] != numbers[line.above]
        wholes = scaled(np.where(known, between, 0), target.decimals)
        probes = len(line.view.probed)
        hits = known & (wholes == scaled(numbers[asked], target.decimals)) & np.isfinite(numbers[asked])
        return cls(line, known, wholes, float(hits[:probes].sum() / (known[:probes].sum() + 1)))

    def follows(self) -> LawPredictions:
        """Return these numbers for the predicted rows, with their probability."""
        probes, decimals = len(self.line.view.probed), self.line.view.target.decimals
        texts = [number_key(whole, decimals) for whole in self.wholes[probes:].tolist()]
        pairs = zip(texts, self.known[probes:].tolist(), strict=True)
        return LawPredictions.of([{text: self.share} if known else {} for text, known in pairs])
