"""The parts that extensions add to a run: a run needs none of them."""

from pathlib import Path

import pytest

from tabcontam import run
from tabcontam.runs import folder, folder_part, run_part
from tabcontam.runs.rescoring import rescore


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No extension adds a part."""
    for module in (run_part, folder_part):
        monkeypatch.setattr(module, "offered", lambda group, what, kind: {})


@pytest.mark.usefixtures("alone")
def test_a_run_needs_no_part(tmp_path: Path) -> None:
    made = run("simulated:oracle", "iris", tests="feature_list_informed", controls=False, out=tmp_path / "run")
    assert len(rescore(tmp_path / "run", None).results) == len(made.results) == 1
    merged = folder.merge([tmp_path / "run"], tmp_path / "merged")
    assert (merged.judges, merged.agreements, merged.run.judge, merged.run.overlap) == ((), (), None, None)
