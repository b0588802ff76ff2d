"""Recorded words and names: worth how much oftener they are said of the true dataset."""

import pytest

from tabcontam.cards import Card, load_cards
from tabcontam.records import Record
from tabcontam.replays.weighing import Weighed
from tabcontam.replays.words import (
    ELSEWHERE,
    INSIDE,
    NO_DECOYS,
    NOT_ITS_NAME,
    SINGLE,
    weigh_names,
    weigh_words,
)

OTHERS = {f"other {number}": [f"port, mast, keel{number}"] for number in range(9)}
SPECIFIC = ("fnlwgt", "quolthop", "zwibarge", "brintlesloop")


def said(output: str, *words: str | None, dataset: str = "ships") -> Record:
    return Record(1, "m", dataset, None, "feature_list_uninformed", "f", output=output, words=words)


def weighed(record: Record, decoys: dict[str, list[str]] = OTHERS) -> Weighed:
    found = weigh_words([record], decoys)
    assert isinstance(found, Weighed)
    return found


def test_words_that_no_other_dataset_is_given_weigh() -> None:
    found = weighed(said(", ".join(SPECIFIC), *SPECIFIC))
    assert found.evidence.p_value == pytest.approx(1e-4)
    assert found.evidence.hits == found.evidence.asked == 4
    assert found.evidence.expected_hits == pytest.approx(0.4)


def test_words_that_are_always_said_weigh_nothing() -> None:
    found = weighed(said("port, mast", "port", "mast"))
    assert found.evidence.p_value == 1.0
    assert ELSEWHERE in found.notes


def test_common_english_words_are_worth_a_bit_at_most() -> None:
    found = weighed(said("age, workclass", "age", "workclass"))
    assert found.groups == ((0.5,), (0.1,))


def test_numbers_and_missing_values_are_no_words() -> None:
    assert weighed(said("fnlwgt, 1, nan", None, "fnlwgt")).evidence.asked == 1


def test_a_word_that_the_dataset_s_name_shows_is_not_asked() -> None:
    found = weigh_words([said("ships", "ships", dataset="old ships")], OTHERS)
    assert isinstance(found, str)
    assert found.startswith("not recorded: ")


def test_b6_a_single_word_cannot_tell() -> None:
    found = weighed(said("fnlwgt", "fnlwgt"))
    assert SINGLE in found.notes
    assert found.blunt(0.001) is not None


def test_b3_a_word_inside_a_longer_one_is_not_said() -> None:
    found = weighed(said("a question", "quest", "fnlwgt"))
    assert found.evidence.hits == 0
    assert INSIDE in found.notes


def test_an_answer_that_declines_is_no_decoy() -> None:
    silent = {"other": ["I'm sorry, I cannot know that."], "another": [""]}
    assert weigh_words([said("fnlwgt", "fnlwgt")], silent) == NO_DECOYS


class TestNames:
    def named(self, card: Card, output: str, decoys: int = 9) -> Weighed:
        record = Record(1, "m", card.title, None, "recognition_features", "f", output=output, words=(card.title,))
        found = weigh_names([record], {f"other {number}": ["Zand Register"] for number in range(decoys)}, card)
        assert isinstance(found, Weighed)
        return found

    @pytest.mark.parametrize("output", ["The California Housing dataset", "california_housing", "cal_housing"])
    def test_its_names_count_however_spelled(self, output: str) -> None:
        assert self.named(load_cards()["housing"], output).evidence.hits == 1

    @pytest.mark.parametrize(
        ("card", "output"),
        [
            ("housing", "[boston_housing]"),
            ("housing", "[boston, housing, census]"),
            ("wine", "Wine Quality"),
            ("wine", "wine_quality dataset"),
            ("wine", "winequality-red.csv"),
            ("titanic", "Spaceship Titanic"),
            ("titanic", "spaceship_titanic"),
        ],
    )
    def test_b10_another_dataset_s_name_does_not_count(self, card: str, output: str) -> None:
        found = self.named(load_cards()[card], output)
        assert (found.evidence.hits, found.notes) == (0, (NOT_ITS_NAME,))

    def test_one_name_among_few_answers_cannot_tell(self) -> None:
        found = self.named(load_cards()["iris"], "Iris")
        assert found.evidence.p_value == pytest.approx(0.1)
        assert found.blunt(0.01) is not None

    def test_one_name_among_many_answers_can(self) -> None:
        assert self.named(load_cards()["iris"], "Iris", decoys=200).blunt(0.01) is None

    def test_a_name_that_is_always_given_weighs_nothing(self) -> None:
        card = load_cards()["iris"]
        record = Record(1, "m", "iris", None, "recognition_features", "f", output="Iris", words=("iris",))
        found = weigh_names([record], {f"other {number}": ["Iris"] for number in range(9)}, card)
        assert isinstance(found, Weighed)
        assert found.evidence.p_value == 1.0
