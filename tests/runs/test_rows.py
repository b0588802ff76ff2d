"""How many rows the tests of classification ask is for the user to say."""

from pathlib import Path

import pytest

from tabcontam.verdicts.document import read_results
from tests.commands import tabcontam

ASKED = ("run", "--llm", "simulated:guesser", "--dataset", "iris", "--no-controls")


@pytest.mark.slow
def test_as_many_rows_are_asked_as_the_user_says_and_the_run_records_it(tmp_path: Path) -> None:
    done = tabcontam(*ASKED, "-k", "memory_share or classification_0shot", "--rows", "120", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = read_results(tmp_path)
    assert found.run.rows == 120
    assert {cell.test: cell.queries for cell in found.results} == {"memory_share": 240, "classification_0shot": 120}
    more = tabcontam(*ASKED, "-k", "memory_share or classification_0shot", "--rows", "130", "--out", str(tmp_path))
    assert more.returncode == 0, more.stderr
    assert {cell.test: cell.queries for cell in read_results(tmp_path).results} == {
        "memory_share": 260,
        "classification_0shot": 130,
    }


def test_a_number_of_rows_that_no_test_takes_is_told() -> None:
    done = tabcontam(*ASKED, "-k", "full_completion", "--rows", "120")
    assert done.returncode == 4
    assert "--rows: no chosen test takes a number of rows; choose -k 'classification_0shot or" in done.stderr


@pytest.mark.slow
def test_a_table_that_has_fewer_rows_is_asked_about_all_of_them_and_that_is_told() -> None:
    done = tabcontam(*ASKED, "-k", "memory_share", "--rows", "1001")
    assert done.returncode == 0
    assert "--rows 1001: memory_share asks about only 137 rows of iris, since no other row" in done.stderr
