"""A published folder holds no cell of a private table, in whatever way it is written; the key proves what was there."""

import base64
import gzip
import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from tabcontam import load_results
from tabcontam.asking.trial_file import TRIALS
from tabcontam.extensions.publish.redacted_folder import proof, redact
from tabcontam.verdicts import document
from tabcontam.verdicts.document import read_results
from tests.commands import FILES, tabcontam
from tests.loopback import LoopbackServer
from tests.runs import test_references
from tests.runs.test_large_reports import run_in
from tests.runs.test_references import LLM, OTHER, Made, lines

FILE = "Patients of Velm.csv"
TESTS = "completion or feature_list or recognition or membership"
COLUMNS = ("patient ident", "weightol", "heightol", "birthplaze", "diagnozis & <b>", "outkome")


def made(path: Path) -> list[tuple[str, ...]]:
    """A private table of words that nobody else uses, of numbers, and of cells that each form of text escapes."""
    rng = Random(7)  # the same table each time
    sounds = [one + other for one in "bdgklmprstvz" for other in "aeiou"]

    def word() -> str:
        return "".join(rng.choice(sounds) for _ in range(4))

    places = [word() for _ in range(12)]
    rows: list[tuple[str, ...]] = [
        (
            f"P{rng.randrange(10**6, 10**7)}",
            f"{rng.uniform(40, 120):.3f}",
            f"{rng.uniform(140, 210):.3f}",
            rng.choice(places),
            f'{word()} "{word()}" & <{word()}>; 50% é',
            rng.choice(("zurvived", "perizhed")),
        )
        for _ in range(60)
    ]
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in (COLUMNS, *rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return rows


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, ...]]]:
    """A run on a private table and an open one, its replies full of cells, and its published report."""
    home = tmp_path_factory.mktemp("Velm")
    rows = made(home / FILE)
    asked = ("--llm", "simulated:memoriser:0.8", "--dataset", str(home / FILE), "--dataset", "iris", "--queries", "8")
    assert tabcontam("run", *asked, "-k", TESTS, "--out", "run", "-q", cwd=home).returncode == 0
    poison(home / "run", rows)
    done = tabcontam("report", "run", "--redact", "--out", "published", cwd=home)
    assert done.returncode == 0, done.stderr
    assert "keep it, and do not publish it" in done.stderr
    (home / "printed.txt").write_text(done.stdout, "utf-8")
    return home, rows


def poison(run: Path, rows: list[tuple[str, ...]]) -> None:
    """Faults whose texts quote the table, as a server's do that repeats what it was sent."""
    path = run / "results.json"
    document = json.loads(path.read_text("utf-8"))
    document["run"]["llms"][-1]["ended"] = f"400: cannot answer {rows[0]}"
    for cell in document["results"]:
        if cell["dataset"] == FILE and cell["verdict"] in ("skipped", "uninformative"):
            cell["reason"] = cell["sentence"] = f"because of {rows[1]}"
    path.write_text(json.dumps(document), "utf-8")
    trials = run / "trials.jsonl"
    lines = [json.loads(line) for line in trials.read_text("utf-8").splitlines()]
    for line in lines:
        line["detail"] = f"line 1: {rows[2]} at /home/velm"
    trials.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def written(text: str) -> Iterator[str]:
    """The ways in which a text may stand in a file."""
    yield text
    yield html.escape(text)
    yield html.escape(text, quote=False)
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield quote(text)
    yield base64.b64encode(text.encode()).decode().rstrip("=")[:-1]
    yield text.replace('"', '""')


def unpacked(page: str) -> str:
    """A page, and what is packed in it."""
    blobs = re.findall(r'<script type="text/plain" id="evidence-\d+">(.*?)</script>', page, re.DOTALL)
    packed = [blob.strip().split("\n")[-1] for blob in blobs]
    return page + "".join(gzip.decompress(base64.b64decode(one)).decode() for one in packed)


def found(text: str, cells: set[str]) -> set[str]:
    return {cell for cell in cells if any(way in text for way in written(cell))}


def pairs(home: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each trial, and as what it is published."""

    def trials(name: str) -> dict[tuple[str, ...], dict[str, Any]]:
        lines = [json.loads(line) for line in (home / name / "trials.jsonl").read_text("utf-8").splitlines()]
        return {tuple(line[key] for key in ("llm", "dataset", "test", "query")): line for line in lines}

    before, after = trials("run"), trials("published")
    assert before.keys() == after.keys()
    return [(line, after[key]) for key, line in before.items()]


@pytest.mark.slow
def test_no_cell_and_no_column_of_it_is_in_the_published_folder(folders: tuple[Path, list[tuple[str, ...]]]) -> None:
    home, rows = folders
    cells = {part for row in rows for cell in row for part in (cell, *re.findall(r"\w{4,}", cell))} | set(COLUMNS)
    texts = {path.name: unpacked(path.read_text("utf-8")) for path in (home / "published").iterdir()}
    assert texts.keys() >= FILES
    texts["printed"] = (home / "printed.txt").read_text("utf-8")
    whole = unpacked((home / "run" / "index.html").read_text("utf-8"))
    assert len(found(whole, cells)) > 50  # they are found where they are
    for name, text in texts.items():
        assert found(text, cells) == set(), name
        assert "/home/velm" not in text
        assert str(home) not in text


@pytest.mark.slow
@pytest.mark.parametrize("form", ["markdown", "latex", "csv", "svg", "pdf", "model-card", "dataset-card", "conda"])
def test_no_cell_of_it_is_in_another_form(folders: tuple[Path, list[tuple[str, ...]]], form: str) -> None:
    home, rows = folders
    cells = {cell for row in rows for cell in row} | set(COLUMNS)
    done = tabcontam("report", "run", "--format", form, "--redact", "--out", f"one.{form}", cwd=home)
    assert done.returncode == 0, done.stderr
    text = (home / f"one.{form}").read_text("utf-8", errors="replace")
    assert found(text, cells) == set()
    again = tabcontam("report", "published", "--format", form, "--out", f"other.{form}", cwd=home)
    assert again.returncode == 0, again.stderr


@pytest.mark.slow
def test_the_open_table_is_shown_whole(folders: tuple[Path, list[tuple[str, ...]]]) -> None:
    home, _ = folders
    for one, other in pairs(home):
        if one["dataset"] == "iris":
            assert other == one | {"detail": ""}
    assert "petal" in (home / "published" / "recalled.csv").read_text("utf-8")


@pytest.mark.slow
def test_the_key_proves_a_trial_and_is_its_owners_alone(folders: tuple[Path, list[tuple[str, ...]]]) -> None:
    home, _ = folders
    held = json.loads((home / "published.key.json").read_text("utf-8"))
    assert (home / "published.key.json").stat().st_mode & 0o777 == 0o600
    assert held["key"] not in "".join(path.read_text("utf-8") for path in (home / "published").iterdir())
    assert held["columns"][FILE]["column 4"] == "birthplaze"
    key = bytes.fromhex(held["key"])
    redacted = [(one, other) for one, other in pairs(home) if "hashes" in other]
    assert redacted
    for one, other in redacted:
        assert {what: proof(key, other, what, one[what]) for what in ("prompt", "expected", "reply")} == other["hashes"]
        assert proof(key, other, "reply", one["reply"] + "!") != other["hashes"]["reply"]
    # cells of few values, asked for again and again, are not told by equal hashes
    own = [other["hashes"]["expected"] for one, other in redacted if one["llm"].startswith("simulated")]
    assert len(set(own)) == len(own)


@pytest.mark.slow
def test_what_a_published_folder_can_and_cannot(folders: tuple[Path, list[tuple[str, ...]]]) -> None:
    home, _ = folders
    same = [tabcontam("gate", name, cwd=home).returncode for name in ("run", "published")]
    assert same[0] == same[1]
    for arguments in (("rescore", "published"), ("report", "published", "--out", "x"), ("report", "published", "run")):
        done = tabcontam(*arguments, cwd=home)
        assert done.returncode == 4
        assert done.stderr.splitlines()[-1:] == done.stderr.splitlines()
        assert "published is a published report without prompts and answers; give the run's own folder" in done.stderr
    continued = tabcontam("run", "--dataset", "iris", "--out", "published", cwd=home)
    assert continued.returncode == 4
    assert "published report" in continued.stderr


@pytest.mark.slow
def test_a_run_is_never_overwritten_by_what_is_left_of_it(folders: tuple[Path, list[tuple[str, ...]]]) -> None:
    home, _ = folders
    shutil.copytree(home / "run", home / "other")
    before = (home / "other" / "trials.jsonl").read_bytes()
    for out in ("run", "other"):
        done = tabcontam("report", "run", "--redact", "--out", out, cwd=home)
        assert (done.returncode, len(done.stderr.splitlines())) == (4, 1)
        assert "choose another folder with --out" in done.stderr
    assert (home / "other" / "trials.jsonl").read_bytes() == before
    assert not (home / "other.key.json").exists()
    first = (home / "published.key.json").read_text("utf-8")
    assert tabcontam("report", "run", "--redact", "--out", "published", cwd=home).returncode == 0
    assert (home / "published.key.json").read_text("utf-8") != first


def test_a_large_folder_is_redacted_without_its_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the cells of tables that may not be shown would stand in them."""
    monkeypatch.setattr(document, "LARGE", 1)
    run_in(tmp_path / "run", ["m1"])
    redact([tmp_path / "run"], tmp_path / "out", everything=True)
    published = read_results(tmp_path / "out")
    kept = load_results(tmp_path / "out")
    assert kept.run_results == published
    assert published.run.redacted is not None
    assert not [line for line in (tmp_path / "out" / TRIALS).read_text().splitlines() if "prompt" in json.loads(line)]


make, server = test_references.make, test_references.server  # fixtures


@pytest.mark.slow
def test_a_published_folder_names_no_address_of_a_reference(make: Made, server: LoopbackServer, tmp_path: Path) -> None:
    make("run", "one", "two")
    make("single", "three", llm=OTHER)
    published = redact([tmp_path / "run", tmp_path / "single"], tmp_path / "published")
    first, second = published.results
    assert first.evidence.memory is not None
    assert (first.reference, first.evidence.memory.further) == ("openai:one", ("openai:two",))
    assert second.reference == "openai:three"
    assert {line["llm"] for line in lines(tmp_path / "published")} == {
        LLM, OTHER, "openai:one", "openai:two", "openai:three",
    }  # fmt: skip
    address = server.url.partition("://")[2].partition("/")[0]
    for path in (tmp_path / "published").rglob("*"):
        assert path.is_dir() or address.encode() not in path.read_bytes(), path.name
    assert load_results(tmp_path / "published").run_results == published
