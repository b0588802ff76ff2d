"""CSV: one row a cell, read back whole by csv and pandas, and no formula for a spreadsheet."""

import csv
import io
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.report.csv_text import FORMULA, guarded
from tabcontam.report.frame import RESULTS, frame
from tabcontam.verdicts.columns import record_columns
from tabcontam.verdicts.document import parse_results
from tabcontam.verdicts.result_types import Result
from tabcontam.verdicts.wording import visible
from tests.report.rendered import render_csv
from tests.report.synthetic import HOSTILE, cell, document, results, weighed

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "'=1", '=HYPERLINK("http://evil")']  # noqa: RUF001


def read(of: dict[str, Any]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render_csv(of), newline=""), strict=True))


def test_one_row_a_cell_with_every_field() -> None:
    of = results(["control:exposed", "gpt-4o"], ["iris", "wine"])
    rows = read(of)
    assert len(rows) == len(of["results"])
    assert list(rows[0]) == list(RESULTS)
    assert set(RESULTS) >= {one.name for one in record_columns(Result)} - {"statistic", "interval", "memory"}
    assert [(row["llm"], row["test"]) for row in rows] == [(one["llm"], one["test"]) for one in of["results"]]


def test_the_columns_are_those_of_the_data_frame() -> None:
    of = results(["gpt-4o"], ["iris"])
    assert list(read(of)[0]) == list(frame(parse_results(of), "results").columns)


def test_the_statistic_and_the_interval_are_taken_apart() -> None:
    (row,) = read(document([weighed("a", "iris", "full_completion", "contaminated")]))
    assert (row["statistic_name"], row["statistic_value"], row["statistic_expected"]) == (
        "recalled bits",
        "212.3125",
        "9.07",
    )
    assert (row["interval_low"], row["interval_high"], row["interval_of"]) == ("0.25", "0.55", "rows remembered")
    assert (row["control"], row["reason"], row["hits"]) == ("false", "", "18")


def test_pandas_reads_the_same_numbers() -> None:
    of = results(["gpt-4o"], ["iris", "wine"])
    frame = pd.read_csv(io.StringIO(render_csv(of)))
    assert frame["control"].dtype == bool
    for name in ("score", "hits", "p_value", "q_value", "recalled_bits", "detectable_share"):
        expected = [one[name] for one in of["results"]]
        assert [None if pd.isna(value) else pytest.approx(value, rel=1e-12) for value in frame[name]] == expected
    assert list(frame["sentence"].fillna("")) == [one["sentence"] for one in of["results"]]


def test_a_negative_number_stays_a_number() -> None:
    statistic = {"name": "-x", "value": -1.5, "expected": -2e-30}
    (row,) = read(document([cell("a", "iris", "own", "skipped", statistic=statistic, recalled_bits=-3)]))
    assert (row["statistic_value"], row["statistic_expected"], row["recalled_bits"]) == ("-1.5", "-2e-30", "-3")
    assert row["statistic_name"] == "'-x"


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_is_a_formula(text: str) -> None:
    of = document([cell(text, text, text, "skipped", reason=text, sentence=text, edition=text)])
    (row,) = read(of)
    for name in ("llm", "dataset", "test", "reason", "sentence", "edition"):
        assert row[name].removeprefix("'") == visible(text, line=True)
        assert not row[name].lstrip().startswith(FORMULA[:-1])


@pytest.mark.slow
@given(st.text())
def test_one_apostrophe_taken_off_gives_the_text_back(text: str) -> None:
    assert guarded(text).removeprefix("'") == visible(text, line=True)


@given(st.lists(st.text(), min_size=5, max_size=5))
def test_any_text_is_read_back(texts: list[str]) -> None:
    llm, dataset, test, reason, sentence = texts
    source = render_csv(document([cell(llm, dataset, test, "skipped", reason=reason, sentence=sentence)]))
    assert source.count("\r\n") == source.count("\n") == 2
    (row,) = csv.DictReader(io.StringIO(source, newline=""), strict=True)
    names = ("llm", "dataset", "test", "reason", "sentence")
    assert [row[name].removeprefix("'") for name in names] == [visible(text, line=True) for text in texts]


def test_hostile_texts_stay_in_their_fields() -> None:
    (row,) = read(document([cell(HOSTILE, HOSTILE, HOSTILE, "contaminated", sentence=HOSTILE)]))
    assert row["sentence"] == visible(HOSTILE)
    assert None not in row


def test_an_empty_run_has_its_header() -> None:
    assert render_csv(document([])) == ",".join(RESULTS) + "\r\n"
