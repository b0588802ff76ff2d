"""The longest run of words, and what it is worth."""

import pytest

from tabcontam.extensions.papers.guided.guided_completion import partial_conjunction
from tabcontam.extensions.papers.guided.word_runs import WordRun, common, longest, phrases, words

TEXT = "seven grey sloops left the harbour of Wexlow before the ninth bell had rung over the quay"


def test_words_are_compared_without_case_and_marks() -> None:
    assert words("The KEEPER\u2019s \u201clamp\u201d, 1,250 lit!") == ["the", "keeper's", "lamp", "1", "250", "lit"]


def test_a_run_is_the_longest_without_a_gap() -> None:
    run = longest(
        TEXT, f"Reports say seven grey sloops sailed, and before the ninth bell had rung it was over: {TEXT[:9]}"
    )
    assert run.text == ("before", "the", "ninth", "bell", "had", "rung")
    assert (run.own, run.length) == (6, 18)
    assert longest(TEXT, "").bits == longest("", TEXT).bits == longest("", "").bits == 0
    long = " ".join(f"word{number}" for number in range(20_000))
    assert longest(long, long, ("word7 word8",)).own == 19_998


def test_each_word_is_worth_a_bit_less_what_the_choice_of_the_place_is_worth() -> None:
    whole = longest(TEXT, TEXT)
    assert (whole.own, whole.length) == (17, 17)
    assert whole.bits == pytest.approx(17 - 2.0875, abs=1e-3)
    assert whole.chance == pytest.approx(17 / 4 / 2**17)
    assert longest(TEXT, "the ninth").bits == 0  # as short as a writer may have it by luck
    assert longest(TEXT, f"{TEXT} {'and so on ' * 100}").bits < whole.bits  # who writes much has more places


def test_what_other_texts_or_the_prompt_have_counts_for_nothing() -> None:
    elsewhere = frozenset(phrases(words("He left the harbour of Wexlow on foot"), 4))
    parts = common(TEXT, "Grey sloops lay there", elsewhere)
    assert parts == ("grey sloops left the harbour of wexlow",)
    run = longest(TEXT, TEXT, parts)
    assert run.own == 17 - 7
    assert longest(TEXT, "they left the harbour of wexlow at once", parts).own <= 1


def test_a_form_letter_whose_names_are_shown_counts_for_nothing() -> None:
    letter = "Dear Zorn we keep order 4711 until Quill calls"
    elsewhere = frozenset(phrases(("dear", "", "we", "keep", "order", "", "until", "", "calls"), 4))
    shown, rare = "Order by Zorn of number 4711, seen by Quill", frozenset({"zorn", "4711", "quill"})
    assert common(letter, shown, elsewhere, rare) == (letter.casefold(),)
    assert common(letter, shown, elsewhere) == ()
    assert common(letter, "Order by Zorn", elsewhere, rare) == ("dear zorn we keep order",)


def test_of_runs_with_as_many_words_of_their_own_the_longer_is_taken() -> None:
    assert longest("a b c d", "a b x c d y a b c", ("a",)).text == ("a", "b", "c")


def test_a_single_text_is_not_enough_and_two_are() -> None:
    none, recited = WordRun((), 0, 20), WordRun(("w",) * 30, 30, 30)
    assert partial_conjunction([recited, *[none] * 39]) == 1.0
    assert partial_conjunction([recited, recited, *[none] * 38]) == pytest.approx(2 * 39 * recited.chance)
    ten = [WordRun(("w",) * 12, 12, 20)] * 10  # each of which has a chance of 1 in 819: nine of 39 beyond 1 in 100
    assert partial_conjunction([*ten, *[none] * 30]) == pytest.approx(2 * 2.119e8 * 1e-18 * 0.99**30, rel=0.05)
    assert partial_conjunction([]) == partial_conjunction([recited]) == 1.0
