"""Files of schema 1, as version 0.1 wrote them, say the same to every command that reads one."""

import json
from pathlib import Path
from typing import Any

import pytest

import tabcontam
from tabcontam.cli.commands import main
from tabcontam.verdicts.document import as_document, read_results, typed
from tabcontam.verdicts.notes import NoteKind
from tests.report.synthetic import cell, document, weighed

RUN = ("run", "--llm", "simulated:memoriser:0.5", "--dataset", "iris", "-k", "full_completion or recognition_features")


def of_schema_1(written: dict[str, Any]) -> dict[str, Any]:
    """What version 0.1 would have written: no facts of tests, and notes in words alone."""
    run = {name: value for name, value in written["run"].items() if name not in ("tests", "recorded")}
    run["notes"] = [note["text"] for note in run["notes"]]
    run["llms"] = [{name: llm[name] for name in llm if name != "stands_for"} for llm in run["llms"]]
    cells = [{name: one[name] for name in one if name not in ("cut_short", "source")} for one in written["cells"]]
    known = {name: written[name] for name in ("tables", "ranking", "correlations", "comparisons")}
    return {"schema": 1, "run": run, "cells": cells, **known}


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The folder of a run that version 0.1 has made."""
    folder = tmp_path / "older"
    assert main([*RUN, "--out", str(folder), "--quiet"]) == 0
    path = folder / "results.json"
    path.write_text(json.dumps(of_schema_1(json.loads(path.read_text("utf-8")))), "utf-8")
    (folder / "index.html").unlink()
    return folder


@pytest.mark.slow
def test_it_is_lifted_to_what_is_written_today(tmp_path: Path) -> None:
    assert main([*RUN, "--out", str(tmp_path), "--quiet"]) == 0
    written = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert as_document(typed(of_schema_1(written))) == written


@pytest.mark.slow
def test_every_command_reads_it(older: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = tabcontam.load_results(older)
    assert found.verdict("simulated:memoriser:0.5", "iris") is tabcontam.Verdict.CONTAMINATED
    assert main(["gate", str(older)]) == 1
    assert main(["report", str(older), "--format", "markdown"]) == 0
    assert main(["report", str(older), "--out", str(older.with_name("merged")), "--quiet"]) == 0
    assert main(["rescore", str(older), "--rules", "paper", "--quiet"]) == 0
    assert "8 Full completion" in capsys.readouterr().out
    assert json.loads((older / "results.json").read_text("utf-8"))["schema"] == 2


def test_a_recorded_run_and_its_own_test_are_known(tmp_path: Path) -> None:
    of = document([cell("gpt4", "iris", "incomplete_completion_single", "contaminated", source="a.txt")])
    of["run"] = {name: of["run"][name] for name in ("version", "command", "rules", "dictionary", "finished")}
    (tmp_path / "results.json").write_text(json.dumps(of), "utf-8")
    view = read_results(tmp_path)
    assert view.run.recorded
    assert view.facts["incomplete_completion_single"].row_test
    assert [test.id for test in view.run.tests] == ["incomplete_completion_single"]


@pytest.mark.parametrize(
    ("changes", "cut_short"),
    [
        ({"verdict": "no answer", "reason": "the run ended after 3 of 45 queries"}, True),
        ({"verdict": "skipped", "reason": "not asked: the run ended before", "statistic": None}, True),
        ({"verdict": "skipped", "reason": "no twin", "statistic": None, "queries": 0}, False),
        ({"verdict": "no answer", "reason": "no readable answer to 45 of 45 queries"}, False),
        ({"verdict": "not detected"}, False),
    ],
)
def test_what_was_not_asked_to_the_end_is_taken_from_the_words(changes: dict[str, Any], cut_short: bool) -> None:
    (only,) = typed(document([weighed("m", "iris", "full_completion", "not detected") | changes])).cells
    assert only.cut_short is cut_short


def test_what_notes_are_about_is_taken_from_their_words() -> None:
    notes = ["the runs have different seeds, so that …", "the runs have different editions of adult (a, b), which …"]
    view = typed(document([], notes=notes))
    assert [note.kind for note in view.run.notes] == [NoteKind.SEEDS, NoteKind.EDITIONS]
    assert [str(note) for note in view.run.notes] == notes


def test_a_test_that_nobody_knows_any_more_shows_no_rows() -> None:
    view = typed(document([cell("m", "iris", "of_my_own", "contaminated", kind="knowledge")]))
    assert (view.test_titles["of_my_own"], view.facts["of_my_own"].row_test) == ("of_my_own", False)
