"""Which features may be moved: those of which models have learned what their values mean, and no others."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from random import Random

import pytest

from tabcontam.baseline.stored_facts import one_thread
from tabcontam.tables.table import Cell, Table, load_table
from tabcontam.twins.label_baseline import conditional
from tabcontam.twins.moves import Moves
from tabcontam.twins.perturbed_twin import MovableFeatures
from tabcontam.twins.twin_making import unseen
from tabcontam.twins.twin_sample import sample
from tests.twins.made import fleet, known_by

Fact = Callable[[Mapping[str, Cell]], bool]


def staying(table: Table) -> set[str]:
    with one_thread():
        found = sample(table)
        places = MovableFeatures(Moves(found), conditional(found)).staying
    return {found.features[place] for place in places}


def rows(columns: tuple[str, ...], draw: Callable[[Random], tuple[Cell, ...]], fact: Fact, count: int = 400) -> Table:
    rng = Random(" ".join(columns))
    return known_by(columns, [draw(rng) for _ in range(count)], fact, rng)


def chance(cells: Mapping[str, Cell], name: str) -> float:
    """What is so of a value, by no rule: a fact that one knows or does not."""
    return Random(f"{name} {cells[name]}").random()


def test_measured_numbers_and_frequent_categories_may_be_moved_and_names_may_not() -> None:
    assert staying(fleet()) == {"name"}


def test_of_irises_everything_may_be_moved() -> None:
    assert staying(load_table("iris")) == set()


@pytest.mark.slow
@pytest.mark.parametrize("codes", [20, 200, 600])
def test_codes_that_are_written_as_numbers_stay(codes: int) -> None:
    """3 and 4 are two places, of which who knows the world knows more than models learn from a few rows of each."""
    table = rows(("area",), lambda rng: (str(100 + rng.randrange(codes)),), lambda cells: chance(cells, "area") < 0.5)
    assert staying(table) == {"area"}


def test_codes_whose_numbers_tell_the_region_stay_too() -> None:
    """Their order goes with the label, as a measured number's does, and each says more than its order."""
    table = rows(
        ("area",),
        lambda rng: (str(rng.randrange(100, 1000)),),
        lambda cells: chance(cells, "area") < int(str(cells["area"])) / 1000,
    )
    assert staying(table) == {"area"}


def test_parts_of_dates_stay() -> None:
    def draw(rng: Random) -> tuple[Cell, ...]:
        return tuple(
            str(int(part)) for part in (date(2019, 1, 1) + timedelta(rng.randrange(2000))).isoformat().split("-")
        )

    def weekend(cells: Mapping[str, Cell]) -> bool:
        return date(*(int(str(cells[name])) for name in ("year", "month", "day"))).weekday() >= 5

    assert staying(rows(("year", "month", "day"), draw, weekend)) == {"year", "month", "day"}


def test_a_whole_number_that_goes_with_the_label_by_its_order_may_be_moved() -> None:
    table = rows(("age",), lambda rng: (str(rng.randrange(1, 90)),), lambda cells: int(str(cells["age"])) >= 65)
    assert staying(table) == set()


def test_measured_places_with_a_law_that_models_have_not_learned_stay() -> None:
    def draw(rng: Random) -> tuple[Cell, ...]:
        return f"{rng.uniform(0, 9):.3f}", f"{rng.uniform(0, 9):.3f}"

    def fields(cells: Mapping[str, Cell]) -> bool:
        return (int(float(str(cells["north"]))) + int(float(str(cells["east"])))) % 2 == 0

    assert staying(rows(("north", "east"), draw, fields)) >= {"north", "east"}


@pytest.mark.slow
def test_a_feature_that_follows_from_one_that_stays_is_kept_with_it() -> None:
    rng = Random(2)
    table = rows(("area",), lambda rng: (str(rng.randrange(100, 160)),), lambda cells: chance(cells, "area") < 0.5)
    towns = {str(code): "".join(rng.choices("bdfgklmn", k=5)) for code in range(100, 160)}
    both = replace(
        table,
        name="areas with towns",
        columns=("town", *table.columns),
        rows=tuple((towns[str(row[0])], *row) for row in table.rows),
    )
    assert unseen(both, "perturbed").unchanged == ("area", "town")
