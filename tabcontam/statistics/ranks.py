"""Ranks of one among others that are exchangeable with it: what their sum is worth."""

from collections.abc import Sequence
from sys import float_info

import numpy as np


def rank_sum_tail(ranks: Sequence[int], of: Sequence[int]) -> float:
    """P(sum of ranks <= observed) for independent ranks, each uniform on 1 to its number in `of`, exactly.

    `ranks` are the observed ones, 1 for the best. Sums positive terms only, so that the smallest tail has all its
    digits; never 0. It is 1 where there are no ranks. Raises ValueError where the two have different lengths, and for
    a rank that is not among its numbers.
    """
    if len(ranks) != len(of):
        raise ValueError(f"{len(ranks)} ranks, and {len(of)} numbers of what they are among")
    if wrong := [(rank, most) for rank, most in zip(ranks, of, strict=True) if not 1 <= rank <= most]:
        raise ValueError(f"rank {wrong[0][0]} among {wrong[0][1]}")
    beyond = sum(ranks) - len(ranks)  # ranks counted from 0
    chances = np.ones(1)  # of each sum up to the observed one
    for most in sorted(of):
        chances = np.convolve(chances, np.full(min(most, beyond + 1), 1 / most))[: beyond + 1]
    return min(1.0, max(float(chances.sum()), float_info.min))
