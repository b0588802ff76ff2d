"""A blind classifier that has to tell a twin's rows from the table's, by rows and labels that it did not learn from.

It judges a finished twin and, before, which of several draws of a row look most like the table's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tabcontam.statistics.auc import Ranking, paired
from tabcontam.twins.row_encoder import Encoder, for_trees
from tabcontam.twins.thresholds import BLIND_HALVES, BLIND_PASSES, MOST_LOG_ODDS_OF_A_PASS
from tabcontam.twins.twin_sample import Floats, Ints, Row, TwinSample


@dataclass(frozen=True, eq=False)
class BlindClassifier:
    """Some of a sample's rows, in two halves; a row and all that stands for it are in the same one."""

    sample: TwinSample
    rows: Sequence[int]
    salt: str

    @cached_property
    def encoder(self) -> Encoder:
        """The features as numbers."""
        return Encoder.of(self.sample)

    @cached_property
    def own(self) -> Floats:
        """The rows as numbers, their class last."""
        return self.read([self.sample.rows[row] for row in self.rows], self.sample.codes[list(self.rows)])

    @cached_property
    def half(self) -> Ints:
        """The half of each row."""
        return np.asarray(self.sample.rng("blind", self.salt).permutation(len(self.rows)) % BLIND_HALVES)

    def read(self, rows: Sequence[Row], codes: Ints) -> Floats:
        """Return rows and the codes of their classes as numbers."""
        return np.column_stack([self.encoder.plain(rows), codes])

    def taught(self, twins: Floats) -> list[Any]:
        """Return two classifiers, one for each half; it has learned from the rows and twins of the other half."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        found = []
        for part in range(BLIND_HALVES):
            others = self.half != part
            model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=15, early_stopping=False, random_state=0)
            read = for_trees(np.vstack([self.own[others], twins[others]]))
            found.append(model.fit(read, np.repeat([0, 1], others.sum())))
        return found

    def ranking(self, twins: Floats) -> Ranking:
        """Return how well classifiers separate twins from rows: the AUC on held-out rows, with a 95 % interval."""
        classifiers, scores = self.taught(twins), np.zeros((2, len(self.rows)))
        for part, model in enumerate(classifiers):
            asked = self.half == part
            scores[0, asked] = _odds(model, self.own[asked])
            scores[1, asked] = _odds(model, twins[asked])
        return paired(scores[1].tolist(), scores[0].tolist())

    def chosen(self, draws: Floats, of: Ints, rng: np.random.Generator) -> Ints:
        """Return a random one of several draws of each row, the likelier the more it looks like the table.

        `draws` has them as numbers, `of` the place of the row of each. The chance is in proportion to the odds that the
        draw is the table's, by classifiers that learned from other rows (Azadi et al. 2019, "Discriminator rejection
        sampling", here among a few draws).
        """
        looks = np.zeros(len(draws))
        taken = _taken(looks, of, rng)
        for _ in range(BLIND_PASSES):
            for part, model in enumerate(self.taught(draws[taken])):
                asked = self.half[of] == part
                looks[asked] -= np.clip(_odds(model, draws[asked]), -MOST_LOG_ODDS_OF_A_PASS, MOST_LOG_ODDS_OF_A_PASS)
            taken = _taken(looks, of, rng)
        return taken


def _odds(model: Any, rows: Floats) -> Floats:
    """Return the log-odds that rows are a twin's."""
    return np.asarray(model.decision_function(rows), dtype=np.float64) if len(rows) else np.zeros(0)


def _taken(looks: Floats, of: Ints, rng: np.random.Generator) -> Ints:
    """Return one draw for each row, in proportion to the exponential of its `looks` (by Gumbel's method)."""
    keys = looks + rng.gumbel(size=len(looks))
    order = np.lexsort((-keys, of))
    _, first = np.unique(of[order], return_index=True)
    return np.asarray(order[first], dtype=np.int64)
