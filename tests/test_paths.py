"""Files are written whole or not at all, and a secret is its owner's alone."""

import os
import stat
from pathlib import Path

import pytest

from tabcontam.paths import replace_file, write_secret


def test_a_file_that_cannot_be_replaced_stays_and_nothing_half_written_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.json"
    replace_file(path, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, step, full)
            with pytest.raises(OSError, match="No space"):
                replace_file(path, "new")
        assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["results.json"])


def test_a_secret_is_readable_by_its_owner_alone_and_is_never_replaced(tmp_path: Path) -> None:
    path, before = tmp_path / "key", os.umask(0)
    try:
        write_secret(path, "canary")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        write_secret(path, "another")
    assert path.read_text() == "canary"
