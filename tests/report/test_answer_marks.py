"""Where an answer's text is marked: only where what was read stands there, and never twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.report.answer_marks import marked, of_row, of_words

FEATURES = ["age", "sex", "fare"]


def told(answer: str, *cells: tuple[str, str, str]) -> list[str | list[str]]:
    return marked(answer, of_row(answer, FEATURES, cells))


def test_a_value_is_marked_behind_the_name_of_its_feature() -> None:
    parts = told("The age is 2, the sex is f, the fare is 2", ("age", "2", "wrong"), ("fare", "2", "right"))
    assert parts == ["The age is ", ["wrong", "2"], ", the sex is f, the fare is ", ["right", "2"]]


def test_names_may_stand_in_any_order_and_case() -> None:
    parts = told('{"FARE": 7.25, "Age": 22}', ("age", "22", "right"), ("fare", "7.25", "wrong"))
    assert parts == ['{"FARE": ', ["wrong", "7.25"], ', "Age": ', ["right", "22"], "}"]


def test_bare_values_are_marked_in_order() -> None:
    assert told("1, 1, 1", ("age", "1", "right"), ("sex", "1", "wrong"), ("fare", "1", "right")) == [
        ["right", "1"], ", ", ["wrong", "1"], ", ", ["right", "1"],
    ]  # fmt: skip


@pytest.mark.parametrize("answer", ["age is 27.95", "age is 127.9", "age is 27.9x", "age is x27.9"])
def test_a_part_of_a_number_or_word_is_no_value(answer: str) -> None:
    assert told(answer, ("age", "27.9", "right")) == [answer]


def test_a_value_that_was_read_in_other_words_is_not_marked() -> None:
    assert told("age is twenty", ("age", "20", "right")) == ["age is twenty"]


def test_a_word_is_marked_once_without_its_note() -> None:
    answer = "Sepal Length, sepal length, class"
    assert marked(answer, of_words(answer, ["sepal length (cm)", "", "species"], "right")) == [
        ["right", "Sepal Length"], ", sepal length, class",
    ]  # fmt: skip


@given(st.text(max_size=60), st.lists(st.text(max_size=5), max_size=4))
def test_no_character_is_lost_or_doubled(answer: str, values: list[str]) -> None:
    cells = [(FEATURES[place % 3], value, "right") for place, value in enumerate(values)]
    for marks in (of_row(answer, FEATURES, cells), of_words(answer, values, "right")):
        assert "".join(part if isinstance(part, str) else part[1] for part in marked(answer, marks)) == answer
