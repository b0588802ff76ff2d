"""A published report of a run with documents that an LLM was trained on."""

import json
from pathlib import Path

import pytest

from tests.commands import tabcontam
from tests.runs import test_training_declarations as declarations
from tests.runs.test_training_declarations import MODE, ROWS, tables

documents, folder = declarations.documents, declarations.folder  # fixtures


@pytest.mark.slow
def test_a_published_report_shows_neither_the_cells_nor_what_stands_beside_them(folder: Path) -> None:
    (folder / "home").mkdir()
    (folder / "home" / "secrets.txt").write_text((folder / "dump.txt").read_text("utf-8"), "utf-8")
    spec = f"pages:{folder}/home/secrets.txt"
    named = ("--llm", MODE, "--trained-on", f"{MODE}={spec}", "--dataset", "mine.csv", "--dataset", "iris")
    done = tabcontam("run", *named, *ROWS, "--out", "private", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert tabcontam("report", "private", "--redact", "--out", "published", cwd=folder).returncode == 0
    published = "".join(file.read_text("utf-8") for file in (folder / "published").iterdir())
    assert "documents that it was trained on" in published
    for hidden in ("patient1", "zick", str(folder), "home/", "for example"):
        assert hidden not in published
    lines = [json.loads(line) for line in (folder / "published" / "trials.jsonl").read_text("utf-8").splitlines()]
    assert all(not line.get("found") for line in lines)
    assert tables(folder / "published")[MODE, "mine.csv"]["corpora"] == ["pages:secrets.txt"]
