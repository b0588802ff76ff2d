"""Tails of two sums: of the ranks of true values among candidates, and of signed ranks of differences."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from sys import float_info

import numpy as np
from numpy.typing import NDArray

from tabcontam.statistics.thresholds import LEAST_TRANSFORM_TAIL, SHARE_STEPS, TARGET_POWER


def rank_sum_tail(ranks: Sequence[int], sizes: Sequence[int]) -> float:
    """Return P(sum of ranks <= observed) of independent ranks, exactly.

    Rank i is uniform on 1 to `sizes[i]`. `ranks` are the observed ranks; 1 is the best. A small tail is a sum of
    positive terms, which keeps all digits; no tail is 0. The tail is 1 if there are no ranks. Raises `ValueError` if
    the lengths differ or a rank is not from 1 to its size.
    """
    if len(ranks) != len(sizes):
        raise ValueError(f"{len(ranks)} ranks need as many numbers of candidates, not {len(sizes)}")
    if wrong := [(rank, most) for rank, most in zip(ranks, sizes, strict=True) if not 1 <= rank <= most]:
        raise ValueError(f"rank {wrong[0][0]} is not from 1 to {wrong[0][1]}")
    # Sums are counted from the least possible sum up to the observed sum.
    return _tail(tuple(sorted(sizes)), sum(ranks) - len(ranks))


def signed_rank_tail(differences: Sequence[float]) -> float:
    """Return P(sum of the positive differences' ranks >= observed) if each difference is positive with chance one half.

    Ranks are by absolute size, ties in the given order. Differences of 0 are left out. The tail is exact for up to 50
    differences, and a normal approximation for more. It is 1 if there are none. Source: Wilcoxon 1945, "Individual
    Comparisons by Ranking Methods".
    """
    values = np.array([difference for difference in differences if difference])
    if not len(values):
        return 1.0
    from scipy.stats import wilcoxon

    signed = np.sign(values) * (1 + np.argsort(np.argsort(np.abs(values), kind="stable")))
    return float(wilcoxon(signed, alternative="greater").pvalue)


def detectable_share(sizes: Sequence[int], level: float, power: float = TARGET_POWER) -> float | None:
    """Return the least remembered share, in hundredths, at which P(p <= `level`) is at least `power`.

    A remembered value has rank 1. Any other value has a rank from 1 to its number in `sizes`, all equally likely.
    Return None if not even a share of 1 suffices.
    """
    return _share(tuple(sorted(sizes)), level, power)


@lru_cache(maxsize=256)
def _share(sizes: tuple[int, ...], level: float, power: float) -> float | None:
    by_chance = np.cumsum(_chances(sizes, 0.0))
    limit = int(np.searchsorted(by_chance, level * (1 + 1e-9), side="right"))  # number of sums with p <= level

    def found(share: float) -> bool:
        return limit > 0 and float(_chances(sizes, share)[:limit].sum()) >= power

    low, high = 0, SHARE_STEPS
    if not found(1.0):
        return None
    while high - low > 1:  # a larger share is found more often
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle / SHARE_STEPS) else (middle, high)
    return high / SHARE_STEPS


def _chances(sizes: Sequence[int], share: float) -> NDArray[np.float64]:
    """Return the chance of each sum of ranks, least sum first. A rank is 1 with chance `share`, otherwise uniform."""
    state = np.ones(1)
    for most in sizes:
        one = np.full(most, (1 - share) / most)
        one[0] += share
        state = np.convolve(state, one)
    return state


@lru_cache(maxsize=256)  # a result is judged several times
def _tail(sizes: tuple[int, ...], observed: int) -> float:
    quick = _transformed(sizes, observed)
    if quick > LEAST_TRANSFORM_TAIL:
        return min(1.0, quick)
    state = np.zeros(observed + 1)
    state[0] = 1.0
    for most in sizes:
        state = _added(state, most)
    return min(1.0, max(float(state.sum()), float_info.min))


def _transformed(sizes: Sequence[int], observed: int) -> float:
    """Return the tail by Fourier transforms, which multiply when ranks are added; too inexact for small tails."""
    size = 2 << sum(most - 1 for most in sizes).bit_length()
    found = np.ones(size // 2 + 1, dtype=np.complex128)
    for most, times in Counter(sizes).items():
        one = np.zeros(size)
        one[:most] = 1 / most
        found *= np.fft.rfft(one) ** times
    return float(np.fft.irfft(found, size)[: observed + 1].sum())


def _added(state: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Return the chance of each sum with one more rank: the mean of `most` adjacent chances in `state`.

    A window's sum is a sum up to the end of one block plus a sum from the start of the next (van Herk 1992).
    Differences of running sums would lose the digits of small chances.
    """
    blocks = -(-len(state) // most) + 1
    whole = np.zeros(blocks * most)
    whole[most : most + len(state)] = state
    shaped = whole.reshape(blocks, most)
    rising = shaped.cumsum(axis=1).reshape(-1)  # from the start of the block
    falling = shaped[:, ::-1].cumsum(axis=1)[:, ::-1].reshape(-1)  # to the end of the block
    ends = np.arange(most, most + len(state))
    starts = ends - most + 1
    found = rising[ends]
    inner = starts % most != 0
    found[inner] += falling[starts[inner]]
    return np.asarray(found / most)
