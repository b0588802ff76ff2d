"""Laws on one shown cell: the cell is copied, increased by 1, or multiplied by 250."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Column, Floats, Ints, number_key, scaled
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.frequencies import codings, left_out, paired
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.thresholds import MOST_FOLLOWING_VALUES, MOST_RATIOS, RELATION_SAMPLE_ROWS
from tabcontam.reading.answer_text import value_key

DIGITS = re.compile(r"\d+")
Constant = int | float | tuple[int, ...]  # a difference, a ratio, or the increments of a text's numbers


def one_column(fit: Fit, most: int = 2) -> list[LawPredictions]:
    """Return values that follow from a shown cell by a difference, a ratio, or by increasing the numbers in a text."""
    scored = [
        (score, number, one.name, relation)
        for one in fit.shown
        for number, (score, relation) in enumerate(_relations(fit.target, one, fit.train))
    ]
    scored.sort(key=lambda item: (-item[0], item[1:3]))
    least = left_out(np.zeros(len(fit.train), dtype=np.int64), fit.codes)
    kept = [relation for score, _, _, relation in scored if score > least][:most]
    return [LawPredictions.of(relation.values(fit.predicted)) for relation in kept]


def surprise(target: Column, given: Sequence[Column]) -> float:
    """Return a target's mean leave-one-out bits under the best simple predictor from at most one column."""
    rows = np.arange(len(target.keys))
    none = np.zeros(len(rows), dtype=np.int64)
    known = np.arange(int(target.codes.max(initial=0)) + 1) > 0
    scores = [left_out(none, target.codes, known)]
    for one in given:
        scores += [left_out(codes, target.codes, known) for codes in codings(one)]
        scores += [score for score, _ in _relations(target, one, rows)]
    return -max(scores)


@dataclass(frozen=True, eq=False)
class _Relation:
    """A relation of a target's values to a shown column: constants with their frequencies."""

    target: Column
    shown: Column
    constants: tuple[tuple[Constant, float], ...]

    def values(self, rows: Ints) -> list[dict[str, float]]:
        """Return the values that follow in each of these rows, with probabilities."""
        found: list[dict[str, float]] = [{} for _ in rows]
        for constant, share in self.constants:
            for values, key in zip(found, self._keys(rows, constant), strict=True):
                if key is not None:
                    values[key] = values.get(key, 0.0) + share
        return found

    def _keys(self, rows: Ints, constant: Constant) -> list[str | None]:
        """Return the key that follows by one constant in each of these rows; None where no key follows."""
        if isinstance(constant, tuple):
            one = self.shown
            cells = [(one.cells[row] or "") if one.keys[row] != MISSING else None for row in rows.tolist()]
            texts = [None if cell is None else _counted_on(cell, constant) for cell in cells]
            return [None if text is None else value_key(text) for text in texts]
        if self.shown.numbers is None:
            return [None] * len(rows)
        numbers = self.shown.numbers[rows]
        if isinstance(constant, int):
            decimals = max(self.target.decimals, self.shown.decimals)
            wholes = scaled(numbers, decimals) + constant
        else:
            decimals = self.target.decimals
            wholes = scaled(numbers * constant, decimals)
        pairs = zip(wholes.tolist(), np.isfinite(numbers).tolist(), strict=True)
        return [number_key(whole, decimals) if known else None for whole, known in pairs]


def _relations(target: Column, shown: Column, train: Ints) -> list[tuple[float, _Relation]]:
    """Return the relations of a target to a shown column, each after its mean leave-one-out log2 probability."""
    y, x = target.numbers, shown.numbers
    if y is not None and x is not None:
        decimals = max(target.decimals, shown.decimals)
        found = [_differences(y[train], x[train], decimals), _ratios(y[train], x[train])]
    elif y is None and x is None:
        found = [_counts(target, shown, train)]
    else:
        found = []
    total = len(train)
    relations = []
    for counts in found:
        common = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))[:MOST_FOLLOWING_VALUES]
        common = [(constant, count) for constant, count in common if count > 0.02 * total]
        if common:
            score = sum(count * np.log2(max(1, count - 1) / total) for _, count in common)
            score += (total - sum(count for _, count in common)) * np.log2(1 / total)
            constants = tuple((constant, count / (total + 1)) for constant, count in common)
            relations.append((float(score) / total, _Relation(target, shown, constants)))
    return relations


def _differences(y: Floats, x: Floats, decimals: int) -> dict[Constant, int]:
    known = np.isfinite(y) & np.isfinite(x)
    values, counts = np.unique(scaled(y[known], decimals) - scaled(x[known], decimals), return_counts=True)
    return {int(value): int(count) for value, count in zip(values, counts, strict=True) if count > 1}


def _ratios(y: Floats, x: Floats) -> dict[Constant, int]:
    known = np.isfinite(y) & np.isfinite(x) & (np.nan_to_num(x) != 0) & (np.nan_to_num(y) != 0)
    with np.errstate(over="ignore"):
        ratios = np.round(y[known] / x[known], 6)
    values, counts = np.unique(ratios[np.isfinite(ratios)], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_RATIOS]
    return {float(values[place]): int(counts[place]) for place in order if counts[place] > 1}


def _counts(target: Column, shown: Column, train: Ints) -> dict[Constant, int]:
    counts: Counter[Constant] = Counter()
    few = train[:: max(1, len(train) // RELATION_SAMPLE_ROWS)].tolist()
    if not any(_change(target, shown, row) is not None for row in few):
        return {}
    pairs = paired(shown.codes, target.codes)[train]
    _, places, numbers = np.unique(pairs, return_index=True, return_counts=True)
    for row, number in zip(train[places].tolist(), numbers.tolist(), strict=True):
        if (change := _change(target, shown, row)) is not None:
            counts[change] += number
    return dict(counts)


def _change(target: Column, shown: Column, row: int) -> tuple[int, ...] | None:
    known = target.keys[row] != MISSING and shown.keys[row] != MISSING
    return _counting(shown.cells[row] or "", target.cells[row] or "") if known else None


def _counting(before: str, after: str) -> tuple[int, ...] | None:
    """Return how much each number in `after` exceeds that in `before`; None if the texts differ elsewhere."""
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
