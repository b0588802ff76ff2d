"""Versions after Bordt et al.: last digits, words and names are other, and nothing else."""

from dataclasses import replace
from functools import lru_cache
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.tables.dataset_cards import ClassificationQuestion
from tabcontam.tables.table import Cell, Table
from tabcontam.twins.twin_making import BORDT, unseen
from tests.made_tables import made_table
from tests.twins.made import fleet

COLUMNS = ("shipId", "hull_type", "length", "typeCode", "cargo", "captain", "sea-going")


@lru_cache(maxsize=4)
def ledger(rows: int = 300) -> Table:
    """A ledger of ships with a number for each row, a code that follows from the type, zeros, gaps and names."""
    rng = Random(rows)
    kinds = ("two-master", "three-master", "barge")

    def ship(number: int) -> tuple[Cell, ...]:
        kind, length = rng.choice(kinds), rng.uniform(8, 60)
        cargo = None if rng.random() < 0.1 else str(0 if rng.random() < 0.3 else rng.randrange(1, 900))
        name = "".join(rng.choices("aeioubdfgklmnprst", k=8)).capitalize()
        sails = "y" if rng.random() < (0.9 if length > 30 else 0.1) else "n"
        return str(number), kind, f"{length:.1f}", str(kinds.index(kind) + 1), cargo, f"Capt. {name}", sails

    table = made_table(COLUMNS, [ship(number) for number in range(1, rows + 1)], "ledger")
    return replace(
        table, target="sea-going", question=ClassificationQuestion("Does it go to sea?", {"y": "Yes", "n": "No"})
    )


def column(kind: str, name: str, table: Table) -> list[tuple[Cell, Cell]]:
    """A feature's cells of the rows and of their twins, whatever the feature is called there."""
    twin = unseen(table, kind)
    place = sorted(set(table.columns) - {table.target}).index(name)
    cells = table.column(name)
    return [(cells[row], other[place]) for row, other in zip(twin.originals, twin.rows, strict=True)]


def test_the_original_version_has_the_rows_as_they_are() -> None:
    for name in COLUMNS[:-1]:
        assert all(own == other for own, other in column("bordt_original", name, ledger()))


@pytest.mark.slow
def test_a_measured_number_is_moved_by_its_last_digits_and_stays_in_its_range() -> None:
    lengths = [float(str(cell)) for cell in ledger().column("length")]
    for own, other in column("bordt_perturbed", "length", ledger()):
        assert own != other or float(str(own)) in (min(lengths), max(lengths))
        assert abs(float(str(own)) - float(str(other))) <= 0.2 + 1e-9  # a hundredth of a deviation of some 15
        assert min(lengths) <= float(str(other)) <= max(lengths)
        assert len(str(other).partition(".")[2]) <= 1


def test_missing_cells_and_zeros_that_mark_nothing_stay() -> None:
    pairs = column("bordt_perturbed", "cargo", ledger())
    assert all(other == own for own, other in pairs if own in (None, "0"))
    assert all(other not in (None, own) for own, other in pairs if own not in (None, "0", "1", "899"))


def test_a_number_of_the_rows_is_moved_by_one_amount() -> None:
    moved = {int(str(other)) - int(str(own)) for own, other in column("bordt_perturbed", "shipId", ledger())}
    assert len(moved) == 1
    assert min(moved) >= len(ledger().rows)


def test_codes_of_few_values_and_categories_stay() -> None:
    for name in ("typeCode", "hull_type"):
        assert all(own == other for own, other in column("bordt_perturbed", name, ledger()))


@pytest.mark.slow
def test_a_number_that_follows_from_another_feature_stays() -> None:
    """Who knows the one knows the other, as of a degree the years that it takes."""
    years = {f"degree {place}": str(place) for place in range(16)}
    rng = Random(0)
    rows = [(name := rng.choice(sorted(years)), years[name], f"{rng.random():.2f}") for _ in range(400)]
    labelled = [(*row, "y" if int(row[1]) + 8 * float(row[2]) > 11 else "n") for row in rows]
    table = replace(
        made_table(("degree", "years", "dose", "y"), labelled, "degrees"),
        target="y",
        question=ClassificationQuestion("Is it?", {"y": "Yes", "n": "No"}),
    )
    assert all(own == other for own, other in column("bordt_perturbed", "years", table))
    assert any(own != other for own, other in column("bordt_perturbed", "dose", table))


def test_names_become_names_that_no_row_has() -> None:
    captains = set(ledger().column("captain"))
    pairs = column("bordt_perturbed", "captain", ledger())
    assert all(str(other).startswith("Capt. ") for _, other in pairs)
    assert not captains & {other for _, other in pairs}


def test_the_task_version_writes_words_as_words() -> None:
    assert set(unseen(ledger(), "bordt_task").features) == {
        "Ship Id",
        "Hull type",
        "Length",
        "Type Code",
        "Cargo",
        "Captain",
    }
    words = {(own, other) for own, other in column("bordt_task", "hull_type", ledger())}
    assert words == {("two-master", "Two master"), ("three-master", "Three master"), ("barge", "Barge")}
    assert all(len(str(other).partition(".")[2]) == 2 for _, other in column("bordt_task", "length", ledger()))


def test_names_that_would_become_one_stay_as_they_are() -> None:
    rng = Random(0)
    rows = [
        (str(place % 37), str(place % 41), "y" if place % 37 + rng.gauss(0, 6) > 18 else "n") for place in range(300)
    ]
    table = replace(
        made_table(("a_b", "a-b", "y"), rows, "alike"),
        target="y",
        question=ClassificationQuestion("Is it?", {"y": "Yes", "n": "No"}),
    )
    assert unseen(table, "bordt_task").features == ("a-b", "a_b")


def test_the_statistical_version_has_numbers_alone_and_turns_them_round() -> None:
    twin = unseen(ledger(), "bordt_statistical")
    assert sorted(twin.features) == [f"X{number}" for number in range(1, 7)]
    assert all(cell is None or float(cell) is not None for row in twin.rows for cell in row)
    pairs = [(float(str(own)), float(str(other))) for own, other in column("bordt_statistical", "length", ledger())]
    assert max(pairs)[1] < min(pairs)[1]
    spread = sum(other**2 for _, other in pairs) / len(pairs)
    assert spread**0.5 == pytest.approx(3.33, abs=0.05)
    assert len(set(column("bordt_statistical", "hull_type", ledger()))) == 3


def test_missing_cells_stay_missing_in_every_version() -> None:
    for twin in BORDT:
        assert all((own is None) == (other is None) for own, other in column(twin.kind, "cargo", ledger()))


@pytest.mark.parametrize("twin", BORDT, ids=lambda one: one.kind)
def test_the_label_stays(twin: object) -> None:
    kind = str(getattr(twin, "kind", ""))
    made, tolls = unseen(fleet(), kind), fleet().column("toll")
    answers = {"1": "Yes", "0": "No"}
    assert list(made.labels) == [answers[str(tolls[row])] for row in made.originals]


@pytest.mark.slow
def test_a_table_of_categories_alone_has_no_perturbed_version() -> None:
    rng = Random(0)
    rows = [rng.choices("abc", k=5) for _ in range(300)]
    table = replace(
        made_table((*"vwxyz", "y?"), [(*row, "y" if "a" in row[:2] else "n") for row in rows], "kinds"),
        target="y?",
        question=ClassificationQuestion("Is it?", {"y": "Yes", "n": "No"}),
    )
    with pytest.raises(Skip, match="nothing can be changed"):
        unseen(table, "bordt_perturbed")
    assert unseen(table, "bordt_task").features == ("V", "W", "X", "Y", "Z")
    with pytest.raises(Skip, match="harder than the table: logistic regression"):  # which reads codes as amounts
        unseen(table, "bordt_statistical")


def test_a_version_that_a_law_of_last_digits_makes_wrong_is_refused() -> None:
    """Whether a number is even is told by what the noise moves."""
    rng = Random(0)
    rows = [(str(number := rng.randrange(10, 30)), str(rng.random()), "y" if number % 2 else "n") for _ in range(400)]
    table = made_table(("number", "dose", "y"), rows, "parity")
    table = replace(table, target="y", question=ClassificationQuestion("Odd?", {"y": "Yes", "n": "No"}))
    with pytest.raises(Skip, match="its last digits predict the label"):
        unseen(table, "bordt_perturbed")
