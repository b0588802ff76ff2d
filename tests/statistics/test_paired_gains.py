"""Gains of pairs: an interval that has a width and covers, and an exact test."""

from random import Random
from statistics import pstdev

import pytest

from tabcontam.statistics.paired_gains import gained, pairs_needed


def test_pairs_that_never_differ_gain_nothing_within_an_interval_that_has_a_width() -> None:
    found = gained([0.0] * 100)
    low, high = found.interval
    assert (found.mean, found.p_value) == (0.0, 1.0)
    assert -0.03 < low < 0 < high < 0.03


def test_the_p_value_is_that_of_mcnemars_exact_test() -> None:
    assert gained([1.0] * 7 + [-1.0] + [0.0] * 20).p_value == pytest.approx((1 + 8) / 2**8)


def test_gains_and_losses_mirror_each_other() -> None:
    gains = [1.0] * 12 + [-1.0] * 4 + [0.0] * 30
    low, high = gained(gains).interval
    assert gained([-each for each in gains]).interval == pytest.approx((-high, -low))


def test_the_interval_covers_in_about_95_of_100_samples() -> None:
    rng = Random(0)
    covered = 0
    for _ in range(400):
        gains = rng.choices((1.0, 0.0, -1.0), (0.25, 0.65, 0.1), k=20)
        low, high = gained(gains).interval
        covered += low <= 0.15 <= high
    assert 0.92 <= covered / 400 <= 0.98


def test_no_pairs_are_no_gain_to_speak_of() -> None:
    with pytest.raises(ValueError, match="there are no pairs"):
        gained([])


@pytest.mark.parametrize("limit", [0.05, 0.2])
def test_as_many_pairs_as_are_asked_for_settle_it_and_one_less_does_not(limit: float) -> None:
    gains = [1.0] * 12 + [-1.0] * 2 + [0.0] * 86
    asked = pairs_needed(0.1, pstdev(gains), limit)
    assert asked is not None
    assert asked % 100 > 1  # so that the pairs below are made of other numbers

    def leaves_out(pairs: int) -> bool:
        spread = pstdev(gains)
        low, high = gained([0.1 + spread, 0.1 - spread] * (pairs // 2) + [0.1] * (pairs % 2)).interval
        return not low <= limit < high

    assert leaves_out(asked + 2)
    assert not leaves_out(asked - 2)


def test_no_number_of_pairs_tells_a_share_from_itself() -> None:
    assert pairs_needed(0.05, 0.3, 0.05) is None
    assert pairs_needed(0.0, 0.0, 0.05) == 28
