"""Every extension can be deleted: what is left of the project installs, runs its demo and passes its own tests."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.commands import FILES, environment
from tests.installed import EXTENSIONS, ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git lists the files of the project"),
]
NOWHERE = "http://127.0.0.1:9"  # a proxy that answers nothing: what is run here needs no network
OFFLINE = {"OMP_NUM_THREADS": "1", "http_proxy": NOWHERE, "https_proxy": NOWHERE, "no_proxy": "127.0.0.1,localhost"}


def copied(folder: Path, without: Iterable[str]) -> dict[str, set[str]]:
    """Copy the project without these extensions. Return the names of their entry points by group."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    before = points(folder)
    for extension in without:
        for room in ("tabcontam", "tests"):
            shutil.rmtree(folder / room / "extensions" / extension, ignore_errors=True)
        for file in (folder / "pyproject.toml", folder / "tabcontam" / "__init__.py"):
            lines = file.read_text("utf-8").splitlines(keepends=True)
            kept = [line for line in lines if not re.search(rf"\bextensions\.{extension}\b", line)]
            file.write_text("".join(kept), "utf-8")
    return {group: before[group].keys() - points(folder).get(group, {}).keys() for group in before}


def points(folder: Path) -> Mapping[str, Mapping[str, str]]:
    """The entry points of a project by group and name."""
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    entry_points: Mapping[str, Mapping[str, str]] = project["entry-points"]
    return entry_points


def as_installed(folder: Path) -> None:
    """Write what an installer would write about the project next to its package."""
    about = folder / "tabcontam-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tabcontam\nVersion: 0.1.0\n", "utf-8")
    with (about / "entry_points.txt").open("w", encoding="utf-8") as file:
        for group, named in points(folder).items():
            file.write("\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in named.items()), "\n"]))


def output(command: Sequence[str | Path], cwd: Path, **variables: str) -> str:
    """What a command prints. Fails if it does not end well."""
    given = environment(**OFFLINE, XDG_CACHE_HOME=str(cwd.parent / "cache"))
    given = {name: value for name, value in given.items() if not name.startswith(("PYTEST_", "PYTHONPATH"))} | variables
    done = subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def check_demo(python: str | Path, folder: Path, **variables: str) -> None:
    """Run the demo of the README, which finds the table in the control that has read it and in no other."""
    output([python, "-m", "tabcontam", "run", "--out", "demo"], folder, **variables)
    assert {file.name for file in (folder / "demo").iterdir()} == FILES
    tables = json.loads((folder / "demo" / "results.json").read_text("utf-8"))["tables"]
    found = {(one["llm"], one["dataset"]) for one in tables if one["verdict"] == "contaminated"}
    assert found == {("control:exposed", "iris"), ("control:exposed", "wine")}


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for copies of the project, whose sample of a report is checked elsewhere."""
    return tmp_path_factory.mktemp("deletable")


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_without_an_extension_the_rest_runs(extension: str, place: Path) -> None:
    copy, elsewhere = place / "copy", place / "elsewhere"
    elsewhere.mkdir()
    gone = copied(copy, [extension])
    as_installed(copy)
    assert any(gone.values())
    where = {"PYTHONPATH": str(copy)}
    said = output([sys.executable, "-m", "tabcontam", "--help"], elsewhere, **where)
    assert not [name for name in gone["tabcontam.commands"] if re.search(rf"^ +{name} ", said, re.MULTILINE)]
    tests = json.loads(output([sys.executable, "-m", "tabcontam", "list", "tests", "--json"], elsewhere, **where))
    ids = {test["name"] for test in tests}
    assert "full_completion" in ids
    assert ids.isdisjoint(gone["tabcontam.tests"])
    assert points(copy)["tabcontam.tests"].keys() <= ids
    check_demo(sys.executable, elsewhere, **where)


def test_without_all_of_them_the_core_installs_and_passes_its_own_tests(place: Path) -> None:
    copy, elsewhere = place / "copy", place / "elsewhere"
    elsewhere.mkdir()
    copied(copy, EXTENSIONS)
    output([sys.executable, "-m", "venv", "venv"], place)
    paths = {"base": str(place / "venv"), "platbase": str(place / "venv")}
    site, programs = (Path(sysconfig.get_path(name, "venv", paths)) for name in ("purelib", "scripts"))
    (site / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")
    pip = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    output([programs / "python", *pip, copy], place)
    where = output([programs / "python", "-c", "import tabcontam; print(tabcontam.__file__)"], elsewhere)
    assert Path(where.strip()).is_relative_to(site)
    check_demo(programs / "python", elsewhere)
    held = {name: value for name, value in os.environ.items() if name in ("TABCONTAM_DATA", "TABCONTAM_REPLAY")}
    quick = ["-m", "not slow", "--ignore", "tests/extensions", "--basetemp", str(place / "pytest")]
    output([programs / "python", "-m", "pytest", "-q", *quick, "tests"], copy, **held)
