"""The bootstrap of Golchin and Surdeanu 2024 (Algorithm 1): is one completion nearer to the true text than another?

The module has two ways to draw: the published p-values resample pairs, the authors' public code resamples the two sides
independently. Neither gives the p-value of a null model: resampling does not remove the difference. With ten instances,
its false positives are more frequent than its level allows. `statistics.permutation_tests.sign_flipped` is exact.
"""

from collections.abc import Sequence

import numpy as np

from tabcontam.extensions.papers.thresholds import OVERLAP_RESAMPLES, SAME_SCORE_SUM


def bootstrap(guided: Sequence[float], general: Sequence[float], *, paired: bool = True, seed: int = 0) -> float:
    """Return the share of 10,000 resamples in which the mean of `guided` is not above the mean of `general`.

    Ties count as not above. `guided` and `general` are the overlaps of each instance's two completions, in the same
    order. If `paired`, a resample draws instances with both completions, as published. Otherwise it draws instances for
    each side independently, as the authors' public code does. Equal seeds give equal results. Raises `ValueError` if
    the two lengths differ or are 0.
    """
    if len(guided) != len(general) or not guided:
        raise ValueError(f"{len(guided)} guided and {len(general)} general scores do not form pairs")
    rng = np.random.default_rng(seed)
    size = (OVERLAP_RESAMPLES, len(guided))
    first = rng.integers(0, len(guided), size)
    second = first if paired else rng.integers(0, len(general), size)
    gained = np.asarray(guided, float)[first].sum(axis=1) - np.asarray(general, float)[second].sum(axis=1)
    return 1 - int((gained > SAME_SCORE_SUM * len(guided)).sum()) / OVERLAP_RESAMPLES
