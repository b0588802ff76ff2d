"""Whether recorded queries could have told memory from guessing."""

import pytest

from tabcontam.replays.power import power


def test_a_row_that_is_worth_enough_is_seen_as_often_as_it_is_remembered() -> None:
    assert power([[0.001, 0.01]], share=0.5, level=1e-4) == pytest.approx(0.5, abs=0.001)


def test_what_everybody_guesses_is_never_seen() -> None:
    assert power([[0.9, 0.9]] * 5, share=1.0, level=0.01) == 0


def test_without_memory_the_level_is_kept() -> None:
    assert power([[0.2, 0.3], [0.05]], share=0.0, level=0.05) <= 0.05


def test_more_rows_are_seen_more_often() -> None:
    few, many = (power([[0.05]] * rows, share=0.5, level=1e-3) for rows in (3, 12))
    assert few < many
