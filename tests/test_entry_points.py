"""The parts that extensions of this and other packages add."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tabcontam import entry_points
from tabcontam.cli.command import Command
from tests.added_points import added_points
from tests.commands import environment
from tests.installed import EXTENSIONS

ROOT = Path(__file__).parents[1]
GROUPS = re.findall(r"^\| `(tabcontam\.\w+)` \|", (ROOT / "docs" / "extensions.md").read_text("utf-8"), re.MULTILINE)


def test_the_installed_files_are_read_as_the_standard_library_reads_them() -> None:
    assert "tabcontam.commands" in GROUPS
    for group in GROUPS:
        found = {(point.name, point.value) for point in entry_points.listed(group)}
        assert found == {(point.name, point.value) for point in metadata.entry_points(group=group)}


def test_the_docs_name_each_group_and_each_extension() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {name for name in project["entry-points"] if name.startswith("tabcontam.")} <= set(GROUPS)
    folders = {path.name for path in (ROOT / "tabcontam" / "extensions").iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= set(EXTENSIONS)


def test_a_broken_command_of_another_package_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    added_points(
        monkeypatch,
        "tabcontam.commands",
        [
            ("lost", "no_such_package:COMMAND", "lost-package"),
            ("odd", "tests.test_entry_points:ROOT", "odd-package"),
            ("mine", "tests.test_entry_points:MINE", "my-package"),
        ],
    )
    entry_points.offered.cache_clear()
    try:
        found = entry_points.offered("tabcontam.commands", "command", Command)
    finally:
        entry_points.offered.cache_clear()
    assert found["mine"] is MINE
    assert not {"lost", "odd"} & set(found)
    lost, odd = capsys.readouterr().err.splitlines()
    assert "command 'lost' of the package lost-package cannot be loaded: ModuleNotFoundError" in lost
    assert "command 'odd' of the package odd-package is left out: tests.test_entry_points:ROOT is no Command" in odd


MINE = Command("do nothing", lambda parser: None, lambda options: None)


def test_the_package_of_the_docs_adds_a_format_and_a_command(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extensions.md").read_text("utf-8")
    (tmp_path / "tabcontam_hits.py").write_text(page.partition("```python\n")[2].partition("```")[0], "utf-8")
    project = tomllib.loads(page.partition("```toml\n")[2].partition("```")[0])["project"]
    about = tmp_path / "tabcontam_hits-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    sample = str(ROOT / "reports" / "sample")
    printed = [
        subprocess.run(
            [sys.executable, "-m", "tabcontam", *words],
            env=environment(PYTHONPATH=f"{tmp_path}:{ROOT}"),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for words in (("report", sample, "--format", "hits"), ("hits", sample))
    ]
    assert len(printed[0].splitlines()) == int(printed[1]) > 0


def test_help_imports_no_command_of_an_extension() -> None:
    program = (
        "import sys, tabcontam.cli.commands as cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: print(*(name for name in sys.modules if name.endswith('_command')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == ""
