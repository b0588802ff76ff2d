"""The test of docs/add-a-test.md where a user has it: two wheels, installed side by side, and no clone."""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

from tabcontam.errors import Exit
from tests.docs.blocks import blocks
from tests.docs.made import DOCS, ROOT

pytestmark = pytest.mark.slow
RUN = ["run", "--llm", "simulated:memoriser:0.5", "--llm", "simulated:guesser", "-k", "bare_completion"]


def succeed(command: Sequence[str], folder: Path, *codes: Exit) -> str:
    """What a command prints, in an environment that knows nothing of this clone. Fails where it does."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (codes or (Exit.DONE,)), done.stdout + done.stderr
    assert "is left out" not in done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter of its own that has both packages, and takes their libraries from this one."""
    folder = tmp_path_factory.mktemp("installed")
    written = {block.file: block.text for block in blocks(DOCS / "add-a-test.md")}
    package = folder / "tabcontam-bare"
    package.mkdir()
    (package / "pyproject.toml").write_text(written["tabcontam-bare/pyproject.toml"], "utf-8")
    (package / "tabcontam_bare.py").write_text(written["tabcontam/evidence/rows/bare_completion.py"], "utf-8")
    offline = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    pip = [sys.executable, "-m", "pip"]
    wheels = ["--no-build-isolation", "--wheel-dir", str(folder / "wheels"), str(ROOT), str(package)]
    succeed([*pip, "wheel", *offline, *wheels], folder)
    succeed([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], folder)
    own = folder / "venv" / "bin" / "python"
    (libraries,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    (libraries / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    succeed([*pip, "--python", str(own), "install", *offline, *map(str, (folder / "wheels").glob("*.whl"))], folder)
    return str(own)


def test_the_test_of_the_docs_works_from_a_package(python: str, tmp_path: Path) -> None:
    def tabcontam(*arguments: str, codes: Sequence[Exit] = ()) -> str:
        return succeed([python, "-m", "tabcontam", *arguments], tmp_path, *codes)

    assert str(Path(python).parents[1]) in succeed([python, "-c", "import tabcontam; print(tabcontam)"], tmp_path)
    *ours, theirs = tabcontam("list", "tests").splitlines()
    assert theirs.startswith("bare_completion")
    assert "Given the first half of a row" in theirs
    assert not any(line.startswith("bare_completion") for line in ours)

    tabcontam(*RUN, "--no-controls", "--dataset", "iris", "--out", "run")
    run = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))
    assert {cell["test"] for cell in run["results"]} == {"bare_completion"}
    verdicts = {cell["llm"]: cell["verdict"] for cell in run["results"]}
    assert verdicts == {"simulated:memoriser:0.5": "contaminated", "simulated:guesser": "not detected"}

    (dataset,) = json.loads(tabcontam("power", "-k", "bare", "--dataset", "iris", "--runs", "2", "--json"))["datasets"]
    (measured,) = dataset["tests"]
    assert (measured["test"], measured["power"]["1"]["rate"]) == ("bare_completion", 1.0)

    said = tabcontam("gate", "run", codes=[Exit.CONTAMINATED])
    assert "simulated:memoriser:0.5" in said


def test_a_package_that_is_broken_is_one_line(python: str, tmp_path: Path) -> None:
    (tmp_path / "broken-1.0.dist-info").mkdir()
    (tmp_path / "broken-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    points = "[tabcontam.tests]\nbroken = no_such_module:Broken\n"
    (tmp_path / "broken-1.0.dist-info" / "entry_points.txt").write_text(points)
    command = [python, "-m", "tabcontam", "list", "tests"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    (line,) = done.stderr.splitlines()
    assert line.startswith("tabcontam: test 'broken' of the package broken cannot be loaded: ModuleNotFoundError")
    assert done.stdout.splitlines()[-1].startswith("bare_completion")
