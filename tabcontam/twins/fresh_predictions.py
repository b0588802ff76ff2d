"""Predictions of learners for the table's rows and for fresh rows, to measure how hard to predict both are."""

from dataclasses import dataclass

import numpy as np

from tabcontam.baseline.stored_facts import one_thread
from tabcontam.tables.cached_facts import cached_fact
from tabcontam.tables.fresh_table_rows import fresh_features
from tabcontam.tables.table import Table
from tabcontam.twins.label_baseline import BOOSTING, LINEAR, models
from tabcontam.twins.twin_sample import sample


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
    return cached_fact(table, "fresh rows", lambda: _find(table))


def _find(table: Table) -> FreshPredictions:
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
