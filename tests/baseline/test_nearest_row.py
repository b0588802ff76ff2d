"""Of a row that is a changed copy of another, the cells that were not changed are known."""

from random import Random

import numpy as np

from tabcontam.baseline.coded_columns import column
from tabcontam.baseline.nearest_row import OWN, alike, apart, differing, most_similar_row
from tabcontam.tables.table import Cell
from tests.baseline.made import guess_chain


def copied(pairs: int, seed: int = 0) -> dict[str, list[Cell]]:
    """Rows of random numbers, each followed by a copy in which one of the shown cells, `a` to `c`, is another."""
    rng = Random(seed)
    cells: dict[str, list[Cell]] = {name: [] for name in "abcd"}
    for _ in range(pairs):
        row = {name: str(rng.randrange(10**6)) for name in "abcd"}
        for one in (row, row | {rng.choice("abc"): str(rng.randrange(10**6))}):
            for name, cell in one.items():
                cells[name].append(cell)
    return cells


def test_rows_are_compared_by_the_cells_in_which_they_differ() -> None:
    shown = [column("a", ["1", "1", "2"]), column("b", ["x", "y", "y"])]
    assert apart(shown, 3).tolist() == [[OWN, 1, 2], [1, OWN, 1], [2, 1, OWN]]
    assert differing(shown[0]).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_the_twin_is_believed_as_often_as_twins_are_right() -> None:
    cells = copied(50)
    shown, target = [column(name, cells[name]) for name in "abc"], column("d", cells["d"])
    predicted = np.array([0, 99])
    everyone = np.ones(100, dtype=np.bool_)
    found = most_similar_row(target, apart(shown, 100), everyone, predicted)
    for row, values in zip(predicted.tolist(), found.values, strict=True):
        assert list(values) == [target.keys[row]]
        assert values[target.keys[row]] == 1.0
    lots = column("lot", [str(number) for number in range(100)])
    assert all(
        max(values.values(), default=0) < 0.1
        for values in most_similar_row(lots, apart(shown, 100), everyone, predicted).values
    )


def test_predictors_are_weighed_by_rows_without_a_twin_in_the_shown_cells_where_no_other_is_asked() -> None:
    shown = [column("a", [*("same" for _ in range(40)), *(str(row) for row in range(60))])]
    differ = apart(shown, 100)
    assert alike(differ, np.array([50, 60])).tolist() == [False] * 40 + [True] * 60
    assert alike(differ, np.array([5, 60])).all()
    assert alike(None, np.array([5, 60])).all()


def test_the_guesser_is_sure_of_a_changed_copy() -> None:
    cells = copied(40)
    chances = [
        guess.chance_of(str(cells["d"][row])) for row, (guess,) in enumerate(guess_chain(cells, "abc", "d", range(80)))
    ]
    assert float(np.mean(chances)) > 0.9
