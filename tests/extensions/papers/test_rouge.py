"""ROUGE-L, held against the package rouge-score."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.extensions.papers.guided.overlap_measures import rouge_l, tokens

WORDS = st.lists(st.sampled_from(["the", "The", "moon", "of", "Jupiter's", "37;", "co-op", "œuvre", "—"]), max_size=25)


def test_it_is_twice_the_common_words_in_order_over_all_words() -> None:
    assert rouge_l("the cat sat on the mat", "The mat: on it sat the cat.") == pytest.approx(2 * 3 / (6 + 7))
    assert rouge_l("a b c", "a b c") == 1.0
    assert rouge_l("a b c", "c") == pytest.approx(0.5)


def test_words_are_runs_of_letters_and_digits() -> None:
    assert tokens("Jupiter's #39; co-op, 3.5 kg") == ["jupiter", "s", "39", "co", "op", "3", "5", "kg"]


@pytest.mark.parametrize(("expected", "said"), [("", "a"), ("a", ""), ("", ""), ("...", "a"), ("月", "月")])
def test_a_text_without_a_word_overlaps_with_none(expected: str, said: str) -> None:
    assert rouge_l(expected, said) == 0.0


@pytest.mark.slow
@settings(max_examples=150)
@given(st.one_of(st.text(), WORDS.map(" ".join)), st.one_of(st.text(), WORDS.map(" ".join)))
def test_it_is_what_rouge_score_says(expected: str, said: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer  # imports nltk and scikit-learn: too much for a collection

    theirs = RougeScorer(["rougeL"]).score(expected, said)["rougeL"].fmeasure
    assert rouge_l(expected, said) == pytest.approx(theirs, abs=1e-12)
