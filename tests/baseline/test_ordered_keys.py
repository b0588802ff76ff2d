"""Neighbours along an ordered key: numbers, and numbers within texts."""

from random import Random

from tabcontam.baseline.coded_columns import column
from tabcontam.baseline.ordered_keys import ordered
from tabcontam.tables.table import Cell
from tests.baseline.made import chances, view


def tickets(rows: int, seed: int = 0) -> dict[str, list[Cell]]:
    """Tickets sold in blocks: each block of numbers has a fare within a class; the rows are in random order."""
    rng = Random(seed)
    found: list[tuple[Cell, ...]] = []
    for number in range(rows):
        kind = rng.choice(("first", "second", "third"))
        fare = 5 + 31 * (number // 25 % 7) + {"first": 60, "second": 20, "third": 0}[kind]
        found.append((f"{rng.choice(('PC', 'A/5', 'SOTON'))} {10_000 + 3 * number}", kind, f"{fare}.25"))
    rng.shuffle(found)
    return {name: [row[place] for row in found] for place, name in enumerate(("ticket", "kind", "fare"))}


def test_the_fare_of_the_nearest_ticket_number_of_the_class_is_known() -> None:
    cells = tickets(400)
    seen = view(cells, "fare", range(60))
    found = chances(ordered(seen), seen.target, range(60))
    assert sum(chance > 0.5 for chance in found) > 0.8 * len(found)


def test_what_lies_between_its_neighbours_is_known() -> None:
    rng = Random(1)
    numbers = rng.sample(range(1000, 9000), 200)
    cells: dict[str, list[Cell]] = {
        "place": [f"km {number}" for number in numbers],
        "height": [f"{number / 4:.2f}" for number in numbers],
    }
    seen = view(cells, "height", range(40))
    assert sum(chance > 0.8 for chance in chances(ordered(seen), seen.target, range(40))) > 35


def test_noise_follows_from_no_neighbour() -> None:
    rng = Random(2)
    cells: dict[str, list[Cell]] = {
        "id": [str(number) for number in rng.sample(range(10**6), 300)],
        "lot": [str(rng.randrange(10**6)) for _ in range(300)],
    }
    assert ordered(view(cells, "lot", range(30))) == []


def test_a_row_is_no_neighbour_of_itself() -> None:
    rng = Random(3)
    cells = tickets(300)
    cells["fare"] = [str(rng.randrange(10**6)) for _ in range(300)]
    seen = view(cells, "fare", range(30), learned=range(300))
    assert max(chances(ordered(seen), seen.target, range(30)), default=0.0) == 0.0


def test_keys_without_numbers_and_tiny_tables_have_no_order() -> None:
    cells: dict[str, list[Cell]] = {"name": [None, "", "abc", "٣", "no 5"] * 2, "size": ["1", "2"] * 5}
    assert ordered(view(cells, "size", [0, 1])) == []
    assert ordered(view(cells, "size", [0, 1, 2, 3, 4])) == []


def test_texts_of_which_most_are_plain_numbers_are_ordered_by_these() -> None:
    """The key of a number writes it with an exponent, which was taken for the last number in the text."""
    made = column("ticket", ["113803", "A/5 21171", "373450", "PC 17599", "LINE", None, "3101282"])
    assert made.numbers is None
    assert made.order_in_text is not None
    assert made.order_in_text.tolist()[:4] == [113803, 21171, 373450, 17599]
    assert made.order_in_text.tolist()[6] == 3101282
    assert all(number != number for number in made.order_in_text.tolist()[4:6])
