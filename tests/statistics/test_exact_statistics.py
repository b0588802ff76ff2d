"""Tails are those of all outcomes written out, to the last digit; intervals hold what they promise."""

from itertools import product
from math import comb, isclose, prod
from sys import float_info

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.statistics.exact_statistics import (
    Discrimination,
    any_dependence,
    benjamini_hochberg,
    clopper_pearson,
    fisher,
    hypergeometric_tail,
    mcnemar,
    mean_interval,
    outcome_tail,
    poisson_binomial,
    poisson_binomial_tail,
    share_interval,
    units,
    weighted_tail,
)
from tests.needed import needed

stats = needed("scipy.stats")  # imported when it is used

CHANCES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, 1e-9, 0.001]))
TRIALS = st.lists(st.tuples(st.integers(0, 40), CHANCES), max_size=8)


def enumerated(trials: list[tuple[int, float]], observed: int) -> float:
    """The tail as the sum over every outcome."""
    return sum(
        prod(chance if right else 1 - chance for (_, chance), right in zip(trials, outcome, strict=True))
        for outcome in product([False, True], repeat=len(trials))
        if sum(weight for (weight, _), right in zip(trials, outcome, strict=True) if right) >= observed
    )


def tail(trials: list[tuple[int, float]], observed: int) -> float:
    return weighted_tail([weight for weight, _ in trials], [chance for _, chance in trials], observed)


def all_outcomes(trials: list[list[tuple[int, float]]], observed: int) -> float:
    """The tail of trials of several outcomes as the sum over every combination of them."""
    whole = [[*outcomes, (0, 1 - sum(chance for _, chance in outcomes))] for outcomes in trials]
    return sum(
        prod(chance for _, chance in combination)
        for combination in product(*whole)
        if sum(weight for weight, _ in combination) >= observed
    )


THREE_WAYS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 30), min_size=3, max_size=3), st.lists(st.floats(0, 0.33), min_size=3, max_size=3)
    ).map(lambda found: list(zip(*found, strict=True))),
    max_size=5,
)


class TestOutcomeTail:
    @pytest.mark.slow
    @settings(max_examples=200, deadline=None)
    @given(THREE_WAYS, st.integers(-2, 160))
    def test_is_the_sum_over_all_outcomes(self, trials: list[list[tuple[int, float]]], observed: int) -> None:
        assert isclose(
            outcome_tail(trials, observed), all_outcomes(trials, observed), rel_tol=1e-9, abs_tol=float_info.min
        )

    def test_a_trial_of_one_outcome_is_one_that_succeeds_or_not(self) -> None:
        weights, chances = [3, 5, 5, 8], [0.1, 0.5, 0.2, 0.01]
        trials = [[pair] for pair in zip(weights, chances, strict=True)]
        assert outcome_tail(trials, 10) == weighted_tail(weights, chances, 10)

    def test_a_negative_weight_is_none(self) -> None:
        with pytest.raises(ValueError, match="a weight is negative: -1"):
            outcome_tail([[(2, 0.1), (-1, 0.2)]], 1)


class TestWeightedTail:
    @pytest.mark.slow
    @settings(max_examples=300, deadline=None)
    @given(TRIALS, st.integers(-2, 330))
    def test_is_the_sum_over_all_outcomes(self, trials: list[tuple[int, float]], observed: int) -> None:
        assert isclose(tail(trials, observed), enumerated(trials, observed), rel_tol=1e-9, abs_tol=float_info.min)

    @settings(max_examples=100, deadline=None)
    @given(TRIALS, st.integers(0, 330))
    def test_falls_with_what_was_observed(self, trials: list[tuple[int, float]], observed: int) -> None:
        assert tail(trials, observed + 1) <= tail(trials, observed) * (1 + 1e-12)

    @settings(max_examples=100, deadline=None)
    @given(TRIALS, st.integers(0, 330))
    def test_does_not_depend_on_the_order_of_trials(self, trials: list[tuple[int, float]], observed: int) -> None:
        assert isclose(tail(trials[::-1], observed), tail(trials, observed), rel_tol=1e-9)

    def test_a_tiny_tail_keeps_its_digits(self) -> None:
        assert weighted_tail([90] * 30, [1e-2] * 30, 2700) == pytest.approx(1e-60, rel=1e-12)
        assert weighted_tail([90] * 30, [1e-2] * 30, 2610) == pytest.approx(1e-60 + 30 * 0.99 * 1e-58, rel=1e-12)

    def test_a_tail_below_all_numbers_is_not_impossible(self) -> None:
        assert weighted_tail([90] * 200, [4e-4] * 200, 18000) == float_info.min

    def test_no_trials(self) -> None:
        assert weighted_tail([], [], 0) == 1.0
        assert weighted_tail([], [], 1) == 0.0

    def test_what_cannot_happen_and_what_must(self) -> None:
        assert weighted_tail([5, 3], [0.0, 1.0], 3) == 1.0
        assert weighted_tail([5, 3], [0.0, 1.0], 4) == 0.0

    def test_a_cell_that_the_guesser_knows_adds_nothing(self) -> None:
        known = 1 - 1e-12
        assert units(known) == 0
        assert weighted_tail([24, units(known)], [0.125, known], 24) == pytest.approx(0.125, rel=1e-12)

    def test_a_chance_just_above_one_is_one(self) -> None:
        assert weighted_tail([4, 4], [1 + 1e-12, 0.5], 8) == 0.5

    def test_a_negative_weight_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="negative: -1"):
            weighted_tail([3, -1], [0.5, 0.5], 2)


class TestUnits:
    def test_eighths_of_bits(self) -> None:
        assert [units(chance) for chance in (1.0, 0.5, 0.125, 0.001)] == [0, 8, 24, 80]

    def test_what_cannot_be_guessed_is_an_error(self) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 - the words differ between versions of Python
            units(0.0)


class TestPoissonBinomial:
    @settings(max_examples=100, deadline=None)
    @given(st.lists(CHANCES, max_size=40))
    def test_the_fast_distribution_is_the_exact_one(self, chances: list[float]) -> None:
        fast = poisson_binomial(chances)
        exact = [poisson_binomial_tail(chances, hits) for hits in range(len(chances) + 1)]
        assert np.cumsum(fast[::-1])[::-1] == pytest.approx(exact, abs=1e-12)

    def test_equal_chances_are_the_binomial(self) -> None:
        assert poisson_binomial_tail([0.3] * 60, 40) == pytest.approx(stats.binom.sf(39, 60, 0.3), rel=1e-10)

    def test_three_of_five_constant_answers_on_bank_are_no_evidence(self) -> None:
        # the last three columns are 0, unknown, no in 74.3 % of the rows
        assert poisson_binomial_tail([0.743] * 5, 3) == pytest.approx(0.888, abs=0.001)


class TestHypergeometricTail:
    @given(st.data())
    def test_is_fishers_exact_test(self, data: st.DataObject) -> None:
        total = data.draw(st.integers(1, 30))
        marked, drawn = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
        hits = data.draw(st.integers(0, min(marked, drawn)))
        table = [[hits, drawn - hits], [marked - hits, total - drawn - marked + hits]]
        if table[1][1] >= 0:
            expected = stats.fisher_exact(np.array(table), alternative="greater").pvalue
            assert hypergeometric_tail(hits, drawn, marked, total) == pytest.approx(expected)

    def test_more_than_there_are(self) -> None:
        assert hypergeometric_tail(4, 8, 3, 18) == 0.0


class TestClopperPearson:
    @settings(max_examples=50, deadline=None)
    @given(st.integers(1, 200), st.data())
    def test_is_that_of_the_exact_binomial_test(self, trials: int, data: st.DataObject) -> None:
        hits = data.draw(st.integers(0, trials))
        expected = stats.binomtest(hits, trials).proportion_ci(0.95, method="exact")
        assert clopper_pearson(hits, trials) == pytest.approx((expected.low, expected.high), abs=1e-9)

    def test_nothing_is_known_without_trials(self) -> None:
        assert clopper_pearson(0, 0) == (0.0, 1.0)

    def test_more_hits_than_trials_are_an_error(self) -> None:
        with pytest.raises(ValueError, match="3 trials cannot have 4 hits"):
            clopper_pearson(4, 3)


class TestShareInterval:
    @pytest.mark.parametrize("hits", [0, 1, 7, 20])
    def test_is_clopper_pearson_where_nothing_can_be_guessed(self, hits: int) -> None:
        assert share_interval([0.0] * 20, hits) == pytest.approx(clopper_pearson(hits, 20), abs=1e-6)

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
    def test_covers_the_true_share_in_19_of_20_samples(self, share: float) -> None:
        chances = [0.02, 0.1, 0.3, 0.5, 0.8] * 5
        distribution = poisson_binomial(share + (1 - share) * np.array(chances))
        intervals = [share_interval(chances, hits) for hits in range(26)]
        assert sum(distribution[hits] for hits, (low, _) in enumerate(intervals) if share < low) <= 0.025
        assert sum(distribution[hits] for hits, (_, high) in enumerate(intervals) if share > high) <= 0.025

    def test_rises_with_the_hits(self) -> None:
        intervals = [share_interval([0.2, 0.4, 0.9] * 6, hits) for hits in range(19)]
        assert intervals == sorted(intervals)
        assert all(low <= high for low, high in intervals)

    def test_hits_of_a_constant_answer_show_no_share(self) -> None:
        low, _ = share_interval([0.743] * 45, 34)
        assert low == 0.0

    def test_fewer_hits_than_chance_allows_are_a_share_of_nothing(self) -> None:
        assert share_interval([0.9] * 30, 3) == (0.0, 0.0)

    def test_sure_cells_say_nothing_of_the_share(self) -> None:
        assert share_interval([1.0] * 5, 5) == (0.0, 1.0)
        assert share_interval([], 0) == (0.0, 1.0)

    def test_more_hits_than_trials_are_an_error(self) -> None:
        with pytest.raises(ValueError, match="1 trials cannot have 2 hits"):
            share_interval([0.5], 2)


class TestDiscrimination:
    def test_bias_is_told_apart_from_discrimination(self) -> None:
        yes = Discrimination(hits=30, misses=0, false_alarms=30, correct_rejections=0)
        assert (yes.auc, yes.d_prime) == (0.5, 0.0)
        low, high = yes.auc_interval()
        assert low < 0.5 < high

    def test_the_log_linear_correction(self) -> None:
        perfect = Discrimination(hits=30, misses=0, false_alarms=0, correct_rejections=30)
        assert perfect.d_prime == pytest.approx(2 * stats.norm.ppf(30.5 / 31))

    def test_the_area_by_both_rates(self) -> None:
        counts = Discrimination(hits=24, misses=6, false_alarms=3, correct_rejections=17)
        assert counts.auc == pytest.approx((0.8 + 1 - 0.15) / 2)

    def test_answers_to_one_kind_alone_tell_nothing(self) -> None:
        assert Discrimination(3, 4, 0, 0).auc_interval() == (0.0, 1.0)
        assert Discrimination(0, 0, 0, 0).auc == 0.5

    @pytest.mark.parametrize("right", [5, 30, 48, 59, 60])
    def test_for_equal_numbers_the_interval_is_that_of_all_right_answers(self, right: int) -> None:
        first = right // 2
        counts = Discrimination(first, 30 - first, 30 - (right - first), right - first)
        assert counts.auc_interval() == pytest.approx(clopper_pearson(right, 60), abs=1e-3)

    def test_the_interval_turns_with_the_answers(self) -> None:
        low, high = Discrimination(12, 3, 4, 7).auc_interval()
        turned_low, turned_high = Discrimination(3, 12, 7, 4).auc_interval()
        assert (1 - turned_high, 1 - turned_low) == pytest.approx((low, high))

    @pytest.mark.slow
    @pytest.mark.parametrize("hit_rate", [0.05, 0.5, 0.71])
    @pytest.mark.parametrize("rejection_rate", [0.02, 0.83])
    def test_the_interval_covers_whatever_the_rates(self, hit_rate: float, rejection_rate: float) -> None:
        covered = 0.0
        for hits, rejections in product(range(8), range(12)):
            low, high = Discrimination(hits, 7 - hits, 11 - rejections, rejections).auc_interval(0.9)
            if low <= (hit_rate + rejection_rate) / 2 <= high:
                covered += stats.binom.pmf(hits, 7, hit_rate) * stats.binom.pmf(rejections, 11, rejection_rate)
        assert covered >= 0.9


class TestOverTheGrid:
    def test_q_values_are_never_below_p(self) -> None:
        assert benjamini_hochberg([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])

    def test_q_values_are_those_of_scipy(self) -> None:
        draws = np.random.default_rng(0)
        for count in range(1, 40):
            p_values = draws.choice(draws.random(20), count).tolist()  # some of them equal
            assert benjamini_hochberg(p_values) == stats.false_discovery_control(p_values, method="bh").tolist()

    def test_no_cells_no_q_values(self) -> None:
        assert benjamini_hochberg([]) == []

    def test_one_p_value_for_any_dependence(self) -> None:
        assert any_dependence([0.2, 0.001, 0.7]) == pytest.approx(0.003)
        assert any_dependence([0.9, 0.8]) == 1.0
        assert any_dependence([]) == 1.0


class TestMcnemar:
    @pytest.mark.parametrize(("first_only", "second_only"), [(0, 0), (1, 0), (3, 3), (0, 8), (7, 2), (2, 7), (12, 4)])
    def test_is_the_share_of_all_ways_to_toss_the_discordant_pairs(self, first_only: int, second_only: int) -> None:
        """Every outcome of fair tosses that is as lopsided or more."""
        tosses = list(product([0, 1], repeat=first_only + second_only))
        apart = abs(first_only - second_only)
        as_far = sum(abs(2 * sum(toss) - len(toss)) >= apart for toss in tosses)
        assert mcnemar(first_only, second_only) == pytest.approx(as_far / len(tosses))

    @pytest.mark.slow
    def test_is_wrong_no_oftener_than_its_level(self) -> None:
        """Whatever the share of pairs that differ by luck alone."""
        for discordant in range(40):
            law = stats.binom(discordant, 0.5)
            wrong = sum(law.pmf(first) for first in range(discordant + 1) if mcnemar(first, discordant - first) <= 0.05)
            assert wrong <= 0.05


class TestFisher:
    @pytest.mark.parametrize("table", [(0, 5, 0, 9), (3, 7, 1, 8), (7, 7, 0, 6), (2, 30, 9, 25), (5, 5, 5, 5)])
    def test_is_the_share_of_all_ways_to_deal_the_hits_that_are_as_unlikely(self, table: tuple[int, ...]) -> None:
        first_hits, first, second_hits, second = table
        hits = first_hits + second_hits
        ways = {k: comb(first, k) * comb(second, hits - k) for k in range(hits + 1)}
        as_far = sum(way for way in ways.values() if way <= ways[first_hits])
        assert fisher(*table) == pytest.approx(as_far / comb(first + second, hits))


class TestMeanInterval:
    def test_of_one_value_is_its_own(self) -> None:
        assert mean_interval([0.5], [(0.2, 0.9)], [1.0]) == pytest.approx((0.2, 0.9))

    def test_of_alike_values_shrinks_with_the_root_of_their_number(self) -> None:
        low, high = mean_interval([0.5] * 4, [(0.3, 0.9)] * 4, [0.25] * 4)
        assert (0.5 - low, high - 0.5) == pytest.approx((0.1, 0.2))

    def test_holds_the_mean_of_binomial_shares_as_often_as_it_promises(self) -> None:
        """Ten tables as easy as always, and as hard as a coin, in 2000 runs of 30 and of 100 answers."""
        rng, truth = np.random.default_rng(0), np.linspace(0.5, 0.99, 10)
        for asked in (30, 100):
            held = 0
            for _ in range(2000):
                hits = rng.binomial(asked, truth).tolist()
                intervals = [clopper_pearson(each, asked) for each in hits]
                low, high = mean_interval([each / asked for each in hits], intervals, [0.1] * 10)
                held += low <= truth.mean() <= high
            assert held / 2000 >= 0.95

    def test_a_length_that_differs_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="argument"):
            mean_interval([0.5], [], [1.0])
