"""Controls that the user names: LLMs whose exposure is known, beside those under test."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import tabcontam
from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.models.known.simulated import SimulatedModel
from tabcontam.runs.dose_observations import observations
from tabcontam.runs.run import Outcome, execute, prepare
from tabcontam.tables.table import Table

MODE, READ, UNREAD = "simulated:mode", "simulated:memoriser:1", "simulated:guesser"
TEST = "feature_completion"


def order(**changes: Any) -> RunConfig:
    asked: Mapping[str, Any] = {"llm": (MODE,), "dataset": ("iris",), "tests": TEST, "cache": False}
    return RunConfig(**{**asked, **changes})


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A run with a control that has read the table, and one that has not."""
    out = tmp_path_factory.mktemp("named") / "run"
    return execute(prepare(order(control=(READ, UNREAD), controls=False, out=out)), Progress())


def test_they_join_the_run_as_controls_and_check_no_test_as_the_built_in_ones_do(asked: Outcome) -> None:
    about = {llm.spec: (llm.control, llm.checks) for llm in asked.results.run.llms}
    assert about == {READ: (True, False), UNREAD: (True, False), MODE: (False, False)}
    assert {cell.llm: (cell.control, cell.exposure) for cell in asked.results.results} == {
        READ: (True, 1.0),
        UNREAD: (True, 0.0),
        MODE: (False, 0.0),
    }


def test_they_count_in_no_ranking_summary_failure_or_gate(asked: Outcome) -> None:
    view = asked.results
    assert [rank.llm for rank in view.ranks_in_order] == [MODE]
    assert {cell.llm for cell in view.subjects} == {MODE}
    assert not list(ElementTree.parse(asked.folder / "junit.xml").getroot().iter("failure"))
    judgement = tabcontam.load_results(asked.folder).gate()
    assert judgement.exit_code == 0
    assert {finding.llm for finding in judgement.findings} == {MODE}


def test_the_level_of_an_llm_is_its_own_with_them_and_without(asked: Outcome, tmp_path: Path) -> None:
    alone = execute(prepare(order(controls=False, out=tmp_path / "run")), Progress()).results
    own = [cell for cell in asked.results.results if cell.llm == MODE]
    assert [(cell.evidence.p_value, cell.decision.q_value) for cell in own] == [
        (one.evidence.p_value, one.decision.q_value) for one in alone.results
    ]


def test_the_report_says_what_they_have_read_and_what_was_found_in_them(asked: Outcome) -> None:
    assert [str(note) for note in asked.results.controls] == [
        f"{READ} is known to have read 1 copy, on average, of each row of iris",
        f"{READ}, which has read 1 copy, on average, of each row, was detected by the row tests in 1 of 1 measured "
        "results",
        f"{UNREAD} is known to have read none of the rows of iris",
        f"{UNREAD}, which has read none of the rows, was flagged by the row tests in 0 of 1 measured results",
    ]


def test_the_run_can_be_judged_again_and_is_no_ladder_of_its_controls(asked: Outcome) -> None:
    assert {one.llm for one in observations(asked.folder)} == {f"run {MODE}"}


def test_without_the_built_in_controls_those_that_are_named_stay() -> None:
    named = prepare(order(control=("control:exposed",), controls=False))
    assert [(subject.model.spec, subject.joined) for subject in named.subjects] == [
        ("control:exposed", True),
        (MODE, False),
    ]
    every = prepare(order(control=(f"read={READ}",)))
    assert [subject.model.spec for subject in every.subjects if subject.joined] == [
        "control:exposed",
        "control:unexposed",
        "read",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"control": ("hf:owner/name",)}, "how often hf:owner/name has read the rows of iris is not known; name a"),
        ({"control": (MODE,)}, f"--control: {MODE} is also an LLM under test"),
        ({"control": (f"other={MODE}",)}, "--control: other is also an LLM under test"),
        ({"control": ("control:exposed",), "llm": ()}, "control:exposed is also an LLM under test"),
        ({"control": (READ,), "reference": (READ,)}, f"{READ} is a control of this run; leave --control {READ} out"),
        ({"control": ("nobody",)}, "unknown model 'nobody'"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_control_is_refused_before_anything_is_asked(changes: Mapping[str, Any], line: str) -> None:
    with pytest.raises(UsageError) as refused:
        prepare(order(**changes))
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_one_table_of_which_nobody_knows_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(self: SimulatedModel, table: Table, row: int) -> float | None:
        return None if table.name == "wine" and row == len(table.rows) - 1 else 0.0

    monkeypatch.setattr(SimulatedModel, "exposure", known)
    prepare(order(control=(READ,)))
    with pytest.raises(UsageError, match=f"how often {READ} has read the rows of wine is not known"):
        prepare(order(control=(READ,), dataset=("iris", "wine")))


@pytest.fixture
def damaged(tmp_path: Path) -> str:
    """A model whose card cannot be read."""
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "exposure.json").write_text("{")
    return f"hf:{tmp_path / 'damaged'}"


def test_what_is_wrong_with_a_card_is_told_of_a_control(damaged: str) -> None:
    with pytest.raises(UsageError, match=r"exposure\.json cannot be read"):
        prepare(order(control=(damaged,)))


def test_what_is_wrong_with_the_card_of_an_llm_under_test_ends_nothing_for_the_others(
    damaged: str, tmp_path: Path
) -> None:
    view = execute(prepare(order(llm=(MODE, damaged), controls=False, out=tmp_path / "run")), Progress()).results
    assert {cell.llm: (cell.verdict, cell.exposure) for cell in view.results} == {
        MODE: ("not detected", 0.0),
        damaged: ("no answer", None),
    }
