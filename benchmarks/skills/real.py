"""Tables of the world, answered by those who know other rows, or another table, and never the asked row."""

import csv
import os
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from benchmarks.skills.made import Cells, Kind, Made, table_of
from tabcontam.errors import UsageError
from tabcontam.tables.known_rows import with_known
from tabcontam.tables.table import load_table

DIGITS = re.compile(r"(\d+)$")


def _most(values: list[str]) -> str | None:
    return Counter(values).most_common(1)[0][0] if values else None


@cache
def spaceship() -> Made:
    """Spaceship Titanic: who travels together has a cabin, a planet and a surname in common."""
    table = load_table("spaceship_titanic")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    groups: dict[str, list[dict[str, str | None]]] = defaultdict(list)
    for row in rows:
        groups[str(row["PassengerId"])[:4]].append(row)

    def of_mates(cells: Cells, column: str) -> str | None:
        own = cells["PassengerId"]
        mates = (mate[column] for mate in groups[own[:4]] if mate["PassengerId"] != own)
        return _most([value for value in mates if value])

    rules = {name: [lambda c, name=name: of_mates(c, name)] for name in ("Cabin", "HomePlanet", "Destination")}

    def after(before: Sequence[Cells]) -> Cells:
        last = before[-1]["PassengerId"]
        return {"PassengerId": f"{int(last[:4]) + 1:04d}_01"}

    return Made(table, rules, after)


def _near_ticket(rows: Sequence[Mapping[str, str | None]]) -> dict[str, list[tuple[int, str, str]]]:
    """By class and prefix of the ticket: number, passenger and fare, in order."""
    found: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for row in rows:
        ticket = str(row["Ticket"])
        if (number := DIGITS.search(ticket)) and row["Fare"]:
            place = f"{row['Pclass']} {ticket[: number.start()]}"
            found[place].append((int(number[1]), str(row["PassengerId"]), str(row["Fare"])))
    return found


@cache
def titanic() -> Made:
    """Titanic: the fare of the nearest ticket number in the class, and what a shared ticket has in common."""
    table = load_table("titanic")
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    near, by_ticket = _near_ticket(rows), defaultdict(list)
    for row in rows:
        by_ticket[row["Ticket"]].append(row)

    def fare(cells: Cells) -> str | None:
        number = DIGITS.search(cells["Ticket"])
        if number is None:
            return None
        place = f"{cells['Pclass']} {cells['Ticket'][: number.start()]}"
        others = [one for one in near[place] if one[1] != cells["PassengerId"]]
        return min(others, key=lambda one: (abs(one[0] - int(number[1])), one[1]))[2] if others else None

    def shared(column: str, cells: Cells) -> str | None:
        mates = [row[column] for row in by_ticket[cells["Ticket"]] if row["PassengerId"] != cells["PassengerId"]]
        return _most([value for value in mates if value])

    rules = {name: [lambda c, name=name: shared(name, c)] for name in ("Cabin", "Embarked")} | {"Fare": [fare]}
    return Made(table, rules, lambda before: {"PassengerId": str(int(before[-1]["PassengerId"]) + 1)})


@cache
def titanic_test() -> Made:
    """The test split of Titanic, by one who knows the train split by heart."""
    known = load_table("titanic")
    rows = [dict(zip(known.columns, row, strict=True)) for row in known.rows]
    with _data("titanic/test.csv").open(encoding="utf-8", newline="") as file:
        asked = [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]
    by: dict[str, dict[str | None, list[dict[str, str | None]]]] = {
        column: defaultdict(list) for column in ("Ticket", "Cabin")
    }
    for row in rows:
        for column, found in by.items():
            found[row[column]].append(row)

    def shared(target: str, cells: Cells) -> str | None:
        for column, found in by.items():
            mates = found[cells[column]] if column != target and column in cells else []
            if known_cells := [cell for row in mates if (cell := row[target])]:
                return _most(known_cells)
        return None

    names = ("Fare", "Cabin", "Embarked", "Pclass", "Ticket")
    rules = {name: [lambda c, name=name: shared(name, c)] for name in names}
    after = lambda before: {"PassengerId": str(int(before[-1]["PassengerId"]) + 1)}  # noqa: E731
    (table,) = with_known([table_of("titanic_test", asked)], [known])
    return Made(table, rules, after)


def _data(name: str) -> Path:
    path = Path(os.environ.get("TABCONTAM_DATA", "")) / name
    if not path.is_file():
        raise UsageError(f"{name} is not below TABCONTAM_DATA")
    return path


KINDS = (
    Kind("travel groups", "Spaceship Titanic: cabin of the group", lambda rng, number: spaceship(), real=True),
    Kind("ticket numbers", "Titanic: fare of the nearest ticket", lambda rng, number: titanic(), real=True),
    Kind("train split", "Titanic's test by its train split, --known", lambda rng, number: titanic_test(), real=True),
)
