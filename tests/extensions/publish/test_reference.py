"""`make reference` with small models in place of the six: interrupted, continued, published."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reference.__main__ import DOCUMENTS, LIST, Reference, finished, main, read
from tabcontam.errors import UsageError
from tabcontam.tables.dataset_cards import load_cards
from tests.commands import environment, tabcontam

ROOT = Path(__file__).parents[3]


def test_the_list_has_six_llms_with_weights_and_nine_tables() -> None:
    listed = read(LIST)
    assert len(listed.llms) == 6
    assert all(re.fullmatch(r"hf:[\w.-]+/[\w.-]+", spec) for spec in listed.llms.values())
    assert len(listed.datasets) == 9
    assert set(listed.datasets) <= set(load_cards())


def test_the_list_of_local_models_needs_no_server_and_has_a_table_that_none_can_have_read() -> None:
    listed = read(LIST.with_name("local.toml"))
    assert all(spec.startswith("gguf:") for spec in listed.llms.values())
    assert set(listed.datasets) <= set(load_cards())
    assert "f1-2026" in listed.datasets


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("llms = ['gpt-4']\ndatasets = ['iris']", "the catalogue has no weights of gpt-4"),
        ("llms = ['nobody']\ndatasets = ['iris']", "the catalogue has no weights of nobody"),
        ("llms = []\ndatasets = ['iris']", "names no llms"),
        ("llms = 'gpt-j'\ndatasets = ['iris']", "llms is a list of texts"),
        ("llm = ['gpt-j']\ndatasets = ['iris']", "there is no llm; it has datasets, llms, options"),
        ("llms = [", "cannot be read"),
    ],
)
def test_a_bad_list_is_one_line(text: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "list.toml"
    path.write_text(text, "utf-8")
    assert main(["--list", str(path), "--out", str(tmp_path / "out")]) == 4
    out, error = capsys.readouterr()
    assert (out, len(error.splitlines())) == ("", 1)
    assert line in error
    assert not (tmp_path / "out").exists()


def test_a_run_of_another_list_is_not_taken_for_the_one_that_is_asked_for(tmp_path: Path) -> None:
    made = Reference({"a": "simulated:oracle"}, ("iris",), ("-k", "full_completion", "--queries", "2", "--no-controls"))
    folder = tmp_path / "runs" / "a"
    arguments = ["run", "--llm", "simulated:oracle", "--dataset", "iris", "--out", str(folder), "-q", *made.options]
    assert not finished(made, "a", tmp_path)
    assert tabcontam(*arguments).returncode == 0
    assert finished(made, "a", tmp_path)
    assert not finished(replace(made, datasets=("iris", "wine")), "a", tmp_path)
    assert not finished(replace(made, options=()), "a", tmp_path)


def test_models_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.write_text("llms = ['hf:a/b', 'hf:a b']\ndatasets = ['iris']", "utf-8")
    assert read(path).llms == {"hf-a-b-1": "hf:a/b", "hf-a-b-2": "hf:a b"}
    path.write_text("llms = ['hf:../../etc']\ndatasets = ['iris']", "utf-8")
    assert list(read(path).llms) == ["hf-..-..-etc"]
    with pytest.raises(UsageError, match="cannot be read"):
        read(tmp_path / "none.toml")


@pytest.mark.slow
def test_six_models_are_asked_interrupted_continued_and_published(tmp_path: Path) -> None:
    from tests.models.hf import tiny

    lines = ["The sepal length (cm) is 5.1, the target is 0.", "alcohol is 14.23, target is 1"]
    specs = []
    for seed, kind in enumerate(("llama", "llama", "gpt2", "llama", "gpt2", "llama")):
        folder = tmp_path / f"model-{seed}"
        tiny.causal(seed, kind).save_pretrained(folder)
        tiny.tokenizer(lines, tiny.CHAT if seed == 3 else None).save_pretrained(folder)
        specs.append(f"hf:{folder}")
    listed = tmp_path / "list.toml"
    options = ["--queries", "6", "-k", "full_completion", "--no-controls", "--seed", "1"]
    listed.write_text(f"llms = {json.dumps(specs)}\ndatasets = ['iris', 'wine']\noptions = {json.dumps(options)}\n")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "reference", "--list", str(listed), "--out", str(out)]
    given = environment(PYTHONPATH=str(ROOT), XDG_CACHE_HOME=str(tmp_path / "cache"))
    first = subprocess.Popen(
        command, cwd=ROOT, env=given, stdout=subprocess.PIPE, text=True, start_new_session=True, bufsize=1
    )
    assert first.stdout is not None
    for line in first.stdout:
        if line.startswith("== 2 of 6"):
            os.killpg(first.pid, signal.SIGINT)
            break
    assert first.wait(timeout=120) == 2
    first.stdout.close()
    assert not (out / "published").exists()
    done = {path: path.stat().st_mtime_ns for path in (out / "runs" / next((out / "runs").iterdir()).name).iterdir()}
    second = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=500, check=False)
    assert second.returncode == 0, second.stdout + second.stderr
    assert second.stdout.count("finished before:") == 1
    assert {path: path.stat().st_mtime_ns for path in done} == done  # the one that was done is asked nothing

    published = out / "published"
    held = json.loads((published / "results.json").read_text("utf-8"))
    assert [llm["spec"] for llm in held["run"]["llms"]] == [f"hf:model-{seed}" for seed in range(6)]
    assert {cell["dataset"] for cell in held["results"]} == {"iris", "wine"}
    trials = [json.loads(line) for line in (published / "trials.jsonl").read_text("utf-8").splitlines()]
    assert {(line["llm"], line["dataset"]) for line in trials} == {
        (f"hf:model-{seed}", dataset) for seed in range(6) for dataset in ("iris", "wine")
    }
    documents = {path.name: path.read_text("utf-8", errors="replace") for path in (published / "paper").iterdir()}
    assert documents.keys() == DOCUMENTS.keys()
    assert all(documents.values())
    assert "we tested 6 LLMs" in documents["methods.md"]
    assert {path.name for path in out.iterdir()} == {"runs", "published", "published.key.json"}
    texts = [*documents.values(), *(path.read_text("utf-8") for path in published.glob("*.*"))]
    assert not [text for text in texts if str(tmp_path) in text]  # nobody's folders are published
