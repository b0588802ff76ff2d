"""Twins with labels that the baseline draws: on the table's own rows, or on rows of a statistical model of it."""

import numpy as np

from tabcontam.errors import Skip
from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.moves import Moves
from tabcontam.twins.thresholds import LEAST_TWINNED_SHARE, RESAMPLING_ROUNDS
from tabcontam.twins.twin_sample import Row, TwinSample


class ResampledTwin(Twin):
    """Each row's label is drawn by the baseline's chances given the other cells.

    Keeps: every cell except the label, and how often a label occurs with such cells.

    Changes: the label. A recalled label is right no more often than one that the baseline draws.

    Cannot tell memory from skill that exceeds the baseline's. If a model predicts the label better than the baseline
    does, it loses accuracy here just as a model that recalls the label does. A model that recalls labels also loses too
    much accuracy here. Where a prediction would be right by chance, a recalled label may be wrong: the loss is larger
    than the gain from memory.
    """

    kind = "resampled"
    tries = 5

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        rows = sample.rows[: sample.twins]
        labels = baseline.drawn(rows, range(len(rows)), rng)
        return UnseenTwin(self.kind, sample.places[: sample.twins], sample.features, rows, labels)


class StatisticalTwin(Twin):
    """New rows like the table's: each is drawn around a row of the table, its label with the baseline's chances.

    The statistical model is a kernel. Each group of related features chooses one of the row's ten nearest rows, and
    takes that row's cells or moves towards them.

    Keeps: the names of features and categories, and how cells are related among similar rows.

    Changes: every group of features, except groups with a category that fewer than 30 rows have; and the label, which
    is drawn.

    Cannot tell memory from skill that exceeds the baseline's, like `resampled`: labels have the baseline's chances, and
    a model that predicts better than the baseline does worse on them.
    """

    kind = "statistical"
    tries = 3

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return twins of rows with a draw that is no real row. Raises `Skip` if fewer than half have such a draw."""
        moves, every = Moves(sample), list(range(sample.twins))
        moves.check_no_texts("which cannot be drawn from similar rows")
        draws: dict[int, list[Row]] = {}
        for _ in range(RESAMPLING_ROUNDS):
            for row, one in zip(every, moves.drawn(every, rng), strict=True):
                if not sample.is_real(one):
                    draws.setdefault(row, []).append(one)
        if len(draws) < max(2, LEAST_TWINNED_SHARE * sample.twins):
            raise Skip(f"only {len(draws)} of {sample.twins} rows have a draw that is not itself a row of the table")
        return self._of_draws(sample, draws, lambda flat, of: baseline.drawn(flat, of, rng), rng)
