"""Recorded answers are read; what is none is named by its line."""

import json
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.replay.answer_records import lines, read_records, row, words
from tests.replay.made import PRINTED, record, row_record, written


class TestPrints:
    def test_a_printed_row(self) -> None:
        assert row(PRINTED) == {"Deck Level": "3", "Name": "Ada  Byron", "Fare": "10.50", "Cabin": None}

    def test_a_row_of_pandas(self) -> None:
        import pandas as pd

        long = "word " * 20
        values = {"a long name (cm)": 41.0, "b": "x  y", "c": None, "d": "Probability ", "e": long, "f": 7}
        shown = row(str(pd.Series(values, name=3, dtype=object)))
        assert shown | {"e": ""} == {
            "a long name (cm)": "41.0",
            "b": "x  y",
            "c": None,
            "d": "Probability ",
            "e": "",
            "f": "7",
        }
        assert shown["e"]
        assert long.startswith(shown["e"])

    def test_a_printed_list(self) -> None:
        assert words("['a', nan, 1, 2.5, -1, True, \"b's\"]") == ("a", None, None, None, None, "True", "b's")

    @pytest.mark.parametrize(
        ("output", "text"),
        [
            ("['Sure:', '', 'The \\'Age\\' is 1']", "Sure:\n\nThe 'Age' is 1"),
            ("[1, 2", "[1, 2"),
            ("[boston housing]", "[boston housing]"),
            ("[" * 100_000, "[" * 100_000),
            ("The Age is 1", "The Age is 1"),
        ],
    )
    def test_an_answer_that_may_be_a_printed_list_of_lines(self, output: str, text: str) -> None:
        assert lines(output) == text


class TestBadRecords:
    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            ("{", "not JSON"),
            ("[1]", "not a JSON object"),
            ("[" * 100_000, "nested too deeply"),
            (json.dumps({key: value for key, value in record().items() if key != "output"}), "no 'output'"),
            (json.dumps(record(output=None)), "'output' is not a text"),
            (json.dumps(record(test="quiz")), "unknown test 'quiz'"),
            (json.dumps(record(decision="yes")), "'decision' is not true or false"),
            (json.dumps(record(expected="[1")), "'['"),
            (json.dumps(record(expected="-" * 100_000 + "1")), "nested too deeply"),
            (json.dumps(record(expected="{}")), "'expected' is not a list"),
            (json.dumps(record(matches="[]")), "'matches' is not a dictionary"),
            (json.dumps(row_record(expected="")), "'expected' is not a printed row"),
            (json.dumps(row_record(matches="{'Port': 1}")), "'expected' does not have 'Port'"),
            (json.dumps(record(test="membership", score=3, n=2, n_yes=1, n_no=1)), "more answers than queries"),
            (json.dumps(record(test="membership", score=-3, n=2, n_yes=1, n_no=1)), "'score' is not a count"),
        ],
    )
    def test_are_named_by_their_line(self, tmp_path: Path, line: str, fault: str) -> None:
        path = written(tmp_path, record())
        path.write_text(f"{path.read_text()}\n{line}\n")
        with pytest.raises(UsageError) as error:
            read_records(path)
        assert fault in str(error.value)
        assert f"{path}, line 3: " in str(error.value)
        assert "\n" not in str(error.value)

    def test_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="cannot read the records"):
            read_records(tmp_path / "none.jsonl")
        (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(UsageError, match="not UTF-8"):
            read_records(tmp_path / "binary")
        (tmp_path / "empty").write_text("\n")
        with pytest.raises(UsageError, match="holds no records"):
            read_records(tmp_path / "empty")

    def test_line_separators_inside_an_answer_end_no_line(self, tmp_path: Path) -> None:
        assert len(read_records(written(tmp_path, record(output="fore\u2028aft\x85")))) == 1
