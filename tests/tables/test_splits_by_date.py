"""Rows by their dates: a month parts a table, and its own rows are on neither side."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.tables.dataset_cards import load_cards
from tabcontam.tables.dataset_splits import load_tables
from tabcontam.tables.splits_by_date import is_dated, months_of, sides_of
from tabcontam.tables.table import Table, load_table

needs_data = pytest.mark.skipif(
    not Path(os.environ.get("TABCONTAM_DATA") or "/nonexistent").is_dir(),
    reason="TABCONTAM_DATA names no folder of dataset files",
)
DAYS = ("31/12/2024", "01/01/2025", "31/01/2025", "01/02/2025", "15/02/2025", "03/03/2025")


def card(folder: Path, **more: str) -> str:
    """A card of the user's own, with a row for each day."""
    content = "\n".join(["day,height", *(f"{day},{number}.5" for number, day in enumerate(DAYS)), ""])
    (folder / "levels.csv").write_text(content, "utf-8")
    said = {"name": "levels", "title": "Levels", "released": "2025", "licence": "CC0", "dated_by": "day"}
    lines = [f'{key} = "{value}"' for key, value in {**said, "dated_as": "%d/%m/%Y", **more}.items()]
    edition = ["[[editions]]", 'name = "one"', 'file = "levels.csv"', f"rows = {len(DAYS)}", f"bytes = {len(content)}"]
    digest = sha256(content.encode()).hexdigest()
    path = folder / "levels.toml"
    path.write_text("\n".join([*lines, *edition, f'sha256 = "{digest}"', ""]), "utf-8")
    return str(path)


def days_of(table: Table) -> list[str | None]:
    return list(table.column("day"))


def test_no_row_is_on_the_wrong_side_and_none_is_lost(tmp_path: Path) -> None:
    table = load_table(card(tmp_path))
    sides, neither = sides_of(table, "2025-01")
    assert days_of(sides["before"]) == ["31/12/2024"]
    assert days_of(sides["after"]) == ["01/02/2025", "15/02/2025", "03/03/2025"]
    assert neither == 2
    assert sum(len(side.rows) for side in sides.values()) + neither == len(table.rows)
    assert [side.split for side in sides.values()] == ["before-2025-01", "after-2025-01"]


def test_a_split_by_dates_is_asked_alone_and_rows_of_the_month_are_said(tmp_path: Path) -> None:
    (table,), lines = load_tables([f"{card(tmp_path)}#after-2025-01"])
    assert table.named.endswith("#after-2025-01")
    assert len(table.rows) == 3
    assert lines == ("levels: 2 of 6 rows are of 2025-01 itself and are never asked",)
    tables, _ = load_tables([f"{card(tmp_path)}#{split}" for split in ("before-2025-02", "AFTER-2024-12")])
    assert [(one.split, len(one.rows)) for one in tables] == [("before-2025-02", 3), ("after-2024-12", 5)]


def test_a_split_by_dates_is_named_behind_the_dataset(tmp_path: Path) -> None:
    name = card(tmp_path)
    (table,), _ = load_tables([f"{name}#after-2025-01"])
    assert table == load_table(f"{name}#after-2025-01")
    assert (table.split, len(table.rows)) == ("after-2025-01", 3)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("after-2030-01", "#after-2030-01 has no row; give a split of two or more"),
        ("after-2025-13", "unknown split 'after-2025-13' of levels; its rows have dates: write levels#after-YYYY-MM"),
    ],
)
def test_what_is_no_split_by_dates_is_one_line(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        load_tables([f"{card(tmp_path)}#{name}"])
    assert said in str(error.value)


def test_a_file_has_no_dates(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("a,b\n1,2\n3,4\n5,6\n", "utf-8")
    (table,), _ = load_tables([f"{tmp_path / 'own.csv'}#after-2025-01"])
    assert (table.split, len(table.rows)) == ("after-2025-01", 3)  # the user's own name


def test_a_table_without_dated_rows_is_on_one_side_as_its_card_says() -> None:
    iris = load_table("iris")
    (before,), _ = load_tables(["iris#before-2025-01"])
    assert (before.named, before.rows) == ("iris#before-2025-01", iris.rows)
    assert load_table("iris#before-2025-01") == before
    with pytest.raises(UsageError, match="iris#after-2025-01 has no row"):
        load_tables(["iris#after-2025-01"])
    both = load_tables(["iris#before-2025-01", "iris#after-2025-01"])
    assert both == ((before,), ("iris#after-2025-01 has no row, so that nothing is asked",))


def test_a_table_that_grew_over_the_month_is_on_no_side(tmp_path: Path) -> None:
    name = card(tmp_path, released="2024-12", completed="2025-03")
    Path(name).write_text(Path(name).read_text("utf-8").replace('dated_by = "day"\n', ""), "utf-8")
    with pytest.raises(UsageError, match="levels have no dates, and the table is of 2024-12 to 2025-03"):
        load_tables([f"{name}#after-2025-01"])
    (after,), _ = load_tables([f"{name}#after-2024-11"])
    assert len(after.rows) == len(DAYS)


def test_a_column_of_names_is_dated_by_the_card(tmp_path: Path) -> None:
    name = card(tmp_path)
    text = Path(name).read_text("utf-8")
    listed = "\n".join(f'"{day}" = "{day[6:]}-{day[3:5]}"' for day in DAYS)
    told = text.replace('dated_as = "%d/%m/%Y"', "").replace("[[editions]]", f"[dates]\n{listed}\n\n[[editions]]")
    Path(name).write_text(told, "utf-8")
    assert [len(side.rows) for side in sides_of(load_table(name), "2025-01")[0].values()] == [1, 3]
    Path(name).write_text(told.replace(f'"{DAYS[2]}" = "2025-01"', ""), "utf-8")
    with pytest.raises(UsageError, match="'31/01/2025' in day, and the card's dates do not have it"):
        load_table(name)
    Path(name).write_text(told.replace('"2025-03"', '"2025"'), "utf-8")
    with pytest.raises(UsageError, match="the date of '03/03/2025' cannot be '2025'; write YYYY-MM or YYYY-MM-DD"):
        load_table(name)


def test_splits_of_other_kinds_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown split 'after-cutoff' of levels; its rows have dates: write"):
        load_tables([f"{card(tmp_path)}#after-cutoff"])
    with pytest.raises(UsageError, match="unknown split 'later' of levels; its rows have dates: write levels#after"):
        load_tables([f"{card(tmp_path)}#later"])


@needs_data
def test_a_card_with_splits_of_its_own_is_parted_by_no_date() -> None:
    with pytest.raises(UsageError, match="adult has the split train, and its rows have no dates"):
        load_tables(["adult#after-2023-10"])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"dated_by": "moment"}, "levels has no column 'moment'"),
        ({"dated_as": "%Y-%m-%d"}, "row 1 of levels has '31/12/2024' in day, which is no date of the form %Y-%m-%d"),
        ({"completed": "2024"}, "completed is 2024, before released, "),
        ({"released": "May 2025"}, "released and completed cannot be 'May 2025'; write YYYY, YYYY-MM or YYYY-MM-DD"),
    ],
)
def test_a_card_s_dates_are_checked(tmp_path: Path, more: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as error:
        load_table(card(tmp_path, **more))
    assert said in str(error.value)


def test_a_month_is_written_with_two_digits() -> None:
    assert [
        is_dated(name) for name in ("after-2025-01", "Before-2025-12", "after-2025-1", "after-cutoff", "train")
    ] == [True, True, False, False, False]


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", sorted(name for name, card in load_cards().items() if card.dates.dated_by))
def test_the_rows_of_each_dated_card_are_between_its_dates(name: str) -> None:
    card, months = load_cards()[name], months_of(load_table(name))
    assert max(months) == card.dates.completed[:7]
    assert card.released_source.startswith("https://")
    if name != "internationals":  # whose rows are older than the web
        assert min(months) == card.dates.released[:7]


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("month", ["2023-10"])
def test_one_table_gives_both_sides(month: str) -> None:
    table = load_table("internationals")
    (before, after), lines = load_tables([f"internationals#before-{month}", f"internationals#after-{month}"])
    assert max(months_of(before)) < month < min(months_of(after))
    own = months_of(table).count(month)
    assert len(before.rows) + own + len(after.rows) == len(table.rows)
    assert f"{own:,} of 49,520 rows are of {month} itself" in lines[0]
    assert len(after.rows) > 400
