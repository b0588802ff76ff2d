"""Runs of answerers whose exposure is known, judged by the copies that they have read."""

from pathlib import Path

import pytest

from tabcontam.asking.run_progress import Progress
from tabcontam.asking.trial_file import Journal
from tabcontam.calibration.dose import TABLE, Observation
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.evidence.base import Verdict
from tabcontam.runs.dose_observations import observations, run_folders
from tabcontam.runs.run import execute, prepare

ROWS = "full_completion or feature_completion"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one who knows half of the rows, of one who knows all, and of one who guesses."""
    out = tmp_path_factory.mktemp("asked") / "run"
    llms = ("simulated:memoriser:0.5", "simulated:memoriser:1", "simulated:guesser")
    execute(prepare(RunConfig(llm=llms, dataset=("iris",), tests=ROWS, out=out, cache=False)), Progress())
    return out


def of(asked: Path, llm: str, test: str) -> list[Observation]:
    return [one for one in observations(asked) if llm in one.llm and one.test == test]


@pytest.mark.slow
def test_each_line_says_how_often_its_row_was_read(asked: Path) -> None:
    said = {line["exposure"] for line in Journal(asked).lines() if line["llm"] == "simulated:memoriser:0.5"}
    assert said == {0.0, 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("test", ["feature_completion", TABLE])
def test_rows_that_were_read_are_found_and_those_of_the_same_table_that_were_not_are_not(
    asked: Path, test: str
) -> None:
    unread, read = of(asked, "memoriser:0.5", test)
    assert (unread.copies, unread.verdict) == (0.0, Verdict.NOT_DETECTED)
    assert (read.copies, read.verdict) == (1.0, Verdict.CONTAMINATED)
    assert unread.p_value is not None
    assert read.p_value is not None
    assert read.p_value < 1e-4 < unread.p_value
    assert unread.rows is not None
    assert read.rows is not None
    assert unread.rows + read.rows <= 150


def test_a_table_whose_rows_were_all_read_equally_often_is_judged_as_it_was(asked: Path) -> None:
    (all_read,) = of(asked, "memoriser:1", TABLE)
    (none_read,) = of(asked, "guesser", TABLE)
    assert (all_read.copies, all_read.rows, all_read.verdict) == (1.0, None, Verdict.CONTAMINATED)
    assert (none_read.copies, none_read.rows, none_read.verdict) == (0.0, None, Verdict.NOT_DETECTED)


def test_the_controls_that_joined_are_left_out(asked: Path) -> None:
    assert not [one for one in observations(asked) if "control:" in one.llm]


def test_the_runs_of_a_folder_are_found(asked: Path, tmp_path: Path) -> None:
    assert run_folders(asked) == run_folders(asked.parent) == [asked]
    with pytest.raises(UsageError, match="holds neither models that expose made nor runs"):
        run_folders(tmp_path)
    with pytest.raises(UsageError, match="cannot read"):
        run_folders(tmp_path / "nothing")
