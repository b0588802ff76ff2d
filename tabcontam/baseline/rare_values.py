"""Predictions from rows that share a rare value with the predicted row: a ticket, a family, a town."""

from collections import Counter

import numpy as np

from tabcontam.baseline.coded_columns import Ints, count_codes
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.shared_cells import shared
from tabcontam.baseline.thresholds import (
    MOST_RARE_VALUE_COLUMNS,
    MOST_RARE_VALUE_ROWS,
    MOST_ROWS_PER_RARE_VALUE,
    RARE_VALUE_WEIGHTS,
)
from tabcontam.baseline.view import View


def same_rare_value(view: View) -> list[LawPredictions]:
    """Return predictions from rows that share a rare value, by the columns that inform most about the target.

    Combinations of cells (`shared`) are used like columns.
    """
    found = [(one, scored) for one in view.shown if (scored := _scored(view, one.codes)) is not None]
    found.sort(key=lambda item: (-item[1][0], item[0].name))
    alone = [_follows(view, one.codes, escape) for one, (_, escape) in found[:MOST_RARE_VALUE_COLUMNS]]
    more = [(codes, scored) for codes in shared(view) if (scored := _scored(view, codes)) is not None]
    return [*alone, *(_follows(view, codes, escape) for codes, (_, escape) in more)]


def _scored(view: View, every: Ints) -> tuple[float, float] | None:
    """Return the mean bits saved by prediction from other rows of equal code, and the best weight of unseen values.

    `every` has a code for each row; 0 is no value. Return None if no bits are saved.
    """
    codes, targets = every[view.learned], view.target.codes[view.learned]
    sizes = np.bincount(codes)
    sizes[0] = 0  # rows without a value have nothing in common
    different = int((sizes > 0).sum())
    if different * MOST_ROWS_PER_RARE_VALUE < len(codes) or sizes.max(initial=0) < 2:
        return None
    pairs = codes * (int(targets.max()) + 1) + targets
    kinds, _, both = count_codes(pairs)
    matching, group = both - 1, np.maximum(sizes[codes] - 1, 0)
    values = np.bincount(kinds // (int(targets.max()) + 1), minlength=len(sizes))[codes] - (matching == 0)
    prior = np.maximum(np.bincount(targets)[targets] - 1, 1) / len(targets)
    has_group = group > 0

    def gain(escape: float) -> float:
        left = escape * np.maximum(1, values)
        return float(np.log2((matching + left * prior) / (group + left) / prior)[has_group].sum())

    best = max(RARE_VALUE_WEIGHTS, key=gain)
    return (gain(best) / len(codes), best) if gain(best) > 0 else None


def _follows(view: View, codes: Ints, escape: float) -> LawPredictions:
    wanted = np.zeros(int(codes.max()) + 1, dtype=np.bool_)
    wanted[codes[view.predicted]] = True
    wanted[0] = False  # rows without a value have nothing in common
    groups: dict[int, list[int]] = {}
    for row in view.learned[wanted[codes[view.learned]]].tolist():
        groups.setdefault(int(codes[row]), []).append(row)
    values: list[dict[str, float]] = []
    for row in view.predicted.tolist():
        others = (other for other in groups.get(int(codes[row]), [])[: MOST_RARE_VALUE_ROWS + 1] if other != row)
        counts = Counter(view.target.keys[other] for other in others)
        total = counts.total() + escape * max(1, len(counts))
        values.append({key: count / total for key, count in counts.items()})
    return LawPredictions.of(values)
