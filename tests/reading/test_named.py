"""Values behind their features' names, and the one value of a text: a further row, or another value, is not read."""

import pytest

from tabcontam.reading.columns import Sort
from tabcontam.reading.named import read_aligned, read_pairs
from tabcontam.reading.spans import read_one
from tabcontam.reading.wrapping import set_off

SORTS = {"age": Sort(("39", "40", "50")), "sex": Sort(("M", "F")), "job": Sort(("Private", "State-gov", "Self-emp"))}
COLOUR = Sort(("red", "green", "blue"), listed=True)


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
