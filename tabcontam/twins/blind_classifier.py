"""A blind classifier: it tries to distinguish a twin's rows from the table's, and learns from other rows and labels.

It has two uses: to select, among several draws for a row, one that looks like the table, and to test a finished twin.
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
    """Blind classifiers for two halves of a sample's rows. A row and all its twins are in the same half."""

    sample: TwinSample
    rows: Sequence[int]
    salt: str

    @cached_property
    def encoder(self) -> Encoder:
        return Encoder.of(self.sample)

    @cached_property
    def own(self) -> Floats:
        """The rows as numbers, with the class in the last column."""
        return self.read([self.sample.rows[row] for row in self.rows], self.sample.codes[list(self.rows)])

    @cached_property
    def half(self) -> Ints:
        """The half of each row, 0 or 1."""
        return np.asarray(self.sample.rng("blind", self.salt).permutation(len(self.rows)) % BLIND_HALVES)

    def read(self, rows: Sequence[Row], codes: Ints) -> Floats:
        """Return rows and the codes of their classes as one array of numbers."""
        return np.column_stack([self.encoder.plain(rows), codes])

    def taught(self, twins: Floats) -> list[Any]:
        """Return two classifiers, one for each half, which learned from the rows and twins of the other half."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        found = []
        for part in range(BLIND_HALVES):
            others = self.half != part
            model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=15, early_stopping=False, random_state=0)
            read = for_trees(np.vstack([self.own[others], twins[others]]))
            found.append(model.fit(read, np.repeat([0, 1], others.sum())))
        return found

    def ranking(self, twins: Floats) -> Ranking:
        """Return the AUC with which classifiers distinguish held-out twins from rows, with a 95 % interval."""
        classifiers, scores = self.taught(twins), np.zeros((2, len(self.rows)))
        for part, model in enumerate(classifiers):
            asked = self.half == part
            scores[0, asked] = _odds(model, self.own[asked])
            scores[1, asked] = _odds(model, twins[asked])
        return paired(scores[1].tolist(), scores[0].tolist())

    def chosen(self, draws: Floats, of: Ints, rng: np.random.Generator) -> Ints:
        """Return one of several draws for each row, at random; draws that look more like the table are more probable.

        `draws` has the draws as numbers; `of` has, for each draw, the place of its row. The probability of a draw is
        proportional to the odds that it is a row of the table. Classifiers that learned from other rows estimate these
        odds (Azadi et al. 2019, "Discriminator rejection sampling", here among a few draws).
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
    """Return the log-odds that each row is a twin."""
    return np.asarray(model.decision_function(rows), dtype=np.float64) if len(rows) else np.zeros(0)


def _taken(looks: Floats, of: Ints, rng: np.random.Generator) -> Ints:
    """Return one draw for each row, with probabilities proportional to exp(`looks`) (by Gumbel's method)."""
    keys = looks + rng.gumbel(size=len(looks))
    order = np.lexsort((-keys, of))
    _, first = np.unique(of[order], return_index=True)
    return np.asarray(order[first], dtype=np.int64)
