"""Two samples of one source: what their ranks are worth, who tells them apart, and what follows from features."""

from random import Random

import numpy as np
import pytest

from tabcontam.statistics.thresholds import PERMUTATION_DRAWS
from tabcontam.statistics.two_samples import larger, predictor_p_values, residuals


def test_larger_values_have_the_least_p_value_and_smaller_ones_the_largest() -> None:
    own, others = [2.0 + number for number in range(20)], [-1.0 - number for number in range(15)]
    assert larger(own, others) == 1 / (PERMUTATION_DRAWS + 1)
    assert larger(others, own) == 1.0
    assert larger([1.0] * 9, [1.0] * 9) == 1.0
    assert larger([], others) == larger(own, []) == 1.0


def test_the_p_value_is_the_share_of_ways_to_choose() -> None:
    """Of 20 ways to choose three of six the ranks come to 14 or more in 2: 6 + 5 + 4 and 6 + 5 + 3."""
    assert larger([6.0, 5.0, 3.0], [4.0, 2.0, 1.0]) == pytest.approx(2 / 20, abs=0.01)


@pytest.mark.slow
def test_p_values_of_one_source_are_uniform() -> None:
    rng = Random(0)
    found = [larger([rng.gauss(0, 1) for _ in range(12)], [rng.gauss(0, 1) for _ in range(9)]) for _ in range(200)]
    assert 0.44 < sum(found) / len(found) < 0.56
    assert sum(p_value <= 0.1 for p_value in found) <= 33  # 20 are expected; more in one of a thousand such tests


def told(features: list[list[float]], first: int) -> dict[str, float]:
    return predictor_p_values(np.array(features), np.arange(len(features)) < first)


def test_readers_tell_what_differs_and_nothing_else() -> None:
    rng = Random(4)
    alike = [[rng.gauss(0, 1) for _ in range(4)] for _ in range(80)]
    assert min(told(alike, 40).values()) > 0.05 / 3
    moved = [[row[0] + (number < 40), *row[1:]] for number, row in enumerate(alike)]
    assert told(moved, 40)["a single feature"] <= 0.01
    in_sum = [[*row, -sum(row) + 0.4 * rng.gauss(0, 1) + 0.6 * (number < 40)] for number, row in enumerate(alike)]
    assert told(in_sum, 40)["a weighted sum of all features"] <= 0.01
    at_corners = [[rng.choice((-4, 4)) + rng.gauss(0, 0.5), rng.gauss(0, 0.5)] for _ in range(80)]
    crossed = [[one, (4 if one > 0 else -4) * (1 if number < 40 else -1) + other] for number, (one, other) in
               enumerate(at_corners)]  # fmt: skip
    assert told(crossed, 40)["rows that are like it"] <= 0.01


def test_readers_are_wrong_as_often_as_they_say() -> None:
    rng, found = Random(2), 0
    for _ in range(60):
        values = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(30)]
        found += min(told(values, 15).values()) <= 0.05 / 3
    assert found <= 9  # 3 are expected at most


def test_without_features_or_labels_nobody_tells() -> None:
    assert told([[1.0, 2.0]] * 10, 5) == {}
    assert told([[float(number)] for number in range(10)], 10) == {}


def test_what_follows_from_features_is_taken_off() -> None:
    rng = Random(3)
    features = np.array([[rng.gauss(0, 1), 5.0] for _ in range(50)])
    noise = np.array([rng.gauss(0, 0.1) for _ in range(50)])
    left = residuals((3 * features[:, 0] + 7 + noise).tolist(), features)
    assert abs(float(left.mean())) < 1e-9
    assert float(left.std()) == pytest.approx(float(noise.std()), rel=0.1)
