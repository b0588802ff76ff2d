"""Numbers of fewer digits are worth what these digits are worth, by precisions that the column alone fixes."""

from math import log2
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.baseline.cell_prediction import CellPrediction
from tabcontam.baseline.rounded_numbers import WEIGHTS, RoundedPrediction, chain, coarser_places, worths
from tabcontam.reading.answer_text import value_key
from tests.baseline.made import guess_chain

NUMBERS = st.decimals(-10_000, 10_000, places=3).map(str)
PRICE = CellPrediction(
    {"12.34": 0.01},
    0.001,
    coarser=(RoundedPrediction(1, {value_key("12.3"): 0.05}, 0.01), RoundedPrediction(0, {}, 0.1)),
)


def keys(texts: list[str]) -> list[str]:
    return list(map(value_key, texts))


def test_the_precisions_are_those_of_the_column() -> None:
    rng = Random(1)
    assert coarser_places(keys([f"{rng.gauss(50, 20):.2f}" for _ in range(300)])) == (1, 0)
    assert coarser_places(keys([f"{rng.randrange(10_000, 90_000)}" for _ in range(300)])) == (-1, -2)
    assert coarser_places(keys([f"{100 * rng.randrange(100, 9000)}" for _ in range(300)])) == (-3, -4)


@pytest.mark.parametrize(
    "texts",
    [
        [str(age) for age in range(17, 90)],  # tens are too few
        [f"{number / 10}" for number in range(25)],
        [f"name {number}" for number in range(300)],
        [f"1e{number}" for number in range(300)],
        ["1e999999999", "nan"],
        [],
    ],
)
def test_columns_of_few_numbers_or_of_none_are_asked_for_exactly(texts: list[str]) -> None:
    assert coarser_places(keys(texts)) == ()


def test_a_few_values_of_more_digits_make_no_column_finer() -> None:
    texts = [f"{number / 10}" for number in range(1000)]
    assert coarser_places(keys([*texts, "3.14159"])) == coarser_places(keys(texts)) == (0,)


@given(NUMBERS, NUMBERS)
def test_what_is_equal_in_more_digits_is_equal_in_fewer(first: str, second: str) -> None:
    pairs = [a == b for a, b in zip(chain(first, (2, 1, 0, -1)), chain(second, (2, 1, 0, -1)), strict=True)]
    assert pairs == sorted(pairs)


def test_halves_go_up_and_what_is_no_number_has_no_digits() -> None:
    assert chain("0.25", (1,)) == [value_key("0.3")]
    assert chain("2345", (-1, -2)) == [value_key("2350"), value_key("2400")]
    assert chain("A", (1, 0)) == chain("nan", (1, 0)) == chain("1e999999999", (1, 0)) == [None, None]


def test_an_answer_is_as_precise_as_the_most_digits_in_which_it_is_right() -> None:
    assert PRICE.precision("12.34", "12.340") == 0
    assert PRICE.precision("12.3", "12.34") == 1
    assert PRICE.precision("12", "12.34") == 2
    assert PRICE.precision("13", "12.34") is None
    assert PRICE.precision("unknown", "12.34") is None
    assert CellPrediction({"12.34": 0.01}, 0.001).precision("12.3", "12.34") is None


def test_each_precision_has_a_chance_of_its_own_and_none_is_below_a_finer_one() -> None:
    assert PRICE.chances("12.34") == (0.01, 0.05, 0.1)
    assert PRICE.chances("99.99") == (0.001, 0.01, 0.1)
    assert CellPrediction({"7": 0.5}, 0.1, coarser=(RoundedPrediction(-1, {}, 0.2),)).chances("7") == (0.5, 0.5)


def test_bits_are_those_of_a_mixture_that_is_fixed_beforehand() -> None:
    assert worths((1 / 64,)) == [6]
    exact, rounded, coarse = WEIGHTS[2]
    assert worths((0.001, 0.01, 0.04)) == [
        pytest.approx(log2(exact / 0.001 + rounded / 0.01 + coarse / 0.04)),
        pytest.approx(log2(rounded / 0.01 + coarse / 0.04)),
        pytest.approx(log2(coarse / 0.04)),
    ]
    assert worths((0.001, 0.01, 0.5))[2] == 0.0  # what everybody hits is worth nothing
    for weights in WEIGHTS.values():
        assert sum(weights) == pytest.approx(1)


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=3).map(sorted))
def test_an_exact_answer_is_worth_nearly_what_it_was(chances: list[float]) -> None:
    assert worths(chances)[0] >= -log2(chances[0]) - 0.33 - 1e-9


@given(st.lists(st.floats(1e-6, 1), min_size=2, max_size=3).map(sorted))
def test_under_the_null_the_evidence_has_a_mean_of_one_at_most(chances: list[float]) -> None:
    new = [chance - before for chance, before in zip(chances, [0.0, *chances], strict=False)]
    weights = WEIGHTS[len(chances) - 1]
    evidence = [
        sum(weight / chance for weight, chance in zip(weights[place:], chances[place:], strict=True))
        for place in range(len(chances))
    ]
    assert sum(chance * worth for chance, worth in zip(new, evidence, strict=True)) == pytest.approx(1)


@pytest.mark.slow
def test_the_guesser_says_how_likely_first_digits_are_and_no_less_than_they_turn_out() -> None:
    rng = Random(3)
    columns = {"a": [f"{rng.gauss(0, 1):.2f}" for _ in range(600)], "b": [str(rng.randrange(5)) for _ in range(600)]}
    columns["c"] = [f"{50 + 9 * float(a) + rng.gauss(0, 3):.2f}" for a in columns["a"]]
    asked = list(range(0, 600, 6))
    guesses = [chain_of[0] for chain_of in guess_chain(columns, ["a", "b"], ["c"], asked)]
    assert {tuple(one.places for one in guess.coarser) for guess in guesses} == {(1, 0)}
    for place in (1, 2):  # the answer of one who knows the rule: what it hits is expected
        told = [(guess.likeliest or "", columns["c"][row], guess) for guess, row in zip(guesses, asked, strict=True)]
        hits = sum(
            (found := guess.precision(said, truth)) is not None and found <= place for said, truth, guess in told
        )
        expected = sum(guess.chances(said)[place] for said, _, guess in told)
        assert hits <= expected + 3 * expected**0.5


def test_what_was_written_is_read_again() -> None:
    assert CellPrediction.read(PRICE.fields()) == PRICE
    old = {"values": {"a": 0.5}, "rest": 0.1, "missing": 0.0}
    assert CellPrediction.read(old).fields() == old
    for held in (
        {"places": 1, "values": {}, "rest": 2},
        {"places": 1, "values": {"1": 2}, "rest": 0.1},
        {"places": "1"},
    ):
        with pytest.raises((ValueError, KeyError)):
            RoundedPrediction.read(held)


def test_what_is_ruled_out_makes_other_first_digits_likelier() -> None:
    assert PRICE.coarser[0].likelier(0.5) == RoundedPrediction(1, {value_key("12.3"): 0.1}, 0.02)
    assert PRICE.coarser[1].likelier(0.01).rest == 1
