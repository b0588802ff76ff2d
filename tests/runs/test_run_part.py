"""The parts that extensions add to a run: a run needs none of them, and the setting of a missing one is refused."""

from pathlib import Path
from typing import Any

import pytest

from tabcontam import run
from tabcontam.errors import UsageError
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


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["judge", "overlap"])
def test_the_setting_of_a_missing_part_is_refused(name: str, tmp_path: Path) -> None:
    setting: dict[str, Any] = {name: "x"}
    with pytest.raises(UsageError, match=f"^{name}: its extension is not installed; leave {name}='x' out"):
        run("simulated:oracle", "iris", tests="feature_list_informed", out=tmp_path / "run", **setting)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("alone")
def test_a_past_run_is_not_judged_again_by_a_missing_part(tmp_path: Path) -> None:
    run("simulated:oracle", "iris", tests="feature_list_informed", controls=False, out=tmp_path / "run")
    with pytest.raises(UsageError, match="--overlap: its extension is not installed"):
        rescore(tmp_path / "run", None, "rouge")
