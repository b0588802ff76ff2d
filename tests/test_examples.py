"""The worked example, run as its README says: one experiment is stopped, one let through, one cannot be told."""

import os
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.commands import tabcontam
from tests.installed import LACKING

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "tests" / "examples"
FEW = ("-k", "incomplete_completion or feature_completion", "--queries", "30")
STOPPED, LET_THROUGH, UNDECIDED = "control:exposed", "simulated:guesser", "simulated:decliner"

pytestmark = [
    pytest.mark.skipif(
        not Path(os.environ.get("TABCONTAM_DATA") or "/nonexistent").is_dir(),
        reason="TABCONTAM_DATA names no folder of dataset files",
    ),
    pytest.mark.skipif("evaluate" in LACKING, reason="the example classifies with the command evaluate"),
]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin and nothing else, whether or not this package is installed with its entry point."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "tabcontam.pytest_plugin")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.delenv("EXPERIMENT_LLMS", raising=False)


@pytest.fixture
def example(pytester: pytest.Pytester, imported: None) -> pytest.Pytester:
    """The example's folder, as someone has it who copied it."""
    shutil.copytree(EXAMPLE, pytester.path, ignore=shutil.ignore_patterns(".*", "__pycache__"), dirs_exist_ok=True)
    return pytester


def experiments(example: pytest.Pytester, *arguments: str) -> tuple[str, dict[str, ElementTree.Element]]:
    """What a session printed, and its tests by name."""
    printed = example.runpytest_inprocess("-rA", "--junit-xml=junit.xml", *arguments).stdout.str()
    cases = ElementTree.parse(example.path / "junit.xml").iter("testcase")
    return printed, {case.attrib["name"]: case for case in cases}


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_one_experiment_is_stopped_and_one_let_through(example: pytest.Pytester) -> None:
    llms = [part for llm in (STOPPED, LET_THROUGH, UNDECIDED) for part in ("--llm", llm)]
    datasets = ["--dataset", "adult", "--dataset", "heart"]
    files = os.environ["TABCONTAM_DATA"]
    asked = ["run", *llms, *datasets, "--no-controls", *FEW, "--out", "run"]
    done = tabcontam(*asked, cwd=example.path, TABCONTAM_DATA=files)
    assert done.returncode == 0, done.stderr
    printed, tests = experiments(example, "--tabcontam-report=run")
    assert len(tests) == 12
    for dataset in ("adult", "heart"):
        for shots in (0, 4):
            stopped = tests[f"test_accuracy[{STOPPED}-{dataset}-{shots}]"].find("failure")
            undecided = tests[f"test_accuracy[{UNDECIDED}-{dataset}-{shots}]"].find("skipped")
            assert stopped is not None
            assert str(stopped.text).startswith(
                f"contaminated: {STOPPED} on {dataset}: detected by incomplete_completion"
            )
            assert undecided is not None
            assert undecided.attrib["message"].startswith(f"cannot tell: {UNDECIDED} on {dataset}: no answer to")
            assert not tests[f"test_accuracy[{LET_THROUGH}-{dataset}-{shots}]"].findall("*")
            assert f"clean: {LET_THROUGH} on {dataset}: not detected by" in printed
    assert "0.74 right [0.60, 0.85], without an LLM 0.74" in printed
    assert "4 failed, 4 passed, 4 skipped" in printed


@pytest.mark.slow
@pytest.mark.usefixtures("cheaply")
def test_the_run_is_made_where_there_is_none(example: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPERIMENT_LLMS", LET_THROUGH)
    printed, _ = experiments(example, "-k", "heart")
    assert f"tabcontam asks {LET_THROUGH} about heart" in printed
    assert "2 passed" in printed.splitlines()[-1]
