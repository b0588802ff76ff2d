"""`report --format`: one document on standard output or in a file, and nothing else anywhere."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tabcontam.cli.commands import main
from tabcontam.report import formats
from tabcontam.report.formats import format_names, render_form
from tabcontam.verdicts.document import parse_results
from tests.report.rendered import render_csv, render_latex, render_markdown
from tests.report.synthetic import HOSTILE, cell, document, results

RUN = ("run", "--no-controls", "--dataset", "iris", "--queries", "3", "-k", "completion", "--quiet")
TEXTS = ("markdown", "latex", "csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run's folder with results alone."""
    path = tmp_path / "run"
    path.mkdir()
    (path / "results.json").write_text(json.dumps(results(["control:exposed", "gpt-4o"], ["iris"])))
    return path


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.slow
def test_every_form_that_the_command_line_names_is_another() -> None:
    pytest.importorskip("matplotlib")
    begin = {form: render_form(parse_results(results(["m"], ["iris"])), form)[:5] for form in format_names()}
    assert begin == {"markdown": b"# Con", "latex": b"% Mad", "csv": b"llm,d", "svg": b"<?xml", "pdf": b"%PDF-"} | {
        "bibtex": b"@misc", "conda": b"Evalu", "model-card": b"<!-- ", "dataset-card": b"<!-- ",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("form", "render"), [("markdown", render_markdown), ("latex", render_latex), ("csv", render_csv)]
)
def test_a_text_goes_to_standard_output_and_nowhere_else(
    form: str, render: Any, folder: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    before = files(folder.parent)
    assert main(["report", str(folder), "--format", form]) == 0
    assert capfdbinary.readouterr() == (render(results(["control:exposed", "gpt-4o"], ["iris"])).encode(), b"")
    assert files(folder.parent) == before


@pytest.mark.parametrize("form", TEXTS)
def test_out_is_a_file_that_is_replaced(form: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder.parent / "report.txt"
    out.write_text("before")
    assert main(["report", str(folder), "--format", form, "--out", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert out.read_bytes() == render_form(parse_results(results(["control:exposed", "gpt-4o"], ["iris"])), form)
    assert files(folder.parent) == {"run", "run/results.json", "report.txt"}


def test_a_link_stays_a_link(folder: Path) -> None:
    link, target = folder.parent / "link.csv", folder.parent / "target.csv"
    target.touch()
    link.symlink_to(target)
    assert main(["report", str(folder), "--format", "csv", "--out", str(link)]) == 0
    assert link.is_symlink()
    assert target.read_text().startswith("llm,dataset")


@pytest.mark.parametrize(
    ("out", "line"),
    [
        (".", "tabcontam: --out: . is not a file; with --format, name the file to write, or leave --out out"),
        ("/dev/null", "tabcontam: --out: /dev/null is not a file;"),
        ("none/x.csv", "tabcontam: cannot write none/x.csv: No such file or directory"),
        ("run/results.json/x", "tabcontam: cannot write run/results.json/x: Not a directory"),
    ],
)
def test_an_out_that_is_no_file_is_refused(
    out: str, line: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert main(["report", str(folder), "--format", "csv", "--out", out]) == 4
    out_text, error = capsys.readouterr()
    assert (out_text, len(error.splitlines())) == ("", 1)
    assert error.startswith(line)
    assert files(folder.parent) == {"run", "run/results.json"}


def test_results_json_is_no_format(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "--format", "csv", "--json"]) == 4
    assert capsys.readouterr().err == "tabcontam: --json and --format do not go together; leave one out\n"


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
    before = files(tmp_path)
    capsys.readouterr()
    assert main(["report", one, other, "--format", "csv"]) == 0
    llms = [line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert llms == ["simulated:oracle"] * 3 + ["simulated:guesser"] * 3
    assert files(tmp_path) == before
    assert main(["report", one, other, "--out", str(tmp_path / "both")]) == 0
    merged = json.loads((tmp_path / "both" / "results.json").read_text())
    capsys.readouterr()
    assert main(["report", one, other, "--format", "markdown"]) == 0
    assert capsys.readouterr().out == render_markdown(merged)


def test_recorded_answers_are_one_cell_a_square_but_all_of_them_in_csv() -> None:
    cells = [
        cell("gpt4", "iris", "full_completion", verdict, source=source, serializer=None, edition=None)
        for verdict, source in (("not detected", "a.txt"), ("contaminated", "b.txt"))
    ]
    of = document(cells)
    del of["run"]["llms"]
    assert render_form(parse_results(of), "markdown").count(b"8 Full completion") == 1
    assert b"**C**" in render_form(parse_results(of), "markdown")
    assert render_form(parse_results(of), "latex").count(b"8 Full completion") == 1
    assert len(render_form(parse_results(of), "csv").splitlines()) == 3


@pytest.mark.parametrize("form", TEXTS)
def test_hostile_texts_are_written_as_utf_8_without_control_characters(form: str) -> None:
    written = render_form(parse_results(document([cell(HOSTILE, HOSTILE, HOSTILE, "contaminated")])), form).decode()
    assert not [sign for sign in written if ord(sign) < 0x20 and sign not in "\r\n"]
    assert "\x9b" not in written
    assert "\u202e" not in written


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
    assert main(["report", one, "--format", "csv"]) == 0
    assert path.read_text("utf-8") == run + report


def test_a_gate_is_summarized_and_annotated_for_github(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, one = tmp_path / "summary.md", tmp_path / "one"
    assert main([*RUN, "--llm", "simulated:oracle", "--out", str(one)]) == 0
    capsys.readouterr()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code = main(["gate", str(one)])
    out, error = capsys.readouterr()
    level = {1: "error", 6: "warning"}[code]
    assert error.startswith(f"::{level} title=simulated%3Aoracle on iris")
    assert len(out.splitlines()) == 1
    assert path.read_text("utf-8") == render_markdown(json.loads((one / "results.json").read_text()))
    assert main(["gate", *RUN[1:-1], "--llm", "simulated:oracle", "--out", str(one)]) == code
    assert f"::{level} title=" in capsys.readouterr().err


def test_a_summary_that_cannot_be_written_fails_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert main([*RUN, "--llm", "simulated:oracle", "--out", str(tmp_path / "one")]) == 0
    assert "cannot write the summary for GitHub" in capsys.readouterr().err


def test_in_actions_answers_are_printed_as_mere_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    one = str(folder.parent / "one")
    assert main([*RUN, "--llm", "simulated:oracle", "--out", one]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("::stop-commands::")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    assert main(["report", one, "--json", "--out", str(folder.parent / "two")]) == 0
    json.loads(capsys.readouterr().out)
