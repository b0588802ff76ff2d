"""Columns that belong together by their names (item 1, item 2, …): their sum, mean, least and largest number."""

import re
from collections.abc import Sequence

import numpy as np

from tabcontam.groups import grouped
from tabcontam.guesser.columns import Floats
from tabcontam.guesser.laws.quantities import Quantity

MOST = 4  # groups
MOST_SMALL = 30  # groups of which only the sum is looked at
DIGITS = re.compile(r"\d+")
LAST = re.compile(r"\d+(?=\D*$)")  # the last number of a name


def together(quantities: Sequence[Quantity]) -> list[Floats]:
    """For each group the sum, also where some are missing, the mean, the least and largest number; for all the sum."""
    groups = [list(group) for group in grouped(quantities, lambda one: DIGITS.sub("", one.name)).values()]
    large = sorted((group for group in groups if len(group) > 2), key=lambda group: -len(group))[:MOST]
    numbered = grouped(quantities, lambda one: LAST.sub("", one.name)).values()  # part 3.1, 3.2, …: of one part
    small = [list(group) for group in numbered if len(group) > 2 and list(group) not in large][:MOST_SMALL]
    everything = list(quantities)
    if len(quantities) > 2 and not any(len(group) == len(quantities) for group in large):
        large.append(everything)
    found: list[Floats] = [np.array([one.values for one in group]).sum(axis=0) for group in small]
    for group in large:
        lines = np.array([one.values for one in group])
        found.append(lines.sum(axis=0))
        known = np.isfinite(lines)
        some = known.any(axis=0)
        if not known.all():
            found.append(np.where(some, np.where(known, lines, 0.0).sum(axis=0), np.nan))
            found.append(found[-1] / np.maximum(known.sum(axis=0), 1))
        if group is everything:
            continue
        found.append(np.where(some, np.where(known, lines, np.inf).min(axis=0), np.nan))
        found.append(np.where(some, np.where(known, lines, -np.inf).max(axis=0), np.nan))
    return found
