"""The silent predictor answers as an honest one would: by all rows that are not asked."""

from random import Random

import numpy as np

from tabcontam.baseline.chains import FeatureChain
from tabcontam.baseline.silent_predictor import silent_answers
from tabcontam.tables.table import Cell
from tests.baseline.made import columns
from tests.baseline.test_mixture import goods


def test_it_names_what_the_other_rows_show() -> None:
    made = columns(goods(400))
    rows, others = np.arange(50), np.arange(50, 400)
    (kinds,) = silent_answers([made["kind"]], [made["twin"], made["weight"]], [(others, rows)])
    assert [kinds[row] for row in range(50)] == [made["kind"].cells[row] for row in range(50)]


def test_it_answers_several_features_at_once_and_never_with_a_missing_cell() -> None:
    rng = Random(0)
    cells: dict[str, list[Cell]] = {
        "key": [str(row % 7) for row in range(200)],
        "kind": [None if row % 7 == 3 else f"k{row % 7}" for row in range(200)],
        "size": [str(10 * (row % 7)) for row in range(200)],
        "lot": [str(rng.randrange(10**6)) for _ in range(200)],
    }
    made = columns(cells)
    rows, others = np.arange(20), np.arange(20, 200)
    kinds, sizes = silent_answers([made["kind"], made["size"]], [made["key"]], [(others, rows)])
    assert kinds == {row: cells["kind"][row] for row in range(20) if row % 7 != 3}
    assert sizes == {row: cells["size"][row] for row in range(20)}


def test_it_does_not_see_the_asked_row() -> None:
    rng = Random(1)
    cells = {name: [str(rng.randrange(10**6)) for _ in range(300)] for name in ("lot", "other")}
    (answers,) = FeatureChain(cells, ["other"], ["lot"], range(60)).silent()
    assert not any(answers[row] == cells["lot"][row] for row in range(60))
    assert all(answers[row] in cells["lot"] for row in range(60))


def test_without_shown_features_it_says_nothing() -> None:
    made = columns(goods(60))
    assert silent_answers([made["kind"]], [], [(np.arange(10, 60), np.arange(10))]) == [{}]
