"""What is chosen from a row's own cells, by which of its numbers is larger; and rules that change at a limit."""

from collections.abc import Callable
from random import Random
from statistics import geometric_mean, stdev

import numpy as np
import pytest

from tests.baseline.laws.test_formula_laws import Row, chances, table

HEATS = ("first", "second", "third", "fourth", "fifth")


def heats(rng: Random) -> dict[str, int]:
    return dict(zip(HEATS, rng.sample(range(400), len(HEATS)), strict=True))


def median(rng: Random) -> Row:
    times = heats(rng)
    return {**times, "asked": sorted(times.values())[2]}


def second_largest(rng: Random) -> Row:
    times = heats(rng)
    return {**times, "asked": sorted(times.values())[3]}


def best(rng: Random) -> Row:
    times = heats(rng)
    return {**times, "asked": max(times, key=lambda name: times[name])}


def winner(rng: Random) -> Row:
    home, away = (f"club {rng.randrange(90)}" for _ in range(2))
    scored, conceded = rng.randrange(6), rng.randrange(6)
    won = home if scored > conceded else away if scored < conceded else "draw"
    return {"home": home, "away": away, "scored": scored, "conceded": conceded, "asked": won}


def late(rng: Random) -> Row:
    due, paid = (f"2021-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}" for _ in range(2))
    return {"due": due, "paid": paid, "asked": "late" if paid > due else "in time"}


def overtime(rng: Random) -> Row:
    hours, wage = round(rng.uniform(20, 60), 1), round(rng.uniform(12, 60), 2)
    paid = hours * wage if hours <= 40 else 40 * wage + 1.5 * (hours - 40) * wage
    return {"hours": hours, "wage": wage, "asked": f"{paid:.2f}"}


def slugging(rng: Random) -> Row:
    bats, hits, doubles, homers = rng.randint(150, 600), rng.randint(30, 150), rng.randint(2, 30), rng.randint(0, 25)
    average = (hits + doubles + 3 * homers) / bats
    return {"ab": bats, "h": hits, "2b": doubles, "hr": homers, "asked": f"{average:.3f}"}


def deviation(rng: Random) -> Row:
    a, b, c = (round(rng.gauss(20, 4), 1) for _ in range(3))
    return {"t": rng.random(), "a": a, "b": b, "c": c, "asked": f"{stdev((a, b, c)):.2f}"}


def geometric(rng: Random) -> Row:
    values = {f"reading {number}": round(rng.uniform(3, 40), 1) for number in range(4)}
    return {**values, "asked": f"{geometric_mean(values.values()):.2f}"}


def speed(rng: Random) -> Row:
    lasted, km = rng.randrange(400, 3000), round(rng.uniform(2, 20), 2)
    return {"time": f"{lasted // 60}:{lasted % 60:02d}", "km": km, "asked": f"{3600 * km / lasted:.1f}"}


def pace(rng: Random) -> Row:
    lasted, km = rng.randrange(1500, 9000), rng.choice((5, 7.5, 10))
    minutes, seconds = divmod(int(lasted / km), 60)
    hours = f"{lasted // 3600}:{lasted % 3600 // 60:02d}:{lasted % 60:02d}"
    return {"km": km, "time": hours, "asked": f"{minutes}:{seconds:02d}"}


def triangle(rng: Random) -> Row:
    one, other = rng.randint(5, 60), rng.randint(5, 60)
    third = rng.randint(abs(one - other) + 1, one + other - 1)
    half = (one + other + third) / 2
    return {
        "a": one,
        "b": other,
        "c": third,
        "asked": f"{(half * (half - one) * (half - other) * (half - third)) ** 0.5:.1f}",
    }


@pytest.mark.parametrize(
    "row", [median, second_largest, best, late, overtime, slugging, triangle, deviation, geometric, speed, pace]
)
@pytest.mark.slow
def test_what_is_chosen_or_changes_at_a_limit_is_known(row: Callable[[Random], Row]) -> None:
    assert float(np.mean(chances(table(row, 240)))) > 0.9


@pytest.mark.slow
def test_the_winner_is_known_by_the_larger_number() -> None:
    assert float(np.mean(chances(table(winner, 240)))) > 0.75  # beside other laws that know it now and then


@pytest.mark.slow
def test_nothing_is_chosen_from_numbers_that_are_equal_by_chance() -> None:
    def row(rng: Random) -> Row:
        return {name: rng.randrange(6) for name in (*HEATS, "asked")}

    assert float(np.mean(chances(table(row, 240)))) < 0.3


def brackets(rng: Random) -> Row:
    income = rng.randrange(4000, 99_000)
    return {"income": income, "asked": f"{max(0, income - 10_000) * 0.2 + max(0, income - 40_000) * 0.2:.2f}"}


def discount(rng: Random) -> Row:
    count, price = rng.randrange(1, 100), round(rng.uniform(2, 90), 2)
    rate = 0.9 if count >= 50 else 0.95 if count >= 10 else 1
    return {"count": count, "price": price, "asked": f"{count * price * rate:.2f}"}


@pytest.mark.slow
@pytest.mark.parametrize("row", [brackets, discount])
def test_rates_that_change_at_limits_are_known(row: Callable[[Random], Row]) -> None:
    assert float(np.mean(chances(table(row, 240)))) > 0.8
