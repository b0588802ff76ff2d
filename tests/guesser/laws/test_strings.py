"""Texts made of other cells of their row are known, and what no cell tells is not."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from time import perf_counter

import pytest

from tabcontam.guesser.guesser import guess_chain
from tabcontam.tables.table import Cell

FIRST = tuple(
    "Anna Bea Carla Dora Emma Frieda Greta Hanna Ida Jana Kurt Lars Max Nils Otto Paul Quirin Ralf Sven Tom".split()
)
LAST = (
    *"Abel Bauer Cohn Dietz Ebert Fuchs Gross Hahn Ilg Jung Kern Lang Maus Noll Opitz Pohl Rau Stein Thal Ulm".split(),
    *"Vogt Wolf Zorn Amsel Birk Claus Dorn Engel Falk Gabel".split(),
)
DEPARTMENTS = {"Human Resources": "HR", "Technology": "IT", "Sales": "SA", "Legal": "LE", "Purchasing": "PU"}
COMPANIES = {"Hallberg": "hallberg.com", "Wexlow Ltd": "wexlow.co.uk", "Quolt": "quolt.org"}
ACCENTS = str.maketrans({"é": "e", "ü": "ue", "ö": "oe", "ä": "ae", "ß": "ss", "ñ": "n"})
Row = Mapping[str, str]
Law = Callable[[Row], str]


def people(rows: int, seed: int = 0) -> list[dict[str, str]]:
    """People of a firm; `noise` follows from nothing."""
    rng = Random(seed)
    found = []
    for _ in range(rows):
        hired = f"{rng.randrange(1990, 2024)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
        found.append(
            {
                "first": rng.choice(FIRST),
                "last": rng.choice(LAST) + rng.choice(("", "", "", "mann", "er")),
                "department": rng.choice(list(DEPARTMENTS)),
                "company": rng.choice(list(COMPANIES)),
                "hired": hired,
                "id": str(rng.randrange(10_000)),
                "noise": str(rng.randrange(1000, 10_000)),
                "city": rng.choice(("Köln", "Brühl", "Unna", "Mölln", "Wesel")),
            }
        )
    return found


MADE: Mapping[str, Law] = {
    "e-mail": lambda row: f"{row['first']}.{row['last']}@company.com".lower(),
    "e-mail of initial and surname": lambda row: f"{row['first'][0]}{row['last']}@mail.example.org".lower(),
    "e-mail at the company": lambda row: f"{row['last']}_{row['first']}@{COMPANIES[row['company']]}".lower(),
    "code with year and number": lambda row: (
        f"{DEPARTMENTS[row['department']]}-{row['hired'][:4]}-{int(row['id']):05d}"
    ),
    "code without separators": lambda row: f"{DEPARTMENTS[row['department']]}{row['hired'][:4]}{row['id']}",
    "code with a raised number": lambda row: f"K{int(row['id']) + 70_000}",
    "user name": lambda row: f"{row['first'][:3]}{row['last'][:3]}{row['hired'][2:4]}".lower(),
    "full name": lambda row: f"{row['first']} {row['last']}",
    "name as in a register": lambda row: f"{row['last'].upper()}, {row['first']}",
    "initials": lambda row: f"{row['first'][0]}. {row['last'][0]}.",
    "slug": lambda row: f"https://example.org/staff/{row['last']}-{row['first']}/{row['id']}".lower(),
    "file": lambda row: f"scans/{row['hired'].replace('-', '')}/IMG_{int(row['id']):06d}.JPG",
    "German date": lambda row: f"{row['hired'][8:]}.{row['hired'][5:7]}.{row['hired'][:4]}",
    "compact date": lambda row: row["hired"].replace("-", ""),
    "city without accents": lambda row: f"{row['city']}-{row['id']}".translate(ACCENTS),
}
READ: Mapping[str, tuple[str, Law]] = {  # what is read from the text that is made
    "first name of an e-mail": ("first", MADE["e-mail"]),
    "surname of an e-mail": ("last", MADE["e-mail"]),
    "surname of initial and surname": ("last", MADE["e-mail of initial and surname"]),
    "surname of a register": ("last", MADE["name as in a register"]),
    "department of a code": ("department", MADE["code with year and number"]),
    "number of a code": ("id", MADE["code with year and number"]),
    "number of a raised number": ("id", MADE["code with a raised number"]),
    "number of an address": ("id", MADE["slug"]),
    "date of a compact one": ("hired", MADE["compact date"]),
}


def chances(rows: Sequence[Mapping[str, Cell]], asked: str, count: int = 40) -> list[float]:
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    shown = [name for name in columns if name != asked]
    guesses = [chain[0] for chain in guess_chain(columns, shown, [asked], range(count))]
    return [guess.of(row[asked] or "") for guess, row in zip(guesses, rows, strict=False)]


@pytest.mark.parametrize("size", [80, 200])
@pytest.mark.parametrize("kind", MADE)
def test_a_text_made_of_other_cells_is_known(kind: str, size: int) -> None:
    rows = [{**row, "made": MADE[kind](row)} for row in people(size)]
    found = chances(rows, "made")
    assert sum(found) / len(found) > 0.9


@pytest.mark.parametrize("size", [80, 200])
@pytest.mark.parametrize("kind", READ)
def test_a_cell_is_read_from_a_text_made_of_it(kind: str, size: int) -> None:
    asked, law = READ[kind]
    rows = [{**row, "made": law(row)} for row in people(size)]
    found = chances(rows, asked)
    assert sum(found) / len(found) > 0.9


if __name__ == "__main__":
    for size in (80, 200, 2600):
        for kind, law in MADE.items():
            rows = [{**row, "made": law(row)} for row in people(size)]
            start = perf_counter()
            found = chances(rows, "made")
            print(size, kind, round(sum(found) / len(found), 3), round(min(found), 3), f"{perf_counter() - start:.2f} s")
        for kind, (asked, law) in READ.items():
            rows = [{**row, "made": law(row)} for row in people(size)]
            start = perf_counter()
            found = chances(rows, asked)
            print(size, kind, round(sum(found) / len(found), 3), round(min(found), 3), f"{perf_counter() - start:.2f} s")
