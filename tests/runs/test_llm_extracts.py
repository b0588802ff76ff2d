"""The trials of a large run are taken by other processes as they are here, and none is lost where one of them dies."""

import io
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from tabcontam import processes
from tabcontam.groups import grouped
from tabcontam.report.html import Pages
from tabcontam.report.trial_digest import RunDigestFacts, results_by_llm
from tabcontam.runs import llm_extracts
from tabcontam.runs.folder import merge
from tabcontam.runs.llm_extracts import (
    ExtractionJob,
    StoredJob,
    make_extract,
    make_stored_extract,
    read_extract,
    stored_job,
)
from tabcontam.runs.stored_trials import StoredTrials, shown_lines
from tests.runs.test_large_reports import everything, run_in

T = TypeVar("T")
LLMS = [f"m{number}" for number in range(1, 6)]


def sent(value: T) -> T:
    """The value as another process reads it."""
    stream = io.BytesIO()
    processes.write_value(stream, value, type(value))
    stream.seek(0)
    found: T = processes.read_value(stream, type(value))
    return found


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    """A few trials count as many; the processes that help."""
    begin, begun = processes.start_process, list[subprocess.Popen[bytes]]()

    def noted(code: str) -> "subprocess.Popen[bytes]":
        begun.append(begin(code))
        return begun[-1]

    monkeypatch.setattr(processes, "start_process", noted)
    monkeypatch.setattr(llm_extracts, "SMALL", 1)
    monkeypatch.setattr(llm_extracts, "processors", lambda: 3)
    return begun


def test_what_a_process_keeps_is_what_is_kept_here(tmp_path: Path) -> None:
    found = run_in(tmp_path / "run", LLMS)
    cells = [replace(cell, reference="m2") if cell.llm == "m1" else cell for cell in found.results]
    told = replace(found, results=tuple(cells))
    trials = shown_lines(tmp_path / "run", cells)
    assert trials.shown is not None
    assert any(map(trials.shown.of_references.trials_of, trials.shown.reference_of.values()))
    for llm, own in grouped(cells, lambda cell: cell.llm).items():
        compared = frozenset(cell.key for cell in own[::2])
        job = ExtractionJob(own, results_by_llm(told)[llm], compared, RunDigestFacts.of(told), by_id=True)
        there = read_extract(sent(make_stored_extract(sent(stored_job(job, trials)))))
        here = make_extract(job, trials.trials_of)
        assert there == here
        assert here.digest.packed.shown
        assert len(here.answers) == len(own[::2])


@pytest.mark.slow
def test_a_report_is_the_same_with_processes(
    tmp_path: Path, helped: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in(tmp_path / "run", LLMS)
    with monkeypatch.context() as patch:
        patch.setattr(llm_extracts, "make_extract", None)
        merge([tmp_path / "run"], tmp_path / "with")
    assert helped
    assert all(process.poll() is not None for process in helped)
    monkeypatch.setattr(llm_extracts, "processors", lambda: 1)
    merge([tmp_path / "run"], tmp_path / "without")
    assert everything(tmp_path / "with") == everything(tmp_path / "without")


@pytest.mark.slow
@pytest.mark.parametrize("does", ["raise SystemExit(3)", "print('{', end='')", "print('hello')"])
def test_what_a_process_did_not_take_is_taken_here(
    tmp_path: Path, helped: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    """It dies, dies within a line, or prints what is no answer."""
    run_in(tmp_path / "run", LLMS)
    monkeypatch.setattr(llm_extracts, "START", does)
    merge([tmp_path / "run"], tmp_path / "with")
    assert helped
    monkeypatch.setattr(llm_extracts, "processors", lambda: 1)
    merge([tmp_path / "run"], tmp_path / "without")
    assert everything(tmp_path / "with") == everything(tmp_path / "without")


@pytest.mark.slow
def test_a_file_that_another_one_replaced_is_read_here(
    tmp_path: Path, helped: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in(tmp_path / "run", LLMS)
    merge([tmp_path / "run"], tmp_path / "whole")

    def replaced(job: ExtractionJob, trials: StoredTrials) -> StoredJob:
        other = tmp_path / "other"
        other.write_bytes(trials.path.read_bytes().replace(b'"reply": "', b'"reply": "not that but '))
        os.replace(other, trials.path)
        return stored_job(job, trials)

    monkeypatch.setattr(llm_extracts, "stored_job", replaced)
    merge([tmp_path / "run"], tmp_path / "out")
    own, whole = everything(tmp_path / "out"), everything(tmp_path / "whole")
    assert {name for name in whole if own[name] != whole[name]} == {"trials.jsonl"}


def test_where_no_process_can_be_started_all_is_taken_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(code: str) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    run_in(tmp_path / "run", LLMS)
    merge([tmp_path / "run"], tmp_path / "without")
    monkeypatch.setattr(processes, "start_process", none)
    monkeypatch.setattr(llm_extracts, "SMALL", 1)
    monkeypatch.setattr(llm_extracts, "processors", lambda: 3)
    merge([tmp_path / "run"], tmp_path / "with")
    assert everything(tmp_path / "with") == everything(tmp_path / "without")


def test_none_outlives_a_report_that_is_interrupted(
    tmp_path: Path, helped: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in(tmp_path / "run", LLMS)

    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(llm_extracts, "START", "import time; time.sleep(600)")
    monkeypatch.setattr(Pages, "__init__", stop)
    with pytest.raises(KeyboardInterrupt):
        merge([tmp_path / "run"], tmp_path / "out")
    assert helped
    assert all(process.poll() is not None for process in helped)
    assert not (tmp_path / "out" / "results.json").exists()
