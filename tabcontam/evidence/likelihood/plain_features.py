"""Features of rows that a predictor can see without having read them: how a row differs from other rows."""

import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tabcontam.evidence.thresholds import MOST_SEPARATE_VALUES, PRIOR_COUNT
from tabcontam.reading.numbers import is_number
from tabcontam.statistics.auc import Floats
from tabcontam.tables.table import Cell

Rows = Sequence[Sequence[Cell]]


def typical(rows: Rows, texts: Sequence[str]) -> Floats:
    """Return how usual each row is among these rows: one line of numbers a row.

    The columns are the length of its text, its packed size in bytes, how often its cells occur in other rows, and how
    far its numbers are from the middle. They do not depend on the order of the rows, or on which rows are published.
    """
    columns = list(zip(*rows, strict=True))
    lengths = [len(text) for text in texts]
    packed = [len(zlib.compress(text.encode("utf-8", "backslashreplace"))) for text in texts]
    common = np.mean([_common(cells) for cells in columns], axis=0)
    ranks = [_ranks(cells) for cells in columns]
    outlying = np.mean([one**2 for one in ranks], axis=0)
    return np.column_stack([lengths, packed, common, outlying]).astype(np.float64)


def all_features(rows: Rows, texts: Sequence[str]) -> Floats:
    """Return the features of `typical`, and for each column the rank, length and frequency of its cells.

    Further features show whether a cell is missing, and which of the most frequent values it has.
    """
    found = [typical(rows, texts)]
    for cells in zip(*rows, strict=True):
        lengths = np.array([len(cell or "") for cell in cells], dtype=np.float64)
        missing = np.array([cell is None for cell in cells], dtype=np.float64)
        ranks = _ranks(cells)
        often = [value for value, times in Counter(cells).most_common(MOST_SEPARATE_VALUES) if times > 1]
        ones = [np.array([cell == value for cell in cells], dtype=np.float64) for value in often]
        found.append(np.column_stack([ranks, ranks**2, lengths, _common(cells), missing, *ones]))
    return np.column_stack(found)


def _common(cells: Sequence[Cell]) -> Floats:
    """Return the logarithm of how many other rows have each cell."""
    times = Counter(cells)
    return np.array([np.log(times[cell] - 1 + PRIOR_COUNT) for cell in cells])


def _ranks(cells: Sequence[Cell]) -> Floats:
    """Return the rank of each cell among all, from -1 to 1: numbers by size, other cells in alphabetical order."""
    from scipy.stats import rankdata

    numeric = sum(cell is not None and is_number(cell) for cell in cells) * 2 > len(cells)
    if numeric:
        values = [float(cell) if cell is not None and is_number(cell) else np.nan for cell in cells]
        known = np.array(values)
        known[~np.isfinite(known)] = np.nanmedian(np.where(np.isfinite(known), known, np.nan))
        ranks = rankdata(known)
    else:
        order = {cell: place for place, cell in enumerate(sorted({cell or "" for cell in cells}))}
        ranks = rankdata([order[cell or ""] for cell in cells])
    return np.asarray(2 * (ranks - 0.5) / len(ranks) - 1)
