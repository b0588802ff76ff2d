"""A real server: llama.cpp on loopback, asked as any server that speaks OpenAI's protocol."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.questions import Capability, Message, Passage, Prompt, Reply, ReplyState
from tabcontam.evidence.structured_answers import PROBE, PROBE_TOKENS, is_enforced, read_structured_answer
from tabcontam.models.base import LackError, ModelRequest, PromptForm
from tabcontam.models.gguf.provider import find, serve
from tabcontam.models.openai.provider import OpenAIModel
from tests.models.gguf.test_provider import COUNTING, PACKAGE, is_here

pytestmark = pytest.mark.slow
Found = TypeVar("Found")
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
NAMES = ("petal length (cm)", 'a "quoted" name', "Größe")
FLOWER = "The petal length is 5.1 cm, the quoted name is Rose, and die Größe is 3."
ROW = Prompt((Message("user", FLOWER),), "", "", values=NAMES)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    is_here()
    server, _ = serve(find(PACKAGE), 2048)
    yield f"{server.listening_address}/v1"
    del server  # which ends it


def with_model(
    address: str, work: Callable[[OpenAIModel], Awaitable[Found]], form: str = "auto", name: str = NAME
) -> Found:
    async def whole() -> Found:
        model = OpenAIModel(name, address, form, needs=frozenset({Capability.SCORE}))
        try:
            await model.connect()
            return await work(model)
        finally:
            await model.close()

    return asyncio.run(whole())


def asked(address: str, *requests: ModelRequest, form: str = "auto") -> list[Reply]:
    async def work(model: OpenAIModel) -> list[Reply]:
        return [await model.generate(request) for request in requests]

    return with_model(address, work, form)


def test_it_holds_an_answer_to_the_schema_whatever_the_features_are_called(address: str) -> None:
    held, probe, free = asked(
        address,
        ModelRequest(ROW, 160, structured=True),
        ModelRequest(PROBE, PROBE_TOKENS, structured=True),
        ModelRequest(PROBE, PROBE_TOKENS),
    )
    assert re.match(r'\{\s*"known"\s*:\s*(true|false),\s*"values"\s*:', held.text)
    if held.state is ReplyState.OK:  # it may go on within a text, to its limit
        assert read_structured_answer(held.text, NAMES) is not None
    assert (is_enforced(probe), is_enforced(free)) == (True, False)


def test_an_answer_ends_at_its_limit_or_its_stop_text_and_costs_what_it_has(address: str) -> None:
    stopped = Prompt((), "one, two, three, four, five,", "", stop=(", seven",))
    short, until = asked(address, ModelRequest(COUNTING, 3), ModelRequest(stopped, 40), form="completion")
    assert (short.state, short.tokens) == (ReplyState.TRUNCATED, 3)
    assert (until.state, until.text) == (ReplyState.OK, " six")
    assert until.usage is not None
    assert 5 < until.usage.prompt < 40


def test_what_does_not_fit_its_context_is_said(address: str) -> None:
    long, short = asked(
        address, ModelRequest(Prompt((Message("user", "word " * 4_000),), "", ""), 8), ModelRequest(COUNTING, 2)
    )
    assert (long.state, short.tokens) == (ReplyState.FAILED, 2)
    assert "too long" in long.detail


def test_it_scores_no_text_that_it_is_given(address: str) -> None:
    async def work(model: OpenAIModel) -> object:
        with pytest.raises(LackError):
            await model.score(ModelRequest(Passage("one, two, three")))
        return model.form

    assert with_model(address, work) is PromptForm.CHAT


def test_a_model_that_it_has_not_is_said_before_anything_is_asked(address: str) -> None:
    async def work(model: OpenAIModel) -> None:
        pytest.fail(f"{model} was reached")

    with pytest.raises(UsageError, match=f"other-model.*{NAME}"):
        with_model(address, work, name="other-model")
