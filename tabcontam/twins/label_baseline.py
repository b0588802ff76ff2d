"""The baseline of a row's label: the chance of each class given the other cells, by learners of other rows.

It also predicts made-up rows. It combines gradient boosting with logistic regression; the latter also sees the product
of any two numbers. One temperature calibrates the chances; it is chosen to minimise the log-loss on held-out rows (Guo
et al. 2017, "On calibration of modern neural networks", section 4.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabcontam.baseline.stored_facts import one_thread
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.table import Table
from tabcontam.tables.unread_rows import fresh_features
from tabcontam.twins.row_encoder import Encoder, for_trees
from tabcontam.twins.thresholds import LEAST_CLASS_CHANCE, TWIN_FOLDS
from tabcontam.twins.twin_sample import Floats, Ints, Row, TwinSample, sample

BOOSTING, LINEAR = "gradient boosting", "logistic regression"
PRODUCTS = "logistic regression with products"
TEMPERATURES = tuple(2.0 ** (step / 16) for step in range(-24, 25))


@dataclass(frozen=True, eq=False)
class FoldLearners:
    """Classifiers: one for each part of a sample's rows. Each one learned from the other parts."""

    encoder: Encoder
    parts: Ints
    fitted: tuple[Any, ...]
    read: Callable[[Floats], Floats]  # the columns that the learners use
    classes: int

    def chances(self, rows: Sequence[Row], of: Sequence[int]) -> Floats:
        """Return the chance of each class, shape (rows, classes). `of` has the sample index of each row's original."""
        read = self.read(self.encoder.plain(rows))
        parts, found = self.parts[list(of)], np.zeros((len(rows), self.classes))
        for part, model in enumerate(self.fitted):
            own = parts == part
            if own.any():
                found[np.ix_(own, model.classes_)] = model.predict_proba(read[own])
        return found


def models(sample: TwinSample, kind: str, parts: Ints) -> FoldLearners:
    """Return learners of a kind, one for each part; `parts` has the part of each of the sample's rows."""
    encoder = Encoder.of(sample)
    looks: dict[str, Callable[[Floats], Floats]] = {LINEAR: encoder.spread_of, PRODUCTS: encoder.products_of}
    reads = looks.get(kind, np.asarray)
    read = reads(encoder.plain(sample.rows))
    make = _boosting if kind == BOOSTING else _linear
    fitted = tuple(make(read[parts != part], sample.codes[parts != part]) for part in range(TWIN_FOLDS))
    return FoldLearners(encoder, parts, fitted, reads, len(sample.classes))


def _boosting(read: Floats, codes: Ints) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=15, early_stopping=False, l2_regularization=1.0, random_state=0
    )
    return model.fit(for_trees(read), codes)


def _linear(read: Floats, codes: Ints) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(read, codes)


@dataclass(frozen=True, eq=False)
class LabelBaseline:
    """The chance of each class given the other cells, for a sample's rows and for their twins."""

    sample: TwinSample
    members: tuple[FoldLearners, ...]
    temperature: float

    def chances(self, rows: Sequence[Row], of: Sequence[int]) -> Floats:
        """Return the chance of each class, shape (rows, classes). `of` has the sample index of each row's original."""
        return _tempered(sum(one.chances(rows, of) for one in self.members) / len(self.members), self.temperature)

    def each(self, rows: Sequence[Row], of: Sequence[int]) -> list[Floats]:
        """Return the chance of each class by each kind of learner, each array of shape (rows, classes)."""
        return [_tempered(one.chances(rows, of), self.temperature) for one in self.members]

    def drawn(self, rows: Sequence[Row], of: Sequence[int], rng: np.random.Generator) -> tuple[str, ...]:
        """Return a random class for each row, drawn with the chances that the baseline predicts."""
        edges = self.chances(rows, of).cumsum(axis=1)
        places = (rng.random((len(rows), 1)) * edges[:, -1:] > edges).sum(axis=1)
        return tuple(self.sample.classes[place] for place in places)


def conditional(sample: TwinSample) -> LabelBaseline:
    """Return the baseline of the label that learned from a sample's rows."""
    parts = sample.parts("guesser")
    members = (models(sample, BOOSTING, parts), models(sample, PRODUCTS, parts))
    every = range(len(sample.rows))
    raw: Floats = np.asarray(sum(one.chances(sample.rows, every) for one in members)) / len(members)
    own = np.arange(len(sample.rows)), sample.codes
    losses = [-float(np.log(_tempered(raw, one)[own]).mean()) for one in TEMPERATURES]
    return LabelBaseline(sample, members, TEMPERATURES[int(np.argmin(losses))])


def _tempered(chances: Any, temperature: float) -> Floats:
    raised = np.maximum(np.asarray(chances, dtype=np.float64), LEAST_CLASS_CHANCE) ** (1 / temperature)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True)
class FreshPredictions:
    """The predictions of gradient boosting and logistic regression, for rows by their place and for fresh rows.

    For each row, both learned from other rows of the table, never from a fresh row.
    """

    own: dict[int, tuple[str, ...]]
    fresh: tuple[tuple[str, ...], ...]


def predict_fresh_rows(table: Table) -> FreshPredictions:
    """Return the predictions for at most 1,000 rows, chosen by the table's content, and for its fresh rows.

    Each row is predicted by learners of four fifths of the table's rows, without the row itself. For a fresh row, a
    seed chooses the four fifths. Raises `Skip` with the reason if learners cannot learn from the table.
    """
    return cached_fact(table, "fresh rows", lambda: _fresh_predictions(table))


def _fresh_predictions(table: Table) -> FreshPredictions:
    with one_thread():
        found = sample(table)
        rows, parts = range(found.twins), found.parts("fresh")
        fresh = fresh_features(table, found.features)
        stand_for = found.rng("fresh rows").integers(0, len(found.rows), len(fresh)).tolist()
        every, of = (*found.rows[: found.twins], *fresh), [*rows, *stand_for]
        codes = [models(found, kind, parts).chances(every, of).argmax(axis=1) for kind in (BOOSTING, LINEAR)]
    names = [tuple(each) for each in np.array(found.classes, dtype=object)[np.column_stack(codes)].tolist()]
    own = {found.places[row]: names[row] for row in rows}
    return FreshPredictions(own, tuple(names[found.twins :]))
