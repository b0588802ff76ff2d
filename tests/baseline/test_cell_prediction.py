from math import isclose

import pytest

from tabcontam.baseline.cell_prediction import CellPrediction, bits, marginal
from tabcontam.baseline.thresholds import MOST_LISTED_VALUES


def test_an_answer_has_the_chance_of_the_value_it_is_equal_to() -> None:
    guess = CellPrediction({"256.0": 0.5, "No": 0.25}, 0.01)
    assert guess.chance_of("256") == guess.chance_of("2.56e2") == 0.5
    assert guess.chance_of("no.") == 0.25


def test_a_value_that_is_not_listed_has_no_more_than_the_rest() -> None:
    guess = CellPrediction({"a": 0.5}, 0.01)
    assert guess.chance_of("b") == 0.01
    assert guess.chance_of("") == 0.01


def test_a_value_written_in_two_ways_counts_as_one() -> None:
    guess = CellPrediction({"1": 0.3, "1.0": 0.3, "2": 0.4}, 0.01)
    assert guess.chance_of("1") == pytest.approx(0.6)
    assert guess.surest == pytest.approx(0.6)
    assert guess.likeliest == "1"


def test_without_a_listed_value_the_rest_is_the_surest() -> None:
    guess = CellPrediction({}, 0.1)
    assert guess.likeliest is None
    assert guess.surest == 0.1


def test_marginal_frequencies_are_for_one_more_row_and_leave_missing_cells_out() -> None:
    guess = marginal(["a", "a", "b", "?", None], {"?"})
    assert guess.values == {"a": 2 / 6, "b": 1 / 6}
    assert guess.chance_of("?") == guess.rest == 1 / 6


def test_marginal_frequencies_of_no_cell_allow_anything() -> None:
    assert marginal([]).chance_of("a") == 1


def test_no_more_than_the_most_frequent_values_are_listed() -> None:
    assert len(marginal(str(number) for number in range(1000)).values) == MOST_LISTED_VALUES


def test_bits_are_of_base_two() -> None:
    assert isclose(bits(1 / 8), 3)
