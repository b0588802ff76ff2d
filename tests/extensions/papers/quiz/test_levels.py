"""The published numbers of a quiz, on counts that were worked out by hand."""

import pytest

from tabcontam.extensions.papers.quiz.quiz_answers import PLACES, ContaminationLevels, levels, non_preferred


def test_letters_below_a_fifth_are_not_preferred() -> None:
    assert non_preferred({"A": 41, "C": 1, "D": 1, "E": 57}, 100) == ("B", "C", "D")
    assert non_preferred({"A": 20, "B": 19, "C": 21, "D": 20, "E": 20}, 100) == ("B",)


def test_a_fifth_is_rounded_up() -> None:
    assert non_preferred({"A": 15, "B": 14, "E": 42}, 71) == ("B", "C", "D")


def test_none_of_them_is_never_a_place() -> None:
    assert "E" not in non_preferred({"A": 100}, 100)


def test_all_places_are_taken_where_all_are_preferred() -> None:
    assert non_preferred(dict.fromkeys(PLACES, 25), 100) == PLACES


def test_the_highest_level_is_that_of_the_best_place() -> None:
    found = levels({"A": 40, "B": 10, "E": 50}, {"B": 82, "C": 53, "D": 44}, 100)
    assert found == ContaminationLevels(lowest=0.8, highest=0.82, kappa=0.8, place="B")


def test_the_second_place_raises_the_lowest_level() -> None:
    found = levels({"A": 7, "D": 1, "E": 63}, {"A": 36, "B": 33, "C": 31, "D": 35}, 71)
    assert found is not None
    assert found.kappa == pytest.approx(29 / 64)
    assert found.lowest == pytest.approx(35 / 71)


def test_a_single_place_has_levels_unlike_in_dcq() -> None:
    """The published code looks for a second place and fails with an IndexError."""
    found = levels({"A": 30, "B": 4, "C": 33, "D": 33}, {"B": 52}, 100)
    assert found is not None
    assert found.lowest == pytest.approx(0.5)
    assert found.highest == 0.52


def test_a_letter_that_is_always_named_has_no_kappa() -> None:
    found = levels({"A": 10}, {"A": 10}, 10)
    assert found is not None
    assert found.kappa == 0.0


def test_nothing_asked_has_no_levels() -> None:
    assert levels({}, {}, 0) is None
    assert levels({"A": 1}, {}, 1) is None
