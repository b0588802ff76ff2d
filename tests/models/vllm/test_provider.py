"""Models through vLLM answer, end and score as those through transformers, whatever the engine yields on the way.

The engine is a stand-in with the names and types of vLLM's, which computes with transformers.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from math import isclose
from pathlib import Path
from typing import Any

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Endings, Message, Passage, Prompt, ReplyState
from tabcontam.evidence.questions import Answer, Likelihoods, Question, Reply, Scores
from tabcontam.models import base
from tabcontam.models.base import WENT_ON, FatalError, Model, ModelRequest, PromptForm
from tabcontam.models.hf.provider import HFModel
from tabcontam.models.hf.saved_model import MERGED
from tabcontam.models.vllm.provider import VLLMModel
from tabcontam.tables.serializers import load_serializers
from tests.made_tables import ships
from tests.models.hf import tiny
from tests.models.hf.test_merged_tokens import whole_rows
from tests.models.vllm import stand_in
from tests.models.vllm.stand_in import AsyncLLM, RequestOutputKind
from tests.needed import needed

torch: Any = needed("torch")
needed("transformers")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]
ROWS = tiny.rows_of(ships(12), load_serializers()["is"])
BEGUN = "Ships, their masters and what they owed in the harbour of Zand: "
TEXTS = [BEGUN + row[:length] for row, length in zip(ROWS, (7, 90, 30, 61), strict=False)]
THOUGHT = "<think>\nlet me see, the crew, the crew\n</think>\n\n"


@pytest.fixture(autouse=True)
def engines(monkeypatch: pytest.MonkeyPatch) -> type[AsyncLLM]:
    """vLLM, as it were."""
    return stand_in.installed(monkeypatch)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.saved(tiny.causal(), tiny.tokenizer([BEGUN, *ROWS]), tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def thinking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chat model that has learned to think before it says yes."""
    reader, model = tiny.tokenizer([THOUGHT], tiny.CHAT + "{# <think> #}"), tiny.causal()
    asked = "<|system|>\nBe brief.</s>\n<|user|>\nWho?</s>\n<|assistant|>\n"
    ids = [*reader(asked, add_special_tokens=False)["input_ids"], *reader(THOUGHT + "yes")["input_ids"][1:], 2]
    tiny.learn(model, lambda rng: (ids, ids), 60)
    return tiny.saved(model, reader, tmp_path_factory.mktemp("thinking"))


def prompt(text: str, stop: tuple[str, ...] = (), **sampled: Any) -> Prompt:
    return Prompt((Message("system", "Be brief."), Message("user", text)), text, text, stop, **sampled)


def answers(model: Model, questions: Sequence[Question], max_tokens: int = 16) -> list[Any]:
    """What a model answers to questions that are asked at a time; it is loaded before, and closed afterwards."""

    async def asked() -> list[Answer]:
        await model.connect()
        try:
            return await asyncio.gather(*(model.answer(ModelRequest(each, max_tokens)) for each in questions))
        finally:
            await model.close()

    return asyncio.run(asked())


def both(folder: Path, questions: Sequence[Question], max_tokens: int = 16) -> tuple[list[Any], list[Any]]:
    """What vLLM and transformers answer."""
    return tuple(answers(kind(str(folder)), questions, max_tokens) for kind in (VLLMModel, HFModel))  # type: ignore[return-value]


# What it is


def test_it_tells_what_it_can_and_no_moments(llama: Path) -> None:
    model, other = VLLMModel(str(llama)), HFModel(str(llama))
    answers(model, [])
    answers(other, [])
    assert (model.form, model.local, model.connections) == (PromptForm.COMPLETION, True, 256)
    assert model.capabilities - other.capabilities == {Capability.SAMPLE, Capability.SEED}
    assert other.capabilities - model.capabilities == {Capability.MOMENTS}
    assert model.version == other.version.replace("device=cpu", "device=cuda")  # the same files have the same digest


def test_the_engine_runs_no_code_and_computes_the_checkpoints_numbers(llama: Path, engines: type[AsyncLLM]) -> None:
    answers(VLLMModel(str(llama)), [])
    (engine,) = engines.started
    told = engine.arguments
    assert (told.model, told.trust_remote_code, told.load_format) == (str(llama), False, "safetensors")
    assert (told.dtype, told.enable_prefix_caching, told.generation_config) == ("float32", True, "vllm")
    assert (told.tensor_parallel_size, told.distributed_executor_backend) == (1, None)
    assert engine.ended


def test_it_is_spread_over_as_many_gpus_as_its_heads_allow(
    llama: Path, engines: type[AsyncLLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)  # it has four heads
    model = VLLMModel(str(llama))
    answers(model, [])
    assert (engines.started[0].arguments.tensor_parallel_size, model.version.split()[-1]) == (2, "gpus=2")
    assert engines.started[0].arguments.distributed_executor_backend == "mp"


# Answers


def test_answers_are_those_of_transformers(llama: Path, engines: type[AsyncLLM]) -> None:
    whole = answers(HFModel(str(llama)), [prompt(text) for text in TEXTS], max_tokens=24)
    late = [reply.text[len(reply.text) // 2 :][:3] for reply in whole]  # stands in the middle of the answer
    asked = [prompt(text, stop) for text, mark in zip(TEXTS, late, strict=True) for stop in ((), (mark,), ("e", mark))]
    ours, theirs = both(llama, asked, max_tokens=24)
    assert ours == theirs
    assert len({reply.tokens for reply in ours}) > 3
    assert {reply.state for reply in ours} >= {ReplyState.TRUNCATED, ReplyState.OK}
    (engine,) = engines.started
    assert engine.left > 0  # who has what was asked for stops the engine
    kinds = {parameters.output_kind for parameters in engine.asked}
    assert kinds == {RequestOutputKind.CUMULATIVE, RequestOutputKind.FINAL_ONLY}
    assert {parameters.temperature for parameters in engine.asked} == {0.0}
    assert {tuple(parameters.stop_token_ids or ()) for parameters in engine.asked} == {(2,)}


def test_an_answer_that_goes_on_without_end_is_ended_here_too(
    llama: Path, engines: type[AsyncLLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "goes_on", lambda text, asked, shown: len(text) > 60)
    asked = [replace(prompt(text), values=("Ship", "Master")) for text in TEXTS[:3]]
    ours, theirs = both(llama, asked, max_tokens=96)
    assert ours == theirs
    assert {(reply.state, reply.detail, reply.tokens % 8) for reply in ours} == {(ReplyState.TRUNCATED, WENT_ON, 0)}
    (engine,) = engines.started
    assert engine.left == len(asked)


@pytest.mark.parametrize("allowed", [4096, 2])
def test_thinking_has_its_allowance_here_too(thinking: Path, allowed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabcontam.models.hf.decoding.MOST_THINKING_TOKENS", allowed)
    (ours,), (theirs,) = both(thinking, [prompt("Who?")], max_tokens=4)
    assert ours == theirs
    assert (ours.text, ours.state) == (("yes", ReplyState.OK) if allowed > 2 else ("", ReplyState.TRUNCATED))


def test_a_sample_is_drawn_with_its_number(llama: Path, engines: type[AsyncLLM]) -> None:
    answers(VLLMModel(str(llama)), [prompt("a", temperature=0.7, sample=3), prompt("a")])
    told = [(parameters.temperature, parameters.seed) for parameters in engines.started[0].asked]
    assert told == [(0.7, 3), (0.0, None)]


def test_what_has_no_room_fails_and_is_not_cut(llama: Path) -> None:
    long = "ship " * tiny.CONTEXT
    reply, scores, compared = answers(VLLMModel(str(llama)), [prompt(long), Passage(long), Endings(long, ("a", "b"))])
    assert (reply.state, scores.state, compared.state) == (ReplyState.FAILED,) * 3
    assert "the prompt is too long: " in reply.detail
    assert scores.detail == compared.detail.replace(compared.detail.split()[5], scores.detail.split()[5])
    assert scores.detail.endswith(f"the model takes {tiny.CONTEXT - 1}")


def test_it_is_asked_from_several_event_loops(llama: Path) -> None:
    model = VLLMModel(str(llama))
    asyncio.run(model.connect())
    first, second = (asyncio.run(model.generate(ModelRequest(prompt("a"), 8))) for _ in range(2))
    asyncio.run(model.close())
    assert first == second
    assert isinstance(first, Reply)
    assert (first.state, first.tokens) == (ReplyState.TRUNCATED, 8)


# Log-probabilities


@pytest.mark.parametrize("begin", [True, False])
def test_tokens_are_scored_as_by_transformers(begin: bool, tmp_path: Path) -> None:
    reader = tiny.tokenizer([BEGUN, *ROWS])
    if not begin:
        reader.bos_token = reader.eos_token = None
    folder = tiny.saved(tiny.causal(), reader, tmp_path)
    ours, theirs = both(folder, [*map(Passage, TEXTS), Passage("a"), Passage("")])
    assert ours[-1] == theirs[-1] == Scores((), ReplyState.EMPTY, "no text")
    for own, other in zip(ours, theirs, strict=True):
        assert [token.text for token in own.tokens] == [token.text for token in other.tokens]
        assert all(isclose(one[1], two[1], abs_tol=1e-4) for one, two in zip(own.tokens, other.tokens, strict=True))
        assert all(token.mean is None for token in own.tokens)


def test_endings_are_compared_as_by_transformers(llama: Path) -> None:
    asked = [
        Endings(BEGUN, ("12", "12 guilders", "nothing at all", "12", "")),
        Endings("", ("Anna", "The Ship is Anna", "Zand")),
        Endings(ROWS[0][:40], tuple(row[40:] for row in ROWS)),
    ]
    ours, theirs = both(llama, asked)
    for own, other in zip(ours, theirs, strict=True):
        assert own.state is other.state is ReplyState.OK
        assert all(isclose(one, two, abs_tol=1e-3) for one, two in zip(own.values, other.values, strict=True))


def test_a_tokenizer_that_merges_cells_fails_the_question_here_too(tmp_path: Path) -> None:
    folder = tiny.saved(tiny.causal(), whole_rows(ROWS), tmp_path)
    asked = Endings(ROWS[0][:40], tuple(row[40:] for row in ROWS[:3]))
    ours, theirs = both(folder, [asked])
    assert ours == theirs == [Likelihoods((), ReplyState.FAILED, MERGED)]


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_what_is_no_number_fails_and_what_is_ruled_out_is_one(
    value: float, llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        AsyncLLM, "_told", lambda self, ids: [None, *({each: stand_in.Logprob(value)} for each in ids[1:])]
    )
    (scores,) = answers(VLLMModel(str(llama)), [Passage("ab")])
    if value == value:
        assert {token.log_probability for token in scores.tokens} == {-1e4}
    else:
        assert scores == Scores((), ReplyState.FAILED, "the model's log-probabilities are not numbers")


# What goes wrong


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "[worker.py:9] ValueError: head_dim=24 is not supported",
            "cannot be loaded: head_dim=24 is not supported; or",
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory",
            "cannot be loaded: CUDA out of memory; only one vllm: model fits at a time: --ray loads one after",
        ),
        ("no error that it names", "cannot be loaded: Engine core initialization failed"),
    ],
)
def test_the_cause_is_told_in_a_line_and_the_rest_is_kept_off(
    said: str, line: str, llama: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(AsyncLLM, "fails", said)
    with pytest.raises(UsageError) as error:
        answers(VLLMModel(str(llama)), [])
    assert line in str(error.value)
    assert f"write hf:{llama}" in str(error.value)
    assert capfd.readouterr() == ("", "")
    os.write(2, b"this process's own")
    assert capfd.readouterr().err == "this process's own"


def test_what_the_engine_prints_is_no_part_of_the_report(llama: Path, capfd: pytest.CaptureFixture[str]) -> None:
    answers(VLLMModel(str(llama)), [prompt("a")])
    assert capfd.readouterr().out == ""


def test_an_engine_that_is_gone_answers_nothing_more(llama: Path, engines: type[AsyncLLM]) -> None:
    async def asked(model: Model) -> None:
        await model.connect()
        engines.started[0].dead = True
        try:
            await model.answer(ModelRequest(prompt("a"), 8))
        finally:
            await model.close()

    with pytest.raises(FatalError, match="vLLM's engine ended while it computed"):
        asyncio.run(asked(VLLMModel(str(llama))))


def test_one_bad_request_fails_alone(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: AsyncLLM, ids: Sequence[int]) -> Any:
        raise ValueError("not these")

    monkeypatch.setattr(AsyncLLM, "_told", broken)
    scores, reply = answers(VLLMModel(str(llama)), [Passage("ab"), prompt("a")])
    assert scores == Scores((), ReplyState.FAILED, "ValueError: not these")
    assert reply.state is ReplyState.TRUNCATED


def test_weights_that_are_pickles_are_left_to_transformers(llama: Path, tmp_path: Path) -> None:
    for file in llama.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"never read")
    with pytest.raises(UsageError, match=r"has its weights in \.bin, which only hf: can read; write hf:"):
        answers(VLLMModel(str(tmp_path)), [])


def test_a_sequence_to_sequence_model_is_left_to_transformers(tmp_path: Path, engines: type[AsyncLLM]) -> None:
    folder = tiny.saved(tiny.encoder_decoder(), tiny.tokenizer(ROWS), tmp_path)
    with pytest.raises(UsageError, match="is a sequence-to-sequence model, which only hf: can ask"):
        answers(VLLMModel(str(folder)), [])
    assert not engines.started


def test_a_form_that_it_does_not_have_is_told_before_the_engine_starts(llama: Path, engines: type[AsyncLLM]) -> None:
    with pytest.raises(UsageError, match="has no chat template"):
        answers(VLLMModel(str(llama), form="chat"), [])
    with pytest.raises(UsageError, match="no folder '/no/such'; type vllm:FOLDER for a saved model"):
        answers(VLLMModel("/no/such"), [])
    assert not engines.started


def test_unconnected_it_answers_nothing(llama: Path) -> None:
    model = VLLMModel(str(llama))
    for question in (prompt("a"), Passage("a"), Endings("a", ("b", "c"))):
        answer = asyncio.run(model.answer(ModelRequest(question)))
        assert (answer.state, answer.detail) == (ReplyState.FAILED, f"vllm:{llama} was asked before it was connected")
