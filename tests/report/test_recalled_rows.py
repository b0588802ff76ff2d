"""Rows that were recalled and those that were not: which are which, the accuracy on both, and which to leave out."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tabcontam.cli import commands as cli
from tabcontam.errors import Exit
from tabcontam.report.recalled_rows import (
    LlmTable,
    RowRecall,
    compare_accuracies,
    find_recalled_rows,
    merge_recall,
    render_excluded,
)
from tabcontam.verdicts.document import parse_results
from tests.report.rendered import render_html
from tests.report.synthetic import cell, document, trial, weighed

RARE = {"values": {"5.1": 0.9}, "rest": 0.0005, "missing": 0.0}
COMMON = {"values": {"1.4": 0.5}, "rest": 0.001, "missing": 0.0}
ROWS = weighed("m", "iris", "full_completion", "contaminated")
CLASSES = cell("m", "iris", "classification_1shot", None, kind="classification")
HERE = LlmTable("m", "iris", "uci", None)


def asked(row: int, answer: str | None = "1.4", guess: dict[str, Any] = RARE, **changes: Any) -> dict[str, Any]:
    """A query about a cell of a row, with the answer."""
    made = {"expected": {"length": "1.4"}, "parsed": {"length": answer}, "chance": {"length": guess}, "row": row}
    return trial(ROWS, f"full_completion-{row}", **made | {"readable": answer is not None} | changes)


def classified(row: int, hit: bool) -> dict[str, Any]:
    """A query about the class of a row."""
    guess = {"few-shot": {"values": {"Yes": 0.75, "No": 0.25}, "rest": 0.0, "missing": 0.0}}
    made = {"expected": ["Yes"], "parsed": "Yes" if hit else "No", "hit": hit, "readable": True, "row": row}
    return trial(CLASSES, f"classification_1shot-{row}", **made, chance=guess)


VIEW = parse_results(document([ROWS, CLASSES]))


def test_a_row_is_recalled_by_what_a_guesser_would_hardly_get_right() -> None:
    rows = find_recalled_rows(VIEW, [asked(1), asked(2, "9.9")])[HERE]
    assert (rows[1].recalled, rows[2].recalled) == (True, False)
    assert list(rows[1].tests) == ["full_completion"]


@pytest.mark.parametrize(
    "silent",
    [
        asked(3, None),  # refused
        asked(3, "1.4", COMMON),  # a right answer says nothing
        asked(3, "9.9", COMMON),
        asked(3, decoy_of="full_completion-1"),
        asked(3) | {"row": None},
        asked(3) | {"row": True},
        asked(3, chance={}),
        asked(3, expected=["1.4"]),
    ],
)
def test_of_a_row_that_nothing_could_show_nobody_knows(silent: dict[str, Any]) -> None:
    assert find_recalled_rows(VIEW, [silent])[HERE] == {}
    assert compare_accuracies(VIEW, [silent, asked(1), classified(1, True), classified(3, True)]) == []


def test_a_guesser_who_is_right_by_chance_recalls_nothing() -> None:
    both = {"width": COMMON, "length": COMMON}
    right = asked(1, expected=dict.fromkeys(both, "1.4"), parsed=dict.fromkeys(both, "1.4"), chance=both)
    assert find_recalled_rows(VIEW, [right])[HERE] == {}


def test_the_accuracy_on_both_kinds_of_rows_with_an_interval() -> None:
    rows = [asked(row, "1.4" if row < 20 else "9.9") for row in range(50)]
    answers = [classified(row, hit=row < 20 or row % 2 == 0) for row in range(50)]
    (found,) = compare_accuracies(VIEW, [*rows, *answers, classified(60, False)])
    assert str(found.recalled) == "1.00 (20 of 20, models 0.75)"
    assert str(found.others) == "0.50 (15 of 30, models 0.75)"
    low, high = found.interval
    assert found.difference == 0.5
    assert 0.2 < low < 0.5 < high < 0.7
    assert found.gap == f"0.50 ({low:.2f} to {high:.2f})"
    page = render_html(document([ROWS, CLASSES]), [*rows, *answers])
    assert "20 of 20; models 0.75" in page
    assert found.gap in page


@pytest.mark.parametrize("left_out", [{"readable": False}, {"decoy_of": "classification_1shot-1"}, {"row": None}])
def test_twins_and_answers_that_name_no_class_count_for_nothing(left_out: dict[str, Any]) -> None:
    rows = [asked(1), asked(2, "9.9"), asked(3)]
    answers = [classified(1, True), classified(2, True), classified(3, False) | left_out]
    (found,) = compare_accuracies(VIEW, [*rows, *answers])
    assert (found.recalled.rows, found.others.rows) == (1, 1)


def test_without_both_kinds_of_rows_nothing_is_compared() -> None:
    assert compare_accuracies(VIEW, [asked(1), asked(2), classified(1, True), classified(2, False)]) == []
    assert 'id="recalled"' not in render_html(document([ROWS, CLASSES]), [asked(1), classified(1, True)])


def test_a_list_of_rows_to_leave_out_has_no_cell_of_the_table() -> None:
    rows = find_recalled_rows(VIEW, [asked(1), asked(2, "9.9"), asked(0)])
    again = {HERE: {2: RowRecall(12.0, {"row_completion": None}), 0: RowRecall(3.0)}}
    lines = list(csv.DictReader(io.StringIO(render_excluded(merge_recall([rows, again])))))
    assert [(line["llm"], line["dataset"], line["row"], line["tests"]) for line in lines] == [
        ("m", "iris", "1", "full_completion"),
        ("m", "iris", "2", "full_completion"),
        ("m", "iris", "3", "row_completion"),
    ]
    assert "1.4" not in "".join(value for line in lines for name, value in line.items() if name != "bits")


class TestCommand:
    """`report RUN_DIR --exclude-recalled FILE`."""

    @pytest.fixture(autouse=True)
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    @pytest.mark.slow
    def test_the_rows_of_a_run(self, capsys: pytest.CaptureFixture[str]) -> None:
        asked = ["--llm", "simulated:memoriser:0.5", "--dataset", "iris", "--no-controls", "-k", "full_completion"]
        assert cli.main(["run", *asked, "--out", "run", "-q"]) == Exit.DONE
        capsys.readouterr()
        assert cli.main(["report", "run", "--exclude-recalled", "rows.csv"]) == Exit.DONE
        out, err = capsys.readouterr()
        rows = [line["row"] for line in csv.DictReader(Path("rows.csv").read_text("utf-8").splitlines())]
        assert out == ""
        assert err.startswith(f"rows.csv: {len(rows)} rows were recalled, of ")
        assert len(rows) > 5
        held = list(csv.DictReader(Path("run", "recalled.csv").read_text("utf-8").splitlines()))
        assert set(rows) == {line["row"] for line in held if float(line["row_bits"]) >= 10}
        for given in (["--json"], ["--format", "csv"], ["--out", "x"]):
            assert cli.main(["report", "run", "--exclude-recalled", "other.csv", *given]) == Exit.USAGE
        assert cli.main(["report", "run", "--exclude-recalled", "run"]) == Exit.USAGE
        assert not Path("other.csv").exists()

    def test_a_run_without_row_tests_has_none(self, capsys: pytest.CaptureFixture[str]) -> None:
        asked = ["--llm", "simulated:oracle", "--dataset", "iris", "--no-controls", "-k", "0shot", "--queries", "4"]
        assert cli.main(["run", *asked, "--out", "run", "-q"]) == Exit.DONE
        capsys.readouterr()
        assert cli.main(["report", "run", "--exclude-recalled", "rows.csv"]) == Exit.USAGE
        assert "no row test was asked in run; type run -m rows" in capsys.readouterr().err
        assert not Path("rows.csv").exists()
