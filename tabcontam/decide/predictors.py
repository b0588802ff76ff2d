"""The predictors that a guesser mixes: each gives a hidden cell's distribution, learned from rows that show the cell.

A predictor sees a `Fit`: the target's values where they may be learned, and the shown columns of all rows. What it
gives are probabilities of the values on a list common to all predictors, and of a few values that follow from a shown
cell (`Follows`): a copy, a number one higher, 250 times another column.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tabcontam.decide.columns import FEW, MISSING, Column, Floats, Ints, as_number, scaled, steps, written
from tabcontam.decide.reading import value_key

NOVEL = "\n"  # the key of all values that none of the trained rows has; no other key holds a line break
LEAST_NUMBERS = 40  # of which a distribution is made
SHRINKS = (0.5, 2.0, 8.0, 32.0)  # how many rows the marginal frequencies count for beside those of a shown value
PAIRED = 4  # shown columns of which all pairs are tried
SPIKE = 0.04  # of the rows have to have a number before it is taken for itself
LEFT = 0.3  # rows that all other predictors count for beside each value of close rows
ESCAPES = (0.3, 0.1, 0.03, 1.0)
MANY = 20  # values of a column that is more than a class
GRID = 1000  # steps of a column's precision up to which each value between them has a probability
RATIOS = 4  # multiples of the most frequent kinds that are followed
FOLLOWED = 8  # values that may follow from one shown cell
ROWS_A_CLASS = 40  # below, boosting takes long and learns nothing that neighbours do not tell
DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, eq=False)
class Fit:
    """What one fit sees: `train` and `predicted` are places in the columns; the target is seen in `train` alone."""

    target: Column
    shown: tuple[Column, ...]  # the most informative first
    scores: tuple[float, ...]  # bits that each tells about the target
    train: Ints
    predicted: Ints

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """What has a probability: missing, a new value, those seen, and those between them on the number's grid."""
        seen = {self.target.keys[row] for row in self.train} - {MISSING}
        return (MISSING, NOVEL, *sorted(seen | set(self._grid)))

    @cached_property
    def place(self) -> dict[str, int]:
        """The place of each value among the keys."""
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def codes(self) -> Ints:
        """The place of each trained row's value."""
        return np.array([self.place[self.target.keys[row]] for row in self.train], dtype=np.int64)

    @cached_property
    def counts(self) -> Floats:
        """How often each value occurs."""
        return np.bincount(self.codes, minlength=len(self.keys)).astype(np.float64)

    @cached_property
    def marginal(self) -> Floats:
        """The frequency of each value for one more row; a new one is as likely as those seen once (Good 1953)."""
        once = (self.counts == 1) & (not self.gridded)
        kept = np.where(once, 0.1, self.counts)
        found: Floats = kept / (len(self.train) + 1)
        found[1] = 1 - found.sum()
        return found

    @cached_property
    def numbers(self) -> Floats | None:
        """The numbers of the trained rows, NaN where missing; None for texts and for a column with few numbers."""
        numbers = self.target.numbers
        if numbers is None or np.isfinite(numbers[self.train]).sum() < 10:
            return None
        found: Floats = numbers[self.train]
        return found

    @cached_property
    def spikes(self) -> NDArray[np.bool_]:
        """Which values are so frequent in a column of many numbers that they are no part of its distribution."""
        if self.numbers is None or (self.counts > 0).sum() <= FEW:
            return np.zeros(len(self.keys), dtype=np.bool_)
        return np.asarray(self.counts >= max(10, SPIKE * len(self.train)), dtype=np.bool_)

    @cached_property
    def positions(self) -> Floats:
        """The number of each key, NaN where it is none."""
        return np.array([as_number(key) for key in self.keys], dtype=np.float64)

    def step(self, numbers: Floats) -> Floats:
        """The distance to the next value of the column's own precision, around each of these numbers."""
        edges, found = self._steps
        size: Floats = found[np.clip(np.searchsorted(edges, numbers, "right") - 1, 0, len(found) - 1)]
        return size

    @cached_property
    def _steps(self) -> tuple[Floats, Floats]:
        assert self.numbers is not None  # noqa: S101 - asked of numbers alone
        return steps(self.numbers[np.isfinite(self.numbers)], self.target.decimals)

    @cached_property
    def _grid(self) -> list[str]:
        if self.numbers is None:
            return []
        edges, sizes = self._steps
        if len(edges) < 2 or np.sum(np.diff(edges) / sizes) > GRID:
            return []
        decimals = self.target.decimals
        wholes: set[int] = set()
        for low, high, size in zip(edges[:-1], edges[1:], sizes, strict=True):
            unit = max(1, round(size * 10**decimals))
            first, last = int(scaled(np.array([low]), decimals)[0]), int(scaled(np.array([high]), decimals)[0])
            wholes.update(range(-(-first // unit) * unit, last + 1, unit))
        return [value_key(written(whole, decimals)) for whole in sorted(wholes)]

    @cached_property
    def distances(self) -> tuple[Floats, Floats]:
        """The distances of each predicted row to each trained one: the shown columns alike, and by what they tell."""
        return _distances(self)

    @property
    def gridded(self) -> bool:
        """Whether the values between those seen have a probability too."""
        return bool(self._grid)


@dataclass(frozen=True, eq=False)
class Dense:
    """Probabilities of the listed values, by predicted row and key."""

    matrix: Floats


@dataclass(frozen=True, eq=False)
class Counted:
    """Probabilities by cases that are like a row; `left` is what remains in each row for all other predictors.

    So a predictor that knows a few rows well and nothing of the others counts in those.
    """

    matrix: Floats
    left: Floats


@dataclass(frozen=True, eq=False)
class Follows:
    """The values that follow from a shown cell, with their probabilities: for each predicted row, by key."""

    values: list[dict[str, float]]
    left: Floats


@dataclass(frozen=True, eq=False)
class Regressed:
    """Predicted numbers, in predicted rows. The errors of rows held out make them a distribution."""

    numbers: Floats


def informative(target: Column, shown: Sequence[Column], train: Ints, most: int) -> list[tuple[Column, float]]:
    """The shown columns that tell most about the target, with the bits they tell, by frequencies left one out."""
    classes = target.binned[train]
    alone = _left_out(np.zeros(len(train), dtype=np.int64), classes)
    told: list[tuple[Column, float]] = []
    for one in shown:
        gain = max(_left_out(codes[train], classes) for codes in _codings(one)) - alone
        told.append((one, gain))
    told.sort(key=lambda item: (-item[1], item[0].name))
    return told[:most]


def surprise(target: Column, given: Sequence[Column]) -> float:
    """The mean bits of a cell of the target for the best of simple predictors given one column, left one out."""
    rows = np.arange(len(target.keys))
    none = np.zeros(len(rows), dtype=np.int64)
    scores = [_left_out(none, target.codes, target.codes > 0)]
    for one in given:
        scores += [_left_out(codes, target.codes, target.codes > 0) for codes in _codings(one)]
        scores += [score for score, _ in _relations(target, one, rows)]
    return -max(scores)


def frequencies(fit: Fit) -> tuple[dict[str, Dense], dict[str, Counted]]:
    """Marginal frequencies, those given the best shown column, those given the best pair, and given a text's value."""
    dense = {"marginal": Dense(np.tile(fit.marginal, (len(fit.predicted), 1)))}
    counted = {}
    singles = [
        (_left_out(codes[fit.train], fit.codes), place, number, codes)
        for place, one in enumerate(fit.shown)
        for number, codes in enumerate(_codings(one))
    ]
    singles.sort(key=lambda item: (-item[0], item[1:3]))
    if singles:
        dense["single"], counted["single"] = _given(fit, singles[0][3])
    many = [codes for _, _, _, codes in singles if codes.max() > MANY]
    if many:
        counted["many"] = _given(fit, many[0])[1]
    pairs = [
        (_left_out(both[fit.train], fit.codes), one[1:3], other[1:3], both)
        for one, other in combinations(singles[:PAIRED], 2)
        if one[1] != other[1]
        for both in [_paired(one[3], other[3])]
    ]
    if pairs:
        dense["pair"], counted["pair"] = _given(fit, min(pairs, key=lambda item: (-item[0], *item[1:3]))[3])
    return dense, counted


def follows(fit: Fit, most: int = 2) -> list[Follows]:
    """What follows from a shown cell by a difference, a ratio, or by counting on the numbers in a text."""
    scored = [
        (score, number, one.name, relation)
        for one in fit.shown
        for number, (score, relation) in enumerate(_relations(fit.target, one, fit.train))
    ]
    scored.sort(key=lambda item: (-item[0], item[1:3]))
    least = _left_out(np.zeros(len(fit.train), dtype=np.int64), fit.codes)
    kept = [relation for score, _, _, relation in scored if score > least][:most]
    found = [[relation.values(row) for row in fit.predicted] for relation in kept]
    return [Follows(values, np.array([1 - sum(one.values()) for one in values])) for values in found]


def neighbours(fit: Fit) -> tuple[dict[str, Dense], dict[str, Counted]]:
    """The values of rows like this one: of the nearest three and twenty, and of those that are close indeed."""
    if not fit.shown:
        return {}, {}
    alike, by_score = fit.distances
    near = _nearest(by_score, min(20, len(fit.train) - 1))
    dense = {"near": _by_weights(fit, near)[0]}
    dense["few"] = _by_weights(fit, _nearest(by_score, min(3, len(fit.train) - 1)))[0]
    if fit.gridded:
        dense["smoothed"] = _smoothed(fit, near)
    counted = {"alike": _by_weights(fit, _close(alike))[1], "close": _by_weights(fit, _close(by_score))[1]}
    return dense, counted


def boosted(fit: Fit) -> Dense | None:
    """Gradient boosting of the frequent values; the others share what is left by their frequencies."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    order = np.argsort(-fit.counts, kind="stable")[:FEW]
    many = fit.target.numbers is not None and (fit.counts > 0).sum() > FEW
    kept = order[fit.counts[order] >= max(2, (0.04 if many else 0.01) * len(fit.train))]
    if not fit.shown or not len(kept) or len(fit.train) < ROWS_A_CLASS * len(kept):
        return None
    classes = np.full(len(fit.keys), len(kept))
    classes[kept] = np.arange(len(kept))
    if len(set(classes[fit.codes])) < 2:
        return None
    model = HistGradientBoostingClassifier(
        max_iter=40 if len(kept) <= 4 else 25,
        max_leaf_nodes=8,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=0,
    )
    features = _design(fit)
    model.fit(features[fit.train], classes[fit.codes])
    given = model.predict_proba(features[fit.predicted])
    spread = np.zeros((len(model.classes_), len(fit.keys)))
    for place, label in enumerate(model.classes_):
        members = (classes == label) & (fit.marginal > 0)
        spread[place, members] = fit.marginal[members] / fit.marginal[members].sum()
    return Dense(given @ spread)


def regressed(fit: Fit) -> Regressed | None:
    """Least squares, and gradient boosting of what it leaves; None where not worth it for a number."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    if fit.numbers is None or not fit.shown:
        return None
    known = np.isfinite(fit.numbers) & ~fit.spikes[fit.codes]
    rows, numbers = fit.train[known], fit.numbers[known]
    if len(np.unique(numbers)) <= FEW or len(rows) < LEAST_NUMBERS:
        return None
    linear = _linear(fit, rows, numbers)
    left = numbers - linear[rows]
    spread = float(np.quantile(left, 0.75) - np.quantile(left, 0.25))
    if spread > 20 * len(rows) * float(np.median(fit.step(numbers))):
        return None  # no value would be likelier than one that was never seen
    model = HistGradientBoostingRegressor(
        max_iter=60, max_leaf_nodes=8, l2_regularization=1.0, early_stopping=False, random_state=0
    )
    features = _design(fit)
    model.fit(features[rows], left)
    found: Floats = linear[fit.predicted] + model.predict(features[fit.predicted])
    return Regressed(found)


def kernel(distances: Floats, width: float) -> Floats:
    """The density of a normal distribution at these distances."""
    found: Floats = np.exp(-0.5 * (distances / width) ** 2) / (width * np.sqrt(2 * np.pi))
    return found


def bandwidth(numbers: Floats) -> float:
    """Silverman's rule of thumb for a kernel's width (Density Estimation, 1986, section 3.4.2)."""
    spread = min(float(np.std(numbers)), float(np.subtract(*np.quantile(numbers, (0.75, 0.25)))) / 1.34)
    return float(0.9 * (spread or float(np.std(numbers))) * len(numbers) ** -0.2)


def _codings(one: Column) -> list[Ints]:
    return [one.codes] if one.binned is one.codes else [one.binned, one.codes]


def _paired(one: Ints, other: Ints) -> Ints:
    codes: Ints = np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1]
    return codes


def _left_out(given: Ints, target: Ints, counted: "np.ndarray[tuple[int], np.dtype[np.bool_]] | None" = None) -> float:
    """The mean log2 of each row's probability by the other rows' frequencies, with the best of the shrinks."""
    total = len(target)
    if total < 2:
        return 0.0
    pairs = given * (int(target.max()) + 1) + target
    _, places, both = np.unique(pairs, return_inverse=True, return_counts=True)
    matching, group = both[places] - 1, np.bincount(given)[given] - 1
    prior = (np.bincount(target)[target] - 1) / (total - 1)
    best = -np.inf
    for shrink in SHRINKS:
        chance = np.maximum((matching + shrink * prior) / (group + shrink), 1 / total)
        logs = np.log2(chance)
        best = max(best, float(np.mean(logs if counted is None else np.where(counted, logs, 0.0))))
    return best


def _shrink(given: Ints, fit: Fit) -> float:
    total = len(fit.train)
    pairs = given[fit.train] * len(fit.keys) + fit.codes
    _, places, both = np.unique(pairs, return_inverse=True, return_counts=True)
    matching, group = both[places] - 1, np.bincount(given[fit.train])[given[fit.train]] - 1
    prior = (fit.counts[fit.codes] - 1) / max(1, total - 1)
    return max(
        SHRINKS,
        key=lambda size: float(np.mean(np.log2(np.maximum((matching + size * prior) / (group + size), 1 / total)))),
    )


def _given(fit: Fit, codes: Ints) -> tuple[Dense, Counted]:
    from scipy.sparse import csr_matrix

    shape = (int(codes.max()) + 1, len(fit.keys))
    counts = csr_matrix((np.ones(len(fit.train)), (codes[fit.train], fit.codes)), shape=shape)
    shrink = _shrink(codes, fit)
    matrix: Floats = np.asarray(counts[codes[fit.predicted]].todense(), dtype=np.float64)
    dense = Dense((matrix + shrink * fit.marginal) / (matrix.sum(axis=1, keepdims=True) + shrink))
    return dense, _counted(matrix, _escape(codes[fit.train], fit))


def _counted(counts: Floats, escape: float) -> Counted:
    """Frequencies that leave the more for others the more different values there are (Witten and Bell 1991)."""
    left = escape * np.maximum(1, (counts > LEFT).sum(axis=1))
    total = counts.sum(axis=1)
    return Counted(counts / (total + left)[:, None], left / (total + left))


def _escape(given: Ints, fit: Fit) -> float:
    """How much a different value counts for what is left: what makes the trained rows likeliest, left one out."""
    pairs = given * len(fit.keys) + fit.codes
    kinds, places, both = np.unique(pairs, return_inverse=True, return_counts=True)
    matching, group = both[places] - 1, np.bincount(given)[given] - 1
    different = np.maximum(1, np.bincount(kinds // len(fit.keys))[given] - (matching == 0))
    prior = np.maximum((fit.counts[fit.codes] - 1) / len(given), 1 / len(given))

    def likelihood(size: float) -> float:
        left = size * different
        return float(np.log((matching + left * prior) / (group + left)).sum())

    return max(ESCAPES, key=likelihood)


@dataclass(frozen=True, eq=False)
class _Relation:
    """How a target's values follow from a shown column: the constants with their frequencies."""

    target: Column
    shown: Column
    constants: tuple[tuple[object, float], ...]

    def values(self, row: int) -> dict[str, float]:
        """The values that follow in this row."""
        found: dict[str, float] = {}
        if self.shown.keys[row] == MISSING:
            return found
        for constant, share in self.constants:
            text = self._value(row, constant)
            if text is not None:
                key = value_key(text)
                found[key] = found.get(key, 0.0) + share
        return found

    def _value(self, row: int, constant: object) -> str | None:
        if isinstance(constant, tuple):
            return _counted_on(self.shown.cells[row] or "", constant)
        number = self.shown.numbers[row] if self.shown.numbers is not None else np.nan
        if not np.isfinite(number):
            return None
        if isinstance(constant, int):
            decimals = max(self.target.decimals, self.shown.decimals)
            return written(int(scaled(np.array([number]), decimals)[0]) + constant, decimals)
        if isinstance(constant, float):
            product = scaled(np.array([number * constant]), self.target.decimals)
            return written(int(product[0]), self.target.decimals)
        return None


def _relations(target: Column, shown: Column, train: Ints) -> list[tuple[float, _Relation]]:
    """The ways in which the target may follow from a shown column, each with its mean log2 left one out."""
    if target.numbers is not None and shown.numbers is not None:
        found = [_differences(target, shown, train), _ratios(target, shown, train)]
    elif target.numbers is None and shown.numbers is None:
        found = [_counts(target, shown, train)]
    else:
        found = []
    total = len(train)
    relations = []
    for counts in found:
        common = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))[:FOLLOWED]
        common = [(constant, count) for constant, count in common if count > 0.02 * total]
        if common:
            score = sum(count * np.log2(max(1, count - 1) / total) for _, count in common)
            score += (total - sum(count for _, count in common)) * np.log2(1 / total)
            constants = tuple((constant, count / (total + 1)) for constant, count in common)
            relations.append((float(score) / total, _Relation(target, shown, constants)))
    return relations


def _both(target: Column, shown: Column, train: Ints) -> tuple[Floats, Floats]:
    assert target.numbers is not None  # noqa: S101 - the caller has looked
    assert shown.numbers is not None  # noqa: S101
    return target.numbers[train], shown.numbers[train]


def _differences(target: Column, shown: Column, train: Ints) -> dict[object, int]:
    y, x = _both(target, shown, train)
    decimals = max(target.decimals, shown.decimals)
    known = np.isfinite(y) & np.isfinite(x)
    values, counts = np.unique(scaled(y[known], decimals) - scaled(x[known], decimals), return_counts=True)
    return {int(value): int(count) for value, count in zip(values, counts, strict=True) if count > 1}


def _ratios(target: Column, shown: Column, train: Ints) -> dict[object, int]:
    y, x = _both(target, shown, train)
    known = np.isfinite(y) & np.isfinite(x) & (np.nan_to_num(x) != 0) & (np.nan_to_num(y) != 0)
    with np.errstate(over="ignore"):
        ratios = np.round(y[known] / x[known], 6)
    values, counts = np.unique(ratios[np.isfinite(ratios)], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:RATIOS]
    return {float(values[place]): int(counts[place]) for place in order if counts[place] > 1}


def _counts(target: Column, shown: Column, train: Ints) -> dict[object, int]:
    counts: Counter[object] = Counter()
    pairs = _paired(shown.codes, target.codes)[train]
    _, places, numbers = np.unique(pairs, return_index=True, return_counts=True)
    for row, number in zip(train[places], numbers.tolist(), strict=True):
        if target.codes[row] and shown.codes[row]:
            change = _counting(shown.cells[row] or "", target.cells[row] or "")
            if change is not None:
                counts[change] += number
    return dict(counts)


def _counting(before: str, after: str) -> tuple[int, ...] | None:
    """How much higher each number in a text is than in another that is alike but for its numbers."""
    if before == after:
        return ()
    if len(before) > 60 or len(after) > 60 or DIGITS.sub("0", before) != DIGITS.sub("0", after):
        return None
    pairs = zip(DIGITS.findall(before), DIGITS.findall(after), strict=True)
    return tuple(int(new) - int(old) for old, new in pairs)


def _counted_on(text: str, change: tuple[int, ...]) -> str | None:
    if not change:
        return text
    numbers = DIGITS.findall(text)
    if len(numbers) != len(change) or len(text) > 60:
        return None
    higher = iter([str(max(0, int(old) + more)).zfill(len(old)) for old, more in zip(numbers, change, strict=True)])
    return DIGITS.sub(lambda _: next(higher), text)


def _distances(fit: Fit) -> tuple[Floats, Floats]:
    """The distances of each predicted row to each trained one: the shown columns alike, and by what they tell."""
    scores = np.maximum(np.array(fit.scores), 0.02 * max(*fit.scores, 0.01))
    alike = np.zeros((len(fit.predicted), len(fit.train)), dtype=np.float32)
    by_score = np.zeros_like(alike)
    for one, weight in zip(fit.shown, np.sqrt(scores / scores.sum()), strict=True):
        values = one.ranks.astype(np.float32)
        here, there = values[fit.predicted][:, None], values[fit.train][None, :]
        apart = (here != there).astype(np.float32) if one.numbers is None else np.abs(here - there)
        if np.isnan(values).any():
            apart[np.isnan(apart)] = 1
            apart[np.isnan(here) & np.isnan(there)] = 0
        alike += apart
        by_score += np.float32(weight) * apart
    return alike.astype(np.float64), by_score.astype(np.float64)


def _nearest(distances: Floats, count: int) -> Floats:
    """Weights that fall with the distance, by the reach of so many nearest ones."""
    reach = np.partition(distances, count, axis=1)[:, count : count + 1] + 1e-9
    found: Floats = np.exp(-0.5 * (distances / (0.6 * reach)) ** 2) * (distances <= 2 * reach)
    return found


def _close(distances: Floats) -> Floats:
    """Weights by the distance alone: a row without a close one has none."""
    reach = 0.5 * float(np.median(distances.min(axis=1))) + 1e-3
    found: Floats = np.exp(-0.5 * (distances / reach) ** 2)
    return found


def _by_weights(fit: Fit, weights: Floats) -> tuple[Dense, Counted]:
    total = weights.sum(axis=1, keepdims=True)
    counts = _shares(fit, weights)
    return Dense((counts + fit.marginal) / (total + 1)), _counted(counts, LEFT)


def _smoothed(fit: Fit, weights: Floats) -> Dense:
    """The neighbours' numbers, each spread over the values around it."""
    assert fit.numbers is not None  # noqa: S101 - a column with a grid has numbers
    known = np.isfinite(fit.numbers) & ~fit.spikes[fit.codes]
    matrix = _shares(fit, weights / weights.sum(axis=1, keepdims=True))
    if known.sum() < LEAST_NUMBERS:
        return Dense(matrix)
    numbers, places = np.unique(fit.numbers[known], return_index=True)
    spread = _spread(fit, numbers, 0.5 * bandwidth(fit.numbers[known]))
    seen = fit.codes[known][places]
    smooth = (matrix[:, seen].astype(np.float32) @ spread.astype(np.float32)).astype(np.float64)
    matrix[:, seen] = 0
    return Dense(matrix + smooth)


def _shares(fit: Fit, weights: Floats) -> Floats:
    """The weight of each value among the trained rows."""
    from scipy.sparse import csr_matrix

    shape = (len(fit.train), len(fit.keys))
    values = csr_matrix((np.ones(len(fit.train)), (np.arange(len(fit.train)), fit.codes)), shape)
    found: Floats = np.asarray((values.T @ weights.T).T)
    return found


def _spread(fit: Fit, numbers: Floats, width: float) -> Floats:
    """For each number the probabilities of the listed values around it."""
    sizes = fit.step(fit.positions)
    found = np.nan_to_num(
        kernel(fit.positions[None, :] - numbers[:, None], max(width, 0.5 * float(sizes.min()))) * sizes
    )
    found /= np.maximum(found.sum(axis=1, keepdims=True), 1e-12)
    return found


def heaped(fit: Fit) -> Floats:
    """How much more frequent each listed value is than its surroundings make likely: numbers heap at round ones."""
    assert fit.numbers is not None  # noqa: S101 - a column with a grid has numbers
    known = np.isfinite(fit.numbers) & ~fit.spikes[fit.codes]
    numbers, counts = np.unique(fit.numbers[known], return_counts=True)
    smooth = (counts / counts.sum()) @ _spread(fit, numbers, bandwidth(fit.numbers[known]) or 1.0)
    found: Floats = (0.9 * fit.counts / counts.sum() + 0.1 * smooth) / np.maximum(smooth, 1e-12)
    found[:2] = 0
    return found


def _design(fit: Fit) -> Floats:
    columns = [one.numbers if one.numbers is not None else one.binned.astype(np.float64) for one in fit.shown]
    return np.column_stack(columns)


def _linear(fit: Fit, rows: Ints, numbers: Floats) -> Floats:
    """The least-squares prediction of all rows, slightly shrunk."""
    parts: list[Floats] = []
    for one in fit.shown:
        if one.numbers is not None:
            filled = np.nan_to_num(one.numbers, nan=float(np.nanmean(one.numbers)))
            parts.append(((filled - filled.mean()) / (filled.std() or 1.0))[:, None])
        elif int(one.binned.max()) <= FEW + 1:
            parts.append((one.binned[:, None] == np.arange(1, int(one.binned.max()) + 1)[None, :]).astype(np.float64))
    design = np.column_stack([*parts, np.ones(len(fit.target.keys))]) if parts else np.ones((len(fit.target.keys), 1))
    there, mean = design[rows], float(numbers.mean())
    square = there.T @ there + 1e-3 * len(rows) * np.eye(there.shape[1]) * 0.1
    found: Floats = mean + design @ np.linalg.solve(square, there.T @ (numbers - mean))
    return found
