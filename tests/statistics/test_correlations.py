"""Correlations: coefficients, intervals, and p-values of all orders."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.statistics import correlations as statistics
from tabcontam.statistics.correlations import pearson, spearman
from tests.needed import needed

stats = needed("scipy.stats")  # imported when it is used


class TestSpearman:
    @pytest.mark.slow
    @settings(max_examples=20, deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=6))
    def test_is_scipys_coefficient_with_the_p_value_of_all_orders(self, pairs: list[tuple[int, int]]) -> None:
        first, second = ([float(pair[side]) for pair in pairs] for side in (0, 1))
        found = spearman(first, second)
        if len(set(first)) == 1 or len(set(second)) == 1:
            assert found is None
            return
        assert found is not None
        assert found.value == pytest.approx(float(stats.spearmanr(first, second).statistic))
        others = [float(stats.pearsonr(stats.rankdata(first), order).statistic) for order in permutations_of(second)]
        above = np.mean([other >= found.value - 1e-9 for other in others])
        below = np.mean([other <= found.value + 1e-9 for other in others])
        assert found.p_value == pytest.approx(min(1.0, 2 * min(above, below)))

    def test_three_are_too_few_to_say(self) -> None:
        assert spearman([1, 2, 3], [1, 2, 3]) is None

    def test_a_perfect_order_of_few_is_not_sure(self) -> None:
        four, ten = (spearman(range(number), range(number)) for number in (4, 10))
        assert four is not None
        assert ten is not None
        assert four.value == 1.0
        assert four.p_value == pytest.approx(2 / 24)
        assert four.interval[0] < 0 < 0.9 < ten.interval[0] < four.interval[1] == ten.interval[1] == 1.0

    def test_the_other_way_round_is_the_same_but_for_the_sign(self) -> None:
        first, second = [0.1, 0.5, 0.2, 0.9, 0.7], [3.0, 1.0, 4.0, 1.5, 9.0]
        up, down = spearman(first, second), spearman(first, [-value for value in second])
        assert up is not None
        assert down is not None
        assert down.value == pytest.approx(-up.value)
        assert down.interval == pytest.approx((-up.interval[1], -up.interval[0]))
        assert down.p_value == pytest.approx(up.p_value)

    def test_the_interval_holds_the_coefficient_of_all_nineteen_times_in_twenty(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of pairs from a normal law with a correlation of 0.6, whose rank correlation is known; 12 LLMs."""
        monkeypatch.setattr(statistics, "CORRELATION_ORDERS", 10)  # the p-value is not asked for
        rng, truth = np.random.default_rng(1), 6 / np.pi * np.arcsin(0.3)
        draws = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=(400, 12))
        found = [spearman(draw[:, 0].tolist(), draw[:, 1].tolist()) for draw in draws]
        held = [each is not None and each.interval[0] <= truth <= each.interval[1] for each in found]
        assert np.mean(held) >= 0.93

    def test_the_same_p_value_every_time(self) -> None:
        values = [float(number * 7 % 11) for number in range(11)]
        assert spearman(values, sorted(values)) == spearman(values, sorted(values))


class TestPearson:
    def test_is_scipys_coefficient_and_interval(self) -> None:
        first, second = [0.1, 0.5, 0.2, 0.9, 0.7], [0.5, 0.6, 0.4, 0.9, 0.6]
        found, known = pearson(first, second), stats.pearsonr(first, second)
        assert found is not None
        assert found.value == pytest.approx(float(known.statistic))
        assert found.interval == pytest.approx(tuple(known.confidence_interval()))
        others = [float(stats.pearsonr(first, order).statistic) for order in permutations(second)]
        assert found.p_value == pytest.approx(2 * np.mean([other >= found.value - 1e-9 for other in others]))

    def test_three_points_and_equal_values_say_nothing(self) -> None:
        assert pearson([1, 2, 3], [1, 2, 4]) is None
        assert pearson([1, 2, 3, 4], [1, 1, 1, 1]) is None

    def test_points_on_a_line_have_no_interval(self) -> None:
        found = pearson([0.0, 0.1, 0.2, 0.3], [0.5, 0.6, 0.7, 0.8])
        assert found is not None
        assert found.value == pytest.approx(1.0)
        assert found.interval is None
        assert found.p_value == pytest.approx(2 / 24)

    def test_the_interval_holds_the_coefficient_of_all_nineteen_times_in_twenty(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(statistics, "CORRELATION_ORDERS", 10)  # the p-value is not asked for
        rng = np.random.default_rng(2)
        draws = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=(400, 6))
        found = [pearson(draw[:, 0].tolist(), draw[:, 1].tolist()) for draw in draws]
        held = [
            each is not None and each.interval is not None and each.interval[0] <= 0.6 <= each.interval[1]
            for each in found
        ]
        assert np.mean(held) >= 0.93


def permutations_of(values: list[float]) -> list[list[float]]:
    return [list(order) for order in permutations(stats.rankdata(values).tolist())]
