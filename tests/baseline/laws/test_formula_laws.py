"""Formulas on made tables: each kind is known to the last digit, and none is believed where there is none."""

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random

import numpy as np
import pytest

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.laws.formula_terms import nicest
from tabcontam.tables.table import Cell
from tests.baseline.made import guess_chain

Row = dict[str, object]
COUNTRIES = {"DE": 1.19, "FR": 1.2, "US": 1.0725, "CH": 1.081}


def table(row: Callable[[Random], Row], size: int, seed: int = 0) -> dict[str, list[Cell]]:
    """So many rows made by a function, with two columns of noise beside them."""
    rng = Random(seed)
    rows = [{**row(rng), "noise 1": rng.randrange(1000), "noise 2": round(rng.gauss(0, 10), 1)} for _ in range(size)]
    return {name: [None if one[name] is None else str(one[name]) for one in rows] for name in rows[0]}


def guesses(columns: Mapping[str, Sequence[Cell]], count: int) -> list[CellPrediction]:
    shown = [name for name in columns if name != "asked"]
    return [chain[0] for chain in guess_chain(columns, shown, ["asked"], range(count))]


def chances(columns: Mapping[str, Sequence[Cell]], count: int = 40) -> list[float]:
    pairs = zip(guesses(columns, count), columns["asked"], strict=False)
    return [guess.chance_of(cell or "") for guess, cell in pairs]


def goods(rng: Random) -> tuple[int, float]:
    return rng.randint(1, 40), round(rng.uniform(1, 200), 2)


def subtotal(rng: Random) -> Row:
    count, price = goods(rng)
    return {"count": count, "price": price, "asked": f"{count * price:.2f}"}


def tax(rng: Random) -> Row:
    _, price = goods(rng)
    return {"net": price, "asked": f"{price * 1.19:.2f}"}


def tax_by_country(rng: Random) -> Row:
    country, (_, price) = rng.choice(list(COUNTRIES)), goods(rng)
    return {"country": country, "net": price, "asked": f"{price * COUNTRIES[country]:.2f}"}


def fee_by_country(rng: Random) -> Row:
    country, (count, price) = rng.choice(list(COUNTRIES)), goods(rng)
    return {"country": country, "n": count, "net": price, "asked": f"{count * price + 9 * COUNTRIES[country]:.2f}"}


def questionnaire(items: int) -> Callable[[Random], Row]:
    def row(rng: Random) -> Row:
        answers = {f"item {number}": rng.randint(1, 5) for number in range(items)}
        return {**answers, "asked": sum(answers.values())}

    return row


def item_of_a_total(rng: Random) -> Row:
    answers: dict[str, object] = {f"item {number}": rng.randint(1, 5) for number in range(30)}
    total = sum(int(str(answer)) for answer in answers.values())
    return {"total": total, "asked": answers.pop("item 7"), **answers}


def balance(rng: Random) -> Row:
    before, gained, spent = rng.randint(1, 900), rng.randint(1, 90), rng.randint(1, 90)
    return {"before": before, "in": gained, "out": spent, "asked": before + gained - spent}


def weighted(rng: Random) -> Row:
    a, b, c = (rng.randint(0, 100) for _ in range(3))
    return {"a": a, "b": b, "c": c, "asked": f"{0.35 * a + 1.2 * b - 0.75 * c + 12.5:.1f}"}


def mean(rng: Random) -> Row:
    marks = [rng.randint(0, 100) for _ in range(3)]
    return {**{f"mark {number}": mark for number, mark in enumerate(marks)}, "asked": sum(marks) / 3}


def percentage(rng: Random) -> Row:
    part, whole = rng.randint(1, 40), rng.randint(41, 500)
    return {"part": part, "whole": whole, "asked": f"{100 * part / whole:.1f}"}


def share_of_a_sum(rng: Random) -> Row:
    votes = [rng.randint(10, 1000) for _ in range(4)]
    return {**{f"votes {n}": vote for n, vote in enumerate(votes)}, "asked": f"{100 * votes[0] / sum(votes):.1f}%"}


def body_mass_index(rng: Random) -> Row:
    height, weight = round(rng.gauss(170, 10)), round(rng.gauss(75, 12), 1)
    return {"height": height, "weight": weight, "asked": f"{weight / (height / 100) ** 2:.1f}"}


def weight_of_body_mass_index(rng: Random) -> Row:
    height, weight = round(rng.gauss(170, 10)), round(rng.gauss(75, 12))
    return {"height": height, "index": f"{weight / (height / 100) ** 2:.1f}", "asked": weight}


def pounds_and_inches(rng: Random) -> Row:
    height, weight = round(rng.gauss(67, 4)), round(rng.gauss(165, 30))
    return {"height": height, "weight": weight, "asked": f"{703 * weight / height**2:.1f}"}


def sphere(rng: Random) -> Row:
    across = round(rng.uniform(1, 30), 1)
    return {"diameter": across, "asked": f"{math.pi / 6 * across**3:.1f}"}


def ellipsoid(rng: Random) -> Row:
    x, y, z = (round(rng.uniform(1, 9), 1) for _ in range(3))
    return {"x": x, "y": y, "z": z, "asked": f"{math.pi / 6 * x * y * z:.2f}"}


def monomial(rng: Random) -> Row:
    a, b, c = rng.randint(1, 500), rng.randint(1, 40), round(rng.uniform(1, 200), 2)
    return {"a": a, "b": b, "c": c, "asked": f"{0.007184 * a**0.5 * b**1.5 / c:.3f}"}


def invoice(rng: Random) -> Row:
    (count, price), discount, shipping = goods(rng), rng.choice([0, 5, 10, 20]), rng.choice([4.95, 7.5, 0, 12])
    whole = f"{count * price * (1 - discount / 100) + shipping:.2f}"
    return {"count": count, "price": price, "discount": discount, "shipping": shipping, "asked": whole}


def annuity(rng: Random) -> Row:
    loan, rate, years = rng.randint(5, 500) * 1000, round(rng.uniform(1, 9), 2), rng.choice([5, 10, 15, 20, 30])
    month = rate / 1200
    return {
        "loan": loan,
        "rate": rate,
        "years": years,
        "asked": f"{loan * month / (1 - (1 + month) ** (-12 * years)):.2f}",
    }


def compound(rng: Random) -> Row:
    start, rate, years = rng.randint(1, 99) * 100, rng.choice([1, 1.5, 2, 3, 4.5]), rng.randint(1, 12)
    return {"start": start, "rate": rate, "years": years, "asked": f"{start * (1 + rate / 100) ** years:.2f}"}


def larger(rng: Random) -> Row:
    a, b = rng.randint(1, 500), rng.randint(1, 500)
    return {"a": a, "b": b, "asked": max(a, b)}


def apart(rng: Random) -> Row:
    a, b = rng.randint(1, 500), rng.randint(1, 500)
    return {"a": a, "b": b, "asked": abs(a - b)}


def division(rng: Random) -> Row:
    a, b = rng.randint(1, 500), rng.randint(2, 40)
    return {"a": a, "b": b, "asked": a // b}


def remainder(rng: Random) -> Row:
    year = rng.randint(1900, 2020)
    return {"year": year, "asked": year % 4 + 1}


def parity(rng: Random) -> Row:
    number = rng.randint(1, 500)
    return {"number": number, "asked": "odd" if number % 2 else "even"}


def band(rng: Random) -> Row:
    age = rng.randint(18, 89)
    return {"age": age, "asked": f"{age // 10 * 10} to {age // 10 * 10 + 9}"}


def fahrenheit(rng: Random) -> Row:
    celsius = round(rng.gauss(15, 8), 1)
    return {"celsius": celsius, "asked": f"{celsius * 9 / 5 + 32:.1f}"}


def dollars(rng: Random) -> Row:
    count, price = goods(rng)
    return {"count": count, "price": f"${price * 10:,.2f}", "asked": f"${count * round(price * 10, 2):,.2f}"}


def euros(rng: Random) -> Row:
    count, price = goods(rng)
    written = [
        f"{number:,.2f}".translate(str.maketrans(",.", ".,")) for number in (price * 9, count * round(price * 9, 2))
    ]
    return {"count": count, "price": f"{written[0]} €", "asked": f"{written[1]} €"}


KNOWN = (
    *(subtotal, tax, tax_by_country, fee_by_country, item_of_a_total, balance, weighted, mean, percentage),
    *(share_of_a_sum, body_mass_index, weight_of_body_mass_index, pounds_and_inches, sphere, ellipsoid, monomial),
    *(invoice, annuity, compound, larger, apart, division, remainder, parity, band, fahrenheit, dollars, euros),
)


@pytest.mark.slow  # a table and a fit for each of many kinds
@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.__name__)
def test_a_formula_is_known_to_the_last_digit(row: Callable[[Random], Row]) -> None:
    found = chances(table(row, 80))
    assert np.median(found) > 0.8
    assert np.mean(np.array(found) > 0.7) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("items", [9, 20, 40])
def test_totals_of_a_questionnaire_are_known(items: int) -> None:
    assert min(chances(table(questionnaire(items), 100))) > 0.9


def test_a_formula_that_holds_in_some_rows_is_believed_as_often() -> None:
    def sometimes(rng: Random) -> Row:
        row = subtotal(rng)
        return row if rng.random() < 0.6 else {**row, "asked": f"{rng.uniform(1, 5000):.2f}"}

    surest = np.mean([guess.surest for guess in guesses(table(sometimes, 200), 60)])
    assert 0.4 < surest < 0.7


@pytest.mark.slow
def test_missing_cells_and_typing_errors_do_not_hide_a_sum() -> None:
    def careless(rng: Random) -> Row:
        row: Row = {f"item {number}": rng.randint(0, 9) if rng.random() > 0.02 else None for number in range(9)}
        total = sum(int(str(answer)) for answer in row.values() if answer is not None)
        return {**row, "asked": total if rng.random() > 0.05 else total + rng.randint(1, 30)}

    assert np.median(chances(table(careless, 150))) > 0.85


@pytest.mark.parametrize("size", [20, 30])
def test_a_product_is_known_in_a_small_table(size: int) -> None:
    assert np.median(chances(table(subtotal, size), size)) > 0.85


@pytest.mark.parametrize(("size", "values"), [(30, 100), (100, 10), (400, 2)])
@pytest.mark.slow
def test_no_formula_is_believed_between_columns_of_noise(size: int, values: int) -> None:
    def noise(rng: Random) -> Row:
        return {"a": rng.randint(1, 500), "b": rng.randint(1, 40), "c": rng.random(), "asked": rng.randrange(values)}

    columns = table(noise, size, seed=values)
    found = guesses(columns, min(size, 100))
    hits = sum(guess.likeliest == cell for guess, cell in zip(found, columns["asked"], strict=False))
    expected = sum(guess.surest for guess in found)
    assert hits <= expected + 3 * math.sqrt(expected) + 0.5
    assert np.mean([guess.surest for guess in found]) < 1 / values + 0.3


@pytest.mark.slow
@pytest.mark.parametrize(
    "cells",
    [
        [None] * 30,
        ["0"] * 30,
        ["nan", "inf", "-inf"] * 10,
        ["1e999", "1e300", "-1e300"] * 10,
        [f"{number}e-320" for number in range(30)],
        ["9" * 400] * 30,
        [f"${number},,..{number}" for number in range(30)],
        ["١٢٣", "²", "½", "--5", "+-3", "5-"] * 5,
        [f"{number}.{number}.{number} kg" for number in range(30)],
        ["1.234,50 €", "1,234.50 $", "%", "12 kg"] * 7 + [None, ""],
        [str(10**11 + number) for number in range(30)],
        [str(number * 1e-6) for number in range(30)],
    ],
)
def test_odd_cells_raise_nothing(cells: list[Cell]) -> None:
    numbers: list[Cell] = [str(number * 7 % 31) for number in range(30)]
    for columns in ({"asked": cells, "a": numbers}, {"asked": numbers, "a": cells, "b": cells[::-1]}):
        assert all(0 < guess.rest <= 1 for guess in guesses(columns, 30))


class TestNicest:
    @pytest.mark.parametrize(
        ("low", "high", "number"), [(0.333333, 0.333334, 1 / 3), (2.4, 2.6, 2.5), (-1.2, -0.9, -1.0), (-0.1, 7.0, 0.0)]
    )
    def test_the_plainest_number_between_two(self, low: float, high: float, number: float) -> None:
        assert nicest(low, high) == pytest.approx(number)

    def test_a_number_that_no_fraction_can_be_made_of(self) -> None:
        low, high = 1.12345678e307, 1.12345682e307  # 365.25 times that is more than a float holds
        assert low <= nicest(low, high) <= high
