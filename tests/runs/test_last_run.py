"""The last run: which one is meant where a person names none, and that a script has to name it."""

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tabcontam.runs.last_run import age
from tests.commands import environment, tabcontam
from tests.verdicts.test_gate import FOUND, FULL, MISSED, cells, run_of


def written(folder: Path, seconds: float, found: dict[str, Any], **run: Any) -> None:
    """A run's folder whose results were written so many seconds ago."""
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps(run_of(cells("m", {FULL: found}), **run)), "utf-8")
    moment = time.time() - seconds
    os.utime(folder / "results.json", (moment, moment))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs under reports/, in front of a terminal."""
    written(tmp_path / "reports" / "b-older", 7300, FOUND)
    written(tmp_path / "reports" / "a-newer", 190, MISSED)
    monkeypatch.setattr("tabcontam.cli.newest_run.on_terminal", lambda: True)
    return tmp_path


def test_the_gate_takes_the_newest_run_and_says_which_and_how_old(here: Path) -> None:
    done = tabcontam("gate", cwd=here)
    assert done.returncode == 0
    assert done.stdout.startswith("clean: m on adult: ")
    assert done.stderr.startswith("gate of reports/a-newer, 3 minutes old\n")
    (here / "reports" / "a-newer" / "results.json").unlink()  # a folder without results is no run
    done = tabcontam("gate", "--fail-on", "undecided", cwd=here)
    assert (done.returncode, done.stderr.partition("\n")[0]) == (1, "gate of reports/b-older, 2 hours old")


def test_so_does_the_report(here: Path) -> None:
    done = tabcontam("report", "--format", "csv", cwd=here)
    assert (done.returncode, done.stderr) == (0, "report of reports/a-newer, 3 minutes old\n")
    assert done.stdout.startswith("\ufeffllm,") or done.stdout.startswith("llm,")


def test_a_run_that_is_not_over_counts_and_is_called_so(here: Path) -> None:
    written(here / "reports" / "now", 2, MISSED, finished=False)
    assert tabcontam("gate", cwd=here).stderr.startswith("gate of reports/now, 2 seconds old, not finished\n")


def test_recorded_answers_are_passed_over_and_what_is_damaged_is_not(here: Path) -> None:
    document = run_of(cells("m", {FULL: FOUND}), recorded=True)
    (here / "reports" / "replayed").mkdir()
    (here / "reports" / "replayed" / "results.json").write_text(json.dumps(document), "utf-8")
    assert "a-newer" in tabcontam("gate", cwd=here).stderr
    (here / "reports" / "a-newer" / "results.json").write_text("{", "utf-8")
    done = tabcontam("gate", cwd=here)
    assert (done.returncode, done.stdout) == (4, "")
    assert "a-newer/results.json is not readable JSON" in done.stderr


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("gate", "the gate needs the folder of a run, or --llm and --dataset to make one; see gate --help"),
        ("report", "report needs the folder of a run (its --out), or several; see report --help"),
    ],
)
def test_a_script_has_to_name_the_run(here: Path, monkeypatch: pytest.MonkeyPatch, command: str, line: str) -> None:
    monkeypatch.setattr("tabcontam.cli.newest_run.on_terminal", lambda: False)
    done = tabcontam(command, cwd=here)
    assert (done.returncode, done.stdout, done.stderr) == (4, "", f"tabcontam: {line}\n")


def test_where_there_is_no_run_a_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabcontam.cli.newest_run.on_terminal", lambda: True)
    done = tabcontam("gate", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (4, "tabcontam: no run lies in reports/; give its folder\n")


def test_options_of_asking_still_make_no_run_of_a_past_one(here: Path) -> None:
    done = tabcontam("gate", "--alpha", "0.1", cwd=here)
    assert (done.returncode, done.stdout) == (4, "")
    assert "--alpha: a past run is not asked again" in done.stderr


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 seconds"),
        (1, "1 second"),
        (59.9, "59 seconds"),
        (60, "1 minute"),
        (86399, "23 hours"),
        (9e5, "10 days"),
    ],
)
def test_an_age_is_said_in_its_largest_unit(seconds: float, words: str) -> None:
    assert age(seconds) == words


@pytest.mark.slow
def test_in_front_of_a_real_terminal(tmp_path: Path) -> None:
    written(tmp_path / "reports" / "one", 61, FOUND)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "tabcontam", "gate"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, check=False
    )
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, done.stderr.decode().partition("\n")[0]) == (1, "gate of reports/one, 1 minute old")
    assert shown.startswith("contaminated: m on adult")
