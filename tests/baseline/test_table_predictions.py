"""What the guesser makes of a table: the same in any order of its rows and columns, and kept between runs."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tabcontam.baseline import chains
from tabcontam.baseline.table_predictions import least_sure, predict_rows
from tabcontam.tables.table import Cell, Table
from tests import made_tables as tables

ships = tables.ships.__wrapped__  # each call a table of its own, of which nothing is known yet
SHOWN = ("shipKind", "length_m", "crewCnt")


def table_of(columns: dict[str, list[Cell]]) -> Table:
    """A table of these columns."""
    return replace(ships(2), columns=tuple(columns), rows=tuple(zip(*columns.values(), strict=True)))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder without what other tests made."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    return tmp_path


def files(cache: Path) -> list[Path]:
    """The files of guesses."""
    return sorted((cache / "tabcontam" / "facts").rglob("*.*"))


def test_every_asked_feature_of_every_row_has_a_guess() -> None:
    table = ships()
    found = predict_rows(table, ["homePort", "tolldue"], SHOWN, [5, 9])
    assert list(found) == [5, 9]
    assert all(list(one.cells) == ["homePort", "tolldue"] for one in found.values())
    assert 0.3 < found[5].cells["tolldue"].chance_of("yes") < 0.7


def test_what_is_lacking_does_not_depend_on_the_hidden_cells_before() -> None:
    table = ships()
    found = predict_rows(table, ["homePort", "tolldue"], SHOWN, range(40))
    first = predict_rows(table, ["homePort"], SHOWN, range(40))
    later = {round(found[row].unsure - first[row].unsure, 9) for row in range(40)}
    assert len(later) == 1
    assert 0.5 < later.pop() < 1.2


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    table = ships()
    places = list(range(len(table.rows)))
    Random(1).shuffle(places)
    columns = tuple(reversed(table.columns))
    turned = replace(table, columns=columns, rows=tuple(tuple(reversed(table.rows[place])) for place in places))
    rows = [3, 50, 120]
    known = predict_rows(table, ["homePort"], SHOWN, rows)
    same = predict_rows(turned, ["homePort"], tuple(reversed(SHOWN)), [places.index(row) for row in rows])
    assert [known[row] for row in rows] == list(same.values())
    assert least_sure(table, table.columns, 3) == least_sure(turned, turned.columns, 3)


@pytest.mark.slow
def test_the_row_before_is_shown_where_asked_for() -> None:
    table = table_of({"port": ["Wexlow", "Pelquay"] * 60, "id": [str(1000 + row) for row in range(120)]})
    alone = predict_rows(table, ["port", "id"], [], [40])[40]
    after = predict_rows(table, ["port", "id"], [], [40], before=True)[40]
    assert after.cells["port"].chance_of("Wexlow") > 0.9 > alone.cells["port"].chance_of("Wexlow")
    assert after.cells["id"].chance_of("1040") > 0.9 > 0.1 > alone.cells["id"].chance_of("1040")
    assert not any(name.startswith("previous") for name in after.cells)


def test_columns_that_follow_from_the_row_before_are_least_hard() -> None:
    rng = Random(2)
    table = table_of(
        {"id": [str(1000 + row) for row in range(120)], "weight": [str(rng.randrange(300)) for _ in range(120)]}
    )
    assert least_sure(table, table.columns, 1, before=True) == ("weight",)
    assert least_sure(table, table.columns, 1) == ("id",)


def test_a_column_that_follows_from_another_is_not_hard_where_the_other_is_shown() -> None:
    rng = Random(3)
    visits = [rng.randrange(80) for _ in range(200)]
    table = table_of(
        {
            "visits": [str(number) for number in visits],
            "paid": [str(250 * number) for number in visits],
            "age": [str(rng.randrange(20, 60)) for _ in visits],
        }
    )
    assert least_sure(table, table.columns, 1) == ("age",)
    assert set(least_sure(table, table.columns, 2, before=True)) in ({"age", "visits"}, {"age", "paid"})


def test_guesses_are_kept_for_other_runs(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = predict_rows(ships(), ["homePort"], SHOWN, [5, 9])
    assert {stat.S_IMODE(file.stat().st_mode) for file in files(cache)} == {0o600}
    monkeypatch.setattr(chains, "FeatureChain", None)
    assert predict_rows(ships(), ["homePort"], SHOWN, [5, 9]) == known


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[[]]",
        "[[1, 2]]",
        '[{"values": {"a": 2.0}, "rest": 0.1}, {"values": {}, "rest": 0.1}]',
        '[{"values": {"a": NaN}, "rest": 0.1}, {"values": {}, "rest": 0.1}]',
        '[{"values": ["a"], "rest": 0.1}, {"values": {}, "rest": 0.1}]',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_made_anew(text: str, cache: Path) -> None:
    known = predict_rows(ships(), ["homePort"], SHOWN, [5, 9])
    whole = {file: file.read_text() for file in files(cache)}
    assert len(whole) == 2  # the guesses, and what the silent predictor answers
    for file in whole:
        file.write_text(text)
    assert predict_rows(ships(), ["homePort"], SHOWN, [5, 9]) == known
    assert {file: file.read_text() for file in whole} == whole


def test_a_kept_guess_that_rules_a_value_out_is_made_anew(cache: Path) -> None:
    """What has no chance has no bits: weighing an answer to it ended the run."""
    before = predict_rows(ships(), ["homePort"], SHOWN, [5])
    for file in files(cache):
        file.write_text(json.dumps([{"values": {}, "rest": 0.0, "missing": 0.0}]))
    assert predict_rows(ships(), ["homePort"], SHOWN, [5]) == before


def test_a_folder_that_cannot_be_written_is_passed_over(cache: Path) -> None:
    (cache / "tabcontam").mkdir()
    (cache / "tabcontam" / "facts").write_text("no folder")
    assert list(predict_rows(ships(), ["homePort"], SHOWN, [5])) == [5]
    assert (cache / "tabcontam" / "facts").read_text() == "no folder"


@pytest.mark.slow
def test_other_questions_and_other_tables_have_files_of_their_own(cache: Path) -> None:
    predict_rows(ships(), ["homePort"], SHOWN, [5])
    predict_rows(ships(), ["homePort"], SHOWN, [6])
    predict_rows(ships(), ["homePort"], SHOWN[:2], [5])
    predict_rows(ships(), ["homePort"], SHOWN, [5], before=True)
    predict_rows(ships(seed=1), ["homePort"], SHOWN, [5])
    assert len(files(cache)) == 10  # two each
    assert len({file.parent for file in files(cache)}) == 2


def test_the_file_holds_numbers_and_values_alone(cache: Path) -> None:
    predict_rows(ships(), ["homePort"], SHOWN, [5])
    held = [json.loads(file.read_bytes()) for file in files(cache)]
    ((silent,),) = next(one for one in held if isinstance(one[0], list))
    (guess,) = next(one for one in held if isinstance(one[0], dict))
    assert isinstance(silent, str)
    assert sorted(guess) == ["missing", "rest", "values"]


@pytest.mark.slow
def test_a_later_feature_is_guessed_once_for_chains_that_begin_alike(cache: Path) -> None:
    first = predict_rows(ships(), ["homePort", "shipKind"], SHOWN[:1], [5, 9])
    made = len(files(cache))
    longer = predict_rows(ships(), ["homePort", "shipKind", SHOWN[-1]], SHOWN[:1], [5, 9])
    assert len(files(cache)) == made + 2  # the third feature, and what the silent predictor answers to three
    assert [first[row].cells["shipKind"].values for row in first] == [
        longer[row].cells["shipKind"].values for row in longer
    ]


@pytest.mark.slow
def test_a_table_of_150_columns_is_guessed() -> None:
    rng = Random(4)
    wide: dict[str, list[Cell]] = {f"c{place:03d}": [str(rng.randrange(5)) for _ in range(150)] for place in range(150)}
    table = table_of(wide)
    found = predict_rows(table, ["c007"], [name for name in table.columns if name != "c007"], range(10))
    assert all(one.cells["c007"].surest < 0.6 for one in found.values())
    assert len(least_sure(table, table.columns, 5, before=True)) == 5
