"""Algorithm 1's p-values: which resamples count, and what the two ways to draw make of the same scores."""

from itertools import product

import numpy as np
import pytest

from tabcontam.extensions.papers.guided.algorithm_one import bootstrap

GUIDED, GENERAL = [0.6, 0.4, 0.9, 0.2], [0.5, 0.5, 0.4, 0.1]


def shares(guided: list[float], general: list[float], paired: bool) -> float:
    """The same over all resamples there are."""
    draws = list(product(range(len(guided)), repeat=len(guided)))
    pairs = [(draw, draw) for draw in draws] if paired else list(product(draws, draws))
    above = [sum(guided[i] for i in own) - sum(general[i] for i in other) > 1e-9 for own, other in pairs]
    return 1 - float(np.mean(above))


@pytest.mark.parametrize("paired", [True, False])
def test_it_is_the_share_of_resamples_whose_mean_is_not_above(paired: bool) -> None:
    found = bootstrap(GUIDED, GENERAL, paired=paired)
    assert found == pytest.approx(shares(GUIDED, GENERAL, paired), abs=0.015)
    assert found == bootstrap(GUIDED, GENERAL, paired=paired)
    assert found != bootstrap(GUIDED, GENERAL, paired=paired, seed=1)


def test_pairs_that_all_gain_are_told_though_their_scores_vary_more_than_they_gain() -> None:
    general = [0.1, 0.5, 0.9, 0.3, 0.7]
    guided = [score + 0.01 for score in general]
    assert bootstrap(guided, general) == 0.0
    assert bootstrap(guided, general, paired=False) > 0.4


def test_ties_count_against_whatever_the_order_of_the_sum() -> None:
    scores = [0.1, 0.2, 0.3, 0.7, 0.15, 0.55, 0.05]
    assert bootstrap(scores, scores) == 1.0
    one_better = bootstrap([0.3, *scores[1:]], scores)
    assert one_better == pytest.approx((6 / 7) ** 7, abs=0.02)  # where the better one is not drawn, all are ties


@pytest.mark.parametrize(("guided", "general"), [([], []), ([0.1], []), ([0.1, 0.2], [0.1])])
def test_what_is_no_pairs_is_refused(guided: list[float], general: list[float]) -> None:
    with pytest.raises(ValueError, match="do not form pairs"):
        bootstrap(guided, general)
