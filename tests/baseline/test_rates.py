"""Numbers that follow from another number and the kind of their row, in tables of many rows."""

from random import Random

import pytest

from tabcontam.baseline.ordered_keys import ordered
from tabcontam.baseline.rates import rate_owners, rates
from tabcontam.tables.table import Cell
from tests.baseline.made import chances, view

ASKED = list(range(60))


def orders(rows: int, kinds: int, broken: float, seed: int = 0) -> dict[str, list[Cell]]:
    """Amounts with a tax of the state and a fee of the agent; some rows pay no tax."""
    rng = Random(seed)
    tax = [round(rng.uniform(0.01, 0.1), 4) for _ in range(kinds)]
    fee = [round(rng.uniform(1, 90), 2) for _ in range(kinds)]
    found: list[tuple[Cell, ...]] = []
    for _ in range(rows):
        state, agent, amount = rng.randrange(kinds), rng.randrange(kinds), round(rng.lognormvariate(5, 1), 2)
        taxed = amount * tax[state] if rng.random() >= broken else 0.0
        paid = amount + fee[agent]
        found.append((f"s{state}", f"a{agent}", f"{amount:.2f}", f"{taxed:.2f}", f"{paid:.2f}", rng.choice("yn")))
    names = ("state", "agent", "amount", "tax", "paid", "late")
    return {name: [row[place] for row in found] for place, name in enumerate(names)}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["tax", "paid"])
@pytest.mark.parametrize(("kinds", "broken"), [(50, 0.0), (50, 0.2), (700, 0.0)])
def test_a_tax_and_a_fee_follow_from_the_other_rows_of_a_kind(target: str, kinds: int, broken: float) -> None:
    cells = orders(6000, kinds, broken)
    seen = view(cells, target, ASKED, learned=range(len(ASKED), 6000))
    found = chances(rates(seen), seen.target, ASKED)
    assert sum(chance > 0.4 for chance in found) > (0.8 - broken) * len(ASKED)


def test_no_row_tells_of_itself() -> None:
    rng = Random(1)
    cells: dict[str, list[Cell]] = {name: [f"{rng.uniform(0, 999):.2f}" for _ in range(4000)] for name in "ab"}
    cells["kind"] = [f"k{rng.randrange(1500)}" for _ in range(4000)]
    seen = view(cells, "b", ASKED, learned=range(4000))
    assert max(chances(rates(seen), seen.target, ASKED)) < 0.2


def test_nothing_is_looked_for_in_texts() -> None:
    cells = orders(3000, 20, 0.0)
    assert rates(view(cells, "state", ASKED)) == []
    assert len(rates(view(cells, "tax", ASKED))) == 1


@pytest.mark.parametrize("target", ["tax", "paid"])
@pytest.mark.parametrize(("rows", "kinds", "broken"), [(300, 40, 0.0), (300, 30, 0.1), (1500, 200, 0.0)])
def test_rates_are_learned_from_the_few_rows_that_a_kind_has_in_a_small_table(
    target: str, rows: int, kinds: int, broken: float
) -> None:
    seen = view(orders(rows, kinds, broken), target, ASKED, learned=range(rows))
    found = chances(rates(seen), seen.target, ASKED)
    assert sum(chance > 0.6 for chance in found) > (0.85 - broken) * len(ASKED)


def test_a_day_and_a_currency_together_have_a_rate() -> None:
    rng = Random(7)
    rate = {(day, one): round(rng.lognormvariate(0, 1), 4) for day in range(30) for one in range(6)}
    rows: list[tuple[Cell, ...]] = []
    for _ in range(1200):
        (day, one), amount = rng.choice(list(rate)), round(rng.lognormvariate(5, 1), 2)
        time = f"2021-03-{day + 1:02d} {rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
        rows.append((time, f"c{one}", f"{amount:.2f}", f"{amount * rate[day, one]:.2f}"))
    names = ("time", "currency", "amount", "converted")
    cells = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    seen = view(cells, "converted", ASKED, learned=range(1200))
    assert sum(chance > 0.6 for chance in chances(rates(seen), seen.target, ASKED)) > 0.9 * len(ASKED)


def test_who_knows_the_rates_knows_whose_rate_it_is() -> None:
    cells = orders(6000, 40, 0.0)
    seen = view(cells, "state", ASKED, learned=range(len(ASKED), 6000))
    assert sum(chance > 0.3 for chance in chances(ordered(seen), seen.target, ASKED)) > 0.7 * len(ASKED)
    assert sum(chance > 0.6 for chance in chances(rate_owners(seen), seen.target, ASKED)) > 0.7 * len(ASKED)


def test_an_hour_lies_between_the_hours_beside_it_at_the_same_of_many_stations() -> None:
    rng = Random(2)
    rows: list[tuple[Cell, ...]] = []
    for station in range(40):
        level, name = rng.uniform(0, 400), f"{chr(97 + station // 8)}{chr(97 + station % 8)}"
        for hour in range(100):
            level += 0.3 * rng.uniform(-1, 1)
            rows.append((name, f"2018-01-{hour // 24 + 1:02d} {hour % 24:02d}:00", f"{level:.0f}"))
    cells = {name: [row[place] for row in rows] for place, name in enumerate(("station", "time", "level"))}
    asked = list(range(7, 4000, 61))
    seen = view(cells, "level", asked)
    assert sum(chance > 0.3 for chance in chances(ordered(seen), seen.target, asked)) > 0.6 * len(asked)
