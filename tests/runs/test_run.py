"""What a run tells of itself from the first moment to the last, and the time that it took."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

import pytest

from tabcontam.asking.run_progress import Progress, Tell
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.runs.run import execute, prepare, survey

ASKED = RunConfig(llm=("control:exposed",), dataset=("iris",), tests="full_completion", cache=False)


class Notes(Progress):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.parts: list[tuple[str, int, int]] = []

    @contextmanager
    def doing(self, what: str, *, evenly: bool = False) -> Iterator[Tell]:
        """Note what is begun and what has ended."""
        self.lines.append(what)
        yield lambda done, of: self.parts.append((what, done, of))
        self.lines.append(f"end of {what}")

    def asks_about(self, llm: str, dataset: str) -> None:
        """Note what is asked about."""
        self.lines.append(f"{llm} at {dataset}")


def begun(notes: Notes) -> list[str]:
    """What was begun, in order."""
    return [line for line in notes.lines if not line.startswith("end of ")]


@pytest.mark.slow
def test_a_run_tells_all_that_it_does(tmp_path: Path) -> None:
    notes = Notes()
    order = RunConfig(llm=ASKED.llm, dataset=("iris", "wine"), tests=ASKED.tests, controls=False, out=tmp_path / "run")
    execute(prepare(order, notes), notes)
    assert begun(notes) == [
        "looking up the LLMs", "reading iris", "reading wine", "preparing the baseline", "connecting",
        "looking for stored answers", "building control:exposed for iris", "control:exposed at iris",
        "building control:exposed for wine", "control:exposed at wine", "writing the report",
    ]  # fmt: skip
    assert [part for part in notes.parts if part[0] == "preparing the baseline"] == [
        ("preparing the baseline", 0, 2), ("preparing the baseline", 1, 2),
    ]  # fmt: skip


@pytest.mark.slow
def test_the_time_left_is_reckoned_from_answers_and_not_from_the_building_of_a_control(tmp_path: Path) -> None:
    notes = Notes()
    execute(prepare(ASKED.replace(out=tmp_path / "run"), notes), notes)
    lines = notes.lines
    assert lines.index("end of building control:exposed for iris") < lines.index("control:exposed at iris")


def test_a_plan_alone_tells_what_it_does_too() -> None:
    notes = Notes()
    survey(prepare(ASKED, notes), notes)
    assert begun(notes)[-2:] == ["connecting", "looking for stored answers"]


def test_a_table_that_cannot_be_read_is_told_before() -> None:
    notes = Notes()
    with pytest.raises(UsageError, match="irsi"):
        prepare(RunConfig(dataset=("iris", "irsi")), notes)
    assert begun(notes)[-1] == "reading irsi"


@pytest.mark.slow
def test_the_time_of_a_run_runs_from_the_users_command(tmp_path: Path) -> None:
    order = ASKED.replace(out=tmp_path / "run", began=monotonic() - 1000)
    before = datetime.now(UTC)
    outcome = execute(prepare(order), Progress())
    assert 1000 < (outcome.results.run.seconds or 0) <= outcome.seconds < 1600
    started = datetime.fromisoformat(outcome.results.run.started or "")
    assert abs(started - (before - timedelta(seconds=1000))) < timedelta(seconds=60)
