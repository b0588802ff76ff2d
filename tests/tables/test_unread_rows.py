"""Fresh rows: what a file has to be like, what of it is left out, and that all is told."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.tables.table import Cell, Table
from tabcontam.tables.unread_rows import fresh_labels, with_fresh
from tests.twins.made import fleet

LATER = fleet(200, 7)


def file(folder: Path, rows: Sequence[Sequence[Cell]], columns: Sequence[str] = LATER.columns) -> str:
    path = folder / "later.csv"
    with path.open("w", newline="") as out:
        csv.writer(out).writerows([columns, *rows])
    return str(path)


def refused(folder: Path, rows: Sequence[Sequence[Cell]], columns: Sequence[str], *tables: Table) -> str:
    with pytest.raises(UsageError) as caught:
        with_fresh(tables or (fleet(),), [file(folder, rows, columns)])
    return str(caught.value)


def test_rows_are_read_by_the_names_of_their_columns(tmp_path: Path) -> None:
    (table,), lines = with_fresh([fleet()], [file(tmp_path, [row[::-1] for row in LATER.rows], LATER.columns[::-1])])
    assert [row[0] for row in table.fresh] == list(LATER.column("name"))
    assert fresh_labels(table)[:3] == tuple({"1": "Yes", "0": "No"}[str(cell)] for cell in LATER.column("toll")[:3])
    assert lines == ("later.csv: 200 fresh rows are compared with rows of fleet",)


def test_rows_of_the_table_and_such_without_a_class_are_left_out_and_told(tmp_path: Path) -> None:
    bare = [(*row[:-1], "") for row in LATER.rows[:2]]
    own = [(*fleet().rows[0][:2], f"{fleet().rows[0][2]}0", *fleet().rows[0][3:])]  # a number written otherwise
    (table,), lines = with_fresh([fleet()], [file(tmp_path, [*own, *bare, *LATER.rows[2:]])])
    assert table.fresh == LATER.rows[2:]
    assert lines == (
        "later.csv: 198 fresh rows are compared with rows of fleet; not asked about: 1 row stands in fleet, "
        "too, and 2 rows have no class",
    )


def test_rows_of_a_known_file_are_no_fresh_ones(tmp_path: Path) -> None:
    (table,), lines = with_fresh([replace(fleet(), known=(LATER.rows[:5],))], [file(tmp_path, LATER.rows)])
    assert len(table.fresh) == 195
    assert "5 rows stand in fleet or in a known file, too" in lines[0]


def test_a_class_that_is_written_as_another_number_is_the_same(tmp_path: Path) -> None:
    (table,), _ = with_fresh([fleet()], [file(tmp_path, [(*row[:-1], f"{row[-1]}.0") for row in LATER.rows])])
    assert table.fresh == LATER.rows


def test_a_file_with_other_columns_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, [row[1:] for row in LATER.rows], LATER.columns[1:])
    assert "later.csv lacks the column 'name' of fleet; give rows of the same source" in said


def test_a_class_that_the_question_does_not_know_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, [(*LATER.rows[0][:-1], "perhaps"), *LATER.rows], LATER.columns)
    assert "later.csv has 'perhaps' in 'toll', and the classes of fleet are 1, 0" in said


def test_a_table_without_a_question_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, LATER.rows, LATER.columns, replace(fleet(), target=None, question=None))
    assert "fleet has no classification question" in said


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (LATER.rows[:19], "later.csv has 19 fresh rows with a class; 20 or more are needed"),
        ((*fleet().rows, *LATER.rows[:3]), "has 3 fresh rows with a class (400 rows stand in fleet, too); 20 or more"),
    ],
)
def test_too_few_rows_are_refused(tmp_path: Path, rows: Sequence[Sequence[Cell]], said: str) -> None:
    assert said in refused(tmp_path, rows, LATER.columns)


def test_a_file_that_fits_two_tables_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, LATER.rows, LATER.columns, fleet(), replace(fleet(), name="navy"))
    assert "later.csv has the columns of fleet and navy; test one of them at a time" in said
