"""Cells drawn from the baseline: values that could be in a row, each as likely as the baseline expects it there.

If the baseline is right about a row, the row's cell and the drawn cells come from one distribution: only a model that
remembers the row can distinguish them. A model may know the column's cells but not their rows, for example from a
shuffled copy of the table: it can only expect this distribution.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from tabcontam.baseline.coded_columns import MISSING, Bools, Floats, Ints
from tabcontam.baseline.predictor_weights import mixing_weights
from tabcontam.baseline.stored_facts import ranks, stored_fact
from tabcontam.baseline.table_predictions import VERSION, chain_of, column_of
from tabcontam.baseline.thresholds import (
    DRAW_FITTING_ROUNDS,
    DRAW_MARGIN,
    DRAWN_CHANCE_POWERS,
    LEAST_DRAW_CHANCE,
    MOST_EQUAL_DRAWS,
    NEAREST_ROWS_LISTED,
)
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.table import Table


@dataclass(frozen=True)
class CellDraws:
    """The draws for one cell: how often each value was drawn, spelled as in the table.

    `near` are the cells of the rows that share most other cells with this row, nearest first. They are no draws: they
    show the values that a model prefers if it predicts from similar rows.
    """

    times: Mapping[str, int]
    near: tuple[str, ...]


# dealt: version of the method; cached draws of other versions are not used
def draw_cells(table: Table, feature: str, rows: Sequence[int], count: int, *, dealt: int = 4) -> dict[int, CellDraws]:
    """Return `count` draws of this feature's cell for each of the rows, given the row's other cells.

    The cells of these rows are distributed among the rows anew, as predictors that learned from other rows find likely.
    So over all rows, each value is expected as often as it occurs in these cells. Rows with a missing cell are left
    out. Repeated calls return equal draws. The result is empty if the table has too few rows.
    """
    if not rows:
        return {}
    shown = [name for name in table.columns if name != feature]

    def find() -> list[CellDraws | None]:
        found = _found(table, feature, shown, rows, count)
        return [found.get(row) for row in rows]

    def write(found: Sequence[CellDraws | None]) -> object:
        return [one and [dict(one.times), one.near] for one in found]

    def read(stored: Any) -> list[CellDraws | None]:
        return [one and _read(one, count) for _, one in zip(rows, stored, strict=True)]

    rank = ranks(table)
    which = [sorted(shown), [rank[row] for row in rows], count, sorted(table.missing)]
    question = ["draws", dealt, VERSION, feature, *which]
    key = ("draws", feature, tuple(rows), count)
    found = cached_fact(table, key, lambda: stored_fact(table, question, find, write, read))
    return {row: one for row, one in zip(rows, found, strict=True) if one is not None}


def _found(table: Table, feature: str, shown: Sequence[str], rows: Sequence[int], count: int) -> dict[int, CellDraws]:
    chain = chain_of(table, [feature], shown, rows)
    every = chain.chances(0)
    if every is None:
        return {}
    one, near = column_of(table, feature), _near(table, feature, rows)
    present = [place for place, row in enumerate(rows) if one.keys[row] != MISSING]
    if not present:
        return {}
    present_rows = [rows[place] for place in present]
    key_counts = Counter(one.keys[row] for row in present_rows)
    values = sorted(key_counts)
    counts = np.array([key_counts[key] for key in values], dtype=np.float64)
    own = np.array([values.index(one.keys[row]) for row in present_rows])
    chances = _alike(np.array([every[place].among(values) for place in present]), counts == 1)
    likely = [chances, *(found[present] * counts for found in chain.densities(0, values))]
    shares = _sure(_mixed(likely, own), counts, own).tolist()
    found = {}
    for row, of_row in zip(present_rows, shares, strict=True):
        rng = seeded(table, "draws", feature, *table.rows[row])
        taken = Counter(rng.choices(values, cum_weights=list(accumulate(of_row)), k=count))
        written = one.texts | {one.keys[row]: str(one.cells[row])}  # the true value keeps its own spelling
        found[row] = CellDraws({written[key]: taken[key] for key in sorted(taken)}, tuple(near[row]))
    return found


def _alike(chances: Floats, once: Bools) -> Floats:
    """Return the chances; in each row, all values that only one row has (`once`) get their mean chance.

    The predictor of a row has learned such values from other rows, but never the row's own value. Without the mean, a
    lower chance would reveal the row's value.
    """
    if once.any():
        chances[:, once] = chances[:, once].mean(axis=1, keepdims=True)
    return chances


def _mixed(likely: Sequence[Floats], own: Ints) -> Floats:
    """Return the weighted mean of predictors' chances; the weights maximise the likelihood of the rows' own values."""
    each = [one / one.sum(axis=1, keepdims=True) for one in likely]
    weights = mixing_weights(np.column_stack([one[np.arange(len(own)), own] for one in each]))
    return np.asarray(sum(weight * one for weight, one in zip(weights, each, strict=True)))


def _sure(mixed: Floats, counts: Floats, own: Ints) -> Floats:
    """Return the chances `mixed`, made surer: a mean of predictors is less sure than each predictor.

    They are raised to the power that makes the rows' own values (`own`) likeliest. The power rises further while the
    own values are in the likelier half of the draws: a model can predict that much without having read a row.
    """
    rows = np.arange(len(own))
    best, most = mixed, -np.inf
    for power in DRAWN_CHANCE_POWERS:
        shares = _dealt(np.maximum(mixed, LEAST_DRAW_CHANCE) ** power, counts)
        likelihood = float(np.log(np.maximum(shares[rows, own], LEAST_DRAW_CHANCE)).sum())
        if likelihood < most and not _given_away(best, own):
            break
        best, most = shares, likelihood
    return best


def _given_away(shares: Floats, own: Ints) -> bool:
    """Return whether the rows' own values (`own`) are, within a standard error, in the likelier half of the draws.

    `shares` are the shares of each value in a row's draws. Rows in which one value has nearly all draws are ignored.
    """
    open_rows = shares.max(axis=1) <= MOST_EQUAL_DRAWS
    shares, own = shares[open_rows], own[open_rows]
    if not len(own):
        return False
    mine = shares[np.arange(len(own)), own][:, None]
    same = np.isclose(shares, mine, rtol=1e-9, atol=0)
    place = (shares * (shares > mine) * ~same).sum(axis=1) + (shares * same).sum(axis=1) / 2
    return bool(place.mean() < 0.5 + DRAW_MARGIN / np.sqrt(12 * len(own)))


def _dealt(likely: Floats, counts: Floats) -> Floats:
    """Return the chance of each value in each row, one line per row, if the column's cells are distributed among its
    rows. Each row's chances sum to 1, and each value's chances to its count in the column. Apart from these sums they
    are proportional to `likely` (iterative proportional fitting, Deming and Stephan 1940).
    """
    shares = likely.copy()
    for _ in range(DRAW_FITTING_ROUNDS):
        shares *= counts / shares.sum(axis=0)
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _near(table: Table, feature: str, rows: Sequence[int]) -> dict[int, list[str]]:
    """Return for each row this feature's cells in the rows that share most other cells with it, nearest first."""
    others = [column_of(table, name).binned for name in table.columns if name != feature]
    one, count = column_of(table, feature), len(table.rows)
    present = np.array([key != MISSING for key in one.keys[:count]])
    shuffled = np.array(seeded(table, "near", feature).sample(range(count), count))
    found = {}
    for row in rows:
        alike = np.zeros(count, dtype=np.int64)
        for codes in others:
            alike += codes[:count] == codes[row]
        alike[~present] = -1
        alike[row] = -1
        nearest = shuffled[np.argsort(-alike[shuffled], kind="stable")][:NEAREST_ROWS_LISTED].tolist()
        found[row] = [str(one.cells[place]) for place in nearest if alike[place] >= 0]
    return found


def _read(stored: Any, count: int) -> CellDraws:
    times, near = stored
    found = CellDraws(dict(times), tuple(near))
    whole = all(isinstance(number, int) and number > 0 for number in found.times.values())
    if not whole or sum(found.times.values()) != count:
        raise ValueError("the draws of a cell do not add up to their number")
    return found
