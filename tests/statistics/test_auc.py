"""The AUC of pairs and of independent values, and how often their intervals hold what is true."""

import math
from random import Random

import pytest

from tabcontam.statistics.auc import independent, paired


def test_the_auc_is_the_share_of_pairs_that_are_in_order() -> None:
    assert paired([1.0, 2.0, 3.0], [0.0, 2.5, 2.0]).value == pytest.approx((1 + 1.5 + 3) / 9)
    assert paired([1.0, 1.0], [1.0, 1.0]).value == 0.5
    assert independent([3.0], [1.0, 2.0, 4.0, 3.0]).value == pytest.approx(2.5 / 4)


def test_where_no_value_is_out_of_order_the_interval_is_that_of_a_share() -> None:
    low, high = paired([float(one) for one in range(10, 30)], [0.0] * 20).interval or (0, 0)
    assert [low, high] == pytest.approx([0.025 ** (1 / 20), 1.0])
    low, high = independent([0.0] * 20, [1.0] * 30).interval or (1, 1)
    assert [low, high] == pytest.approx([0.0, 1 - 0.025 ** (1 / 20)])


def test_one_pair_has_no_interval_and_none_is_an_error() -> None:
    assert paired([1.0], [0.0]).interval is None
    assert independent([1.0], [0.0, 2.0]).interval is None
    with pytest.raises(ValueError, match="0 values"):
        paired([], [])
    with pytest.raises(ValueError, match="2 values and 1 others do not form pairs"):
        paired([1.0, 2.0], [0.0])
    with pytest.raises(ValueError, match="and 0 others"):
        independent([1.0], [])


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_the_interval_of_pairs_holds_the_true_auc_however_the_pairs_depend(shared: float) -> None:
    rng, held, runs = Random(0), 0, 400
    true = 0.5 * (1 + math.erf(1.0 / 2))  # of two normal values one deviation apart
    for _ in range(runs):
        common = [rng.gauss(0, math.sqrt(shared)) for _ in range(40)]
        own, other = ([one + rng.gauss(by, math.sqrt(1 - shared)) for one in common] for by in (1.0, 0.0))
        low, high = paired(own, other).interval or (0, 0)
        held += low <= true <= high
    assert 0.92 * runs <= held <= 0.985 * runs
