"""What results.json says of the catalogue: of a run, of recorded answers, of several runs as one."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.replay.replay_outcome import ReplayOutcome
from tabcontam.runs.folder import merge, replay_results
from tabcontam.runs.run import execute, prepare
from tabcontam.runs.run_description import describe
from tabcontam.verdicts.document import as_document, parse_results
from tabcontam.verdicts.run_facts import CatalogueFacts, catalogued
from tests.report.synthetic import cell, document

LLAMA: dict[str, Any] = {"name": "llama-3", "title": "Llama 3", "family": "llama", "order": 2}
PHI: dict[str, Any] = {"name": "phi-2", "title": "Phi-2", "family": "phi", "order": 2}


def run(folder: Path, **catalogue: dict[str, str | int]) -> Path:
    """The folder of a run that says this of the catalogue."""
    order = RunConfig(llm=("simulated:oracle",), dataset=("iris",), tests="full_completion", controls=False, out=folder)
    document = as_document(execute(prepare(order), Progress()).results)
    document["run"]["catalogue"] = catalogue
    (folder / "results.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def test_a_run_says_which_entries_its_llms_stand_for() -> None:
    server = "openai:llama3@http://127.0.0.1:9/v1"
    planned = prepare(RunConfig(llm=("simulated:oracle", server), dataset=("iris",), tests="full_completion"))
    assert describe(planned, datetime.now(UTC), {}).catalogue == {server: CatalogueFacts(**LLAMA)}


def test_recorded_answers_say_so_too() -> None:
    cells = [
        cell(llm, "iris", "full_completion", "not detected", serializer=None)
        for llm in ("llama3", "gpt3", "gemini1.0", "somebody")
    ]
    found = replay_results(ReplayOutcome(parse_results(document(cells)).results), False, "paper", "en_US", "replay")
    assert found.run.catalogue == {
        "llama3": CatalogueFacts(name="llama-3", title="Llama 3", family="llama", order=2),
        "gpt3": CatalogueFacts(name="gpt-3.5-turbo", title="GPT-3.5 Turbo", family="gpt", order=1),
        "gemini1.0": CatalogueFacts(name="gemini-1.0", title="Gemini 1.0 Pro", family="gemini", order=1),
    }


@pytest.mark.slow
def test_several_runs_say_what_each_does(tmp_path: Path) -> None:
    first, second = run(tmp_path / "first", mine=LLAMA), run(tmp_path / "second", other=PHI)
    assert merge([first, second], tmp_path / "both").run.catalogue == {
        "mine": CatalogueFacts(**LLAMA),
        "other": CatalogueFacts(**PHI),
    }


@pytest.mark.slow
def test_runs_made_before_the_catalogue_stood_there_are_still_joined(tmp_path: Path) -> None:
    older = run(tmp_path / "older")
    document = json.loads((older / "results.json").read_text("utf-8"))
    del document["run"]["catalogue"]
    (older / "index.html").unlink()  # beside it a file is checked to be one of today's
    (older / "results.json").write_text(json.dumps(document), encoding="utf-8")
    assert merge([older, run(tmp_path / "newer", mine=PHI)], tmp_path / "both").run.catalogue == {
        "mine": CatalogueFacts(**PHI)
    }


def test_what_a_run_records_of_the_catalogue() -> None:
    specs = {"ollama:llama3": "ollama:llama3", "gpt3": "gpt-3.5-turbo", "control:exposed": "control:exposed"}
    assert catalogued(specs) == {
        "ollama:llama3": CatalogueFacts(name="llama-3", title="Llama 3", family="llama", order=2),
        "gpt3": CatalogueFacts(name="gpt-3.5-turbo", title="GPT-3.5 Turbo", family="gpt", order=1),
    }
