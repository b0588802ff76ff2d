"""Which kind of recorded answers a file holds, and several files as one."""

from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.reading.word_decision import english
from tabcontam.replay.record_kinds import PAPER, judge_files, kind_of, record_kinds
from tests.replay.made import record, row_record, written


@pytest.mark.parametrize("line", ["{", "[1]", "{}", '{"other": 1}', "[" * 100_000])
def test_a_line_that_is_no_record_is_read_as_one_of_the_first_kind(line: str) -> None:
    assert kind_of([(1, line)]) is PAPER


def test_each_kind_is_told_by_its_keys() -> None:
    for kind in record_kinds():
        line = "{" + ", ".join(f'"{key}": null' for key in kind.keys) + "}"
        assert kind_of([(1, line)]) is kind


def test_files_are_judged_together(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one, other = written(tmp_path, record()), written(tmp_path / "other", row_record(file="b.txt"))
    found = judge_files([one, other], "paper", english(), with_differences=True)
    assert [(cell.source, cell.decision.paper_verdict) for cell in found.results] == [
        ("a.txt", "contaminated"),
        ("b.txt", "contaminated"),
    ]
    assert found.rule_differences
    assert not judge_files([one], "paper", english(), with_differences=False).rule_differences
    with pytest.raises(UsageError, match="cannot read the records"):
        judge_files([one, tmp_path / "none.jsonl"], "paper", english(), with_differences=False)
