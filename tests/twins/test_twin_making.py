"""Unseen twins: each keeps and changes what its kind says, is checked, and is the same every time."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from tabcontam.errors import Skip
from tabcontam.reading.answer_text import value_key
from tabcontam.tables.editions import cache_folder
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.table_contents import is_number
from tabcontam.twins.twin_making import TWINS, unseen
from tabcontam.twins.twin_sample import Row, sample
from tests.made_tables import ships
from tests.twins.made import features_of, fleet, harbours, lawful, sea_of

WITH_NAMES = ["resampled", "perturbed", "statistical"]


@pytest.mark.parametrize("kind", sorted(TWINS))
def test_a_twin_says_what_it_keeps_and_what_it_changes(kind: str) -> None:
    assert {"Keeps:", "Changes:", "Cannot"} <= set((TWINS[kind].__doc__ or "").split())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["perturbed", "statistical"])
def test_no_row_of_a_twin_is_one_of_the_tables(kind: str) -> None:
    real = {features_of(fleet(), row) for row in range(len(fleet().rows))}
    assert not real & set(unseen(fleet(), kind).rows)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(TWINS))
def test_the_same_seed_makes_the_same_twin_in_whatever_order_the_rows_stand(kind: str) -> None:
    turned = replace(fleet(), columns=fleet().columns[::-1], rows=tuple(row[::-1] for row in fleet().rows[::-1]))
    first, second = unseen(fleet(), kind), unseen(turned, kind)
    assert (first.features, first.rows, first.labels) == (second.features, second.rows, second.labels)
    assert [fleet().rows[row] for row in first.originals] == [turned.rows[row][::-1] for row in second.originals]


@pytest.mark.slow
def test_another_seed_makes_another_twin() -> None:
    assert unseen(fleet(), "perturbed", 0).rows != unseen(fleet(), "perturbed", 1).rows


def test_a_perturbed_row_keeps_its_label_and_two_of_its_cells_are_other() -> None:
    twin = unseen(fleet(), "perturbed")
    toll = fleet().column("toll")
    for row, cells, label in zip(twin.originals, twin.rows, twin.labels, strict=True):
        assert label == {"1": "Yes", "0": "No"}[str(toll[row])]
        assert sum(one != other for one, other in zip(cells, features_of(fleet(), row), strict=True)) >= 2


def test_a_perturbed_row_keeps_its_name() -> None:
    """Who knows facts about its bearer would else be right on the row and wrong on its twin, without recalling any."""
    names, twin = fleet().column("name"), unseen(fleet(), "perturbed")
    place = twin.features.index("name")
    assert [row[place] for row in twin.rows] == [names[row] for row in twin.originals]
    assert twin.unchanged == ("name",)
    assert unseen(fleet(), "recoded").unchanged == ()


def test_a_resampled_row_is_the_row_with_another_label_now_and_then() -> None:
    twin, toll = unseen(fleet(), "resampled"), fleet().column("toll")
    assert list(twin.rows) == [features_of(fleet(), row) for row in twin.originals]
    same = sum(
        {"1": "Yes", "0": "No"}[str(toll[row])] == label for row, label in zip(twin.originals, twin.labels, strict=True)
    )
    assert 0.8 < same / len(twin.originals) < 0.98  # of labels as noisy as these 0.9 agree if the guesser is right


def test_recoded_rows_have_other_words_and_the_same_information() -> None:
    table = fleet()
    twin = unseen(table, "recoded")
    features = sorted(set(table.columns) - {"toll"})
    assert twin.features == tuple(f"X{number}" for number in range(1, len(features) + 1))
    words = {cell for row in table.rows for cell in row if cell and not table.is_missing(cell)}
    partitions = [
        _partition([str(cell and value_key(cell)) for cell in column]) for column in zip(*twin.rows, strict=True)
    ]
    for name in features:
        own = [table.column(name)[row] for row in twin.originals]
        assert _partition([str(cell and value_key(cell)) for cell in own]) in partitions
    assert not words & {cell for row in twin.rows for cell in row if cell and not cell[0].isdigit()}


def test_a_recoded_number_keeps_its_place_in_the_order() -> None:
    twin, table = unseen(fleet(), "recoded"), fleet()
    own = [float(table.column("length")[row] or "nan") for row in twin.originals]
    order = sorted(range(len(own)), key=own.__getitem__)
    columns = list(zip(*twin.rows, strict=True))
    numeric = [[float(str(cell)) for cell in column] for column in columns if _are_numbers(column)]
    assert any(all(column[a] <= column[b] for a, b in pairwise(order)) for column in numeric)


@pytest.mark.parametrize("kind", WITH_NAMES)
def test_a_twin_keeps_the_names_of_features_and_categories(kind: str) -> None:
    twin = unseen(fleet(), kind)
    kinds = {row[twin.features.index("kind")] for row in twin.rows}
    assert kinds == set(fleet().column("kind"))


def test_a_twin_is_a_table_that_can_be_asked_about() -> None:
    twin = unseen(fleet(), "perturbed")
    table = twin.table(fleet())
    assert table.column("toll") == twin.labels
    assert table.question is not None
    assert {table.question.answer(str(label)) for label in table.column("toll")} == {"Yes", "No"}
    assert table.sha256 != fleet().sha256


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (replace(fleet(), target=None, question=None), "no classification question"),
        (ships(12), "an unseen twin needs 40"),
        (replace(fleet(), rows=tuple((*row[:-1], "1") for row in fleet().rows)), "of one class"),
    ],
)
def test_a_table_without_twins_is_refused_with_the_reason(table: Table, why: str) -> None:
    with pytest.raises(Skip, match=why):
        unseen(table, "perturbed")


@pytest.mark.slow
def test_a_table_of_all_combinations_has_no_perturbed_twin() -> None:
    rows = tuple((a, b, c, str(int(a in "pq"))) for a in "pqrst" for b in "pqrst" for c in "pqrst")
    table = replace(fleet(), columns=("first", "second", "third", "toll"), rows=rows)
    with pytest.raises(Skip, match="only 0 of 125 rows have values"):
        unseen(table, "perturbed")


@pytest.mark.slow
def test_a_category_of_few_rows_stays_since_models_cannot_know_what_it_means() -> None:
    """Who knows where a harbour lies would else be right on rows and wrong on their twins, without recalling any."""
    twin, table = unseen(harbours(8), "perturbed"), harbours(8)
    place = twin.features.index("harbour")
    assert [row[place] for row in twin.rows] == [table.column("harbour")[row] for row in twin.originals]
    assert all(sea_of(row[place]) == label for row, label in zip(twin.rows, twin.labels, strict=True))


@pytest.mark.slow
def test_labels_that_no_model_can_learn_have_no_perturbed_twin() -> None:
    def parity(a: float, b: float, c: float) -> bool:
        return bool(round(100 * (a + b + c)) % 2)

    with pytest.raises(Skip, match="the baseline learns nothing about the label"):
        unseen(lawful(parity), "perturbed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "most"),
    [
        (lambda a, b, c: a + b + c > 15, 0.03),
        (lambda a, b, c: (a - 5) ** 2 + (b - 5) ** 2 < 14, 0.03),
        (lambda a, b, c: a * b > 5 * c, 0.03),
        (lambda a, b, c: (a > 5) != (b > 5), 0.03),
    ],
)
def test_a_law_of_numbers_holds_on_nearly_all_twins(law: Callable[[float, float, float], bool], most: float) -> None:
    """Who knows the law is taken for one who recalls where a twin's label breaks it."""
    twin = unseen(lawful(law), "perturbed")
    broken = [
        label != ("Yes" if law(*map(float, map(str, row))) else "No")
        for row, label in zip(twin.rows, twin.labels, strict=True)
    ]
    assert sum(broken) <= most * len(broken)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["perturbed", "statistical"])
def test_texts_to_read_have_no_twin(kind: str) -> None:
    rng = Random(0)
    words = ["".join(rng.choices("aeioubdfgklmn", k=5)) for _ in range(500)]
    rows = tuple((" ".join(rng.choices(words, k=20)), *row[1:]) for row in fleet().rows)
    with pytest.raises(Skip, match="'name' has texts to read, wh"):
        unseen(replace(fleet(), rows=rows), kind)


def test_a_row_that_is_written_otherwise_is_no_unseen_row() -> None:
    found = sample(fleet())
    row = list(found.rows[0])
    place = found.features.index("length")
    row[place] = f"{float(str(row[place])):.3f}"
    assert found.is_real(tuple(row))
    row[place] = "1000"
    assert not found.is_real(tuple(row))


def test_a_row_of_a_known_file_is_no_unseen_row() -> None:
    known = ("Dame Unheard", "sloop", "61.0", "99", "north", "1")
    table = replace(fleet(), known=((known,),))
    row = tuple(dict(zip(table.columns, known, strict=True))[name] for name in sample(table).features)
    assert sample(table).is_real(row)
    assert not sample(fleet()).is_real(row)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("odd", "name"),
    [
        (lambda number: None, "nothing"),
        (lambda number: "7" if number == 3 else None, "one cell"),
        (lambda number: f"{number % 17 - 8}e307", "large numbers"),
        (lambda number: f"{number + 1}e-9", "small numbers"),
        (lambda number: ("\x00", "", "{0}", "%s", "NaN")[number % 5], "signs"),
        (lambda number: f"ID-{number:05d}", "numbers of rows"),
    ],
)
@pytest.mark.parametrize("kind", ["perturbed", "recoded"])
def test_an_odd_column_is_no_hindrance(odd: Callable[[int], str | None], name: str, kind: str) -> None:
    rows = tuple((*row[:-1], odd(number), row[-1]) for number, row in enumerate(fleet().rows[:120]))
    columns = (*fleet().columns[:-1], "odd", "toll")
    twin = unseen(replace(fleet(), name=name, columns=columns, rows=rows), kind)
    assert len(twin.originals) > 60


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("1", "2", str(number % 2)) for number in range(100)], "the class No has only 1 row"),
        ([(str(number), "2", str(int(number < 7))) for number in range(100)], "the class Yes has only 7 different"),
        ([(str(number % 2),) for number in range(100)], "it has 0 columns besides the target"),
        ([(*map(str, range(301)), str(number % 2)) for number in range(100)], "it has 301 columns besides the target"),
    ],
)
def test_a_table_of_which_nothing_can_be_learned_is_refused(rows: list[tuple[str, ...]], why: str) -> None:
    columns = (*(f"c{number}" for number in range(len(rows[0]) - 1)), "toll")
    with pytest.raises(Skip, match=why):
        unseen(replace(fleet(), columns=columns, rows=tuple(rows)), "perturbed")


@pytest.mark.slow
def test_numbers_with_an_exponent_keep_their_order_and_differ_when_recoded() -> None:
    rows = tuple((*row[:2], f"{float(str(row[2])):.1f}e-9", *row[3:]) for row in fleet().rows)
    table = replace(fleet(), rows=rows)
    twin = unseen(table, "recoded")
    own = [float(str(table.column("length")[row])) for row in twin.originals]
    order = sorted(range(len(own)), key=own.__getitem__)
    columns = [
        [float(str(row[place])) for row in twin.rows] for place in (0, 1, 2, 3, 4) if _is_number(twin.rows, place)
    ]
    assert any(
        len(set(column)) == len(set(own)) and all(column[a] <= column[b] for a, b in pairwise(order))
        for column in columns
    )


@pytest.mark.slow
def test_what_was_made_is_read_again_and_a_damaged_file_is_made_anew() -> None:
    made = unseen(replace(fleet()), "perturbed")
    kept = list((cache_folder().parent / "facts").rglob("*.json"))
    assert unseen(replace(fleet()), "perturbed") == made
    for path in kept:
        path.write_text('[[0], ["name"], [[3]], ["Yes"], [["Yes"]], [["No"]], []]', "utf-8")
    assert unseen(replace(fleet()), "perturbed") == made


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_tables_of_scikit_learn_have_perturbed_twins(name: str) -> None:
    twin = unseen(load_table(name), "perturbed")
    right = [_right(said, twin.labels) for said in (twin.own, twin.twins)]
    assert right[0] == pytest.approx(right[1], abs=0.03)


def _right(said: tuple[tuple[str, ...], ...], labels: tuple[str, ...]) -> float:
    return sum(answer == label for own, label in zip(said, labels, strict=True) for answer in own) / 2 / len(labels)


def _are_numbers(column: tuple[str | None, ...]) -> bool:
    return all(cell is not None and cell.replace(".", "").isdigit() for cell in column)


def _is_number(rows: Sequence[Row], place: int) -> bool:
    return all(is_number(str(row[place])) for row in rows)


def _partition(cells: list[str]) -> Counter[tuple[int, ...]]:
    """Which rows have equal cells."""
    places: dict[str, list[int]] = {}
    for place, cell in enumerate(cells):
        places.setdefault(cell, []).append(place)
    return Counter(map(tuple, places.values()))
