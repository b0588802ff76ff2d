"""Folders that were edited: what results.json says has to follow from the trials beside it."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import Exit
from tests.commands import tabcontam

Document = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    words = ["--dataset", "iris", "-k", "completion", "--queries", "20", "--no-controls"]
    for name, llm in (("one", "simulated:oracle"), ("other", "simulated:guesser")):
        done = tabcontam("run", "--llm", llm, *words, "--out", str(folder / name))
        assert done.returncode == Exit.DONE, done.stderr
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made / "one", tmp_path / "run")
    return tmp_path / "run"


def refused(run: Path, by: Sequence[str] = ("gate",)) -> str:
    """The one line that commands refuse a folder with."""
    ways = {"gate": ["gate", str(run)], "page": ["report", str(run), "--out", str(run.parent / "out")],
            "table": ["report", str(run), "--format", "csv"]}  # fmt: skip
    lines = []
    for words in map(ways.__getitem__, by):
        done = tabcontam(*words)
        assert done.returncode == Exit.USAGE, words
        lines.append(done.stderr.splitlines()[-1])
    assert not (run.parent / "out").exists() or not list((run.parent / "out").iterdir())
    return lines[0]


def edited(run: Path, edit: Callable[[Document], None]) -> None:
    document = json.loads((run / "results.json").read_text("utf-8"))
    edit(document)
    (run / "results.json").write_text(json.dumps(document), "utf-8")


def cell_of(document: Document) -> Document:
    cell: Document = next(one for one in document["results"] if one["verdict"] == "contaminated")
    return cell


def verdict(document: Document) -> None:
    cell_of(document).update(verdict="not detected", p_value=0.9, q_value=0.9)


def word(document: Document) -> None:
    cell_of(document).update(verdict="not detected")


def hits(document: Document) -> None:
    cell_of(document).update(hits=1)


def answered(document: Document) -> None:
    cell_of(document).update(answered=1)


def bits(document: Document) -> None:
    cell_of(document).update(recalled_bits=1.0)


def q_value(document: Document) -> None:
    cell_of(document).update(q_value=0.04)


def tables(document: Document) -> None:
    for table in document["tables"]:
        table.update(verdict="not detected", p_value=0.9, q_value=0.9)


def no_tables(document: Document) -> None:
    document["tables"] = []


def control(document: Document) -> None:
    for cell in document["results"]:
        if cell["llm"] == "simulated:oracle":
            cell["control"] = True


EDITS = (verdict, word, hits, answered, bits, q_value, tables, no_tables, control)


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: str(edit.__name__))
def test_results_that_do_not_follow_from_their_trials_are_refused(edit: Callable[[Document], None], run: Path) -> None:
    edited(run, edit)
    line = refused(run, ("gate", "page", "table") if edit is verdict else ("gate",))
    assert "rescore" in line or "contradict themselves" in line


def lines_of(run: Path) -> list[Document]:
    return [json.loads(line) for line in (run / "trials.jsonl").read_text("utf-8").splitlines()]


def written(run: Path, lines: list[Document]) -> None:
    (run / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


@pytest.mark.slow
def test_trials_that_were_deleted_or_changed_are_noticed(run: Path) -> None:
    lines = lines_of(run)
    place = next(number for number, line in enumerate(lines) if line["test"] == "feature_completion" and line["hit"])
    written(run, [*lines[:place], *lines[place + 1 :]])
    assert "results.json does not follow from trials.jsonl" in refused(run)
    written(run, [*lines[:place], lines[place] | {"hit": False}, *lines[place + 1 :]])
    assert f"line {place + 1} does not state the reading of its reply; type python -m tabcontam rescore" in refused(run)
    written(run, [*lines[:place], lines[place] | {"reply": "something else"}, *lines[place + 1 :]])
    assert "rescore" in refused(run)
    written(run, [*lines, lines[place]])  # a query that was asked again: the last trial counts
    assert tabcontam("gate", str(run)).returncode == Exit.CONTAMINATED


@pytest.mark.slow
def test_rescore_mends_what_was_edited(run: Path) -> None:
    edited(run, verdict)
    assert refused(run)
    assert tabcontam("rescore", str(run)).returncode == Exit.DONE
    assert tabcontam("gate", str(run)).returncode == Exit.CONTAMINATED


@pytest.mark.slow
def test_trials_of_another_run_are_refused(made: Path, run: Path) -> None:
    shutil.copy(made / "other" / "trials.jsonl", run)
    assert "trials.jsonl" in refused(run)


@pytest.mark.slow
def test_a_joined_report_passes(made: Path, tmp_path: Path) -> None:
    both = str(made / "one"), str(made / "other")
    assert tabcontam("report", *both, "--out", str(tmp_path / "joined")).returncode == Exit.DONE
    assert tabcontam("gate", str(tmp_path / "joined")).returncode == Exit.CONTAMINATED
