"""recalled.csv: which rows an LLM recalled, cell by cell, in a form that no spreadsheet runs."""

import csv
import io
from typing import Any

import pytest

from tabcontam.baseline.cell_prediction import bits
from tabcontam.report.csv_text import FORMULA
from tabcontam.report.recalled_cells import COLUMNS
from tabcontam.verdicts.document import parse_results
from tests.report.rendered import recalled_csv
from tests.report.synthetic import HOSTILE, document, trial, weighed

GUESS = {"values": {"1.4": 0.25, "0.2": 0.5}, "rest": 0.001, "missing": 0.0}
ONE = weighed("m", "iris", "feature_completion", "contaminated")


def read(of: dict[str, Any], *trials: dict[str, Any]) -> list[dict[str, str]]:
    text = recalled_csv(parse_results(document([of])), trials)
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert text.splitlines()[0] == ",".join(COLUMNS)
    return rows


def asked(**changes: Any) -> dict[str, Any]:
    expected, parsed = {"width": "0.2", "length": "1.4"}, {"width": "0.2", "length": "9.9"}
    chance = dict.fromkeys(expected, GUESS)
    return trial(ONE, "feature_completion-0", expected=expected, parsed=parsed, chance=chance, row=41) | changes


def test_a_line_for_each_answered_cell_with_its_row_and_its_bits() -> None:
    right, wrong = read(ONE, asked())
    assert (right["row"], right["column"], right["answer"], right["expected"]) == ("42", "width", "0.2", "0.2")
    assert (right["right"], float(right["bits"]), float(right["row_bits"])) == ("true", bits(0.5), bits(0.5))
    assert (wrong["column"], wrong["right"], wrong["bits"], wrong["chance"]) == ("length", "false", "0.0", "0.001")


def test_a_number_that_is_right_in_fewer_digits_is_not_right_and_has_its_bits() -> None:
    coarser = [{"places": 0, "values": {}, "rest": 0.01}]
    chance = {"width": {"values": {"7.1": 0.1}, "rest": 0.001, "missing": 0.0, "coarser": coarser}}
    (line,) = read(ONE, asked(expected={"width": "27.9"}, parsed={"width": "28"}, chance=chance))
    assert (line["right"], float(line["chance"])) == ("false", 0.01)
    assert float(line["bits"]) == pytest.approx(bits(0.01 / 0.15), abs=0.01)


@pytest.mark.parametrize(
    "changes",
    [
        {"chance": {}},  # compared with no guess
        {"parsed": None, "hit": False},  # not read
        {"parsed": {"width": None}},
        {"expected": ["0.2"]},  # of a test that asks for words
    ],
)
def test_what_counts_for_nothing_is_left_out(changes: dict[str, Any]) -> None:
    assert read(ONE, asked(**changes)) == []


@pytest.mark.parametrize("row", [None, "4", True, 1.5])
def test_what_is_no_number_of_a_row_is_left_out(row: object) -> None:
    lines = read(ONE, asked(row=row))
    assert [line["row"] for line in lines] == ["", ""]


def test_a_control_that_joined_is_left_out() -> None:
    assert read(ONE | {"control": True}, asked()) == []


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "-x", '"quoted", and more', "a\nb", HOSTILE])
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    chance = {text: GUESS}
    lines = read(ONE, asked(expected={text: text}, parsed={text: text}, chance=chance))
    assert lines
    for name in ("column", "answer", "expected"):
        assert "\n" not in lines[0][name]
        assert not lines[0][name].lstrip().startswith(FORMULA[:-1])
