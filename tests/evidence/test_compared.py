"""What an exact match is, and Algorithm 2 on the words of those who judged."""

import pytest

from tabcontam.evidence.compared import Compared, Likeness, contaminated, exactly

EXACT, NEAR, NONE = Likeness
PIECE = "icy surface of Jupiter's largest moon, 1,234.5 km away."


@pytest.mark.parametrize(
    "said",
    [
        PIECE,
        f"  {PIECE}\n",
        PIECE.replace(" ", "\n"),
        PIECE.removesuffix("."),
        f'"{PIECE}"',
        PIECE.replace("'", "\u2019"),
        f"{PIECE}..",
    ],
)
def test_what_a_person_passes_over_is_no_difference(said: str) -> None:
    assert exactly(PIECE, said)


@pytest.mark.parametrize(
    "said",
    [
        PIECE.replace("1,234.5", "12345"),
        PIECE.replace("Jupiter", "jupiter"),
        PIECE.replace("km", "miles"),
        PIECE[:-10],
        f"{PIECE} It is cold.",
        "",
    ],
)
def test_what_a_person_sees_is_a_difference(said: str) -> None:
    assert not exactly(PIECE, said)


def test_nothing_is_a_match_of_punctuation() -> None:
    assert not exactly("...", "...")
    assert not exactly("", "")


def test_a_first_piece_that_is_repeated_is_passed_over() -> None:
    shown = "Scientists (have) found\nlumps beneath the"
    again = Compared("q", shown, PIECE, f"\u201c{shown.replace(chr(10), ' ')} {PIECE}\u201d")
    assert again.exact
    assert Compared("q", shown, PIECE, f"Scientists found {PIECE}").exact is False


def test_a_row_is_exact_where_all_its_cells_are_the_same() -> None:
    assert Compared("q", "a is 1", "b is 2, c is 3", "c = 3.0; b = 2", cells=("2", "3"), same_cells=True).exact


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([EXACT], True),
        ([NEAR], False),
        ([NEAR, NEAR], True),
        ([NEAR, NONE, EXACT], True),
        ([NONE] * 10, False),
        ([], False),
    ],
)
def test_algorithm_2(words: list[Likeness], found: bool) -> None:
    assert contaminated(words) is found
