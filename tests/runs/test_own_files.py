"""A run's folder holds files of its own alone: pipes, devices and links that lead out are refused."""

import os
import shutil
from pathlib import Path

import pytest

from tabcontam.cli.arguments import extension_commands
from tabcontam.errors import Exit
from tests.commands import process, tabcontam

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "run"
    done = tabcontam("run", *WORDS, "--out", str(folder))
    assert done.returncode == Exit.DONE, done.stderr
    return folder


WORDS = ("--llm", "simulated:oracle", "--dataset", "iris", "--no-controls", "-k", "feature_names")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["results.json", "trials.jsonl", "judgements.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "device", "outside", "above"])
def test_what_is_no_file_of_the_folder_is_refused(name: str, kind: str, made: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made, run)
    (run / name).unlink(missing_ok=True)
    secret = tmp_path / "secret"
    secret.write_text("a secret", "utf-8")
    if kind == "pipe":
        os.mkfifo(run / name)
    else:
        target = {"device": "/dev/zero", "outside": str(secret), "above": "../secret"}[kind]
        (run / name).symlink_to(target)
    commands = (["gate", str(run)], ["report", str(run), "--out", str(tmp_path / "out")], ["rescore", str(run)],
                ["run", *WORDS, "--out", str(run)])  # fmt: skip
    of_extensions = ([name, str(run)] for name in ("chronology",) if name in extension_commands())
    for words in (*commands, *of_extensions):
        done = tabcontam(*words)
        assert done.returncode == Exit.USAGE, (words, done.stderr)
        assert "a copy of the folder that holds only files" in done.stderr, words
        assert "secret\n" not in done.stderr
    assert secret.read_text("utf-8") == "a secret"
    (run / name).unlink()  # which the tests' own look at results.json would read


@pytest.mark.slow
def test_a_link_within_the_folder_is_a_file_of_it(made: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(made, run)
    (run / "results.json").rename(run / "other")
    (run / "results.json").symlink_to("other")
    assert process("report", str(run), "--format", "csv").returncode == Exit.DONE
