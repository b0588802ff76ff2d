"""How likely numbers are for who predicts them from the row's other cells."""

from random import Random

import numpy as np
import pytest

from tabcontam.baseline.coded_columns import Floats, column
from tabcontam.baseline.densities import densities

ROWS = 100
FITS = [(np.flatnonzero(np.arange(ROWS) % 2 == part), np.flatnonzero(np.arange(ROWS) % 2 != part)) for part in (0, 1)]


def found(sizes: list[str | None], others: list[str | None], values: list[str]) -> list[Floats]:
    """What the predictors say of the values in place of the others, given the sizes."""
    return densities(column("other", others), [column("size", sizes)], FITS, np.arange(ROWS), values)


def made(seed: int = 0) -> tuple[list[str | None], list[str | None]]:
    """Sizes, and others that are about three times as large."""
    rng = Random(seed)
    sizes = [rng.uniform(5, 50) for _ in range(ROWS)]
    return [f"{size:.2f}" for size in sizes], [f"{3 * size + rng.gauss(0, 1):.2f}" for size in sizes]


def test_each_predictor_has_a_line_a_row_that_adds_up_to_one() -> None:
    sizes, others = made()
    values = sorted(set(filter(None, others)))
    each = found(sizes, others, values)
    assert len(each) == 3  # by rank, as they are, by their logarithm
    for chances in each:
        assert chances.shape == (ROWS, len(values))
        assert np.allclose(chances.sum(axis=1), 1)
        assert (chances > 0).all()


def test_the_likeliest_values_are_near_what_follows() -> None:
    sizes, others = made()
    values = sorted(set(filter(None, others)))
    for chances in found(sizes, others, values):
        likeliest = np.array([float(values[place]) for place in chances.argmax(axis=1)])
        assert np.median(np.abs(likeliest - 3 * np.array(sizes, dtype=np.float64))) < 12


def test_a_row_is_not_predicted_by_its_own_number() -> None:
    """One row's number is changed to another of the column: what is expected in that row hardly changes."""
    sizes, others = made()
    values = sorted(set(filter(None, others)))
    changed = [*others[:-1], others[0]]
    for before, after in zip(found(sizes, others, values), found(sizes, changed, values), strict=True):
        numbers = np.array(values, dtype=np.float64)
        assert abs(float(before[-1] @ numbers - after[-1] @ numbers)) < 0.1 * float(np.std(numbers))


def test_there_is_no_logarithm_of_negative_numbers() -> None:
    sizes, others = made()
    negative: list[str | None] = [f"-{cell}" for cell in others]
    assert len(found(sizes, negative, ["-20.5", "-30.1"])) == 2


@pytest.mark.parametrize("others", [["red", "blue"] * 50, ["1.5", None, None, None] * 25, ["7"] * 39 + [None] * 61])
def test_of_texts_and_of_few_numbers_nothing_is_said(others: list[str | None]) -> None:
    assert found(made()[0], others, ["1.5", "7"]) == []
