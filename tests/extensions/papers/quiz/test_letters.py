"""Which option an answer chooses."""

import pytest

from tabcontam.extensions.papers.quiz.quiz_answers import chosen_letter, options_of

LISTED = (
    "Dataset: Ships\n\nA) The mast is 3, The crew is 12\nB) The mast is 2, The crew is 12\nE) None of these\n\nAnswer:"
)
OPTIONS = options_of(LISTED)


def test_options_are_found_by_their_letters() -> None:
    assert OPTIONS == {
        "A": "The mast is 3, The crew is 12", "B": "The mast is 2, The crew is 12", "E": "None of these"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        (" B.", "B"),
        ("**B**", "B"),
        ("(B)", "B"),
        ("B) The mast is 2, The crew is 12", "B"),
        ("A: that one", "A"),
        ("The answer is D.", "D"),
        ("Answer: E", "E"),
        ("Antwort: C", "C"),
        ("I would choose option C, since it looks right.", "C"),
        ("The mast is 2, The crew is 12", "B"),
        ("None of these", "E"),
    ],
)
def test_an_answer_is_read(text: str, letter: str) -> None:
    assert chosen_letter(text, OPTIONS) == letter


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A closer look at the rows is needed.",
        "A or B",
        "A/B",
        "Option A or option B",
        "Yes",
        "I'm sorry, but I cannot recall the contents of this dataset.",
        "The mast is 7",
    ],
)
def test_what_chooses_none_is_no_answer(text: str) -> None:
    assert chosen_letter(text, OPTIONS) is None
