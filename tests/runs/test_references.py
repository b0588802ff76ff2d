"""Several references: in merged, continued and rescored runs, and one of them named twice."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tabcontam.asking.run_progress import Progress
from tabcontam.config import RunConfig
from tabcontam.errors import UsageError
from tabcontam.runs.folder import merge
from tabcontam.runs.rescoring import rescore
from tabcontam.runs.run import execute, prepare
from tabcontam.verdicts.notes import NoteKind
from tabcontam.verdicts.results import RunResults
from tests.loopback import LoopbackServer

TEST = "memory_share"
MODELS = ("one", "two", "three")
CLASSES = ("class_0", "class_1", "class_2")
LLM, OTHER = "simulated:memoriser:0.5", "simulated:guesser"
Made = Callable[..., RunResults]


def answer(body: dict[str, object]) -> str:
    """LLMs that know nothing of the table, each with guesses of its own."""
    messages = body["messages"]
    assert isinstance(messages, list)
    return Random(f"{body['model']} {messages[-1]['content']}").choice(CLASSES)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """The references on loopback."""
    with LoopbackServer(answer, models=MODELS) as running:
        yield running


@pytest.fixture
def make(server: LoopbackServer, tmp_path: Path) -> Made:
    """Makes a run of an LLM on wine with these references, in a folder of this name."""

    def made(out: str, *references: str, llm: str = LLM, seed: int = 0) -> RunResults:
        specs = tuple(name if ":" in name else f"openai:{name}@{server.url}" for name in references)
        order = RunConfig(
            llm=(llm,), dataset=("wine",), tests=TEST, seed=seed, rows=20, controls=False, reference=specs,
            out=tmp_path / out, cache=False,
        )  # fmt: skip
        return execute(prepare(order), Progress()).results

    return made


def lines(folder: Path) -> list[dict[str, Any]]:
    """The trials of a folder."""
    return [json.loads(line) for line in (folder / "trials.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_a_run_that_is_continued_and_judged_again_says_the_same(
    make: Made, server: LoopbackServer, tmp_path: Path
) -> None:
    (cell,) = make("run", "one", "two", "three").results
    assert cell.evidence.memory is not None
    assert cell.evidence.memory.several_references is not None
    assert [one.llm.partition("@")[0] for one in cell.evidence.memory.several_references.references] == [
        "openai:one", "openai:two", "openai:three",
    ]  # fmt: skip
    asked = len(server.asked)
    assert asked == 3 * 40
    assert make("run", "one", "two", "three").results == (cell,)
    assert rescore(tmp_path / "run", None).results == (cell,)
    (turned,) = make("run", "one", "three", "two").results  # of further ones the order says nothing
    assert turned.evidence.memory is not None
    assert turned.evidence.memory.several_references is not None
    assert (
        turned.evidence.memory.several_references.share,
        *turned.evidence.memory.several_references.interval,
    ) == pytest.approx(
        (cell.evidence.memory.several_references.share, *cell.evidence.memory.several_references.interval), abs=0.02
    )
    assert rescore(tmp_path / "run", None).results == (turned,)
    assert len(server.asked) == asked
    for others in (("two", "one", "three"), ("one", "two"), ("one",), ()):
        with pytest.raises(UsageError, match=r"holds a run with --reference openai:one@.*, .*three@.* and .*two@"):
            make("run", *others)


@pytest.mark.slow
def test_runs_beside_the_same_references_are_one_report_with_all_of_them(make: Made, tmp_path: Path) -> None:
    found = [make("a", "one", "two"), make("b", "one", "two", llm=OTHER)]
    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert merged.results == (*found[0].results, *found[1].results)
    assert merged.run.references == found[0].run.references
    assert len(lines(tmp_path / "both")) == 4 * 40  # those of the references once
    assert rescore(tmp_path / "both", None).results == merged.results
    assert not [note for note in merged.run.notes if note.kind is NoteKind.REFERENCE]


@pytest.mark.slow
def test_runs_beside_other_references_keep_their_own_and_it_is_told(make: Made, tmp_path: Path) -> None:
    found = [make("a", "one", "two"), make("b", "three", "one", llm=OTHER)]
    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert merged.results == (*found[0].results, *found[1].results)
    assert {llm.spec.partition("@")[0] for llm in merged.run.references} == {f"openai:{name}" for name in MODELS}
    assert rescore(tmp_path / "both", None).results == merged.results
    (note,) = [note.text for note in merged.run.notes if note.kind is NoteKind.REFERENCE]
    assert "two@" in note
    assert "three@" in note


@pytest.mark.slow
def test_a_reference_of_one_run_that_another_one_tests_keeps_its_answers_in_both(
    make: Made, server: LoopbackServer, tmp_path: Path
) -> None:
    found = [make("a", "one", "two"), make("b", "one", llm=f"openai:two@{server.url}")]
    for order in (("a", "b"), ("b", "a")):
        merged = merge([tmp_path / name for name in order], tmp_path / "".join(order))
        assert {cell.key: cell for cell in merged.results} == {one.results[0].key: one.results[0] for one in found}
        assert len(lines(tmp_path / "".join(order))) == 3 * 40
        assert rescore(tmp_path / "".join(order), None).results == merged.results
    make("c", "one", llm=f"openai:two@{server.url}", seed=1)
    with pytest.raises(UsageError, match=r"the runs asked the reference openai:.*different queries of memory_share"):
        merge([tmp_path / "a", tmp_path / "c"], tmp_path / "apart")
    assert not (tmp_path / "apart").exists()
    make("d", "three", llm=f"openai:two@{server.url}", seed=1)
    with pytest.raises(
        UsageError, match=r"the runs asked the reference openai:two@.*different queries of memory_share"
    ):
        merge([tmp_path / "a", tmp_path / "d"], tmp_path / "apart")


@pytest.mark.parametrize(
    ("references", "line"),
    [
        (("one", "one"), "reference: openai:one@.* is openai:one@.*, which is named already"),
        (("one", "mine=openai:one@{url}"), "reference: mine=openai:one@.* is openai:one@.*, which is named already"),
        (("a=simulated:mode", "b=simulated:mode"), "reference: b=simulated:mode is a, which is named already"),
        (("one", f"b={LLM}"), f"reference: b={LLM} is {LLM}, which is under test"),
    ],
)
def test_one_llm_is_no_two_references_whatever_it_is_called(
    references: tuple[str, ...], line: str, make: Made, server: LoopbackServer, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=line):
        make("run", *(name.format(url=server.url) for name in references))
    assert not server.asked
    assert not (tmp_path / "run").exists()
