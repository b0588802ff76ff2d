"""The exact distribution of a sum of ranks."""

from fractions import Fraction
from itertools import product
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.statistics import rank_sums as ranking
from tabcontam.statistics.rank_sums import rank_sum_tail


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)).map(sorted), max_size=5))
def test_it_is_the_share_of_all_ranks_with_such_a_sum(drawn: list[list[int]]) -> None:
    ranks, of = [rank for rank, _ in drawn], [most for _, most in drawn]
    every = list(product(*(range(1, most + 1) for most in of)))
    share = Fraction(sum(sum(one) <= sum(ranks) for one in every), len(every))
    assert rank_sum_tail(ranks, of) == pytest.approx(float(share))


def test_the_smallest_tails_have_all_their_digits() -> None:
    assert rank_sum_tail([1] * 50, [26] * 50) == pytest.approx(26.0**-50, rel=1e-12)
    # As long as the sum stays below 26 no rank can be out of reach: the orders are counted by a binomial coefficient.
    assert rank_sum_tail([2] * 20 + [1] * 30, [26] * 50) == pytest.approx(comb(70, 20) / 26.0**50, rel=1e-12)


def test_it_is_never_nothing() -> None:
    assert 0 < rank_sum_tail([1] * 400, [100] * 400) < 1e-300


def test_many_ranks_among_many() -> None:
    assert rank_sum_tail([500] * 100, [1000] * 100) == pytest.approx(0.5, abs=0.02)
    assert rank_sum_tail([1000] * 100, [1000] * 100) == pytest.approx(1)


def test_it_is_uniform_or_above() -> None:
    rng, of = Random(0), [26] * 6 + [2] * 5
    tails = sorted(rank_sum_tail([rng.randint(1, most) for most in of], of) for _ in range(2000))
    assert all(tail >= (place + 1) / 2000 - 0.03 for place, tail in enumerate(tails))


def test_no_ranks_say_nothing() -> None:
    assert rank_sum_tail([], []) == 1.0
    assert rank_sum_tail([1], [1]) == 1.0


@pytest.mark.parametrize(("ranks", "of"), [([1], []), ([0], [3]), ([4], [3])])
def test_what_is_no_rank_is_refused(ranks: list[int], of: list[int]) -> None:
    with pytest.raises(ValueError, match="rank"):
        rank_sum_tail(ranks, of)


def test_of_two_orders_a_shard_it_is_the_binomial() -> None:
    ranks = [1] * 9 + [2]
    assert rank_sum_tail(ranks, [2] * 10) == pytest.approx((1 + 10) / 2**10)


def test_a_large_tail_is_the_same_by_either_way() -> None:
    rng = Random(0)
    for size in (30, 200):
        ranks = [rng.randint(1, 100) for _ in range(size)]
        exact = np.eye(1, sum(ranks) - size + 1)[0]
        for _ in ranks:
            exact = ranking._added(exact, 100)
        assert rank_sum_tail(ranks, [100] * size) == pytest.approx(exact.sum(), rel=1e-6)
