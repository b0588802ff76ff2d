"""Columns with names that belong together (item 1, item 2, …): their sum, mean, extremes and spread."""

import re
import warnings
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tabcontam.baseline.coded_columns import Floats
from tabcontam.baseline.laws.quantities import Quantity
from tabcontam.baseline.thresholds import MOST_COLUMN_GROUPS, MOST_CONTIGUOUS_COLUMNS, MOST_SUMMED_GROUPS
from tabcontam.groups import grouped

DIGITS = re.compile(r"\d+")
LAST = re.compile(r"\d+(?=\D*$)")  # the last number of a name


def together(quantities: Sequence[Quantity]) -> list[Floats]:
    """Return sums, means, least and greatest numbers of groups of columns, and the sum of all number columns.

    If cells are missing, the sums and means of the known cells are added.
    """
    groups = [list(group) for group in grouped(quantities, lambda one: DIGITS.sub("", one.name)).values()]
    large = sorted((group for group in groups if len(group) > 2), key=lambda group: -len(group))[:MOST_COLUMN_GROUPS]
    numbered = grouped(quantities, lambda one: LAST.sub("", one.name)).values()  # for example 3.1 and 3.2 of part 3
    small = [list(group) for group in numbered if len(group) > 2 and list(group) not in large][:MOST_SUMMED_GROUPS]
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


def spreads(quantities: Sequence[Quantity]) -> list[tuple[str, Floats]]:
    """Return statistics of a row's numbers, with their names, for columns that may belong together.

    They are the standard deviation and variance (of a sample and of all), the coefficient of variation, the standard
    error, the geometric and the harmonic mean, and the root mean square.
    """
    found: list[tuple[str, Floats]] = []
    for number, group in enumerate(_alike(quantities)):
        lines = np.array([one.values for one in group])
        count = len(lines)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # for rows without any number
            mean, sample, whole = lines.mean(axis=0), lines.std(axis=0, ddof=1), lines.std(axis=0)
            positive = np.where(lines > 0, lines, np.nan)
            made = {
                "deviation": sample,
                "deviation of all": whole,
                "variance": sample**2,
                "variance of all": whole**2,
                "error": sample / np.sqrt(count),
                "variation": sample / mean,
                "variation of all": whole / mean,
                "variation in %": 100 * sample / mean,
                "variation of all in %": 100 * whole / mean,
                "geometric mean": np.exp(np.log(positive).mean(axis=0)),
                "harmonic mean": count / (1 / positive).sum(axis=0),
                "root mean square": np.sqrt((lines**2).mean(axis=0)),
            }
        found += [(f"{name} of group {number}", values) for name, values in made.items()]
    return found


def _alike(quantities: Sequence[Quantity]) -> list[list[Quantity]]:
    """Return groups by name (item 1, item 2), by consecutive letters (a, b, c) and, for few columns, by position."""
    groups = [list(group) for group in grouped(quantities, lambda one: DIGITS.sub("", one.name)).values()]
    letters = sorted((one for one in quantities if len(one.name) == 1), key=lambda one: one.name)
    ends = [place for place, (one, other) in enumerate(pairwise(letters), 1) if ord(other.name) > ord(one.name) + 1]
    groups += [letters[start:end] for start, end in pairwise([0, *ends, len(letters)])]
    groups = sorted((group for group in groups if len(group) > 2), key=lambda group: -len(group))[:MOST_COLUMN_GROUPS]
    if len(quantities) <= MOST_CONTIGUOUS_COLUMNS:
        places = range(len(quantities))
        groups += [list(quantities[start : end + 1]) for start in places for end in places[start + 2 :]]
    return list({tuple(one.name for one in group): group for group in groups}.values())
