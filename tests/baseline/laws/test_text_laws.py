"""Texts made of other cells of their row are known, and what no cell tells is not."""

from collections.abc import Callable, Mapping, Sequence
from random import Random

import numpy as np
import pytest

from tabcontam.baseline.coded_columns import column, with_words
from tabcontam.baseline.fit import Fit
from tabcontam.baseline.laws.base import LawPredictions
from tabcontam.baseline.laws.text_laws import strings
from tabcontam.tables.table import Cell
from tests.baseline.made import guess_chain

FIRST = (
    "Anna",
    "Bea",
    "Carla",
    "Dora",
    "Emma",
    "Frieda",
    "Greta",
    "Jana",
    "Kurt",
    "Lars",
    "Nils",
    "Otto",
    "Paul",
    "Tom",
)
STEMS = (
    "Abel",
    "Bau",
    "Cohn",
    "Dietz",
    "Eber",
    "Fuchs",
    "Gross",
    "Hahn",
    "Jung",
    "Kern",
    "Lang",
    "Noll",
    "Pohl",
    "Wolf",
)
ENDINGS = ("", "mann", "er", "sen", "stein", "inger", "feld")
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
                "last": rng.choice(STEMS) + rng.choice(ENDINGS),
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
    return [guess.chance_of(row[asked] or "") for guess, row in zip(guesses, rows, strict=False)]


@pytest.mark.parametrize(("kind", "size"), [(kind, 60) for kind in MADE])
@pytest.mark.slow
def test_a_text_made_of_other_cells_is_known(kind: str, size: int) -> None:
    rows = [{**row, "made": MADE[kind](row)} for row in people(size)]
    found = chances(rows, "made")
    assert sum(found) / len(found) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "size"), [(kind, 60) for kind in READ])
def test_a_cell_is_read_from_a_text_made_of_it(kind: str, size: int) -> None:
    asked, law = READ[kind]
    rows = [{**row, "made": law(row)} for row in people(size)]
    found = chances(rows, asked)
    assert sum(found) / len(found) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "size"), [("noise", 60), ("hired", 120)])
def test_what_follows_from_no_cell_is_not_believed(asked: str, size: int) -> None:
    assert max(chances(people(size), asked)) < 0.1


def test_nothing_follows_where_one_part_is_drawn_by_chance() -> None:
    rng = Random(1)
    rows = [{**row, "made": f"{DEPARTMENTS[row['department']]}-{rng.randrange(10_000)}"} for row in people(200)]
    assert max(chances(rows, "made")) < 0.1


def test_rows_may_follow_different_programs_each_with_its_share() -> None:
    rng = Random(2)
    kinds = ("e-mail", "e-mail", "e-mail", "e-mail of initial and surname")
    rows = [{**row, "made": MADE[rng.choice(kinds)](row)} for row in people(200)]
    found = chances(rows, "made")
    right = [row["made"] == MADE["e-mail"](row) for row in rows]
    mostly = [chance for chance, of_most in zip(found, right, strict=False) if of_most]
    seldom = [chance for chance, of_most in zip(found, right, strict=False) if not of_most]
    assert all(0.6 < chance < 0.95 for chance in mostly)
    assert all(0.1 < chance < 0.4 for chance in seldom)


def test_the_program_of_a_row_is_known_by_the_cells_that_it_has() -> None:
    rows = []
    for place, row in enumerate(people(160)):
        middle = ("", "Ray", "Lee")[place % 3]
        whole = " ".join(part for part in (row["first"], middle, row["last"]) if part)
        rows.append({**row, "middle": middle, "made": whole})
    assert min(chances(rows, "made")) > 0.9


def test_sizes_of_a_list_and_its_first_element_are_known() -> None:
    rng = Random(3)
    lists = [rng.sample(STEMS, rng.randrange(1, 7)) for _ in range(120)]
    for made in (lambda items: items[0], lambda items: str(len(items)), lambda items: str(len(", ".join(items)))):
        rows = [{"list": ", ".join(items), "made": made(items)} for items in lists]
        found = chances(rows, "made")
        assert sum(found) / len(found) > 0.9


def test_one_of_the_texts_of_a_list_has_its_share() -> None:
    rng = Random(4)
    lists = [rng.sample([stem + end for stem in STEMS for end in ENDINGS], 3) for _ in range(200)]
    found = chances([{"list": "; ".join(items), "made": rng.choice(items)} for items in lists], "made")
    assert 0.2 < sum(found) / len(found) < 0.45


def test_five_rows_are_enough_for_a_program() -> None:
    rows = [{**row, "made": MADE["e-mail"](row)} for row in people(7)]
    found = law("made", rows, train=5)
    for row, values in zip(rows[5:], found[0].values, strict=True):
        assert values[row["made"]] > 0.8


@pytest.mark.parametrize("size", [5, 6, 40])
@pytest.mark.parametrize(
    "cell",
    [
        lambda rng: "".join(chr(rng.randrange(1, 0x500)) for _ in range(rng.randrange(30))),
        lambda rng: rng.choice(("\ud800", "\x00", "\u202e", "ﬃ", "İ", "e\u0301", "٣", "²", "½", "\n", "")),
        lambda rng: "é" * rng.randrange(9_900, 10_000),
        lambda rng: str(rng.randrange(10 ** rng.randrange(1, 300))),
        lambda rng: rng.choice((None, "", "nan", "inf", "1e999", "-5", "0012")),
        lambda rng: rng.choice(("a.b@c.d", "@", "..", "a--b", "((((", "[\\d+]*", "{}", "%s")),
    ],
    ids=["unicode", "odd", "long", "digits", "missing", "separators"],
)
def test_hostile_cells_make_no_error(cell: Callable[[Random], Cell], size: int) -> None:
    rng = Random(6)
    rows = [{"one": (text := cell(rng)), "made": text if rng.random() < 0.5 else cell(rng)} for _ in range(size + 3)]
    for asked in ("one", "made"):
        for found in law(asked, rows, train=size):
            assert all(0 < chance <= 1 for values in found.values for chance in values.values())
            assert all(sum(values.values()) < 1 + 1e-9 for values in found.values)


def law(asked: str, rows: Sequence[Mapping[str, Cell]], train: int) -> list[LawPredictions]:
    """What the law says of the rows behind the trained ones."""
    made = {name: column(name, [row[name] for row in rows]) for name in rows[0]}
    shown = with_words(one for name, one in made.items() if name != asked)
    return strings(Fit(made[asked], tuple(shown), (), np.arange(train), np.arange(train, len(rows))))
