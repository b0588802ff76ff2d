"""What could be a value of a feature, by what other values of it look like."""

import pytest

from tabcontam.reading.answer_readers import fits, read_named
from tabcontam.reading.value_forms import FeatureValues

NEWS = "Shares of the airline fell on Friday after it said that fuel had cost more than it had planned for"


@pytest.mark.parametrize(
    ("value", "like", "could_be"),
    [
        (f"{NEWS} and that no more people had flown with it than a year before.", NEWS, True),
        (" ".join([NEWS] * 5), NEWS, False),
        ("I would say that this is most likely one of the reds", "red", False),
        ("dark red", "red", True),
        ("Berg, Mr. Owen Harris", "Dahl, Mr. Max", True),
    ],
)
def test_a_text_to_read_may_be_longer_than_another_and_talk_is_no_word(value: str, like: str, could_be: bool) -> None:
    assert fits(value, FeatureValues(likely=(like,))) is could_be
    assert fits(value, FeatureValues(show=lambda: (like,))) is could_be


@pytest.mark.parametrize(
    ("text", "name", "cells"),
    [
        ("36,single,yes,yes,cellular,no", "y", {}),  # as Bank's class is called; `es` is Spanish for `is`
        ("edad es 36, y es no", "y", {"y": "no"}),
        ("36,single,assist,yes", "ass", {}),
        ("`y` is no", "y", {"y": "no"}),
    ],
)
def test_a_value_that_begins_with_a_name_says_nothing_of_it(text: str, name: str, cells: dict[str, str]) -> None:
    assert read_named(text, [name]) == cells
