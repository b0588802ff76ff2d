"""What docs/extend.md adds without a clone, added to the installed package: a card, a serializer, a provider."""

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tabcontam.tables.serializers import load_passages
from tests.commands import environment
from tests.docs.blocks import Block, blocks
from tests.docs.made import DOCS, ROOT

EXTEND = {block.file: block for block in blocks(DOCS / "extend.md") if block.file}

pytestmark = pytest.mark.slow


class Installation:
    """A virtual environment with wheels that were built here; it sees the libraries of this one."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=os.name != "nt")
        paths = {"base": str(folder), "platbase": str(folder)}
        self.site = Path(sysconfig.get_path("purelib", "venv", paths))
        self.python = Path(sysconfig.get_path("scripts", "venv", paths)) / "python"
        (self.site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def install(self, project: Path, into: Path) -> None:
        """Build a project's wheel, and lay it where an installer would."""
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
        subprocess.run(command, cwd=project, check=True, capture_output=True)
        (wheel,) = into.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.site)

    def tabcontam(self, *arguments: str, cwd: Path, **variables: str) -> str:
        """What a command prints, which ends well and says nothing of what went wrong."""
        given = environment(PYTHONDONTWRITEBYTECODE="1", **variables)
        given.pop("PYTHONPATH", None)
        done = subprocess.run(
            [str(self.python), "-m", "tabcontam", *arguments], cwd=cwd, env=given, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def files(self) -> dict[str, str]:
        """The package's own files by their contents."""
        package = self.site / "tabcontam"
        files = [path for path in package.rglob("*") if path.is_file()]
        return {str(path.relative_to(package)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The package and the provider of the docs."""
    folder = tmp_path_factory.mktemp("installed")
    made = Installation(folder / "venv")
    made.install(ROOT, folder / "wheel")
    project = folder / "provider"
    project.mkdir()
    for block in (EXTEND["pyproject.toml"], EXTEND["tabcontam_echo.py"]):
        write(block, project)
    made.install(project, folder / "second")
    return made


def write(block: Block, folder: Path) -> None:
    (folder / block.file).write_text(block.text, "utf-8")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder with the docs' card, its file, their serializer and their prompt set."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("tides.toml", "arrow.toml", "plain.toml"):
        write(EXTEND[name], folder)
    (made,) = [
        block for block in blocks(DOCS / "extend.md") if "tides.csv" in block.text and block.language == "python"
    ]
    subprocess.run([sys.executable, "-c", made.text], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("by_name", [True, False])
def test_all_of_them_work_together_and_change_no_file_of_the_package(
    installed: Installation, mine: Path, tmp_path: Path, by_name: bool
) -> None:
    before = installed.files()
    names = ("tides", "arrow", "plain")
    named = names if by_name else [str(mine / f"{name}.toml") for name in names]
    asked = ["--llm", "echo:me", "--no-controls", "--dataset", named[0], "--serializer", named[1]]
    asked += ["--prompts", named[2]]
    where = {"TABCONTAM_PATH": str(mine), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    installed.tabcontam("run", *asked, "-k", "feature_completion", "--out", "run", cwd=tmp_path, **where)
    document = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))
    (cell,) = document["results"]
    place = [cell[name] for name in ("llm", "dataset", "serializer", "prompts")]
    assert place == ["echo:me", "tides", "arrow", "plain"]
    assert document["run"]["datasets"][0]["title"] == "Tides of Port Zand"
    prompts = (tmp_path / "run" / "trials.jsonl").read_text("utf-8")
    assert "moon -> " in prompts
    assert "of the last row." in prompts
    assert installed.files() == before


def test_list_shows_them(installed: Installation, mine: Path, tmp_path: Path) -> None:
    listed = {
        what: installed.tabcontam("list", what, cwd=tmp_path, TABCONTAM_PATH=str(mine))
        for what in ("datasets", "llms", "serializers", "prompts")
    }
    assert f"Tides of Port Zand (2026); from {mine / 'tides.toml'}" in listed["datasets"]
    assert f"age -> 39; workclass -> Private; from {mine / 'arrow.toml'}" in listed["serializers"]
    assert f"in as few words as possible; from {mine / 'plain.toml'}" in listed["prompts"]
    assert "echo:MODEL" in listed["llms"]
    assert "from the package tabcontam-echo" in listed["llms"]


def test_all_shipped_files_are_in_the_wheel(installed: Installation, tmp_path: Path) -> None:
    for what in ("datasets", "feeds", "serializers", "prompts"):
        shipped = {path.name for path in (ROOT / what).glob("*.toml")}
        assert shipped
        assert {f"_shipped/{what}/{name}" for name in shipped} <= installed.files().keys()
    for what, others in (("datasets", set()), ("serializers", load_passages().keys()), ("prompts", set())):
        names = {item["name"] for item in json.loads(installed.tabcontam("list", what, "--json", cwd=tmp_path))}
        assert names | others == {path.stem for path in (ROOT / what).glob("*.toml")}
