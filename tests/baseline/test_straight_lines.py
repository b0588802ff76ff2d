"""Numbers that lie on a line of their own for each kind of row."""

from random import Random

from tabcontam.baseline.straight_lines import lines
from tabcontam.tables.table import Cell
from tests.baseline.made import chances, view

ASKED = list(range(60))


def meters(rows: int, stations: int) -> dict[str, list[Cell]]:
    """Readings of meters that go on by as much every day; a clerk's number follows from nothing."""
    rng = Random(3)
    line = [(rng.uniform(10, 9000), rng.uniform(0.5, 4)) for _ in range(stations)]
    found: list[tuple[Cell, ...]] = []
    for _ in range(rows):
        station, day = rng.randrange(stations), rng.randrange(365)
        first, slope = line[station]
        read = f"2018-{day // 31 + 1:02d}-{day % 28 + 1:02d}"
        days = 31 * (day // 31) + day % 28  # all months are of 31 days here
        found.append((f"m{station}", str(days), read, str(round(first + slope * days)), str(rng.randrange(9999))))
    names = ("station", "days", "read", "power", "clerk")
    return {name: [row[place] for row in found] for place, name in enumerate(names)}


def test_a_reading_lies_on_the_line_of_its_station() -> None:
    for rows, stations in ((400, 20), (3000, 150)):
        seen = view(meters(rows, stations), "power", ASKED, learned=range(rows))
        assert sum(chance > 0.5 for chance in chances(lines(seen), seen.target, ASKED)) > 0.85 * len(ASKED)


def test_what_lies_on_no_line_is_not_told() -> None:
    cells = meters(400, 20)
    assert lines(view(cells, "clerk", ASKED, learned=range(400))) == []
    assert lines(view(cells, "station", ASKED, learned=range(400))) == []
