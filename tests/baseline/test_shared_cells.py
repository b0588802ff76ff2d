"""Rows that share several cells, or the middle of a code, with the one in question."""

from collections.abc import Callable
from random import Random

import pytest

from tabcontam.baseline.rare_values import same_rare_value
from tabcontam.baseline.shared_cells import shared
from tabcontam.tables.table import Cell
from tests.baseline.made import chances, view

ROWS, ASKED = 5000, range(60)
FIRMS = [f"Firm {number}" for number in range(700)]


def by_three_cells(rng: Random) -> list[list[Cell]]:
    """A firm follows from three cells, and from no two of them."""
    firm: dict[tuple[int, ...], str] = {}
    found: list[list[Cell]] = []
    for _ in range(ROWS):
        key = tuple(rng.randrange(11) for _ in range(3))
        name = firm.setdefault(key, rng.choice(FIRMS))
        found.append([f"p{key[0]}", f"r{key[1]}", f"t{key[2]}", rng.choice("abcd"), name])
    return found


def by_the_middle(rng: Random) -> list[list[Cell]]:
    """A firm follows from the fourth to the seventh digit of an account."""
    firm = [rng.choice(FIRMS) for _ in range(1500)]
    found: list[list[Cell]] = []
    for _ in range(ROWS):
        code = rng.randrange(1500)
        account = f"{rng.randrange(100, 1000)}{1000 + code}{rng.randrange(1000):03d}"
        found.append([account, rng.choice("abcd"), firm[code]])
    return found


def by_nearly_all_cells(rng: Random) -> list[list[Cell]]:
    """A row stands twice, with a number of its own and another flag."""
    own: list[list[Cell]] = [[*(rng.choice("abcdefgh") for _ in range(6)), rng.choice(FIRMS)] for _ in range(ROWS // 2)]
    twice = rng.sample([*own, *own], ROWS)
    return [[str(number), rng.choice("yn"), *row] for number, row in enumerate(twice)]


@pytest.mark.parametrize("made", [by_three_cells, by_the_middle, by_nearly_all_cells])
def test_rows_tell_the_firm_that_share_no_single_cell(made: Callable[[Random], list[list[Cell]]]) -> None:
    rows = made(Random(4))
    cells = {f"column {place}": list(column) for place, column in enumerate(zip(*rows, strict=True))}
    seen = view(cells, f"column {len(cells) - 1}", ASKED, learned=range(len(ASKED), ROWS))
    found = chances(same_rare_value(seen), seen.target, list(ASKED))
    assert sum(chance > 0.4 for chance in found) > 0.8 * len(ASKED)


def test_a_row_shares_nothing_with_itself() -> None:
    rng = Random(5)
    cells: dict[str, list[Cell]] = {name: [str(rng.randrange(17)) for _ in range(ROWS)] for name in "abcd"}
    cells["e"] = [str(rng.randrange(1000)) for _ in range(ROWS)]
    seen = view(cells, "e", ASKED, learned=range(ROWS))
    assert max(chances(same_rare_value(seen), seen.target, list(ASKED))) < 0.5


def test_of_few_rows_single_cells_are_not_all_that_is_looked_at() -> None:
    rng = Random(6)
    firm = {(letter, size): rng.choice(FIRMS) for letter in "ABCDEFGHIJ" for size in range(5)}
    rows: list[tuple[Cell, ...]] = []
    for _ in range(400):
        letter, size = rng.choice(list(firm))
        rows.append((f"{letter}{rng.randrange(10_000, 99_999)}", f"s{size}", rng.choice("abcd"), firm[letter, size]))
    cells = {name: list(column) for name, column in zip("abcd", zip(*rows, strict=True), strict=True)}
    seen = view(cells, "d", ASKED, learned=range(400))
    assert shared(seen)
    assert sum(chance > 0.7 for chance in chances(same_rare_value(seen), seen.target, list(ASKED))) > 0.9 * len(ASKED)
