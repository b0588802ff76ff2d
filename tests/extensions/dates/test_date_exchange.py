"""Dates: the tests of the paper, release dates exchanged between datasets, and what they say in made worlds."""

from itertools import combinations, permutations

import numpy as np
import pytest

from benchmarks.chronology import KINDS, LEVEL, World, found
from tabcontam.extensions.dates.date_exchange import (
    DateExchange,
    _drawn,
    _eras,
    _shares,
    exceeds,
    exchanged,
    exchanged_p_values,
    mann_whitney,
    sign_test,
    t_test,
    trend,
    without,
)
from tests.needed import needed

stats = needed("scipy.stats")  # imported when it is used

RNG = np.random.default_rng(3)


def brute(lifts: np.ndarray, sides: np.ndarray) -> tuple[float, float]:
    """The difference, and the share of all orders of the datasets in which it is as large."""

    def difference(own: np.ndarray) -> float:
        each = []
        for line, side in zip(lifts, own, strict=True):
            before, after = (line[(side == which) & ~np.isnan(line)] for which in (1, -1))
            if len(before) and len(after):
                each.append(before.mean() - after.mean())
        return float(np.mean(each)) if each else 0.0

    true = difference(sides)
    ways = [difference(sides[:, list(order)]) for order in permutations(range(sides.shape[1]))]
    return true, float(np.mean([way >= true - 1e-12 for way in ways]))


@pytest.mark.slow
def test_few_datasets_are_exchanged_in_all_ways() -> None:
    lifts = RNG.normal(size=(3, 7))
    lifts[1, 2] = lifts[2, 6] = np.nan
    sides = np.array([[1, 1, 1, 1, -1, -1, -1], [1, 1, 1, 1, 1, 0, -1], [1] * 7])
    result = exchanged(lifts, sides)
    assert result is not None
    true, share = brute(lifts, sides)
    assert result.exact
    assert result.difference == pytest.approx(true)
    assert result.p_value == pytest.approx(share)
    assert result.llms == 2  # the third has no later dataset


def test_many_datasets_are_exchanged_in_ways_that_are_drawn_and_never_come_to_nothing() -> None:
    sides = np.array([[1] * 15 + [-1] * 15])
    lifts = np.where(sides == 1, 1.0, 0.0) + RNG.normal(0, 0.01, sides.shape)
    result = exchanged(lifts, sides, seed=1)
    assert result is not None
    assert (result.ways, result.exact) == (20_000, False)
    assert result.p_value == pytest.approx(1 - 0.001 ** (1 / 20_000))
    assert result == exchanged(lifts, sides, seed=1)


@pytest.mark.slow
def test_who_tries_seeds_until_one_finds_something_finds_nothing() -> None:
    """The share of all 12,870 ways is 1.02%: half of the seeds draw fewer than 1%, and none has a p-value of 1%."""
    lifts = np.sort(np.random.default_rng(33).normal(size=16))
    sums = np.array([lifts[list(chosen)].sum() for chosen in combinations(range(16), 8)])
    known = float(np.quantile(sums, 1 - 0.0102))
    early = next(
        chosen for chosen in combinations(range(16), 8) if lifts[list(chosen)].sum() == np.min(sums[sums >= known])
    )
    sides = np.where(np.isin(np.arange(16), early), 1, -1)[None]
    true = float(np.mean(sums >= lifts[list(early)].sum() - 1e-12))
    assert 0.01 < true < 0.0105
    eras, own = _eras(sides)
    drawn = [_drawn(own, 2_000, np.random.default_rng(seed)) for seed in range(30)]
    p_values = [float(_shares(lifts[None, None], eras, own, labels, exact=False)[0]) for labels in drawn]
    raw = [float(_shares(lifts[None, None], eras, own, labels, exact=True)[0]) for labels in drawn]
    assert sum(share <= 0.01 for share in raw) > 8
    assert min(p_values) > 0.01


def test_without_a_side_there_is_nothing_to_exchange() -> None:
    assert exchanged(np.ones((1, 4)), np.ones((1, 4), np.int64)) is None
    assert exchanged(np.array([[0.1, np.nan]]), np.array([[1, -1]])) is None


@pytest.mark.slow
def test_over_all_ways_to_date_the_datasets_no_level_is_passed() -> None:
    """The size is exact: whatever the accuracies are, where all ways to date the datasets are equally likely."""
    lifts = RNG.normal(size=(3, 7)).round(1)  # with ties
    eras = np.array([[1, 1, -1], [1, -1, -1], [-1, 0, -1]])  # of a dataset, for three LLMs
    own = np.array([0, 0, 0, 1, 1, 2, 2])
    p_values = []
    for order in sorted({tuple(own[list(each)]) for each in permutations(range(7))}):
        result = exchanged(lifts, eras[list(order)].T)
        assert result is not None
        p_values.append(result.p_value)
    assert len(p_values) == 210
    assert all(np.mean(np.array(p_values) <= level) <= level + 1e-9 for level in set(p_values))


def test_worlds_at_once_are_those_one_by_one() -> None:
    lifts, sides = RNG.normal(size=(4, 2, 8)), np.array([[1] * 5 + [-1] * 3, [1] * 6 + [-1] * 2])
    alone = [one.p_value for world in lifts if isinstance(one := exchanged(world, sides), DateExchange)]
    assert exchanged_p_values(lifts, sides).tolist() == pytest.approx(alone)


@pytest.mark.parametrize(("hits", "answered", "majority"), [(63, 100, 0.5), (40, 100, 0.5), (9, 12, 0.6)])
def test_a_pair_is_held_against_the_majority_as_scipy_holds_it(hits: int, answered: int, majority: float) -> None:
    half, p_value = t_test(hits, answered, majority)
    answers = [1.0] * hits + [0.0] * (answered - hits)
    expected = stats.ttest_1samp(answers, majority, alternative="greater")
    assert p_value == pytest.approx(float(expected.pvalue))
    assert half == pytest.approx(stats.t.ppf(0.99, answered - 1) * stats.sem(answers))
    exact = stats.binomtest(hits, answered, majority, alternative="greater").pvalue
    assert exceeds(hits, answered, majority) == pytest.approx(float(exact))


def test_answers_without_spread_have_the_exact_p_value() -> None:
    assert t_test(10, 10, 0.5) == pytest.approx((0.0, 0.5**10))
    assert t_test(1, 1, 0.5) == (0.0, 1.0)
    assert exceeds(0, 0, 0.5) == 1.0


def test_pairs_and_llms_are_compared_as_in_the_paper() -> None:
    before, after = [1.0] * 80 + [0.0] * 56, [1.0] * 12 + [0.0] * 44
    p_value = mann_whitney(before, after)
    assert p_value is not None
    assert p_value < 0.01
    assert mann_whitney(before, []) is None
    assert mann_whitney([1.0], [1.0]) == 1.0
    assert sign_test([(0.5, 0.2), (0.4, 0.1), (0.3, 0.3), (0.1, 0.2)]) == (2, 1, 1.0)
    assert sign_test([(0.9, 0.1)] * 8) == pytest.approx((8, 0, 2 / 2**8))


def test_a_trend_has_its_slope_and_needs_four_datasets() -> None:
    years = [2000.0, 2005.0, 2010.0, 2015.0, 2020.0]
    result = trend(years, [0.5, 0.4, 0.3, 0.2, 0.1])
    assert result is not None
    assert (result.slope, result.r_squared, result.rho) == pytest.approx((-0.02, 1.0, -1.0))
    assert trend(years[:3], [0.1, 0.2, 0.3]) is None
    assert trend(years, [0.1] * 5) is None


def test_what_goes_with_difficulty_is_taken_off_whatever_the_level_of_an_llm() -> None:
    difficulty = np.array([0.1, 0.2, 0.4, np.nan])
    lifts = 2 * np.where(np.isnan(difficulty), 0.3, difficulty) + np.array([[0.0], [0.5]])
    left = without(lifts, difficulty)
    assert left[:, :3].std(axis=1) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.isnan(left[:, 3]).all()
    assert without(lifts, np.full(4, 0.2)) == pytest.approx(lifts)


def test_what_nobody_has_read_is_found_no_oftener_than_the_level() -> None:
    counts = found(World(), 1000, draws=2_000)
    assert counts["dates"] <= LEVEL * 1000
    assert counts["dates, without difficulty"] <= counts["dates"]
    assert counts["significant"] > 100  # the paper's pairs are not independent


def test_what_was_read_is_found_and_difficulty_is_said() -> None:
    read = found(KINDS["all older tables were read, for 20 points"], 250, draws=2_000)
    assert read["dates, without difficulty"] > 225
    harder = found(KINDS["nothing was read, and later tables are harder"], 250, draws=2_000)
    assert harder["dates"] > 125
    assert harder["difficulty explains it"] > 0.9 * harder["dates"]


@pytest.mark.slow
def test_the_size_over_two_thousand_worlds() -> None:  # the benchmark asks forty thousand
    counts = found(World(), 2_000)
    assert counts["dates"] <= LEVEL * 2_000
    assert counts["dates, without difficulty"] <= counts["dates"]
