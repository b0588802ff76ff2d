"""The trials of a large run are taken by other processes as they are here, and none is lost where one of them dies."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking.stored_trial_index import StoredTrialIndex
from tabcontam.groups import grouped
from tabcontam.report.html import Pages
from tabcontam.report.trial_digest import RunDigestFacts, results_by_llm
from tabcontam.runs import llm_extracts
from tabcontam.runs.folder import merge
from tabcontam.runs.shown_trials import TrialConversion, shown_lines
from tests.runs.test_large_reports import everything, run_in

LLMS = [f"m{number}" for number in range(1, 6)]


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    """A few trials count as many; the processes that help."""
    begin, begun = llm_extracts._process, list[subprocess.Popen[bytes]]()

    def noted() -> "subprocess.Popen[bytes]":
        begun.append(begin())
        return begun[-1]

    monkeypatch.setattr(llm_extracts, "_process", noted)
    monkeypatch.setattr(llm_extracts, "SMALL", 1)
    monkeypatch.setattr(llm_extracts, "processors", lambda: 3)
    return begun


def test_what_a_process_keeps_is_what_is_kept_here(tmp_path: Path) -> None:
    found = run_in(tmp_path / "run", LLMS)
    cells = [replace(cell, reference="m2") if cell.llm == "m1" else cell for cell in found.results]
    told = replace(found, results=tuple(cells))
    trials = shown_lines(tmp_path / "run", cells)
    assert isinstance(trials.shown, TrialConversion)
    assert any(trials.shown.of_reference(name) for name in trials.shown.references.values())
    terms = llm_extracts.ExtractionTerms(RunDigestFacts.of(told), by_id=True)
    begin = json.loads(json.dumps(llm_extracts._beginning(trials, trials.shown, terms)))
    for llm, own in grouped(cells, lambda cell: cell.llm).items():
        work = llm_extracts.ExtractionJob(own, results_by_llm(told)[llm], frozenset(cell.key for cell in own[::2]))
        job = json.loads(json.dumps(llm_extracts._job(trials, trials.shown, work)))
        with (tmp_path / "run" / "trials.jsonl").open("rb") as file:
            there = llm_extracts._done(job, file, llm_extracts._begun(begin), trials.shown.records)
        here = llm_extracts.take(terms, work, trials.trials_of)
        assert llm_extracts._taken(json.loads(json.dumps(llm_extracts._as_facts(there)))) == here
        assert here.digest.packed.shown
        assert len(here.answers) == len(own[::2])


@pytest.mark.slow
def test_a_report_is_the_same_with_processes(
    tmp_path: Path, helped: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in(tmp_path / "run", LLMS)
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
    beginning = llm_extracts._beginning

    def replaced(trials: StoredTrialIndex, *given: Any) -> dict[str, Any]:
        begin = beginning(trials, *given)
        other = tmp_path / "other"
        other.write_bytes(trials.path.read_bytes().replace(b'"reply": "', b'"reply": "not that but '))
        os.replace(other, trials.path)
        return begin

    monkeypatch.setattr(llm_extracts, "_beginning", replaced)
    merge([tmp_path / "run"], tmp_path / "out")
    own, whole = everything(tmp_path / "out"), everything(tmp_path / "whole")
    assert {name for name in whole if own[name] != whole[name]} == {"trials.jsonl"}


def test_none_outlives_a_report_that_is_interrupted(
    tmp_path: Path, helped: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_in(tmp_path / "run", LLMS)

    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(llm_extracts, "START", "import time; time.sleep(600)")
    monkeypatch.setattr(Pages, "of_llm", stop)
    with pytest.raises(KeyboardInterrupt):
        merge([tmp_path / "run"], tmp_path / "out")
    assert all(process.poll() is not None for process in helped)
    assert not (tmp_path / "out" / "results.json").exists()
