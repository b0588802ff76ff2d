"""Splits: parts of a dataset by card, by file and by column, and the rows that stand in several."""

import hashlib
import sqlite3
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Query
from tabcontam.evidence.prompts import default_prompts
from tabcontam.evidence.registry import by_id
from tabcontam.tables.dataset_cards import first_split, load_card
from tabcontam.tables.dataset_splits import load_tables
from tabcontam.tables.known_rows import known_rows
from tabcontam.tables.serializers import load_serializer
from tabcontam.tables.table import load_table

HEADER = "id,size,sort,label"
TRAIN = [f"{n},{n * 37 % 101},{'ab'[n % 2]},{'yn'[n % 3 == 0]}" for n in range(40)]
TEST = [f"{n},{n * 53 % 97},{'ab'[n % 2]},{'yn'[n % 3 == 0]}." for n in range(100, 130)]
SAME = ["3,111,a,n.", "7,5.70e1,b,y."]  # the second is a row of train, written otherwise

CARD = """
name = "tides"
title = "Tides"
released = "2026"
licence = "CC0"
target = "label"
question = {{ text = "Is it?", answers = {{ y = "Yes", n = "No" }} }}

[[editions]]
name = "2026"
file = "train.csv"
split = "train"
{train}

[[editions.splits]]
name = "test"
file = "test.csv"
skip_rows = 1
question = {{ answers = {{ "y." = "Yes", "n." = "No" }} }}
{test}
"""


def facts(path: Path, rows: int) -> str:
    content = path.read_bytes()
    return f'sha256 = "{hashlib.sha256(content).hexdigest()}"\nbytes = {len(content)}\nrows = {rows}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two splits as files, as a card, as one file with a column, and as two tables of a database."""
    monkeypatch.chdir(tmp_path)
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("\n".join([HEADER, *TRAIN, ""]))
    test.write_text("\n".join(["a comment", HEADER, *TEST, *SAME, ""]))
    (tmp_path / "tides.toml").write_text(CARD.format(train=facts(train, 40), test=facts(test, 32)))
    (tmp_path / "plain.csv").write_text("\n".join([HEADER, *TEST, *SAME, ""]))
    both = [f"{row},train" for row in TRAIN] + [f"{row},test" for row in [*TEST, *SAME]]
    (tmp_path / "both.csv").write_text("\n".join([f"{HEADER},part", *both, ""]))
    with sqlite3.connect(tmp_path / "my.db") as database:
        for name, rows in (("old", TRAIN), ("new", [*TEST, *SAME])):
            database.execute(f"CREATE TABLE {name} (id, size, sort, label)")
            database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", [row.split(",") for row in rows])
    return tmp_path


def failure(*specs: str, column: str | None = None) -> str:
    with pytest.raises(UsageError) as error:
        load_tables(specs, column)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("specs", "column"),
    [
        (["tides.toml#train", "tides.toml#test"], None),
        (["train.csv#train", "plain.csv#test"], None),
        (["my.db#old#train", "my.db#new#test"], None),
        (["both.csv"], "part"),
    ],
)
def test_each_split_is_a_table_and_rows_of_both_are_known(folder: Path, specs: list[str], column: str | None) -> None:
    (train, test), lines = load_tables(specs, column)
    assert (train.split, test.split) == ("train", "test")
    assert (len(train.rows), len(test.rows)) == (40, 32)
    assert train.columns == test.columns == tuple(HEADER.split(","))
    # the numbers of the row are written otherwise, and its label ends with a full stop
    assert known_rows(train) == {7}
    assert known_rows(test) == {31}
    assert (train.elsewhere, test.elsewhere) == (1, 1)
    assert lines == (
        f"{train.named}: 1 of 40 rows are in another split, too, and are never asked",
        f"{test.named}: 1 of 32 rows are in another split, too, and are never asked",
    )
    assert train.named.endswith("#train")


def test_a_card_is_asked_about_its_first_split_as_ever(folder: Path) -> None:
    (table,), lines = load_tables(["tides.toml"])
    assert (table.split, len(table.rows), table.known, lines) == ("train", 40, (), ())
    assert first_split("adult", "uci") == "train"
    assert first_split("adult", "kaggle") == first_split("iris", "uci") == first_split("nothing", None) == ""


def test_a_split_that_cannot_be_had_is_told(folder: Path) -> None:
    (folder / "train.csv").unlink()
    (table,), lines = load_tables(["tides.toml#test"])
    assert (table.split, table.elsewhere) == ("test", None)
    assert lines == ("tides#test: split train cannot be read, so that rows that stand in it, too, may be asked",)
    for named in ("tides.toml", "tides.toml#train"):
        assert "#train is not on this machine" in failure(named)


def test_a_split_says_of_itself_what_is_otherwise(folder: Path) -> None:
    card = load_card(folder / "tides.toml")
    test = load_table("tides.toml@2026#test")
    assert test.question is not None
    assert test.question.answers == {"y.": "Yes", "n.": "No"}
    assert test.question.text == "Is it?"
    assert [file.split for file in card.files] == ["train", "test"]
    assert card.files[0].layout.skip_rows == 0


def test_splits_are_selected_by_name(folder: Path) -> None:
    for spec, column in (("tides.toml#Test", None), ("both.csv#test", "part")):
        (table,), lines = load_tables([spec], column)
        assert (table.split, table.elsewhere, len(lines)) == ("test", 1, 1)
    for specs, column in ((["tides.toml#all"], None), (["both.csv#test", "both.csv#train"], "part")):
        both, _ = load_tables(specs, column)
        assert {table.split for table in both} == {"train", "test"}
        assert [table.elsewhere for table in both] == [1, 1]


def test_no_query_asks_about_a_row_of_both_and_no_prompt_shows_one_of_the_other(folder: Path) -> None:
    (train, _), _ = load_tables(["train.csv#train", "plain.csv#test"])
    test, serializer = by_id()["feature_completion"], load_serializer("is")
    from random import Random

    asked: list[Query] = list(test.queries(train, serializer, Random(0)))
    assert asked
    assert all(query.row != 7 for query in asked)
    assert not any("111" in query.write().chat[-1].content for query in asked)  # type: ignore[union-attr]
    assert default_prompts().name == "default"


def test_files_of_two_datasets_are_told_apart_by_their_columns(folder: Path) -> None:
    for name in ("first", "second"):
        (folder / f"{name}.csv").write_text("other,column\n" + "".join(f"{n},{name}\n" for n in range(9)))
    tables, _ = load_tables(["train.csv#train", "plain.csv#test", "first.csv#train", "second.csv#test"])
    assert [table.elsewhere for table in tables] == [1, 1, 0, 0]


def test_prompts_call_all_files_of_a_dataset_alike(folder: Path) -> None:
    for file, split, title in (
        ("Sales_train.csv", "train", "Sales"),
        ("test-Sales.csv", "test", "Sales"),
        ("Sales.csv", "train", "Sales"),
        ("train.csv", "train", "train"),
        ("Salestrain.csv", "train", "Salestrain"),
    ):
        (folder / file).write_text("\n".join([HEADER, *TRAIN, ""]))
        table = load_table(f"{file}#{split}")
        assert (table.title, table.names) == (title, (title,))
    assert load_table("Sales_train.csv").title == "Sales_train"
    assert load_table("Sales_train.csv#train", name="Fees").title == "Fees"


def test_wrong_splits_are_one_line(folder: Path) -> None:
    (folder / "odd.csv").write_text("id,size,sort,other\n1,2,3,4\n5,6,7,8\n")
    (folder / "empty.csv").write_text(HEADER + "\n")
    (folder / "one.csv").write_text("a,b,part\n1,2,x\n3,4,x\n5,6,y\n")
    (folder / "lacking.csv").write_text("a,b,part\n1,2,x\n3,4,\n5,6,y\n")
    assert "unknown split 'tset' of edition 2026; known: train, test" in failure("tides.toml#tset")
    assert "edition scikit-learn has no splits" in failure("iris#test")
    assert "odd.csv#test lacks 'label' of train.csv#train" in failure("train.csv#train", "odd.csv#test")
    for spec in ("train.csv#", "train.csv#a#", "my.db#", "iris#", "tides.toml#", "nowhere.csv#", "openml:61#"):
        assert failure(spec) == f"{spec} names nothing after the #; leave it out, or name a split or a table there"
    assert failure("https://host/a.csv?key=secret#").startswith("https://host/a.csv?…# names nothing after the #")
    assert "empty.csv has no row" in failure("train.csv#train", "empty.csv#test")
    assert "every row of train.csv#a stands in another split" in failure("train.csv#a", "train.csv#b")
    assert "one.csv#y has one row" in failure("one.csv", column="part")
    assert "has no value in row 2" in failure("lacking.csv", column="part")
    assert "unknown column of both.csv 'prat'; did you mean part?" in failure("both.csv", column="prat")
    assert "unknown split of both.csv 'tset'; did you mean test?" in failure("both.csv#tset", column="part")
    assert "my.db has no table 'older'" in failure("my.db#older#train")
    (folder / "wide.csv").write_text("a,b,c\n" + "".join(f"{n},1,2\n" for n in range(40)))
    assert "has 40 values" in failure("wide.csv", column="a")
    assert "has one value" in failure("wide.csv", column="b")


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        (('name = "test"', 'name = "train"'), "splits named 'train', 'train'"),
        (('name = "test"', 'name = "a#b"'), "split cannot be 'a#b'"),
        (('split = "train"\n', ""), "splits named '', 'test'"),
        (('file = "test.csv"\n', ""), "lacks file"),
        (('name = "test"', 'name = "test"\nwidth = 3'), "unknown key 'width'"),
    ],
)
def test_wrong_splits_of_a_card_are_one_line(folder: Path, changed: tuple[str, str], wrong: str) -> None:
    path = folder / "tides.toml"
    path.write_text(path.read_text().replace(*changed))
    with pytest.raises(UsageError, match=wrong):
        load_card(path)
