"""Gemini's batches over its real SDK, against a server on loopback that speaks their protocol."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from tabcontam.evidence.base import Message, Prompt, Reply, State, Usage
from tabcontam.subjects.base import THINKING, FatalError, Request, TransientError
from tabcontam.subjects.batches import Sent, Standing
from tabcontam.subjects.gemini import provider
from tabcontam.subjects.gemini.batch import GeminiBatches
from tabcontam.subjects.gemini.provider import GeminiModel
from tests.loopback import Response
from tests.loopback_gemini import NAME, error, reply
from tests.loopback_gemini_batches import Batch, GeminiBatchServer
from tests.needed import needed

genai = needed("google.genai")

KEY = "AIza-batch-0123456789abcdef"  # no real key
CHAT = (Message("system", "Short."), Message("user", "Next?"))
ASKED = Request(Prompt(CHAT, "1, 2,", "Next?", ("\n",)), 16)
BLOCKED = Response({"promptFeedback": {"blockReason": "SAFETY"}})
Found = TypeVar("Found")
Opener = Callable[[GeminiBatchServer], GeminiModel]
Replies = dict[str, tuple[Reply, bool]]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Opener:
    """A model at a server that passes for Google's own."""
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)

    def opened(server: GeminiBatchServer) -> GeminiModel:
        monkeypatch.setattr(provider, "GOOGLE", server.url)
        return GeminiModel(NAME, address=server.url)

    return opened


def done(model: GeminiModel, work: Callable[[GeminiBatches], Awaitable[Found]]) -> Found:
    async def whole() -> Found:
        assert model.batches
        try:
            return await work(model.batches)
        finally:
            await model.close()

    return asyncio.run(whole())


async def submitted(batches: GeminiBatches) -> str:
    return await batches.submit([batches.written(name, ASKED) for name in ("a", "b")], "m")


async def read(batches: GeminiBatches, batch: str, sent: Sent) -> Replies:
    return {result.name: batches.read(result, ASKED, sent) async for result in batches.results(batch)}


async def taken(batches: GeminiBatches) -> Replies:
    """What comes of a batch: for each request its reply, and whether another may be better."""
    sent = batches.sent
    batch = await submitted(batches)
    while not (await batches.standing(batch)).ended:
        pass
    return await read(batches, batch, sent)


def answered(at: Opener, answer: str | Response, **given: Any) -> tuple[Reply, bool]:
    """What comes of a request whose batch answers it so."""
    with GeminiBatchServer(lambda body: answer, **given) as server:
        return done(at(server), taken)["a"]


def test_only_googles_own_address_has_batches() -> None:
    assert GeminiModel(NAME).batches
    assert GeminiModel(NAME, address="http://127.0.0.1:1").batches is None


def test_the_servers_batches_are_those_that_the_official_client_takes() -> None:
    with GeminiBatchServer(lambda body: "fine", looks=2) as server:
        client = genai.Client(
            api_key=KEY, vertexai=False, http_options={"base_url": server.url, "api_version": "v1beta"}
        )
        source = [{"contents": [{"role": "user", "parts": [{"text": "?"}]}], "metadata": {"key": "one"}}]
        made = client.batches.create(model=f"models/{NAME}", src=source, config={"display_name": "ours"})
        assert [client.batches.get(name=made.name).state.name for _ in range(2)] == [
            "JOB_STATE_PENDING", "JOB_STATE_SUCCEEDED",
        ]  # fmt: skip
        (held,) = client.batches.get(name=made.name).dest.inlined_responses
        assert (held.metadata, held.response.text) == ({"key": "one"}, "fine")
        assert [batch.display_name for batch in client.batches.list(config={"page_size": 10})] == ["ours"]
        client.batches.cancel(name=made.name)
        assert server.submitted[0].state == "BATCH_STATE_CANCELLED"
        client.close()


@pytest.mark.parametrize("as_result", [False, True])
def test_a_batch_is_sent_looked_after_and_read(as_result: bool, at: Opener) -> None:
    with GeminiBatchServer(lambda body: reply("42", prompt=7), looks=2, as_result=as_result) as server:

        async def whole(batches: GeminiBatches) -> tuple[list[Standing], Replies]:
            batch = await submitted(batches)
            return [await batches.standing(batch) for _ in range(2)], await read(batches, batch, batches.sent)

        standings, found = done(at(server), whole)
        (batch,) = server.submitted
    assert standings == [Standing(False, 0, 2), Standing(True, 2, 2)]
    assert found == dict.fromkeys(("a", "b"), (Reply("42", State.OK, "", 3, Usage(7, 3)), False))
    assert batch.display_name == "tabcontam-m"
    sent = batch.requests[0]["request"]
    assert sent["contents"] == [{"role": "user", "parts": [{"text": "Next?"}]}]
    assert sent["systemInstruction"]["parts"] == [{"text": "Short."}]
    assert sent["generationConfig"] == {"temperature": 0.0, "seed": 0, "maxOutputTokens": 16}
    assert {request.headers["x-goog-api-key"] for request in server.requests} == {KEY}


def test_a_reply_has_the_states_that_it_has_elsewhere(at: Opener) -> None:
    assert answered(at, reply("cut", finish="MAX_TOKENS"))[0].state is State.TRUNCATED
    assert answered(at, reply("", finish="RECITATION"))[0].state is State.REFUSED
    assert answered(at, BLOCKED)[0].state is State.REFUSED
    assert answered(at, reply(" "))[0].state is State.EMPTY


@pytest.mark.parametrize(("refused", "again"), [
    (error(13, "internal"), True),
    (error(429, "slow down", "RESOURCE_EXHAUSTED"), True),
    (Response({"candidates": []}), True),
    (error(3, "Request contains something odd"), False),
])  # fmt: skip
def test_what_may_pass_is_worth_another_try_and_nothing_else(refused: Response, again: bool, at: Opener) -> None:
    got, may_better = answered(at, refused)
    assert (got.state, may_better) == (State.FAILED, again)


def test_what_a_model_does_not_take_is_left_out_of_the_next_batch(at: Opener) -> None:
    refused = error(3, "Developer instruction is not enabled for models/gemma-3-27b-it")
    with GeminiBatchServer(lambda body: refused) as server:
        model = at(server)
        assert done(model, taken)["b"][1]
        assert "system_instruction" not in model.written(ASKED)["config"]


def test_a_model_that_thought_until_its_tokens_were_used_up_gets_more_room_in_the_next_batch(at: Opener) -> None:
    with GeminiBatchServer(lambda body: reply("", finish="MAX_TOKENS", tokens=0, thoughts=16)) as server:
        model = at(server)
        got, again = done(model, taken)["a"]
        assert (got.state, again, model.allowance) == (State.TRUNCATED, True, THINKING)
        assert done(model, taken)["a"][1] is False


@pytest.mark.parametrize(("ending", "reason", "crowded"), [
    (("BATCH_STATE_EXPIRED", {}), "the batch expired before it was answered", False),
    (("BATCH_STATE_CANCELLED", {}), "the batch was cancelled before it was answered", False),
    (("BATCH_STATE_FAILED", {"code": 3, "message": "bad file"}), "the batch failed: bad file", False),
    (("BATCH_STATE_FAILED", {"code": 8, "message": "too many tokens"}), "the batch failed: too many tokens", True),
    (("JOB_STATE_SUCCEEDED", {}), "", False),
])  # fmt: skip
def test_a_batch_that_ends_badly_says_how(ending: Any, reason: str, crowded: bool, at: Opener) -> None:
    with GeminiBatchServer(ending=lambda batch: ending) as server:

        async def whole(batches: GeminiBatches) -> Standing:
            return await batches.standing(await submitted(batches))

        standing = done(at(server), whole)
    assert (standing.ended, standing.reason, standing.crowded) == (True, reason, crowded)


def test_a_batch_is_found_by_its_mark_among_many(at: Opener) -> None:
    with GeminiBatchServer() as server:
        for number in range(230):
            server.batches[f"batches/{number}"] = Batch(f"batches/{number}", [], f"tabcontam-m{number}")

        async def whole(batches: GeminiBatches) -> list[str | None]:
            return [await batches.find(mark, 0.0, ()) for mark in ("m3", "m228", "m230")]

        assert done(at(server), whole) == ["3", "228", None]


def test_a_batch_that_is_not_there_any_more_has_ended_without_results(at: Opener) -> None:
    with GeminiBatchServer() as server:

        async def whole(batches: GeminiBatches) -> tuple[Standing, Replies]:
            return await batches.standing("9"), await read(batches, "9", batches.sent)

        assert done(at(server), whole) == (Standing(True, reason="the batch is not there any more"), {})


def test_what_is_no_result_is_passed_over(at: Opener) -> None:
    junk: list[Any] = [7, {}, {"metadata": "a"}, {"metadata": {"key": 3}}, {"metadata": {"key": "c"}},
                       {"metadata": {"key": "d"}, "error": {"code": "x", "message": ["y"]}}]  # fmt: skip
    with GeminiBatchServer(lines=lambda lines: [*junk, *reversed(lines)]) as server:
        found = done(at(server), taken)
    assert {name: got.state for name, (got, _) in found.items()} == {
        "a": State.OK, "b": State.OK, "c": State.FAILED, "d": State.FAILED,
    }  # fmt: skip


def test_the_key_is_in_no_reply_and_in_no_command(at: Opener) -> None:
    assert KEY not in answered(at, f"your key is {KEY}")[0].text
    assert KEY not in answered(at, error(3, f"bad key {KEY}"))[0].detail
    with GeminiBatchServer() as server:
        model = at(server)
        assert model.batches
        command = model.batches.cancelling("7-abc")
    assert command == f'curl -X POST -H "x-goog-api-key: $GEMINI_API_KEY" {server.url}/v1beta/batches/7-abc:cancel'


@pytest.mark.parametrize(("refusal", "kind"), [
    (error(400, "no batches of this model"), FatalError),
    (error(429, "slow"), TransientError),
    (Response({"name": "batches/a b"}), TransientError),
])  # fmt: skip
def test_a_provider_that_takes_no_batch_says_so_by_kind(refusal: Response, kind: type[Exception], at: Opener) -> None:
    with GeminiBatchServer(refuse=lambda requests: refusal) as server, pytest.raises(kind):
        done(at(server), submitted)


def test_a_request_is_no_longer_than_it_is_reckoned() -> None:
    batches = GeminiModel(NAME).batches
    assert batches
    line = batches.written("a", Request(Prompt((Message("user", "Zeile\n\u2028ä" * 100),), "", ""), 16))
    assert len(line) >= len(json.dumps(json.loads(line)))
    assert b"\n" not in line
    with pytest.raises(ValueError, match="surrogate"):
        batches.written("a", Request(Prompt((Message("user", "half \ud800"),), "", ""), 16))
