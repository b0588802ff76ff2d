"""The resampled twin: the same rows with other labels, drawn by the baseline's chances."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabcontam.twins.base import Twin, UnseenTwin
from tabcontam.twins.label_baseline import LabelBaseline
from tabcontam.twins.twin_sample import TwinSample


@dataclass(frozen=True)
class ResampledTwin(Twin):
    """Each row's label is drawn by the baseline's chances given the other cells.

    Keeps: every cell but the label, and how often a label comes with cells like these.

    Changes: the label. A recalled label is right no more often than one that the baseline draws.

    Cannot tell memory from skill beyond the baseline's: a model that knows better than the baseline how the label
    follows from the cells loses as one that recalls it does. And a model that recalls a label is wrong here where a
    prediction might be right, so that the difference is more than memory adds.
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
