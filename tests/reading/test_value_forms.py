"""What a column's own values say of a text: whether it could be one of them, a number, or the only ones there are."""

import pytest

from tabcontam.reading.answer_readers import _pieces, cleaned, fits
from tabcontam.reading.value_forms import FeatureValues, ValueForm

CODES = ("AB-12", "CD-34", "EF-56")
COLOURS = ("Red", "Green", "Blue")
JOBS = ("Private", "Self-emp", "State-gov", "Never-worked")
DECIMALS = ("3.5", "2.5", "4.25")


@pytest.mark.parametrize(
    ("values", "text", "could_be"),
    [
        (CODES, "GH-78", True),
        (CODES, "12-GH", False),
        (CODES, "no idea", False),
        (CODES[:2], "no idea", True),  # two values show nothing
        (COLOURS, "Yellow", True),
        (COLOURS, "Yellow/Red", False),
    ],
)
def test_a_text_has_the_form_of_three_values_or_more(values: tuple[str, ...], text: str, could_be: bool) -> None:
    assert ValueForm(values).has(text) is could_be


def test_a_text_that_is_much_longer_than_the_values_is_not_like_them() -> None:
    assert ValueForm(COLOURS).is_like("Dark Yellow")
    assert not ValueForm(COLOURS).is_like("Yellow And Then")


@pytest.mark.parametrize(
    ("values", "number", "among"), [(DECIMALS, "3.0", True), (DECIMALS, "3", False), (("3", *DECIMALS), "3", True)]
)
def test_a_whole_number_is_none_of_a_column_of_decimals(values: tuple[str, ...], number: str, among: bool) -> None:
    assert FeatureValues(values).among(number) is among


def test_a_column_is_closed_where_all_its_values_are_listed() -> None:
    assert FeatureValues(JOBS, listed=True).closed
    assert not FeatureValues(JOBS).closed


def test_a_column_is_one_of_numbers_where_all_values_are() -> None:
    assert FeatureValues(("1", "2", "3")).numeric
    assert not FeatureValues(("1", "two", "3")).numeric


@pytest.mark.parametrize("text", ["Certainly", "Here is"])
def test_what_begins_an_answer_is_no_value(text: str) -> None:
    assert not fits(text, FeatureValues(COLOURS))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("Private, since he works there", "Private"),
        ("Private, or rather Self-emp", None),
        ("Private (wait, Self-emp)", None),
        ("Private; no, actually State-gov", None),
    ],
)
def test_a_value_that_is_taken_back_is_not_cut_out(cell: str, value: str | None) -> None:
    assert cleaned(cell, FeatureValues(JOBS)) == (value or cell)


def test_where_all_values_are_known_one_of_them_comes_before_what_is_like_one() -> None:
    comments = ("Works as described.", "Box damaged.", "Love it!")
    assert cleaned("Works as described..", FeatureValues(comments, listed=True)) == "Works as described."
    assert cleaned("Works as described..", FeatureValues(comments)) == "Works as described.."


def test_of_a_long_answer_no_beginning_is_tried_that_is_longer_than_any_value() -> None:
    """Each of thousands was compared with the values, so that one answer of 17,000 letters took eight seconds."""
    sort = FeatureValues(("Mirt Vantz", "Orlo Thoom"))
    long = "; ".join(f"master could be Mirt Vantz {number}" for number in range(700))
    assert len(list(_pieces(f"Orlo Thoom; {long}", sort))) < 10


def test_a_number_is_compared_with_those_that_are_finite() -> None:
    assert FeatureValues(("1e999", "120", "130")).among("125")
    assert not FeatureValues(("1e999",)).among("125")
