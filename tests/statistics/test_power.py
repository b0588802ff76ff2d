"""Powers are those of simulations with exact p-values, or a little less; shares are the smallest that reach them."""

from collections.abc import Sequence
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.rounded_numbers import worths
from tabcontam.statistics.exact_statistics import outcome_tail, poisson_binomial_tail, units, weight_of, weighted_tail
from tabcontam.statistics.power import (
    Odds,
    _cumulants,
    _tails,
    choice_power,
    detectable_choice_share,
    detectable_share,
    row_power,
)

LEVEL = 2e-4
CHANCE = st.floats(0.0002, 0.95)
COIN = CellPrediction({"0": 0.5, "1": 0.5}, 0.001)
DIE = CellPrediction({str(side): 1 / 6 for side in range(6)}, 0.001)
SURE = CellPrediction({"no": 0.999}, 0.001)
NAME = CellPrediction({}, 0.001)


def mixed(rows: int, cells: int, seed: int = 0) -> list[list[CellPrediction]]:
    """Rows of guesses, sure and unsure ones."""
    rng = np.random.default_rng(seed)
    return [
        [
            CellPrediction({str(place): chance for place, chance in enumerate(rng.dirichlet([0.4] * 9) * 0.97)}, 0.003)
            for _ in range(cells)
        ]
        for _ in range(rows)
    ]


def seen(rows: list[list[CellPrediction]], seed: int = 0) -> list[list[Odds]]:
    """The same cells after the fact, drawn from their guesses."""
    rng = np.random.default_rng(seed)

    def odds(guess: CellPrediction) -> Odds:
        chances = [*guess.values.values(), 1 - sum(guess.values.values())]
        place = int(rng.choice(len(chances), p=chances))
        known = guess.rest if place == len(guess.values) else max(chances[place], guess.rest)
        return Odds(known, guess.surest, known == guess.surest)

    return [[odds(guess) for guess in row] for row in rows]


def exact_power(rows: list[list[Odds]], share: float, level: float, runs: int = 200) -> float:
    """What `detectable_share` finds at this share, with exact p-values."""
    found = 0
    for draws in np.random.default_rng(0).random((runs, len(rows))):
        cells = [
            (odds.known, True) if draw < share else (odds.likeliest, odds.likeliest_right)
            for draw, row in zip(draws, rows, strict=True)
            for odds in row
        ]
        weights = [units(chance) for chance, _ in cells if chance is not None]
        observed = sum(units(chance) for chance, right in cells if chance is not None and right)
        found += weighted_tail(weights, [chance for chance, _ in cells if chance is not None], observed) <= level
    return found / runs


PRECISE = st.tuples(CHANCE, CHANCE, CHANCE).map(lambda found: tuple(sorted(found)))


def new_of(chances: Sequence[float]) -> list[float]:
    """The chance of each precision beside that of the finer one."""
    return [chance - before for chance, before in zip(chances, (0.0, *chances), strict=False)]


class TestApproximation:
    # most sums lie outside the tails that are compared
    @pytest.mark.slow
    @settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
    @given(st.lists(st.tuples(CHANCE, st.integers(1, 20), st.integers(0, 20)), min_size=1, max_size=12))
    def test_never_understates_a_p_value(self, groups: list[tuple[float, int, int]]) -> None:
        chances = [chance for chance, count, _ in groups for _ in range(count)]
        observed = sum(units(chance) * min(right, count) for chance, count, right in groups)
        exact = weighted_tail([units(chance) for chance in chances], chances, observed)
        assume(1e-8 < exact < 0.02)
        (approximate,) = _tails(_cumulants(np.array(chances)[:, None]).sum(axis=0)[None], np.array([float(observed)]))
        assert approximate >= 0.98 * exact

    @pytest.mark.slow
    @settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
    @given(st.lists(st.tuples(PRECISE, st.integers(1, 20), st.integers(0, 40)), min_size=1, max_size=6))
    def test_never_understates_one_where_numbers_may_be_rounded(
        self, groups: list[tuple[tuple[float, float, float], int, int]]
    ) -> None:
        chances = [each for each, count, _ in groups for _ in range(count)]
        cells = [
            [(weight_of(bits), new) for bits, new in zip(worths(each), new_of(each), strict=True)] for each in chances
        ]
        observed = sum(min(right, count) * weight_of(worths(each)[right % 2]) for each, count, right in groups)
        exact = outcome_tail(cells, observed)
        assume(1e-8 < exact < 0.02)
        (approximate,) = _tails(_cumulants(np.array(chances)).sum(axis=0)[None], np.array([float(observed)]))
        assert approximate >= 0.98 * exact

    @pytest.mark.slow
    @pytest.mark.parametrize("chance", [0.003, 0.05, 0.2, 0.5, 0.8])
    @pytest.mark.parametrize("count", [20, 60, 150])
    def test_is_accurate_for_cells_of_one_chance(self, chance: float, count: int) -> None:
        weight = units(chance)
        sums = np.arange(1, count + 1, dtype=np.float64) * weight
        exact = np.array([weighted_tail([weight] * count, [chance] * count, int(value)) for value in sums])
        approximate = _tails(np.repeat(_cumulants(np.array([[chance]])) * count, count, axis=0), sums)
        ratios = (approximate / exact)[(exact < 0.02) & (exact > 1e-8)]
        assert 0.98 < ratios.min() <= ratios.max() < 1.4


class TestRowPower:
    @pytest.mark.parametrize("rows", [mixed(40, 1), mixed(30, 3), [[COIN]] * 60, [[DIE, COIN]] * 30, [[SURE]] * 60])
    def test_a_guesser_is_found_no_oftener_than_the_level(self, rows: list[list[CellPrediction]]) -> None:
        assert row_power(rows, 0.0, 0.05, runs=2000) <= 0.065

    def test_rises_with_the_share(self) -> None:
        powers = [row_power(mixed(40, 2), share, LEVEL) for share in (0.0, 0.05, 0.1, 0.2, 0.4, 1.0)]
        assert powers == sorted(powers)
        assert powers[0] < 0.02
        assert powers[-1] == 1.0

    def test_rises_with_the_rows(self) -> None:
        powers = [row_power(mixed(rows, 1), 0.5, LEVEL) for rows in (2, 6, 12, 40)]
        assert powers == sorted(powers)
        assert powers[0] < 0.5 < powers[-1]

    def test_is_that_of_a_simulation_with_exact_p_values(self) -> None:
        rows = mixed(30, 2)
        exact = np.mean([exact_power(seen(rows, seed), 0.15, LEVEL, runs=10) for seed in range(40)])
        assert -0.15 < row_power(rows, 0.15, LEVEL, runs=1000) - exact < 0.05

    def test_rows_that_the_guesser_knows_have_no_power(self) -> None:
        # B2: every row of such a table is "completed", and no memory is needed for it
        assert row_power([[SURE, SURE, SURE]] * 45, 1.0, LEVEL) < 0.5

    def test_cells_of_which_nothing_is_listed_are_not_guessed(self) -> None:
        assert row_power([[NAME]] * 20, 0.0, LEVEL) == 0.0
        assert row_power([[NAME]] * 20, 0.5, LEVEL) == 1.0

    def test_a_value_without_a_chance_is_worth_nothing(self) -> None:
        assert row_power([[CellPrediction({"a": 0.0}, 0.0)]] * 20, 1.0, LEVEL) == 0.0

    def test_nothing_asked_nothing_found(self) -> None:
        assert row_power([], 1.0, LEVEL) == 0.0

    def test_a_seed_has_one_power(self) -> None:
        assert row_power(mixed(20, 1), 0.2, LEVEL, seed=3) == row_power(mixed(20, 1), 0.2, LEVEL, seed=3)


class TestDetectableShare:
    @pytest.mark.slow
    @pytest.mark.parametrize(("count", "cells"), [(60, 1), (45, 3), (30, 5), (12, 1)])
    def test_is_the_smallest_by_exact_p_values_or_little_more(self, count: int, cells: int) -> None:
        rows = seen(mixed(count, cells))
        share = detectable_share(rows, LEVEL)
        assert share is not None
        assert exact_power(rows, share, LEVEL) >= 0.95
        assert exact_power(rows, share - 0.05, LEVEL) < 0.95

    def test_agrees_with_the_planned_power(self) -> None:
        rows = mixed(60, 2)
        share = np.mean([detectable_share(seen(rows, seed), LEVEL) or 1.0 for seed in range(10)])
        assert row_power(rows, float(share), LEVEL, runs=1000) == pytest.approx(0.95, abs=0.04)

    @settings(max_examples=20, deadline=None)
    @given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 1000))
    def test_falls_with_a_laxer_level(self, count: int, cells: int, seed: int) -> None:
        rows = seen(mixed(count, cells, seed), seed)
        shares = [detectable_share(rows, level) or 2.0 for level in (1e-6, 1e-4, 1e-2)]
        assert shares == sorted(shares, reverse=True)

    def test_a_lower_target_takes_fewer_rows(self) -> None:
        rows = seen(mixed(40, 1))
        shares = [detectable_share(rows, LEVEL, target) for target in (0.5, 0.8, 0.95)]
        assert all(one is not None and other is not None and one < other for one, other in pairwise(shares))

    def test_none_where_not_even_all_rows_would_do(self) -> None:
        assert detectable_share([[Odds(0.5, 0.5, True)]] * 8, LEVEL) is None
        assert detectable_share([[Odds(0.999, 0.999, True)]] * 60, LEVEL) is None

    def test_only_missing_cells_and_no_rows(self) -> None:
        assert detectable_share([[Odds(None, 0.2, False)]] * 60, LEVEL) is None
        assert detectable_share([[], []], LEVEL) is None
        assert detectable_share([], LEVEL) is None

    def test_a_missing_cell_does_not_count_against_a_remembered_row(self) -> None:
        shares = [
            detectable_share([[Odds(0.01, 0.1, False), *other]] * 30, LEVEL)
            for other in ([], [Odds(None, 0.1, False)], [Odds(0.999, 0.1, False)])
        ]
        without, missing, worthless = (share or 2.0 for share in shares)
        assert without < missing <= worthless < 1  # a guess at it is a miss, a memory of it none

    def test_lucky_guesses_are_no_negative_share(self) -> None:
        assert detectable_share([[Odds(0.01, 0.01, True)]] * 60, LEVEL) == 0.01

    def test_a_chance_of_nothing_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="a chance is 0"):
            detectable_share([[Odds(0.0, 0.5, False)]], LEVEL)


class TestChoices:
    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.floats(0.05, 0.95), max_size=8), st.floats(0, 1), st.floats(0.001, 0.2))
    def test_power_is_the_sum_over_all_outcomes(self, chances: list[float], share: float, level: float) -> None:
        right = [share + (1 - share) * chance for chance in chances]
        expected = sum(
            prod(chance if hit else 1 - chance for chance, hit in zip(right, outcome, strict=True))
            for outcome in product([False, True], repeat=len(chances))
            if poisson_binomial_tail(chances, sum(outcome)) <= level
        )
        assert choice_power(chances, share, level) == pytest.approx(expected, abs=1e-9)

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.floats(0, 1), max_size=60), st.floats(1e-5, 0.1))
    def test_guessing_is_found_no_oftener_than_the_level(self, chances: list[float], level: float) -> None:
        assert choice_power(chances, 0.0, level) <= level * (1 + 1e-6) + 1e-12

    @settings(max_examples=30, deadline=None)
    @given(st.lists(st.floats(0.3, 0.8), min_size=20, max_size=60))
    def test_the_share_is_the_smallest_with_the_power(self, chances: list[float]) -> None:
        share = detectable_choice_share(chances, 0.01)
        if share is None:
            assert choice_power(chances, 1.0, 0.01) < 0.95
        else:
            assert choice_power(chances, share, 0.01) >= 0.95 > choice_power(chances, share - 0.01, 0.01)

    def test_sixty_pairs_tell_two_thirds_of_the_rows(self) -> None:
        assert detectable_choice_share([0.5] * 60, LEVEL) == pytest.approx(0.63, abs=0.03)

    def test_too_few_choices(self) -> None:
        assert detectable_choice_share([0.5] * 12, LEVEL) is None
        assert detectable_choice_share([], LEVEL) is None
        assert choice_power([0.5] * 12, 1.0, LEVEL) == 0.0
