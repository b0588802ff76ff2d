"""The modes of what a run writes: what the user's umask says, and of keys and caches the owner's alone."""

import os
import stat
from pathlib import Path

import pytest

from tests.commands import tabcontam


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_the_files_of_a_run_have_the_modes_of_the_users_umask(umask: int, mode: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        run, joined, table = tmp_path / "run", tmp_path / "joined", tmp_path / "table.csv"
        asked = ("--llm", "simulated:oracle", "--dataset", "iris", "--no-controls", "-k", "recognition_features")
        done = tabcontam("run", *asked, "--out", str(run))
        assert done.returncode == 0, done.stderr
        assert tabcontam("report", str(run), "--out", str(joined)).returncode == 0
        assert tabcontam("report", str(run), "--format", "csv", "--out", str(table)).returncode == 0
    finally:
        os.umask(before)
    written = [*run.iterdir(), *joined.iterdir(), table]
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {mode}
    assert not any(".tmp" in path.name or path.name.startswith(".") for path in written)
