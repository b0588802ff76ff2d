"""Rows that an LLM may know: found in the table by what they hold, and added for the guesser where it lacks them."""

from dataclasses import replace
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.tables.known_rows import extra_rows, known_digest, known_rows, load_known, not_known, with_known
from tabcontam.tables.table import Table, load_table


def table_of(folder: Path, name: str, text: str) -> Table:
    """The table of a CSV file of this content."""
    (folder / name).write_text(text, encoding="utf-8")
    return load_table(str(folder / name))


@pytest.fixture
def towns(tmp_path: Path) -> Table:
    """Four towns, of which one has no river."""
    return table_of(
        tmp_path, "towns.csv", "town,size,river\nUlm,126.50,Donau\nBonn,330,Rhein\nÖls,9,NA\nHof,45,Saale\n"
    )


def test_columns_are_found_by_name_in_any_order_and_others_are_passed_over(tmp_path: Path, towns: Table) -> None:
    file = table_of(tmp_path, "known.csv", "river,note,size,town\nRhein,x,330,Bonn\nMain,y,753,Frankfurt\n")
    (found,) = with_known([towns], [file])
    assert found.rows == towns.rows
    assert known_rows(found) == {1}
    assert [row.cells for row in extra_rows(found)] == [("Frankfurt", "753", "Main")]
    assert not_known(found, range(4)) == [0, 2, 3]


def test_a_row_is_known_however_its_numbers_and_missing_cells_are_written(tmp_path: Path, towns: Table) -> None:
    file = table_of(tmp_path, "known.csv", "town,size,river\nUlm,126.5,Donau\nÖls,9.0,\nHof,45,?\n")
    (found,) = with_known([towns], [file])
    assert known_rows(found) == {0, 2}
    assert [row.cells for row in extra_rows(found)] == [("Hof", "45", None)]


def test_a_row_that_is_listed_twice_is_one(tmp_path: Path, towns: Table) -> None:
    text = "town,size,river\nKiel,246,Schwentine\nUlm,126.50,Donau\n"
    files = [table_of(tmp_path, name, text) for name in ("a.csv", "b.csv")]
    (found,) = with_known([towns], files)
    assert len(extra_rows(found)) == 1
    assert known_rows(found) == {0}


def test_the_row_before_is_that_of_its_own_file(tmp_path: Path, towns: Table) -> None:
    file = table_of(tmp_path, "known.csv", "town,size,river\nUlm,126.50,Donau\nKiel,246,Eider\nJena,110,Saale\n")
    (found,) = with_known([towns], [file])
    before = {
        row.cells[0]: [row.earlier(by) and (row.earlier(by) or ())[0] for by in (1, 2, 3)] for row in extra_rows(found)
    }
    assert before == {"Kiel": ["Ulm", None, None], "Jena": ["Kiel", "Ulm", None]}


def test_a_file_without_a_column_of_any_table_is_named_with_what_it_lacks(tmp_path: Path, towns: Table) -> None:
    file = table_of(tmp_path, "known.csv", "town,Size\nUlm,1\nBonn,2\n")
    with pytest.raises(UsageError, match=r"--known: known\.csv lacks the column 'size', 'river' of towns\.csv"):
        with_known([towns], [file])


def test_a_file_goes_to_those_tables_whose_columns_it_has(tmp_path: Path, towns: Table) -> None:
    other = table_of(tmp_path, "other.csv", "a,b\n1,2\n3,4\n")
    file = table_of(tmp_path, "known.csv", "town,size,river\nUlm,126.50,Donau\nKiel,246,Eider\n")
    found = with_known([towns, other], [file])
    assert [bool(table.known) for table in found] == [True, False]
    assert found[1] is other


def test_a_table_all_of_whose_rows_are_known_leaves_nothing_to_ask(towns: Table) -> None:
    with pytest.raises(UsageError, match=r"every row of towns\.csv is in a known file"):
        with_known([towns], [replace(towns, name="again.csv")])


def test_what_is_known_has_a_digest_whatever_the_order_of_columns(tmp_path: Path, towns: Table) -> None:
    file = table_of(tmp_path, "known.csv", "town,size,river\nUlm,126.50,Donau\nKiel,246,Eider\n")
    places = (2, 0, 1)

    def turned(table: Table) -> Table:
        rows = tuple(tuple(row[place] for place in places) for row in table.rows)
        return replace(table, columns=tuple(table.columns[place] for place in places), rows=rows)

    (one,), (other,) = with_known([towns], [file]), with_known([turned(towns)], [turned(file)])
    assert known_digest(one) == known_digest(other) is not None
    assert known_digest(towns) is None
    (more,) = with_known([towns], [replace(file, rows=(*file.rows, ("Jena", "110", "Saale")))])
    assert known_digest(more) != known_digest(one)


def test_a_known_file_is_read_once_and_must_be_there(tmp_path: Path, towns: Table) -> None:
    path = str(tmp_path / "towns.csv")
    assert len(load_known([path, path, towns])) == 2
    with pytest.raises(UsageError, match="no such file"):
        load_known([str(tmp_path / "nowhere.csv")])
