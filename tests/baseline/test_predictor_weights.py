"""Whether the likeliest value is as likely as it says."""

import numpy as np

from tabcontam.baseline.coded_columns import column
from tabcontam.baseline.predictor_weights import SortedHits, TopValueHits


def tops(chance: float, right: int, rows: int = 200) -> TopValueHits:
    """So many rows of two groups, in `right` of which the likeliest value, which has this chance, is right."""
    cells = ["yes" if row < right else "no" for row in range(rows)]
    order = np.random.default_rng(0).permutation(rows)
    target = column("kind", [cells[row] for row in order])
    return TopValueHits.of(target, dict.fromkeys(range(rows), ("yes", chance)), np.arange(rows) % 2 * 1)


def test_a_value_that_is_right_oftener_than_it_says_gets_likelier() -> None:
    assert 0.3 < tops(0.2, 90).in_other_groups(0).raised(0.2) < 0.6


def test_a_value_that_is_right_less_often_keeps_its_chance() -> None:
    assert tops(0.4, 20).in_other_groups(0).raised(0.4) == 0.4


def test_no_chance_gets_larger_than_one() -> None:
    assert tops(0.5, 200).in_other_groups(1).raised(0.9) == 1.0


def test_few_rows_say_nothing() -> None:
    assert tops(0.2, 40, rows=50).in_other_groups(0).raised(0.2) == 0.2


def test_rows_that_are_asked_together_say_nothing_of_each_other() -> None:
    cells = ["yes"] * 150 + ["no"] * 150
    groups = np.repeat([0, 1], 150)
    found = TopValueHits.of(column("kind", cells), dict.fromkeys(range(300), ("yes", 0.3)), groups)
    assert found.in_other_groups(0).raised(0.3) == 0.3
    assert found.in_other_groups(1).raised(0.3) > 0.9


def test_rows_that_the_mixture_is_unsure_of_are_not_hidden_by_those_that_it_is_too_sure_of() -> None:
    cells = ["yes"] * 72 + ["no"] * 8
    chances = {row: ("yes", 0.3 if row % 2 else 1.0) for row in range(80)}
    found = TopValueHits.of(column("kind", cells), chances, np.arange(80) % 5)
    assert found.in_other_groups(0).raised(0.3) > 0.7


def test_a_quarter_of_many_guesses_is_looked_at_where_that_is_allowed() -> None:
    chances, right = np.linspace(0.4, 0.6, 2000), np.arange(2000) % 2 == 0
    right[950:1050] = True
    found = SortedHits.of(chances, right)
    assert found.raised(0.5) > 0.9
    assert 0.55 < found.raised(0.5, 2000) < 0.65
