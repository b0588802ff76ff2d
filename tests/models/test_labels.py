"""A name of one's own for an LLM: where it stands, where it does not, and what it may not be."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tabcontam.api import load_results, run
from tabcontam.errors import Exit, UsageError
from tabcontam.models.catalogue import by_name, find_entry, split_label, write_labels
from tabcontam.models.provider_record import ModelSettings
from tabcontam.models.provider_registry import resolve
from tabcontam.verdicts.name_lookup import llms_named
from tests.commands import tabcontam
from tests.loopback import LoopbackServer

ASKED = ("--dataset", "iris", "--no-controls", "-k", "recognition")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("mine=openai:m@http://h/v1", ("mine", "openai:m@http://h/v1")),
        ("My model (4 bit)=ollama:llama3", ("My model (4 bit)", "ollama:llama3")),
        ("é=gpt-4o", ("é", "gpt-4o")),
        ("mine=openai:a=b", ("mine", "openai:a=b")),
        ("hf:runs/lr=0.1", ("", "hf:runs/lr=0.1")),
        ("openai:m@http://h/a=b", ("", "openai:m@http://h/a=b")),
        ("gpt-4o", ("", "gpt-4o")),
    ],
)
def test_a_label_stands_before_an_equals_sign(spec: str, expected: tuple[str, str]) -> None:
    assert split_label(spec) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("=gpt-4o", "bad label ''"),
        (" mine=gpt-4o", "bad label ' mine'"),
        ("mi\nne=gpt-4o", "bad label 'mi\\nne'"),
        ("mi\x1b[31mne=gpt-4o", "bad label"),
        ("\u202emine=gpt-4o", "bad label"),
        (f"{'x' * 61}=gpt-4o", "at most 60 printable characters"),
        ("mine=", "the label 'mine' names no model; write mine=PROVIDER:MODEL"),
        ("openai=gpt-4o", ""),
        ("Hugging-Face=gpt-4o", ""),
        ("gpt-4o=openai:other", ""),
        ("smollm2=openai:model@http://127.0.0.1:9/v1", ""),
        ("mine=control:exposed", "control:exposed is a control, which has no other name; leave mine= out"),
        ("mine=nobody:x", "unknown provider 'nobody'"),
        ("mine=openai:", "names no model"),
    ],
)
def test_what_is_no_label_is_one_line(spec: str, message: str) -> None:
    if not message:
        assert resolve(spec).label
        return
    with pytest.raises(UsageError) as caught:
        resolve(spec)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_name_of_the_catalogue_may_name_what_it_is() -> None:
    assert resolve("gpt-4o=openai:gpt-4o-2024-08-06").label == "gpt-4o"
    assert resolve("llama-3=vllm:meta-llama/Meta-Llama-3-8B@http://h/v1").label == "llama-3"


def test_two_of_one_name_are_refused() -> None:
    assert by_name(["a=gpt-4o", "a=gpt-4o", "gpt-4o"]) == {"a": "a=gpt-4o", "gpt-4o": "gpt-4o"}
    with pytest.raises(UsageError, match="two models of one run are both named 'a'"):
        by_name(["a=gpt-4o", "a=gpt-4.1"])
    with pytest.raises(UsageError, match="both named 'gpt-4o'"):
        by_name(["gpt-4o", "gpt-4o=openai:gpt-4o-2024-08-06"])


def test_a_label_names_no_other_llm_of_the_run() -> None:
    alone = "smollm2=openai:model@http://127.0.0.1:9/v1"
    assert by_name([alone, "gpt-4o"]) == {"smollm2": alone, "gpt-4o": "gpt-4o"}
    assert by_name(["gpt-4o=openai:gpt-4o-2024-08-06"])
    for other in ("smollm2", "hf:HuggingFaceTB/SmolLM2-135M", "SmolLM-2"):
        if find_entry(other.removeprefix("hf:")) is find_entry("smollm2"):
            with pytest.raises(UsageError, match=r"two models of one run|names .*, another model of this run"):
                by_name([alone, other])


def test_python_takes_a_mapping() -> None:
    assert write_labels({"mine": "gpt-4o"}) == ("mine=gpt-4o",)
    for label in ("a:b", "a=b", "a@b", ""):
        with pytest.raises(UsageError, match="bad label"):
            write_labels({label: "gpt-4o"})


def test_a_label_is_no_part_of_what_determines_a_reply() -> None:
    for spec in (
        "openai:m@http://127.0.0.1:9/v1",
        "gemini:gemini-2.5-flash",
        "ollama:llama3",
        "anthropic:claude-opus-5",
    ):
        plain: Any = resolve(spec).open(ModelSettings())
        labelled: Any = resolve(f"mine={spec}").open(ModelSettings())
        assert (plain.spec, labelled.spec) == (spec, "mine")
        assert plain.identity == labelled.identity


@pytest.mark.slow
def test_runs_at_two_ports_are_compared_by_their_label(tmp_path: Path, cache: Path) -> None:
    for folder in ("first", "second"):
        with LoopbackServer(lambda body: "Iris") as server:
            spec = f"mine=openai:model@{server.url}"
            done = tabcontam("run", "--llm", spec, *ASKED, "--out", folder, cwd=tmp_path)
            assert done.returncode == Exit.DONE, done.stderr
            assert server.asked  # the other port is another address: nothing is stored for it
            if folder == "second":  # under another label it is the same LLM
                count = len(server.asked)
                other = ["--llm", f"other=openai:model@{server.url}", *ASKED, "--out", "third"]
                assert tabcontam("run", *other, cwd=tmp_path).returncode == Exit.DONE
                assert len(server.asked) == count
    assert "llm: mine (openai:model@http://127.0.0.1:" in " ".join(done.stdout.split())
    document = json.loads((tmp_path / "first/results.json").read_text("utf-8"))
    (llm,) = document["run"]["llms"]
    assert (llm["spec"], llm["stands_for"]) == ("mine", llm["resolved"])
    assert llm["stands_for"].startswith("openai:model@http://127.0.0.1:")
    assert {cell["llm"] for cell in document["results"]} == {"mine"}
    assert 'classname="mine' in (tmp_path / "first/junit.xml").read_text("utf-8")
    compared = tabcontam("report", "first", "second", cwd=tmp_path)
    assert compared.returncode == Exit.DONE, compared.stderr
    assert "openai:model" not in compared.stdout.partition("mine")[0]
    assert tabcontam("rescore", "first", cwd=tmp_path).returncode == Exit.DONE
    for name in ("mine", spec, spec.partition("=")[2]):
        view = load_results(tmp_path / "second").run_results
        assert llms_named(view, [name]) == ["mine"]
    with pytest.raises(UsageError, match="unknown LLM of these results"):
        llms_named(view, ["mine=openai:another"])
    # The same command continues a run; another LLM under the label is refused.
    moved = tabcontam("run", "--llm", "mine=simulated:oracle", *ASKED, "--out", "first", cwd=tmp_path)
    assert moved.returncode == Exit.USAGE
    assert "mine is openai:model@" in moved.stderr
    with sqlite3.connect(cache / "tabcontam/replies.sqlite") as store:
        assert {row[0] for row in store.execute("SELECT llm FROM replies")} <= {"mine", "other"}


def test_a_label_that_the_catalogue_has_stands_for_what_it_is_given_to(tmp_path: Path) -> None:
    with LoopbackServer(lambda body: "Iris") as server:
        spec = f"openai:model@{server.url}"
        done = tabcontam("run", "--llm", f"smollm2={spec}", *ASKED, "--out", "run", cwd=tmp_path)
        assert done.returncode == Exit.DONE, done.stderr
    (llm,) = json.loads((tmp_path / "run/results.json").read_text("utf-8"))["run"]["llms"]
    assert (llm["spec"], llm["stands_for"]) == ("smollm2", spec)
    view = load_results(tmp_path / "run").run_results
    assert not view.run.catalogue  # it has nothing to do with the entry of that name
    assert llms_named(view, ["smollm2"]) == ["smollm2"]
    with pytest.raises(UsageError, match="unknown LLM of these results"):
        llms_named(view, [find_entry("smollm2").served[0]])  # type: ignore[union-attr]


def test_python_and_a_reference_may_be_labelled(tmp_path: Path) -> None:
    found = run(
        {"mine": "simulated:guesser"},
        "iris",
        reference="old=simulated:decliner",
        tests="feature_completion",
        queries=4,
        controls=False,
        out=tmp_path / "run",
    )
    assert [llm.spec for llm in found.run_results.run.llms] == ["mine"]
    assert [(llm.spec, llm.resolved) for llm in found.run_results.run.references] == [("old", "simulated:decliner")]
    assert found.verdict("mine", "iris") is not None
    assert found.gate(llm="mine=simulated:guesser").reason == found.gate(llm="mine").reason
    with pytest.raises(UsageError, match="reference: mine=simulated:oracle is mine, which is under test"):
        run({"mine": "simulated:guesser"}, "iris", reference="mine=simulated:oracle", out=tmp_path / "other")
