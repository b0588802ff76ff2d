"""What `power` says of models whose exposure is known, beside its simulated answerers."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tabcontam.asking.run_progress import Progress
from tabcontam.calibration.dose import TABLE
from tabcontam.calibration.power_study import Study, measure
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Verdict
from tabcontam.report.power_text import print_power
from tabcontam.runs.dose_observations import TableObservations, observe_models, with_models
from tests.commands import tabcontam

HALF, NONE = "simulated:memoriser:0.5", "simulated:guesser"
TEST = "full_completion"


def study(**changes: Any) -> Study:
    return Study(**{"datasets": ("iris", "wine"), "expression": TEST, "runs": 1, **changes})


@pytest.fixture(scope="module")
def found() -> TableObservations:
    return observe_models(study(), (HALF, NONE), "", Progress())


@pytest.fixture(scope="module")
def document(found: TableObservations) -> dict[str, Any]:
    return with_models(measure(study(), lambda done, runs: None), (HALF, NONE), found)


@pytest.mark.slow
def test_each_dataset_has_what_was_found_by_the_copies_that_were_read_of_it(document: dict[str, Any]) -> None:
    assert document["llms"] == [HALF, NONE]
    for dataset in document["datasets"]:
        said = [(one["llm"], one["copies"], one["verdict"]) for one in dataset["models"] if one["test"] == TABLE]
        assert said == [
            (HALF, 0.0, Verdict.NOT_DETECTED),
            (HALF, 1.0, Verdict.CONTAMINATED),
            (NONE, 0.0, Verdict.NOT_DETECTED),
        ]
        assert {one["dataset"] for one in dataset["models"]} == {dataset["dataset"]}


@pytest.mark.slow
def test_it_is_printed_by_copies_with_a_sentence_at_the_end(document: dict[str, Any]) -> None:
    out = io.StringIO()
    print_power(Console(file=out, width=80, force_terminal=False), document)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines.count("detected in models, by the copies of a row that they have read") == 2
    place = lines.index("detected in models, by the copies of a row that they have read")
    assert lines[place + 1].split() == ["test", "0", "1"]
    assert lines[place + 2].split()[:4] == [TEST, "0", "of", "2"]
    assert lines[place + 2].split()[4:] == ["yes", "<1e-09"]
    assert f"{HALF} has read each row 0 or 1 time" in lines
    assert f"{NONE} has read each row 0 times" in lines
    said = " ".join(" ".join(lines).split())
    assert (
        "the row tests together detect rows that were read 1 time and do not detect rows that were read 0 times."
        in said
    )


@pytest.mark.slow
def test_without_models_nothing_is_said_of_them() -> None:
    out = io.StringIO()
    print_power(Console(file=out, width=80), measure(study(datasets=("iris",)), lambda done, runs: None))
    assert "models" not in out.getvalue()


def test_an_llm_of_which_nobody_knows_what_it_has_read_is_refused() -> None:
    with pytest.raises(UsageError, match="--llm: how often hf:owner/name has read the rows of iris is not known"):
        observe_models(study(), (HALF, "hf:owner/name"), "", Progress())


@pytest.mark.slow
def test_nothing_is_concluded_of_a_family_that_simulated_answerers_are_not_asked_by() -> None:
    every = measure(study(datasets=("iris",), expression=f"{TEST} or digits or row_order"), lambda done, runs: None)
    datasets: Any = every["datasets"]
    assert [one["family"] for one in datasets[0]["conclusions"]] == ["rows"]


@pytest.mark.slow
def test_the_llms_of_a_projects_file_are_not_asked_for_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tabcontam]\nllm = "simulated:mode"\ndataset = "iris"\n')
    done = tabcontam("power", "-k", TEST, "--runs", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "defaults from pyproject.toml: --dataset iris\n" in done.stderr
    assert "detected in models" not in done.stdout
