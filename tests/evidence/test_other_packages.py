"""A test of each kind of question from somebody else's package, through the whole way of a run."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import Exit
from tests.packages import witnesses

pytestmark = pytest.mark.slow
ASKED = ["--llm", "body:iris", "--llm", "body:nothing", "--dataset", "iris", "--no-controls"]
OURS = [*ASKED, "-k", "told or weighed or found"]
PLANNED = 2 * 3 * witnesses.ROWS
PRICES = '"body:iris" = { input = 20000, output = 20000 }\n"body:nothing" = { input = 0, output = 0 }\n'


class Installed:
    """The command line where the package is installed."""

    def __init__(self, folder: Path, tests: list[str]) -> None:
        self.folder = folder
        self.environment = witnesses.installed(folder / "package", tests)

    def tabcontam(self, *arguments: str, code: int = Exit.DONE, **environment: str) -> str:
        """What a command prints. Fails where it ends otherwise."""
        command = [sys.executable, "-m", "tabcontam", *arguments]
        own = {**self.environment, **environment}
        done = subprocess.run(command, cwd=self.folder, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def asked(self) -> Counter[str]:
        """How often each kind of question was answered so far."""
        file = Path(self.environment["WITNESSED"])
        return (
            Counter(json.loads(line) for line in file.read_text("utf-8").splitlines()) if file.exists() else Counter()
        )

    def results(self, run: str) -> dict[str, Any]:
        """The results of a run."""
        document: dict[str, Any] = json.loads((self.folder / run / "results.json").read_text("utf-8"))
        return document


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    """The package with a test of each kind of question."""
    here = Installed(tmp_path, witnesses.TESTS)
    (tmp_path / "prices.toml").write_text(PRICES)
    return here


def verdicts(document: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """The verdict of each LLM and test."""
    return {(cell["llm"], cell["test"]): cell["verdict"] for cell in document["results"]}


def test_each_kind_of_question_is_planned_asked_stored_continued_judged_shown_and_gated(installed: Installed) -> None:
    plan = json.loads(installed.tabcontam("run", *OURS, "--dry-run", "--json", "--prices", "prices.toml"))
    assert {cell["test"]: cell["queries"] for cell in plan["results"]} == dict.fromkeys(
        ("told", "weighed", "found"), 12
    )
    dollars = {llm["llm"]: llm["dollars"] for llm in plan["llms"]}
    assert dollars["body:iris"] > 1
    assert dollars["body:nothing"] == 0
    assert not installed.asked()

    # Killed in the middle: what was answered is in the folder, and only what was on its way is asked again.
    installed.tabcontam("run", *OURS, "--out", "run", code=9, WITNESSES_DIE="30")
    assert installed.asked().total() == 30
    installed.tabcontam("run", *OURS, "--out", "run")
    first = installed.asked()
    assert PLANNED <= first.total() <= PLANNED + 2
    assert set(first) == {"Prompt", "Passage", "Lookup"}

    document = installed.results("run")
    expected = {"body:iris": "contaminated", "body:nothing": "not detected"}
    assert verdicts(document) == {(llm, test): word for llm, word in expected.items() for test in plan_tests(plan)}
    families = {one["family"] for table in document["tables"] for one in table["families"]}
    assert families == {"order", "likelihood", "corpus"}
    assert {table["bound"] for table in document["tables"]} == {0.03}
    assert document["run"]["levels"] == dict.fromkeys(("order", "likelihood", "corpus"), 0.01)

    # Stored: another folder asks nobody. Limits and prices count all kinds of question.
    installed.tabcontam("run", *OURS, "--out", "again")
    assert installed.asked() == first
    assert verdicts(installed.results("again")) == verdicts(document)
    installed.tabcontam(
        "run",
        *OURS,
        "--out",
        "dear",
        "--no-cache",
        "--prices",
        "prices.toml",
        "--max-cost",
        "30",
        "--max-connections",
        "1",
    )
    cost = {llm["spec"]: llm["dollars"] for llm in installed.results("dear")["run"]["llms"]}
    assert 0 < cost["body:iris"] <= 30
    assert "--max-cost 30" in installed.results("dear")["run"]["limit"]

    # Shown, as text: what stands in a document is hostile.
    lines = [json.loads(line) for line in (installed.folder / "run" / "trials.jsonl").read_text("utf-8").splitlines()]
    found = next(line for line in lines if line["test"] == "found" and line["llm"] == "body:iris")
    assert (found["question"], found["documents"], found["found"][0][0]) == ("lookup", 2, "page one")
    assert found["found"][0][2].startswith("<b>The sepal length")
    weighed = next(line for line in lines if line["test"] == "weighed")
    assert (weighed["question"], len(weighed["scores"][0])) == ("passage", 4)
    page = (installed.folder / "run" / "index.html").read_text("utf-8")
    assert "12 of 12 rows known" in page
    assert "<b>The" not in page

    # Judged again, and gated.
    installed.tabcontam("rescore", "run")
    assert verdicts(installed.results("run")) == verdicts(document)
    assert "detected by found, told, weighed" in installed.tabcontam("gate", "run", code=Exit.CONTAMINATED)
    assert "clean" in installed.tabcontam("gate", "run", "--llm", "body:nothing")


def plan_tests(plan: Mapping[str, Any]) -> list[str]:
    """The tests of a plan."""
    return [cell["test"] for cell in plan["results"]]


def test_a_test_that_searches_documents_is_no_test_of_an_llm_that_has_none(installed: Installed) -> None:
    said = installed.tabcontam("run", "--llm", "simulated:oracle", *OURS[2:], "--out", "run")
    assert "1 test needs log-probabilities: weighed (not asked of simulated:oracle; name an hf: model" in said
    cells = {cell["test"]: cell for cell in installed.results("run")["results"] if cell["llm"] == "simulated:oracle"}
    assert (cells["weighed"]["verdict"], cells["weighed"]["lacks"]) == ("skipped", "log-probabilities")
    asked = {(cell["llm"], cell["test"]) for cell in installed.results("run")["results"]}
    assert ("body:nothing", "found") in asked
    assert ("simulated:oracle", "found") not in asked
    assert "documents that can be searched" not in said


def test_ten_silly_tests_of_a_family_change_nothing_in_another(tmp_path: Path) -> None:
    named = ["--llm=simulated:memoriser:0.1", "--llm=simulated:mode", "--dataset=iris"]
    alone, beside = Installed(tmp_path / "a", []), Installed(tmp_path / "b", witnesses.SILLY_TESTS)
    os.makedirs(alone.folder, exist_ok=True)
    for here in (alone, beside):
        here.tabcontam("run", *named, "--no-controls", "--out", "run", "-k", "completion or silly")
    before, after = alone.results("run"), beside.results("run")
    silly = [cell for cell in after["results"] if cell["test"].startswith("silly")]
    assert len(silly) == 2 * witnesses.SILLY
    assert {cell["verdict"] for cell in silly} == {"contaminated"}
    assert [cell for cell in after["results"] if cell not in silly] == before["results"]
    assert all(cell["q_value"] is not None for cell in before["results"] if cell["p_value"] is not None)
    rows = [[one for one in table["families"] if one["family"] == "rows"] for table in after["tables"]]
    assert rows == [table["families"] for table in before["tables"]]
