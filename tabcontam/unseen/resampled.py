"""The same rows with other labels, as likely as the guesser says."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabcontam.unseen.base import Twin, Unseen
from tabcontam.unseen.conditional import Conditional
from tabcontam.unseen.sample import Sample


@dataclass(frozen=True)
class Resampled(Twin):
    """Each row's label is redrawn from the guesser's conditional given the other cells.

    Keeps: every cell but the label, and how often a label comes with cells like these.

    Changes: the label. A recalled label is right no oftener than one that the guesser draws.

    Cannot tell memory from skill beyond the guesser's: whoever knows better than the guesser how the label follows from
    the cells loses as whoever recalls it does. And who recalls a label misses here where a guess might be right, so
    that the difference is more than what memory adds.
    """

    kind: ClassVar[str] = "resampled"
    keeps: ClassVar[str] = "every cell but the label"
    changes: ClassVar[str] = "the label, redrawn from the guesser's conditional"
    tries: ClassVar[int] = 5

    def make(self, found: Sample, guesser: Conditional, rng: np.random.Generator) -> Unseen:
        """A twin of each row."""
        rows = found.rows[: found.twins]
        labels = guesser.drawn(rows, range(len(rows)), rng)
        return Unseen(self.kind, found.places[: found.twins], found.features, rows, labels)
