"""`report --format`: one document on standard output or in a file, and nothing else anywhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from tabcontam.cli.commands import main
from tabcontam.report.formats import format_names, render_form
from tabcontam.verdicts.document import parse_results
from tests.report.synthetic import HOSTILE, cell, document, results

RUN = ("run", "--no-controls", "--dataset", "iris", "--queries", "3", "-k", "completion", "--quiet")
TEXTS = [name for name in ("csv", "latex", "markdown") if name in format_names()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run's folder with results alone."""
    path = tmp_path / "run"
    path.mkdir()
    (path / "results.json").write_text(json.dumps(results(["control:exposed", "gpt-4o"], ["iris"])))
    return path


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("form", TEXTS)
def test_a_text_goes_to_standard_output_and_nowhere_else(
    form: str, folder: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    before = files(folder.parent)
    assert main(["report", str(folder), "--format", form]) == 0
    written = render_form(parse_results(results(["control:exposed", "gpt-4o"], ["iris"])), form)
    assert capfdbinary.readouterr() == (written, b"")
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


@pytest.mark.parametrize("option", [("--methods",), ("--width", "one")])
def test_a_table_of_numbers_has_no_methods_and_no_width(
    option: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(folder), "--format", "csv", *option]) == 4
    assert capsys.readouterr().err.startswith(f"tabcontam: {option[0]} goes with ")
    assert main(["report", str(folder), *option]) == 4
    error = capsys.readouterr().err
    assert error.startswith(f"tabcontam: {option[0]} applies to a single document; add --format, such as --format ")


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


def recorded_twice() -> dict[str, Any]:
    """Recorded answers of one LLM about one table and test in two files."""
    cells = [
        cell("gpt4", "iris", "full_completion", verdict, source=source, serializer=None, edition=None)
        for verdict, source in (("not detected", "a.txt"), ("contaminated", "b.txt"))
    ]
    of = document(cells)
    del of["run"]["llms"]
    return of


def test_recorded_answers_are_all_in_csv() -> None:
    assert len(render_form(parse_results(recorded_twice()), "csv").splitlines()) == 3


@pytest.mark.parametrize("form", TEXTS)
def test_hostile_texts_are_written_as_utf_8_without_control_characters(form: str) -> None:
    written = render_form(parse_results(document([cell(HOSTILE, HOSTILE, HOSTILE, "contaminated")])), form).decode()
    assert not [sign for sign in written if ord(sign) < 0x20 and sign not in "\r\n"]
    assert "\x9b" not in written
    assert "\u202e" not in written


def test_a_gate_is_annotated_for_github(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = tmp_path / "one"
    assert main([*RUN, "--llm", "simulated:oracle", "--out", str(one)]) == 0
    capsys.readouterr()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code = main(["gate", str(one)])
    out, error = capsys.readouterr()
    level = {1: "error", 6: "warning"}[code]
    assert error.startswith(f"::{level} title=simulated%3Aoracle on iris")
    assert len(out.splitlines()) == 1
    assert main(["gate", *RUN[1:-1], "--llm", "simulated:oracle", "--out", str(one)]) == code
    assert f"::{level} title=" in capsys.readouterr().err


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
