"""The resampled twin: the table's rows with other labels, drawn with the baseline's chances."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.twin_sample import TwinSample


@dataclass(frozen=True)
class ResampledTwin(Twin):
    """Each row's label is drawn by the baseline's chances given the other cells.

    Keeps: every cell except the label, and how often a label occurs with such cells.

    Changes: the label. A recalled label is right no more often than one that the baseline draws.

    Cannot tell memory from skill that exceeds the baseline's. If a model predicts the label better than the baseline
    does, it loses accuracy here just as a model that recalls the label does. A model that recalls labels also loses too
    much accuracy here. Where a prediction would be right by chance, a recalled label may be wrong: the loss is larger
    than the gain from memory.
    """

    kind: ClassVar[str] = "resampled"
    keeps: ClassVar[str] = "every cell but the label"
    changes: ClassVar[str] = "the label, drawn by the baseline's chances given the other cells"
    tries: ClassVar[int] = 5

    def make(self, sample: TwinSample, baseline: LabelBaseline, rng: np.random.Generator) -> UnseenTwin:
        """Return a twin of each row."""
        rows = sample.rows[: sample.twins]
        labels = baseline.drawn(rows, range(len(rows)), rng)
        return UnseenTwin(self.kind, sample.places[: sample.twins], sample.features, rows, labels)
