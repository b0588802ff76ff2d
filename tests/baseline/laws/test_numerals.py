"""Numbers in other numerals: what they are, how they are written, and what is none."""

from random import Random

import numpy as np
import pytest

from tabcontam.baseline.coded_columns import column
from tabcontam.baseline.laws.numerals import in_words, numerals, of_words, roman, with_numerals
from tests.baseline.laws.test_formula_laws import Row, chances, table


def test_a_number_is_written_in_six_ways() -> None:
    assert numerals("42") == ["2a", "2a", "101010", "xlii", "forty-two", "forty-two"]
    assert numerals("7")[1] == "07"
    assert numerals("1234")[-2:] == ["one thousand two hundred and thirty-four", "one thousand two hundred thirty-four"]
    assert numerals("4.2") == numerals("x") == numerals("1" * 13) == []


@pytest.mark.parametrize("number", [0, 9, 19, 20, 99, 100, 101, 999, 1000, 1974, 20_300, 999_999, 3_000_001])
def test_words_say_the_number_that_they_were_made_of(number: int) -> None:
    assert of_words(in_words(number)) == number


def test_other_words_say_no_number() -> None:
    assert of_words("three blind mice") is None
    assert of_words("") is None
    assert of_words("hundred " * 5000) is None
    assert in_words(10**9) == ""


def test_roman_numbers() -> None:
    assert [roman(number) for number in (4, 1974, 2019, 3999, 4000)] == ["iv", "mcmlxxiv", "mmxix", "mmmcmxcix", ""]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["#ff8000", "#00ff10", "#a0b0c0"], {"pair 1": ["255", "0", "160"], "pair 3": ["0", "16", "192"]}),
        (["1011", "111", "10"], {"number": ["11", "7", "2"]}),
        (["MCMLXX", "IV", "XL"], {"number": ["1970", "4", "40"]}),
        (["twelve", "one hundred and two", "forty-one"], {"number": ["12", "102", "41"]}),
    ],
)
def test_numerals_are_read(cells: list[str], numbers: dict[str, list[str]]) -> None:
    found = {one.name: list(one.cells) for one in with_numerals([column("cell", cells)])}
    for name, expected in numbers.items():
        assert found[f"cell {name}"] == expected


@pytest.mark.parametrize(
    "cells", [["12", "39", "58"], ["beef", "cafe", "tea"], ["0", "1", "1"], ["mix", "mild", "low"]]
)
def test_what_is_no_numeral_is_left_alone(cells: list[str]) -> None:
    assert len(with_numerals([column("cell", cells)])) == 1


def colour(rng: Random) -> Row:
    red, green = rng.randrange(256), rng.randrange(256)
    return {"hex": f"#{red:02x}{green:02x}{rng.randrange(256):02x}", "asked": green}


def as_colour(rng: Random) -> Row:
    parts = [rng.randrange(256) for _ in range(3)]
    return {
        **dict(zip(("red", "green", "blue"), parts, strict=True)),
        "asked": "#" + "".join(f"{part:02X}" for part in parts),
    }


def cheque(rng: Random) -> Row:
    amount = rng.randrange(1, 1000)
    return {"amount": amount, "asked": in_words(amount)}


def imprint(rng: Random) -> Row:
    year = rng.randrange(1500, 2020)
    return {"imprint": roman(year).upper(), "asked": year}


@pytest.mark.slow
@pytest.mark.parametrize("row", [colour, as_colour, cheque, imprint])
def test_numerals_are_known_from_numbers_and_numbers_from_numerals(row: object) -> None:
    assert callable(row)
    assert float(np.mean(chances(table(row, 120)))) > 0.9
