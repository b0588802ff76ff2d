"""Whom does `surrogate_rank` accuse that has read no asked row? `python -m benchmarks.surrogates [TABLE…]`

For every carded table, or those that are named (a file counts, too): half of its rows is asked about, and readers that
know no asked row say how likely each cell is. Some have learned from the other half alone, as from a training split;
others from all rows but the asked one and a fifth of the rest, so that they know what the guesser knows and use it in
another way. They are a random forest, least squares of numbers and their logarithms, the nearest rows, and who likes
the values that it has read. For each the p-value, and the one that stands without any one column, as verdicts do.
Most tables need TABCONTAM_DATA.
"""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.overlap import half, standing
from tabcontam.baseline.coded_columns import Column, as_number, column
from tabcontam.errors import Skip, UsageError
from tabcontam.evidence.base import Likelihoods, Query, ReplyState, Trial
from tabcontam.evidence.registry import by_id
from tabcontam.evidence.trial_reading import read_trial
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.entities import reduce_table
from tabcontam.tables.row_draws import seeded
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import Cell, Table, load_table

TEST, IS = by_id()["surrogate_rank"], load_serializer("is")
LEVEL, FOLDS, NEAREST, TREES, LEAST = 0.01, 5, 20, 60, 0.02
Floats = NDArray[np.float64]
Row = tuple[Cell, ...]
Says = Callable[[Row, Sequence[str]], Floats]  # how likely each value is in place of a row's hidden cell


def _features(columns: Sequence[Column]) -> Floats:
    """The shown columns as numbers: texts by code."""
    parts = [np.nan_to_num(one.numbers, nan=-1) if one.numbers is not None else one.codes for one in columns]
    return np.column_stack(parts).astype(np.float64)


def _spread(values: Sequence[str], seen: Sequence[str], weights: Floats) -> Floats:
    """How likely values are by the weights of those seen: numbers by how near they are, texts where they are equal."""
    wanted = np.array([as_number(value_key(value)) for value in values])
    there = np.array([as_number(value_key(value)) for value in seen])
    if np.isfinite(there).mean() > 0.9:
        there, weights = there[np.isfinite(there)], weights[np.isfinite(there)]
        mean = float(weights @ there / weights.sum())
        width = max(0.3 * float(np.sqrt(weights @ (there - mean) ** 2 / weights.sum())), 1e-6)
        close = np.exp(-0.5 * ((wanted[:, None] - there[None, :]) / width) ** 2) @ weights / weights.sum()
        near = np.nan_to_num(close)
    else:
        near = np.zeros(len(values))
    counts: Counter[str] = Counter()
    for value, weight in zip(seen, weights.tolist() if len(weights) == len(seen) else [1.0] * len(seen), strict=True):
        counts[value_key(value)] += weight
    equal = np.array([counts[value_key(value)] for value in values]) / max(counts.total(), 1e-9)
    return np.asarray(np.log(near + equal + LEAST / len(seen)))


class Reader:
    """Who learned one column from some rows, in each of several ways."""

    def __init__(self, table: Table, feature: str, rows: Sequence[Row], asked: Sequence[Row]) -> None:
        self.place = table.columns.index(feature)
        known = [row for row in rows if row[self.place] is not None]
        every = [*known, *asked]
        columns = [
            column(name, [row[place] for row in every], table.missing)
            for place, name in enumerate(table.columns)
            if place != self.place
        ]
        self.features = _features(columns)
        self.linear = {logs: _linear_features(columns, logs) for logs in (False, True)}
        self.seen = [str(row[self.place]) for row in known]
        self.where = {row: len(known) + number for number, row in enumerate(asked)}
        self.count = len(known)

    def ways(self) -> dict[str, Says]:
        """How it may use what it has read."""
        found: dict[str, Says] = {"forest": self._forest(), "nearest": self._nearest(), "values": self._values}
        numbers = np.array([as_number(value_key(value)) for value in self.seen])
        if np.isfinite(numbers).all():
            found["linear"] = self._least_squares(numbers, False)
            if numbers.min() > 0:
                found["logs"] = self._least_squares(numbers, True)
        return found

    def _values(self, row: Row, values: Sequence[str]) -> Floats:
        return _spread(values, self.seen, np.ones(self.count))

    def _nearest(self) -> Says:
        ranks = np.argsort(np.argsort(self.features, axis=0), axis=0) / len(self.features)

        def says(row: Row, values: Sequence[str]) -> Floats:
            apart = np.abs(ranks[: self.count] - ranks[self.where[row]]).sum(axis=1)
            weights = np.zeros(self.count)
            weights[np.argsort(apart, kind="stable")[:NEAREST]] = 1.0
            return _spread(values, self.seen, weights)

        return says

    def _forest(self) -> Says:
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        numbers = np.array([as_number(value_key(value)) for value in self.seen])
        kind = RandomForestRegressor if np.isfinite(numbers).all() else RandomForestClassifier
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model = kind(TREES, min_samples_leaf=3, random_state=0)
        train = self.features[: self.count]
        model.fit(train, numbers if kind is RandomForestRegressor else [value_key(value) for value in self.seen])
        leaves = model.apply(train)
        own = model.apply(self.features[self.count :])

        def says(row: Row, values: Sequence[str]) -> Floats:
            same = leaves == own[self.where[row] - self.count][None, :]
            return _spread(values, self.seen, (same / np.maximum(same.sum(axis=0), 1)).sum(axis=1))

        return says

    def _least_squares(self, numbers: Floats, logs: bool) -> Says:
        told = np.log(numbers) if logs else numbers
        train = self.linear[logs][: self.count]
        square = train.T @ train + 1e-4 * self.count * np.eye(train.shape[1])
        weights = np.linalg.solve(square, train.T @ (told - told.mean()))
        errors = told - told.mean() - train @ weights
        size = float(np.std(errors)) or 1.0

        def says(row: Row, values: Sequence[str]) -> Floats:
            guess = told.mean() + self.linear[logs][self.where[row]] @ weights
            wanted = np.array([as_number(value_key(value)) for value in values])
            with np.errstate(all="ignore"):
                off = ((np.log(wanted) if logs else wanted) - guess) / size
            return np.asarray(np.where(np.isfinite(off), -0.5 * off**2, -1e3))

        return says


def _linear_features(columns: Sequence[Column], logs: bool) -> Floats:
    parts = [np.ones((len(columns[0].keys), 1))]
    for one in columns:
        if one.numbers is not None:
            told = np.nan_to_num(one.numbers, nan=float(np.nanmean(one.numbers)))
            told = np.log1p(told - min(0.0, told.min())) if logs else told
            parts.append(((told - told.mean()) / (told.std() or 1.0))[:, None])
        elif one.distinct <= 30:
            parts.append((one.codes[:, None] == np.arange(1, one.codes.max() + 1)[None, :]).astype(np.float64))
    return np.column_stack(parts)


def said(table: Table, queries: Sequence[Query], rest: Sequence[Row]) -> Iterator[tuple[str, float, float]]:
    """For each reader its name, the p-value and the one that stands without any one column."""
    answers: dict[str, list[Trial]] = {}
    kept = [place for place, name in enumerate(table.columns) if name in reduce_table(table).table.columns]
    rest = [tuple(row[place] for place in kept) for row in rest]  # what says the same as a hidden cell is hidden, too
    table = reduce_table(table).table
    for feature in sorted({query.asked[0] for query in queries}):
        own = [query for query in queries if query.asked[0] == feature]
        asked = [table.rows[query.rows[0]] for query in own]
        folds: list[tuple[str, list[Row], list[int]]] = [("training split", list(rest), list(range(len(own))))]
        rng = seeded(table, "benchmark", feature)
        fold_of = {row: rng.randrange(FOLDS) for row in sorted(set(table.rows), key=str)}
        for fold in range(FOLDS):
            others = [row for row in table.rows if fold_of[row] != fold]
            folds.append(("other rows", others, [n for n, row in enumerate(asked) if fold_of[row] == fold]))
        for knows, rows, numbers in folds:
            if not numbers or len(rows) < 40:
                continue
            for way, says in Reader(table, feature, rows, [asked[number] for number in numbers]).ways().items():
                for number in numbers:
                    query = own[number]
                    texts = (str(query.expected[0]), *query.not_expected)
                    reply = Likelihoods(tuple(says(asked[number], texts).tolist()), ReplyState.OK)
                    answers.setdefault(f"{way}, {knows}", []).append(read_trial(TEST, Trial(query, reply), IS))
    for name, trials in answers.items():
        found = TEST.weigh(trials, LEVEL)
        yield name, found.p_value or 0.0, standing(found)


def main(names: list[str]) -> None:
    """Print a line a reader, then how many are accused."""
    every: list[tuple[float, float]] = []
    for name in names or sorted(load_cards()):
        try:
            whole = load_table(name)
            start = perf_counter()
            table, rest = half(whole)
            queries = TEST.planned(table, IS, seeded(table, 0, TEST.id))
        except (Skip, UsageError) as error:
            print(f"{name}: {error}", flush=True)
            continue
        print(f"{whole.name}: {len(queries)} rows of {len(table.rows)}, {perf_counter() - start:.0f} s", flush=True)
        for reader, p_value, stands in said(table, queries, rest):
            every.append((p_value, stands))
            mark = "FOUND" if stands <= LEVEL else ""
            print(f"   {reader:<28} p {p_value:<8.2g} stands {stands:<8.2g} {mark}", flush=True)
    for at in (0.2, 0.1, 0.05, 0.01, 0.001):
        print(
            f"p <= {at}: {sum(p <= at for p, _ in every)} of {len(every)} readers, "
            f"{sum(p <= at for _, p in every)} without any one column"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
