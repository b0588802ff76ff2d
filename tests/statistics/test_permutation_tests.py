"""Values exchanged within groups, and several p-values as one."""

from itertools import permutations
from math import erf, exp
from random import Random

import numpy as np
import pytest

from tabcontam.statistics.permutation_tests import fisher, permute_within_groups, sign_flipped
from tabcontam.statistics.thresholds import PERMUTATION_DRAWS


def test_it_is_the_share_of_all_ways_to_deal_out_the_values() -> None:
    values = np.random.default_rng(0).normal(size=(5, 5))
    own = np.array([2, 0, 1, 4, 3])
    off = values - values.mean(axis=1, keepdims=True)
    off = off - off.mean(axis=0, keepdims=True)
    chances = np.exp(off) / np.exp(off).sum(axis=1, keepdims=True)
    every = [sum(chances[row, place] for row, place in enumerate(order)) for order in permutations(range(5))]
    found = sum(chances[row, place] for row, place in enumerate(own))
    result = permute_within_groups([(values, own)], 0)
    assert result.p_value == pytest.approx(np.mean(np.array(every) >= found - 1e-12), abs=0.02)
    assert result.rows == 5
    assert result.observed == pytest.approx(found / 5)
    assert result.expected == pytest.approx(np.mean(every) / 5)


def test_who_knows_all_has_the_least_p_value_and_who_prefers_a_value_none() -> None:
    own = np.arange(12)
    known = permute_within_groups([(np.eye(12) * 5, own)], 0)
    assert (known.p_value, known.likeliest) == (1 / (PERMUTATION_DRAWS + 1), 12)
    prefers = np.tile(np.linspace(-50, 0, 12), (12, 1))
    assert permute_within_groups([(prefers, own)], 0).p_value == 1.0


def test_rows_without_a_group_say_nothing() -> None:
    nothing = permute_within_groups([], 0)
    assert (nothing.rows, nothing.observed, nothing.p_value) == (0, 0.0, 1.0)


def test_equal_values_are_one() -> None:
    result = permute_within_groups([(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 3.0]]), np.array([0, 0, 1]))], 0)
    assert result.p_value == pytest.approx(1 / 3, abs=0.02)


@pytest.mark.slow
def test_p_values_of_noise_are_uniform_or_above() -> None:
    rng = np.random.default_rng(1)
    found = sorted(
        permute_within_groups([(rng.normal(size=(6, 6)), rng.permutation(6)) for _ in range(3)], seed).p_value
        for seed in range(200)
    )
    assert all(p >= (place + 1) / 200 - 0.1 for place, p in enumerate(found))


def test_fishers_p_value_is_that_of_the_product() -> None:
    from scipy.stats import combine_pvalues

    for number in (1, 2, 5):
        p_values = [Random(place).random() ** 3 for place in range(number)]
        assert fisher(p_values) == pytest.approx(combine_pvalues(p_values, method="fisher").pvalue)
    assert fisher([]) == 1.0
    assert fisher([1.0, 1.0]) == 1.0
    assert fisher([exp(-300), exp(-300)]) == pytest.approx(601 * exp(-600))


def test_of_few_pairs_all_ways_to_exchange_the_sides_are_counted() -> None:
    assert sign_flipped([0.1, 0.2, 0.3]) == 1 / 8
    assert sign_flipped([0.1, 0.2, -0.3]) == 5 / 8  # 0 is reached by two of eight, and more by three
    assert sign_flipped([0.1, 0.2, 0.3, 0.0]) == 1 / 8
    assert sign_flipped([0.2, -0.2]) == 3 / 4


def test_of_many_pairs_ways_are_drawn() -> None:
    differences = list(np.random.default_rng(1).normal(0.3, 1, 40))
    normal = 0.5 * (1 - erf(sum(differences) / (2 * sum(each**2 for each in differences)) ** 0.5))
    assert sign_flipped(differences) == pytest.approx(normal, abs=0.02)
    assert sign_flipped([1.0] * 40) == 1 / (PERMUTATION_DRAWS + 1)


def test_pairs_that_are_alike_say_nothing() -> None:
    assert sign_flipped([]) == sign_flipped([0.0] * 5) == 1.0
