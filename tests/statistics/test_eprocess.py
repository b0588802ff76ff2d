"""Bets against guessing: fair for who guesses, worth much to who remembers, and nothing by one column or two rows."""

from math import log2
from random import Random

import pytest

from tabcontam.statistics.eprocess import ALL, Stake, Wealth, join_bets, place_bets, standing
from tabcontam.statistics.power import BetPower
from tabcontam.statistics.thresholds import BET_SHARES, LEAST_EVIDENT_ROWS


def row(*worths: float, columns: str = "abcdefgh", honest: float = 1.0) -> dict[str, Wealth]:
    return place_bets([Stake(columns[place], worth, honest) for place, worth in enumerate(worths)])


def test_who_guesses_wins_nothing_on_average() -> None:
    # a cell of chance 1/4 and one of chance 1/10, right or wrong: four cases with their probabilities
    cases = [(1 / 40, 4, 10), (9 / 40, 4, 0), (3 / 40, 0, 10), (27 / 40, 0, 0)]
    for place in range(len(BET_SHARES)):
        assert sum(chance * 2 ** row(*worths)[ALL].memory[place] for chance, *worths in cases) == pytest.approx(1)


@pytest.mark.slow
def test_who_guesses_seldom_wins_much_whatever_stops_the_asking() -> None:
    rng, reached, runs = Random(0), 0, 400
    for _ in range(runs):
        bets: dict[str, Wealth] = {}
        most = 0.0
        for _ in range(40):
            chances = [rng.choice((0.05, 0.2, 0.5)) for _ in range(3)]
            bets = join_bets([bets, row(*(1 / chance if rng.random() < chance else 0 for chance in chances))])
            most = max(most, bets[ALL].won)
        reached += most >= log2(20)
    assert 0 < reached / runs <= 1 / 20  # Ville's inequality, for the best moment of all


def test_bets_add_up_over_parts_and_a_part_without_a_column_is_the_same_without_it() -> None:
    first, second = row(8.0, 0.0), row(4.0, columns="z")
    both = join_bets([first, second])
    assert both.keys() == {ALL, "a", "b", "z"}
    assert both[ALL].memory == pytest.approx(
        [a + b for a, b in zip(first[ALL].memory, second[ALL].memory, strict=True)]
    )
    assert both["a"].memory == pytest.approx(
        [a + b for a, b in zip(first["a"].memory, second[ALL].memory, strict=True)]
    )
    assert both["z"].memory == first[ALL].memory
    assert join_bets([]) == join_bets([{}]) == {}


def test_two_rows_are_not_enough_however_rare() -> None:
    rare = row(1e6, 1e6)
    few, enough = join_bets([rare] * (LEAST_EVIDENT_ROWS - 1)), join_bets([rare] * LEAST_EVIDENT_ROWS)
    assert standing(few)[0] == 0
    assert standing(enough)[0] > 40


def test_what_one_column_carries_alone_does_not_stand() -> None:
    one = join_bets([row(100.0, 0.0)] * 5)  # always right in the first column, never in the second
    assert one[ALL].bits > 10
    bits, without = standing(one)
    assert bits < 0
    assert without == "a"


def test_what_an_honest_predictor_wins_counts_for_nothing() -> None:
    same, better = join_bets([row(5.0, 5.0, honest=5.0)] * 6), join_bets([row(5.0, 5.0, honest=0.0)] * 6)
    assert same[ALL].bits == pytest.approx(0)
    assert better[ALL].bits == join_bets([row(5.0, 5.0)] * 6)[ALL].bits > 10  # what it loses is no gain


def test_numbers_stay_numbers() -> None:
    bets = join_bets([row(*(1e200,) * 8)] * 50)
    assert 2.0 ** standing(bets)[0] <= 1.0001e300


def test_power_grows_with_the_share_and_with_each_query() -> None:
    remembered, guessed = row(20.0, 20.0), row(0.0, 1.0)
    powers = []
    for share in (0.0, 0.25, 1.0):
        power = BetPower(share, log2(100))
        by_query = []
        for _ in range(20):
            power.add(remembered, guessed)
            by_query.append(power.power)
        assert by_query == sorted(by_query)  # what is found stays found
        assert not any(by_query[: LEAST_EVIDENT_ROWS - 1])
        powers.append(by_query[-1])
    assert powers[0] == 0
    assert powers[0] < powers[1] < powers[2] == 1
