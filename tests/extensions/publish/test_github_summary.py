"""The summary of a job of GitHub Actions, which is the report as Markdown."""

from pathlib import Path

import pytest

from tabcontam.report.github import LIMIT
from tests.extensions.publish.rendered_publications import render_markdown
from tests.report.rendered import summarize
from tests.report.synthetic import results
from tests.report.test_github import OF


def test_the_summary_is_the_report_as_markdown(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    summarize(OF, {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.read_text("utf-8") == render_markdown(OF)


def test_a_summary_is_added_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    summarize(OF, {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.read_text("utf-8") == "before\n" + render_markdown(OF)


def test_a_file_that_cannot_be_written_is_a_line_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path, tmp_path / "none" / "summary.md"):
        summarize(OF, {"GITHUB_STEP_SUMMARY": str(path)})
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"tabcontam: cannot write the summary for GitHub to {path}: ")


def test_a_long_summary_is_cut_at_a_line_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LIMIT == 2**20
    limit = 20_000
    monkeypatch.setattr("tabcontam.report.github.LIMIT", limit)
    many = results([f"m{n}" for n in range(10)], [f"d{n}" for n in range(15)])
    whole = render_markdown(many).encode()
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    summarize(many, {"GITHUB_STEP_SUMMARY": str(path)})
    written = path.read_bytes()
    assert len(whole) > limit >= len(written) > limit - 1000
    kept, told = written.removeprefix(b"before\n").split(b"\n\nThe report is cut here: ")
    assert whole.startswith(kept + b"\n")
    assert b"1 MiB" in told
    summarize(many, {"GITHUB_STEP_SUMMARY": str(path)})
    assert len(path.read_bytes()) <= limit
