"""A text's characters say what class a row is of, where rows enough show it."""

from random import Random

import numpy as np
import pytest

from tabcontam.baseline.character_grams import by_characters
from tabcontam.baseline.coded_columns import column
from tabcontam.baseline.fit import Fit
from tabcontam.tables.table import Cell
from tests.baseline.made import guess_chain

STEMS = ("Marg", "Hel", "Car", "Ant", "Vict", "Luc", "Jul", "Am", "Ros", "Fel", "Val", "Gis", "Aur", "Cam", "Dan")
PRODUCTS = {
    "kitchen": ("pan", "kettle", "ladle", "whisk", "teapot"),
    "garden": ("rake", "hose", "shovel", "fence", "seeds"),
    "office": ("stapler", "paper", "folder", "pencil", "binder"),
}


def products(rows: int, seed: int = 0) -> dict[str, list[Cell]]:
    """Products of whose names one word, at any place, says the kind; `color` is said by nothing."""
    rng = Random(seed)
    found: dict[str, list[Cell]] = {"name": [], "kind": [], "color": []}
    for _ in range(rows):
        kind = rng.choice(list(PRODUCTS))
        words = [*(rng.choice(STEMS) + rng.choice(STEMS).lower() for _ in range(3)), rng.choice(PRODUCTS[kind])]
        rng.shuffle(words)
        for cells, cell in zip(
            found.values(), (" ".join(words), kind, rng.choice(("red", "blue", "grey"))), strict=True
        ):
            cells.append(cell)
    return found


def chances(columns: dict[str, list[Cell]], asked: str, count: int = 60) -> list[float]:
    shown = [name for name in columns if name != asked]
    guesses = [chain[0] for chain in guess_chain(columns, shown, [asked], range(count))]
    return [guess.chance_of(cell or "") for guess, cell in zip(guesses, columns[asked], strict=False)]


@pytest.mark.slow
@pytest.mark.parametrize("size", [400, 2600])
def test_a_word_anywhere_in_a_name_says_the_kind(size: int) -> None:
    found = chances(products(size), "kind")
    assert sum(found) / len(found) > 0.9


def test_an_ending_of_a_first_name_says_the_sex() -> None:
    rng = Random(1)
    rows = [
        (rng.choice(("a", "o")), f"{rng.choice(STEMS)}{rng.choice('abcdeilmnrtv')}{rng.choice('lmnrt')}")
        for _ in range(400)
    ]
    columns: dict[str, list[Cell]] = {
        "name": [f"{stem}{ending} {rng.choice(STEMS)}{rng.choice(STEMS).lower()}" for ending, stem in rows],
        "sex": ["f" if ending == "a" else "m" for ending, _ in rows],
    }
    found = chances(columns, "sex")
    assert sum(found) / len(found) > 0.9


def test_what_a_name_does_not_say_is_no_surer_than_its_frequency() -> None:
    found = chances(products(2600), "color")
    assert sum(found) / len(found) < 0.4


def test_probabilities_add_up_whatever_the_texts_hold() -> None:
    rng = Random(2)
    odd = ("", "\ud800", "\x00\x00", "ß" * 9_000, "a\nb", "٣٤", None)
    cells = [(rng.choice(odd) or "") + str(place) if place % 3 else rng.choice(odd) for place in range(300)]
    kinds = [None if cell == "" else "x" if cell and "ß" in cell else "y" for cell in cells]
    fit = Fit(column("kind", kinds), (column("text", cells),), (), np.arange(250), np.arange(250, 300))
    matrix = by_characters(fit)
    assert matrix is not None
    assert matrix.shape == (50, len(fit.keys))
    assert np.allclose(matrix.sum(axis=1), 1)


def test_there_is_nothing_to_learn_without_texts_or_classes() -> None:
    names = column("name", [f"name {place}" for place in range(100)])
    sizes = column("size", [str(place) for place in range(100)])
    kinds = column("kind", ["a", "b"] * 50)
    rows, rest = np.arange(80), np.arange(80, 100)
    assert by_characters(Fit(kinds, (sizes,), (), rows, rest)) is None
    assert by_characters(Fit(sizes, (names,), (), rows, rest)) is None
    assert by_characters(Fit(kinds, (), (), rows, rest)) is None
