"""Moved cells: numbers stay near, what hangs together is moved together, names are nobody's."""

from dataclasses import replace

import numpy as np

from tabcontam.twins.moves import Moves, decimals
from tabcontam.twins.recoded_twin import _letters
from tabcontam.twins.twin_sample import sample
from tests.twins.made import fleet

FOUND = sample(fleet())
MOVES = Moves(FOUND)
ROWS = range(100)


def place(name: str) -> int:
    return FOUND.features.index(name)


def moved(name: str) -> list[str]:
    return [str(cell) for (cell,) in MOVES.moved((place(name),), ROWS, np.random.default_rng(0))]


def test_a_number_moves_to_one_of_the_columns_a_few_ranks_away() -> None:
    lengths = sorted(float(row[place("length")] or 0) for row in FOUND.rows)
    for row, cell in zip(ROWS, moved("length"), strict=True):
        own = float(FOUND.rows[row][place("length")] or 0)
        between = sum(min(own, float(cell)) < other < max(own, float(cell)) for other in lengths)
        assert float(cell) in lengths
        assert between <= 0.06 * len(lengths)


def test_a_category_is_one_of_a_row_nearby() -> None:
    assert set(moved("kind")) <= {row[place("kind")] for row in FOUND.rows}


def test_names_are_made_anew_and_what_many_share_stays() -> None:
    names = {row[place("name")] for row in FOUND.rows}
    made = moved("name")
    assert all(name.startswith("Dame ") for name in made)
    assert sum(name in names for name in made) <= 2


def test_features_that_follow_from_each_other_are_moved_together() -> None:
    columns = (*fleet().columns, "kind code", "length in feet")
    codes = {kind: str(number) for number, kind in enumerate(sorted({str(row[1]) for row in fleet().rows}))}
    rows = tuple((*row, codes[str(row[1])], f"{float(str(row[2])) * 3.281:.1f}") for row in fleet().rows)
    found = sample(replace(fleet(), columns=columns, rows=rows))
    groups = {frozenset(found.features[place] for place in group) for group in Moves(found).groups}
    assert {frozenset({"kind", "kind code"}), frozenset({"length", "length in feet"})} <= groups


def test_the_digits_of_a_column_are_the_most_that_a_cell_has() -> None:
    assert decimals(["1", "2.50", None]) == 2


def test_categories_are_called_by_letters() -> None:
    assert [_letters(number) for number in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]
