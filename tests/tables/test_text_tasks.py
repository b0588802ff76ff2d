"""Datasets of texts: what a card says of them, how its files are read, and how a FILE is known to be one."""

import hashlib
from pathlib import Path
from random import Random

import pytest

from tabcontam.errors import UsageError
from tabcontam.tables.table import Table, load_table
from tabcontam.tables.text_tasks import TextForm, TextTask, found_texts
from tests.made_tables import ships

WORDS = [
    "the",
    "a",
    "ship",
    "that",
    "left",
    "harbour",
    "in",
    "storm",
    "with",
    "grain",
    "and",
    "salt",
    "for",
    "towns",
    "along",
    "northern",
    "coast",
    "by",
    "night",
]

CARD = """
name = "notes"
title = "Notes"
released = "2026"
licence = "CC0"
target = "kind"

[text]
form = "classification"
texts = ["note"]
label = "kind"
names = {{ 1 = "of a ship" }}

[[editions]]
name = "one"
file = "{file}"
sha256 = "{sha256}"
bytes = {bytes}
rows = 3
{more}
"""


def card(folder: Path, file: str, content: str, more: str = "") -> Path:
    data = content.encode()
    (folder / file).write_bytes(data)
    path = folder / "notes.toml"
    path.write_text(CARD.format(file=file, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), more=more))
    return path


def sentence(rng: Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(10, 20))).capitalize() + "."


def texts(count: int, *more: str) -> list[tuple[str | None, ...]]:
    rng = Random(0)
    return [(f"{number % 2}", sentence(rng), *more) for number in range(count)]


def test_a_quote_is_a_sign_as_any_other_where_a_card_says_so(tmp_path: Path) -> None:
    content = 'kind\tnote\n1\t"Left" at noon\n0\t"Never came\n1\tIt"s late\n'
    table = load_table(str(card(tmp_path, "notes.tsv", content, 'delimiter = "\\t"\nquoting = false')))
    assert table.column("note") == ('"Left" at noon', '"Never came', 'It"s late')
    assert table.text == TextTask(TextForm.CLASSIFICATION, ("note",), "kind", {"1": "of a ship"})


def test_objects_a_line_are_read_as_they_stand(tmp_path: Path) -> None:
    content = '{"kind": 1.50, "note": "a\\nb", "id": 7}\n' * 2 + '{"kind": "x", "id": 8}\n'
    table = load_table(str(card(tmp_path, "notes.jsonl", content, 'form = "jsonl"\ndrop = ["id"]')))
    assert table.rows == (("1.50", "a\nb"), ("1.50", "a\nb"), ("x", None))


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        (('form = "classification"', 'form = "essay"'), "form cannot be 'essay'; write classification, pair"),
        (('texts = ["note"]', ""), "lacks texts"),
        (('label = "kind"', 'label = "sort"'), "'sort' is no column"),
        (('1 = "of a ship"', "1 = 2"), "names cannot be"),
        (("rows = 3", 'rows = 3\nform = "xml"'), "form cannot be 'xml'; write csv or jsonl"),
    ],
)
def test_wrong_texts_of_a_card_are_one_line(tmp_path: Path, changed: tuple[str, str], wrong: str) -> None:
    path = card(tmp_path, "notes.csv", "kind,note\n1,a\n0,b\n1,c\n")
    path.write_text(path.read_text().replace(*changed))
    with pytest.raises(UsageError, match=wrong):
        load_table(str(path))


def test_a_file_of_texts_is_known_by_its_cells(tmp_path: Path) -> None:
    rows = texts(40)
    (tmp_path / "notes.csv").write_text("\n".join(["kind,note", *(f'{kind},"{note}"' for kind, note in rows), ""]))
    table = load_table(str(tmp_path / "notes.csv"), target="kind")
    assert table.text == TextTask(TextForm.CLASSIFICATION, ("note",), "kind")
    two = [(*row, row[1] + " Again." if row[1] else None) for row in rows]
    found = found_texts(("kind", "note", "more"), two)
    assert found is not None
    assert (found.texts, found.label) == (("note", "more"), None)


def is_text(*cells: str | None) -> bool:
    return found_texts(("number", "what"), [(f"{place}", cell) for place, cell in enumerate(cells)]) is not None


def test_what_is_no_text_is_not_taken_for_one() -> None:
    rng = Random(1)
    assert is_text(*(sentence(rng) for _ in range(20)))
    assert not is_text(*["the same long sentence stands in each of the rows of it"] * 20)
    assert not is_text(*(f"Berg, Mr. Owen Harris {number}" for number in range(20)))
    assert not is_text(*(" ".join(f"{rng.random():.3f}" for _ in range(20)) for _ in range(20)))
    assert not is_text(*[None] * 20)
    assert found_texts((), []) is None
    wide = [(*row, *("x" * 60 for _ in range(4))) for row in texts(20)]
    assert found_texts(tuple("abcdef"), wide) is None, "most of a row is something else"
    assert found_texts(tuple("abcdefghi"), [(*row, *"1234567") for row in texts(20)]) is None, "a table with a remark"


def test_tables_are_no_texts() -> None:
    table: Table = ships()
    assert table.text is None
    assert found_texts(table.columns, table.rows) is None
    assert load_table("iris").text is None
