"""The formats of this extension that `report --format` writes."""

import io
import json
import sys
from pathlib import Path

import pytest

from tabcontam.cli.commands import main
from tabcontam.errors import Exit
from tabcontam.report import formats
from tabcontam.report.formats import format_names, render_form
from tabcontam.verdicts.document import parse_results
from tests.extensions.publish.rendered_publications import render_markdown
from tests.report import test_formats
from tests.report.synthetic import results
from tests.report.test_formats import RUN, files, recorded_twice

folder = test_formats.folder  # a fixture


@pytest.mark.slow
def test_every_form_that_the_command_line_names_is_another() -> None:
    pytest.importorskip("matplotlib")
    begin = {form: render_form(parse_results(results(["m"], ["iris"])), form)[:5] for form in format_names()}
    assert begin == {"markdown": b"# Con", "latex": b"% Mad", "csv": b"llm,d", "svg": b"<?xml", "pdf": b"%PDF-"} | {
        "bibtex": b"@misc", "conda": b"Evalu", "model-card": b"<!-- ", "dataset-card": b"<!-- ",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--format", "csv", "--methods"), "--methods goes with --format latex or markdown"),
        (("--format", "csv", "--width", "one"), "--width goes with --format latex, pdf or svg, without --methods"),
        (("--format", "latex", "--methods", "--width", "one"), "--width goes with --format latex, pdf or svg, "),
        (("--methods",), "--methods applies to a single document; add --format, such as --format latex"),
        (("--width", "one"), "--width applies to a single document; add --format, such as --format latex"),
    ],
)
def test_a_form_that_has_no_methods_or_width_says_so(
    arguments: tuple[str, ...], line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(folder), *arguments]) == 4
    out, error = capsys.readouterr()
    assert (out, len(error.splitlines())) == ("", 1)
    assert error.startswith(f"tabcontam: {line}")
    assert files(folder.parent) == {"run", "run/results.json"}


class Terminal(io.TextIOWrapper):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_a_pdf_is_nothing_for_a_terminal(
    terminal: bool, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("tabcontam.report.formats.render_form", lambda view, form, shape: b"%PDF \xff")
    monkeypatch.setattr(sys, "stdout", (Terminal if terminal else io.TextIOWrapper)(written))
    assert main(["report", str(folder), "--format", "pdf"]) == (4 if terminal else 0)
    assert written.getvalue() == (b"" if terminal else b"%PDF \xff")
    assert capsys.readouterr().err == ("tabcontam: a terminal cannot show a PDF; add --out FILE\n" * terminal)


@pytest.mark.slow
def test_several_runs_are_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    assert main([*RUN, "--llm", "simulated:oracle", "--out", one]) == 0
    assert main([*RUN, "--llm", "simulated:guesser", "--out", other]) == 0
    assert main(["report", one, other, "--out", str(tmp_path / "both")]) == 0
    merged = json.loads((tmp_path / "both" / "results.json").read_text())
    capsys.readouterr()
    assert main(["report", one, other, "--format", "markdown"]) == 0
    assert capsys.readouterr().out == render_markdown(merged)


def test_recorded_answers_are_one_cell_a_square() -> None:
    of = recorded_twice()
    assert render_form(parse_results(of), "markdown").count(b"8 Full completion") == 1
    assert b"**C**" in render_form(parse_results(of), "markdown")
    assert render_form(parse_results(of), "latex").count(b"8 Full completion") == 1


def test_a_form_imports_its_own_library_alone() -> None:
    assert not {"matplotlib", "tabcontam.extensions.publish.figures"} & vars(formats).keys()


def test_a_run_and_a_report_are_summarized_for_github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, one = tmp_path / "summary.md", str(tmp_path / "one")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    assert main([*RUN, "--llm", "simulated:oracle", "--out", one]) == 0
    run = render_markdown(json.loads((tmp_path / "one" / "results.json").read_text()))
    assert path.read_text("utf-8") == run
    assert main(["report", one, "--out", str(tmp_path / "two"), "--quiet"]) == 0
    report = render_markdown(json.loads((tmp_path / "two" / "results.json").read_text()))
    assert path.read_text("utf-8") == run + report
    assert main(["gate", one]) in (Exit.CONTAMINATED, Exit.CANNOT_TELL)
    assert path.read_text("utf-8") == run + report + run
    assert main(["report", one, "--format", "csv"]) == 0
    assert path.read_text("utf-8") == run + report + run


def test_recalled_rows_are_left_out_of_no_redacted_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = folder.parent / "rows.csv"
    assert main(["report", str(folder), "--exclude-recalled", str(rows), "--redact"]) == Exit.USAGE
    assert "leave --redact out" in capsys.readouterr().err
    assert not rows.exists()


def test_a_summary_that_cannot_be_written_fails_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert main([*RUN, "--llm", "simulated:oracle", "--out", str(tmp_path / "one")]) == 0
    assert "cannot write the summary for GitHub" in capsys.readouterr().err
