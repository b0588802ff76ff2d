"""Where texts and rows are cut in two."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.extensions.papers.guided.cuts import Halves, cut, pieces_shown, sentences, share_shown
from tabcontam.extensions.papers.thresholds import SHOWN_SHARES


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It rains. We stay.", ["It rains.", "We stay."]),
        ("Mr. Zorn met Dr. Quill. They talked.", ["Mr. Zorn met Dr. Quill.", "They talked."]),
        ("J. F. Amsel of the U.S. Navy won! Who knew?", ["J. F. Amsel of the U.S. Navy won!", "Who knew?"]),
        ("Zand Inc. rose 3.5 percent. Wexlow Corp. fell.", ["Zand Inc. rose 3.5 percent.", "Wexlow Corp. fell."]),
        ('"Go," he said. "Now!" They went.', ['"Go," he said.', '"Now!"', "They went."]),
        ("Wait... what? No. 5 is here.", ["Wait... what?", "No. 5 is here."]),
        ("It cost 5 dollars. 20 were sold.", ["It cost 5 dollars.", "20 were sold."]),
        ("One (of two.) Another", ["One (of two.)", "Another"]),
        ("no end here", ["no end here"]),
        ("\u964d\u308b\u3002\u5bb6\u306b\u3002", ["\u964d\u308b\u3002", "\u5bb6\u306b\u3002"]),
        ("", []),
    ],
)  # fmt: skip
def test_a_text_is_taken_apart_at_the_ends_of_its_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@given(st.text(alphabet="ab. AB!?\"'() \n1\u3002"))
def test_no_letter_is_lost_and_none_is_added(text: str) -> None:
    found = sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(found)


def test_several_sentences_are_cut_between_two_and_a_single_one_between_words() -> None:
    assert cut("One is here. Two is there.\nThree is gone.", 0.6) == Halves(
        "One is here. Two is there.", "Three is gone."
    )
    assert cut("one two three four five", 0.4) == Halves("one two", "three four five")
    assert cut("one", 0.5) is None
    assert cut(" ", 0.5) is None


@given(st.integers(2, 500), st.floats(*SHOWN_SHARES))
def test_something_is_shown_and_something_is_asked(pieces: int, share: float) -> None:
    shown = pieces_shown(share, pieces)
    assert 1 <= shown < pieces
    if pieces >= 10:
        assert SHOWN_SHARES[0] - 0.05 <= shown / pieces <= SHOWN_SHARES[1] + 0.05


def test_each_instance_has_a_share_of_its_own_unlike_in_time_travel() -> None:
    """The authors' public code sets its seed anew for each row, so that all rows are cut at the same share."""
    rng = Random(0)
    shares = [share_shown(rng) for _ in range(200)]
    assert len(set(shares)) == 200
    assert SHOWN_SHARES[0] <= min(shares) < 0.45
    assert 0.65 < max(shares) <= SHOWN_SHARES[1]
