"""Fresh rows of a dated table: which count, which do not, and the table and card that they become."""

import json
import os
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.cli.commands import main
from tabcontam.errors import Exit, UsageError
from tabcontam.extensions.fresh.feeds.date_ranges import DayRange, days_of, instants_of
from tabcontam.extensions.fresh.feeds.dated_rows import fresh_rows
from tabcontam.tables.splits_by_date import months_of
from tabcontam.tables.table import Table, load_table

SINCE = date(2026, 3, 1)
TODAY = date(2026, 11, 25)
SALES = """day,shop,item,sold
2026-02-28,A,apple,3
2026-03-01,A,pear,3
2026-03-02T23:59:00,B,plum,4
2026-03,C,"fig, dried",1
2026,C,fig,1
2030-01-01,B,plum,9
,C,fig,7
2026-03-05,A,apple,3
2026-04-01,,é,2
"""


def table(tmp_path: Path, text: str = SALES, name: str = "sales.csv", target: str | None = "item") -> Table:
    (tmp_path / name).write_text(text, "utf-8")
    return load_table(str(tmp_path / name), target=target)


def test_only_rows_that_are_surely_fresh_count(tmp_path: Path) -> None:
    found = fresh_rows(table(tmp_path), SINCE, dated_by="day", today=TODAY)
    assert [row[2] for row in found.table.rows] == ["pear", "plum", "fig, dried", "é"]
    assert found.left_out == {"older": 2, "to_come": 1, "undated": 1, "repeated": 1}  # 2026 may be January
    assert (found.first, found.last) == (date(2026, 3, 1), date(2026, 4, 1))
    until = fresh_rows(table(tmp_path), SINCE, date(2026, 4, 1), dated_by="day", today=TODAY)
    assert [row[2] for row in until.table.rows] == ["pear", "plum", "fig, dried"]


def test_a_month_is_not_fresh_where_its_days_may_be_older(tmp_path: Path) -> None:
    found = table(tmp_path, "day,a\n2026-03,1\n2026-03-01,2\n2026-03,3\n2026-03-02,4\n", target=None)
    with pytest.raises(UsageError, match=r"has 1 rows from 2026-03-02 on, and a table needs two: 3 are older"):
        fresh_rows(found, date(2026, 3, 2), dated_by="day", today=TODAY)


@pytest.mark.parametrize(
    ("dated_by", "dated_as", "words"),
    [
        (None, None, "the column of sales.csv that has the dates is not known; add --dated-by COLUMN"),
        ("dya", None, "unknown column of sales.csv 'dya'; did you mean day?"),
        ("sold", None, "row 1 of sales.csv has '3' in sold, which is no date in the form of ISO 8601"),
        ("day", "%d/%m/%Y", "row 1 of sales.csv has '2026-02-28' in day, which is no date of the form %d/%m/%Y"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    tmp_path: Path, dated_by: str | None, dated_as: str | None, words: str
) -> None:
    with pytest.raises(UsageError) as raised:
        fresh_rows(table(tmp_path), SINCE, dated_by=dated_by, dated_as=dated_as, today=TODAY)
    assert words in str(raised.value)


def test_the_card_gives_the_same_rows_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original = table(tmp_path, SALES.replace("2026,C,fig,1\n", ""))
    command = ["fresh", str(tmp_path / "sales.csv"), "--dated-by", "day", "--since", "2026-03-01", "--target", "item"]
    assert main([*command, "--out", str(tmp_path / "out"), "--json"]) == Exit.DONE
    facts = json.loads(capsys.readouterr().out)
    again = load_table(facts["card"])
    assert again.rows == fresh_rows(original, SINCE, dated_by="day", today=TODAY).table.rows
    assert (again.columns, again.target, again.private) == (original.columns, "item", True)
    assert again.question == original.question
    assert (again.dates.released, again.dates.completed) == ("2026-03-01", "2026-04-01")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "sales-since-2026-03-01.csv", "sales-since-2026-03-01.toml"]  # fmt: skip


def test_a_card_of_days_keeps_its_dates(tmp_path: Path) -> None:
    text = "when,a\n01/03/2026,1\n02/03/2026,2\n28/02/2026,3\n"
    (tmp_path / "a.csv").write_text(text, "utf-8")
    command = ["fresh", str(tmp_path / "a.csv"), "--dated-by", "when", "--dated-as", "%d/%m/%Y"]
    assert main([*command, "--since", "2026-03-01", "--out", str(tmp_path / "out")]) == Exit.DONE
    again = load_table(str(tmp_path / "out" / "a-since-2026-03-01.toml"))
    assert months_of(again) == ["2026-03", "2026-03"]


def test_a_shipped_card_has_its_own_dates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = Path(os.environ.get("TABCONTAM_DATA", "/nowhere"))
    if not data.is_dir():
        pytest.skip("TABCONTAM_DATA names no folder")
    assert main(["fresh", "f1-2026", "--since", "2026-05-15", "--out", str(tmp_path)]) == Exit.DONE
    assert capsys.readouterr().out.startswith(
        "88 fresh rows, of 2026-06-01 to 2026-07-31\n"
    )  # a race of May may be older
    again = load_table(str(tmp_path / "f1-2026-since-2026-05-15.toml"))
    assert {row[0] for row in again.rows} == {"Monaco", "Barcelona-Catalunya", "Austria", "Great Britain"}
    assert again.question == load_table("f1-2026").question
    assert not again.private


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--since", "March"], "--since is 'March'; write a day, such as 2026-03-01"),
        (["--since", "2026-03-01", "--until", "2026-03-01"], "--until 2026-03-01 is not after --since 2026-03-01"),
        (["--since", "2026-03-01"], "the column of sales.csv that has the dates is not known"),
    ],
)
def test_a_bad_command_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], line: str
) -> None:
    (tmp_path / "sales.csv").write_text(SALES, "utf-8")
    out = tmp_path / "out"
    assert main(["fresh", str(tmp_path / "sales.csv"), *options, "--out", str(out)]) == Exit.USAGE
    assert line in capsys.readouterr().err
    assert not out.exists()


@given(st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_days_months_and_years_hold_their_days(day: date) -> None:
    assert days_of(day.isoformat()) == DayRange(day, day)
    for stated in (f"{day:%Y-%m}".zfill(7), f"{day:%Y}".zfill(4)):
        first, last = days_of(stated)
        assert first <= day <= last


@pytest.mark.parametrize(
    ("stated", "first", "last"),
    [
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00", "2026-03-01T00:00"),
        ("2026-03-01T00:30:00+01:00", "2026-02-28T23:30", "2026-02-28T23:30"),
        ("Sun, 01 Mar 2026 00:10:00 GMT", "2026-03-01T00:10", "2026-03-01T00:10"),
        ("Sun, 01 Mar 2026 00:10:00 -0500", "2026-03-01T05:10", "2026-03-01T05:10"),
        ("Sun, 01 Mar 2026 00:10:00 -0000", "2026-02-28T10:10", "2026-03-01T12:10"),  # of an unknown zone
        ("Sun, 01 Mar 2026 00:10:00", "2026-02-28T10:10", "2026-03-01T12:10"),
        ("2026-03-01 12:00", "2026-02-28T22:00", "2026-03-02T00:00"),
        ("2026-03-01", "2026-02-28T10:00", "2026-03-02T11:59"),
    ],
)
def test_a_date_without_a_zone_is_of_any_place(stated: str, first: str, last: str) -> None:
    found = instants_of(stated)
    assert found is not None
    assert [f"{moment:%Y-%m-%dT%H:%M}" for moment in found] == [first, last]


@given(st.text(max_size=40))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = instants_of(text)
    assert found is None or found.first <= found.last


@pytest.mark.parametrize("text", ["", "yesterday", "31/12/2026", "9999-12-31", "0001-01-01", "Mon, 99 Foo 2026"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert instants_of(text) is None
