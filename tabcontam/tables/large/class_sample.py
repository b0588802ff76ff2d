"""A sample of rows for each target value, so that prompts can show and ask about rare classes."""

from collections import Counter

import numpy as np

from tabcontam.tables.large.chunks import Chunk
from tabcontam.tables.large.table_excerpt import numbered
from tabcontam.tables.table_contents import Rows
from tabcontam.tables.thresholds import LEAST_SAMPLED_PER_CLASS, MOST_TARGET_VALUES

Row = tuple[str | None, ...]


class ClassSample:
    """A sample of the rows of each class, drawn during reading by random numbers as in `BlockSample`."""

    def __init__(self, target: int | None) -> None:
        self._target = target
        self._drawn: dict[int, list[tuple[int, int, Row]]] = {}

    def add(self, chunk: Chunk, first: int) -> None:
        """Add these rows; `first` is the place in the file of the first one."""
        if self._target is None:
            return
        hashes = chunk.hashes(self._target)
        values = np.unique(hashes)
        if len(self._drawn.keys() | set(values[: MOST_TARGET_VALUES + 1].tolist())) > MOST_TARGET_VALUES:
            self._target = None
            self._drawn.clear()
            return
        numbers = numbered(np.arange(first, first + chunk.rows))
        for value in values.tolist():
            drawn = self._drawn.setdefault(value, [])
            rows = np.flatnonzero(hashes == np.uint64(value))
            if len(drawn) == LEAST_SAMPLED_PER_CLASS:
                rows = rows[numbers[rows] < np.uint64(drawn[-1][0])]
            places = rows[np.argsort(numbers[rows])[:LEAST_SAMPLED_PER_CLASS]].tolist()
            new = zip(numbers[places].tolist(), (first + place for place in places), chunk.texts(places), strict=True)
            self._drawn[value] = sorted([*drawn, *new], key=lambda one: one[:2])[:LEAST_SAMPLED_PER_CLASS]

    def missed(self, kept: Rows) -> dict[int, Row]:
        """Return extra rows of classes with too few rows among `kept`, by their places in the file."""
        if self._target is None:
            return {}
        target, found = self._target, dict[int, Row]()
        counts = Counter(row[target] for row in kept)
        for drawn in self._drawn.values():
            if counts[drawn[0][2][target]] < LEAST_SAMPLED_PER_CLASS:
                found |= {place: row for _, place, row in drawn}
        return found
