"""The pages of real runs, and what a run's folder gets of them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tabcontam.cli.commands import main as tabcontam
from tabcontam.report.html import MOST_LLMS
from tabcontam.runs.folder import record
from tabcontam.verdicts.document import parse_results
from tests.report.synthetic import results

LARGEST = 300_000  # bytes of the page of 2 LLMs x 2 datasets x 12 tests, with ten queries of each cell


def run(folder: Path, *datasets: str) -> tuple[int, int]:
    """A real run of two simulated LLMs: the bytes of its page, and its cells."""
    llms = ("--llm", "simulated:memoriser:0.5", "--llm", "simulated:guesser")
    names = [word for name in datasets for word in ("--dataset", name)]
    assert tabcontam(["run", *llms, *names, "--no-controls", "-q", "--queries", "12", "--out", str(folder)]) == 0
    cells = json.loads((folder / "results.json").read_text("utf-8"))["results"]
    return (folder / "index.html").stat().st_size, len(cells)


@pytest.mark.slow
def test_the_page_of_a_real_run_is_small(tmp_path: Path) -> None:
    size, cells = run(tmp_path / "run", "iris", "wine")
    assert cells == 2 * 2 * 14
    assert size < LARGEST


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
@pytest.mark.skipif(
    not Path(os.environ.get("TABCONTAM_DATA") or "/nonexistent").is_dir(),
    reason="TABCONTAM_DATA names no folder of dataset files",
)
def test_the_page_of_a_real_run_on_a_table_of_names_and_tickets_is_small(tmp_path: Path) -> None:
    size, _ = run(tmp_path / "run", "titanic")
    assert size < LARGEST


def written(folder: Path, of: dict[str, Any]) -> list[str]:
    folder.mkdir(exist_ok=True)
    record(folder, parse_results(of))
    return sorted(path.name for path in folder.glob("*.html"))


@pytest.mark.slow
def test_a_folder_has_the_pages_of_its_run_and_no_others(tmp_path: Path) -> None:
    many = [f"m{number}" for number in range(MOST_LLMS + 1)]
    assert len(written(tmp_path, results(many, ["iris"]))) == 1 + len(many)
    assert written(tmp_path, results(["m"], ["iris"])) == ["index.html"]


def test_a_page_that_is_not_ours_stays(tmp_path: Path) -> None:
    (tmp_path / "llm-notes.html").write_text("mine", "utf-8")
    assert written(tmp_path, results(["m"], ["iris"])) == ["index.html", "llm-notes.html"]
