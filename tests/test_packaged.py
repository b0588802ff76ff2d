"""What a package index and a reader of CITATION.cff get: facts that agree, and a page that renders there."""

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from tabcontam.version import __version__

ROOT = Path(__file__).parents[1]


def test_the_citation_says_what_the_package_says() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (cited["cff-version"], cited["version"], cited["title"]) == ("1.2.0", __version__, project["name"])
    assert cited["license"] in project["license"]
    assert cited["authors"] == project["authors"]
    assert project["version"] == __version__


@pytest.mark.slow
def test_what_is_built_is_fit_for_a_package_index(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)], cwd=ROOT, check=True)
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    checked = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", str(wheel), str(sdist)]
    subprocess.run(checked, check=True)
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
        rooms = {one.split("/")[0] for one in archive.namelist()}
        shipped = [one for one in archive.namelist() if one.startswith("tabcontam/baseline/shipped/")]
    assert {one for one in rooms if not one.endswith(".dist-info")} == {"tabcontam"}
    assert len(shipped) == 2  # what is found out about iris and about wine
    page = str(metadata.get_payload())
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "Project-URL" not in metadata
    assert "![" not in page
    assert re.findall(r"\]\((?!https:)[^)]*\)", page) == []  # an index has no files beside the page
    assert "docs/method.md" in page
    supported = {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)}
    assert supported <= set(metadata.get_all("Classifier", []))
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CITATION.cff", "README.md", "LICENSE", "CHANGELOG.md", "datasets/iris.toml", "docs/README.md"} <= held
    assert "benchmarks/skill.py" in held  # tests import it
    assert "benchmarks/mutants/keys.toml" in held  # a test reads it
    assert {name.split("/")[0] for name in held} <= {
        "tabcontam", "datasets", "feeds", "serializers", "prompts", "reports", "reference", "tests",
        "benchmarks", "docs", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "pyproject.toml",
        "PKG-INFO", ".gitignore",
    }  # fmt: skip
