"""Values behind their features' names, and the one value of a text: a further row, or another value, is not read."""

import pytest

from tabcontam.reading.named_values import denied, first_row, read_aligned, read_pairs
from tabcontam.reading.single_value import read_one
from tabcontam.reading.value_forms import FeatureValues
from tabcontam.reading.wrapping import set_off

SORTS = {
    "age": FeatureValues(("39", "40", "50")),
    "sex": FeatureValues(("M", "F")),
    "job": FeatureValues(("Private", "State-gov", "Self-emp")),
}
COLOUR = FeatureValues(("red", "green", "blue"), listed=True)


def test_of_several_objects_the_first_is_read() -> None:
    text = '[{"age": 39, "sex": "M"}, {"age": 40, "sex": "F"}'
    assert read_pairs(text, ("age", "sex")) == {"age": "39", "sex": "M"}


def test_no_value_is_read_behind_a_name_that_comes_again() -> None:
    assert "job" not in read_aligned("age is 39, sex is M; age is 40, job is Private", SORTS)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('I would say "red" and again "red"', "red"),
        ('perhaps "red", perhaps "green"', None),
        ("I would say *red* and *green*", None),
    ],
)
def test_two_values_in_marks_are_none(text: str, value: str | None) -> None:
    assert read_one(text, "colour", COLOUR, lambda line: line) == value


def test_an_answer_is_set_off_once() -> None:
    assert set_off("so <answer> 39 </answer>.") == "39"
    twice = "<answer>39</answer> or <answer>40</answer>"
    assert set_off(twice) == twice


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The No is 1, The loan is no, The balance is 5, The y is no", set()),  # values and a column, and no denial
        ("default: none, loan: no, balance: 5, y: no", set()),
        ("The balance is 5, The y is not known", set()),
        ("It is not true that the balance is 5", {"balance"}),
        ("As for the loan, it is not the case that the balance is 5 and the y is no", {"balance", "y"}),
        ("Not this: balance 5", {"balance"}),
        ("I do not have the file, so a made-up row has the balance 5 and the y 1", {"balance", "y"}),
        ("In the previous row the balance is 5", {"balance"}),
    ],
)
def test_what_is_said_of_another_feature_denies_none(text: str, expected: set[str]) -> None:
    assert denied(text, ("balance", "y")) == expected


def test_a_row_of_yes_and_no_is_followed_by_others() -> None:
    row = "The housing is no, The loan is no, The balance is 5, The y is no"
    assert first_row(f"{row}\n{row}", ("balance", "y")).startswith(row)
    assert (
        first_row(
            f"It is not so that {row}\n{row}".replace("The housing is no, The loan is no, ", ""), ("balance", "y")
        )
        == ""
    )
