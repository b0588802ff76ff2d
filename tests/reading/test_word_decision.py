"""Algorithm 1 on made-up answers."""

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.reading.word_decision import Dictionary, appears, decide_names, decide_words, english

PORTABLE = partial(english, portable=True)  # read once, when a test first needs it


class TestUnknownWords:
    def test_one_that_no_dictionary_has_is_enough(self) -> None:
        decision = decide_words("age, fnlwgt, weight", ["age", "race", "fnlwgt", "workclass"], PORTABLE())
        assert decision.detected
        assert decision.looked_for == {"fnlwgt": True, "workclass": False}

    def test_english_words_do_not_count_beside_them(self) -> None:
        assert not decide_words("age, race, sex", ["age", "race", "fnlwgt"], PORTABLE()).detected

    def test_a_phrase_of_english_words_is_one_unknown_word(self) -> None:
        assert decide_words("the quite rich", ["little", "rich", "quite rich"], PORTABLE()).looked_for == {
            "quite rich": True
        }

    def test_what_stands_in_parentheses_is_not_looked_for(self) -> None:
        decision = decide_words("petal length", ["petal length (cm)", "petal width (cm)"], PORTABLE())
        assert decision.looked_for == {"petal length": True, "petal width": False}


class TestEnglishWords:
    def test_all_of_them_have_to_appear(self) -> None:
        assert decide_words("yes or no", ["no", "yes"], PORTABLE()).detected
        assert not decide_words("yes", ["no", "yes"], PORTABLE()).detected

    def test_a_missing_value_counts_as_appeared(self) -> None:
        assert decide_words("Q", ["Q", None], PORTABLE()).detected

    @pytest.mark.parametrize("expected", [[], [None], [""]])
    def test_nothing_to_look_for_shows_nothing(self, expected: list[str | None]) -> None:
        assert not decide_words("anything", expected, PORTABLE()).detected

    @given(st.lists(st.text(min_size=1), min_size=1), st.text())
    def test_an_answer_that_repeats_them_all_passes(self, expected: list[str], rest: str) -> None:
        answer = "\n".join(expected) + rest
        assert decide_words(answer, expected, Dictionary("of these words", set(expected).__contains__)).detected
        assert decide_words(answer, expected, Dictionary("of no word", set[str]().__contains__)).detected


class TestAppears:
    @pytest.mark.parametrize(
        ("word", "output"),
        [
            ("Total_Rooms", "total rooms"),
            ("total_rooms", "TOTAL_ROOMS"),
            ("hours.per.week", "hours_per_week"),
            ("total rooms", "total_rooms"),
            ("no", "nothing"),
            ("q", "A question"),
        ],
    )
    def test_case_and_underscores_aside_and_inside_words(self, word: str, output: str) -> None:
        assert appears(word, output)

    @pytest.mark.parametrize(
        ("word", "output"),
        [("hours.per.week", "hours per week"), ("HomePlanet", "home planet"), ("blue-collar", "blue collar")],
    )
    def test_no_other_spelling(self, word: str, output: str) -> None:
        assert not appears(word, output)

    def test_one_dataset_needs_its_capitals(self) -> None:
        assert appears("MathE", "[MathE]")
        assert not appears("MathE", "Mathematics")


class TestNames:
    @pytest.mark.parametrize("names", [["german credit", "german"], ("german credit", "german")])
    def test_the_short_name_is_tried_after_the_long_one(self, names: Sequence[str]) -> None:
        long, short = decide_names("German credit data", names, PORTABLE()), decide_names("German", names, PORTABLE())
        assert (long.detected, long.looked_for) == (True, {"german credit": True})
        assert (short.detected, short.looked_for) == (True, {"german credit": False, "german": True})

    def test_another_name_is_none(self) -> None:
        assert not decide_names("census", ["adult income", "adult"], PORTABLE()).detected
