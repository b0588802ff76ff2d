"""Anthropic's batches over its real SDK, against a server on loopback that speaks their protocol."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from tabcontam.evidence.base import Message, Prompt, Reply, State, Usage
from tabcontam.subjects.anthropic import provider
from tabcontam.subjects.anthropic.batch import AnthropicBatches
from tabcontam.subjects.anthropic.provider import AnthropicModel
from tabcontam.subjects.base import THINKING, FatalError, Request, TransientError
from tabcontam.subjects.batches import Sent, Standing
from tests.loopback import Response
from tests.loopback_anthropic import NAME, error, reply
from tests.loopback_anthropic_batches import AnthropicBatchServer, Batch
from tests.needed import needed

sdk = needed("anthropic")

KEY = "sk-ant-batch-0123456789abcdef"  # no real key
ASKED = Request(Prompt((Message("system", "Short."), Message("user", "Next?")), "1, 2,", "Next?", ("\n",)), 16)
NAMES = ("a", "b")
NOW = time.time()
Found = TypeVar("Found")
Opener = Callable[[AnthropicBatchServer], AnthropicModel]
Replies = dict[str, tuple[Reply, bool]]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Opener:
    """A model at a server that passes for Anthropic's own."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    def opened(server: AnthropicBatchServer) -> AnthropicModel:
        monkeypatch.setattr(provider, "ANTHROPIC", server.url)
        return AnthropicModel(NAME)

    return opened


def done(model: AnthropicModel, work: Callable[[AnthropicBatches], Awaitable[Found]]) -> Found:
    async def whole() -> Found:
        assert model.batches
        try:
            return await work(model.batches)
        finally:
            await model.close()

    return asyncio.run(whole())


async def submitted(batches: AnthropicBatches) -> str:
    return await batches.submit([batches.written(name, ASKED) for name in NAMES], "m")


async def read(batches: AnthropicBatches, batch: str, sent: Sent) -> Replies:
    return {result.name: batches.read(result, ASKED, sent) async for result in batches.results(batch)}


async def taken(batches: AnthropicBatches) -> Replies:
    """What comes of a batch: for each request its reply, and whether another may be better."""
    sent = batches.sent
    batch = await submitted(batches)
    while not (await batches.standing(batch)).ended:
        pass
    return await read(batches, batch, sent)


def answered(at: Opener, answer: str | Response, **given: Any) -> tuple[Reply, bool]:
    """What comes of a request whose batch answers it so."""
    with AnthropicBatchServer(lambda body: answer, **given) as server:
        return done(at(server), taken)["a"]


def test_only_anthropics_own_address_has_batches() -> None:
    assert AnthropicModel(NAME).batches
    assert AnthropicModel(NAME, address="http://127.0.0.1:1").batches is None


def test_the_servers_batches_are_those_that_the_official_client_takes() -> None:
    with AnthropicBatchServer(lambda body: "fine", looks=2) as server:
        client = sdk.Anthropic(api_key=KEY, base_url=server.url, max_retries=0)
        params = {"model": NAME, "max_tokens": 8, "messages": [{"role": "user", "content": "?"}]}
        made = client.messages.batches.create(requests=[{"custom_id": "one", "params": params}])
        looks = [client.messages.batches.retrieve(made.id).processing_status for _ in range(2)]
        assert looks == ["in_progress", "ended"]
        (held,) = client.messages.batches.results(made.id)
        assert (held.custom_id, held.result.message.content[0].text) == ("one", "fine")
        assert [batch.id for batch in client.messages.batches.list(limit=10)] == [made.id]
        client.messages.batches.cancel(made.id)
        client.close()


def test_a_batch_is_sent_looked_after_and_read(at: Opener) -> None:
    with AnthropicBatchServer(lambda body: reply("42", read=7), looks=2) as server:

        async def whole(batches: AnthropicBatches) -> tuple[list[Standing], Replies]:
            batch = await submitted(batches)
            return [await batches.standing(batch) for _ in range(2)], await read(batches, batch, batches.sent)

        standings, found = done(at(server), whole)
        (batch,) = server.submitted
    assert standings == [Standing(False, 0, 2), Standing(True, 2, 2)]
    assert found == dict.fromkeys(NAMES, (Reply("42", State.OK, "", 3, Usage(7, 3)), False))
    assert batch.requests[0] == {
        "custom_id": "a",
        "params": {
            "model": NAME, "max_tokens": 16, "temperature": 0, "system": "Short.", "thinking": {"type": "disabled"},
            "messages": [{"role": "user", "content": "Next?"}],
        },
    }  # fmt: skip
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}


def test_a_reply_has_the_states_that_it_has_elsewhere(at: Opener) -> None:
    assert answered(at, reply("cut", stop="max_tokens"))[0].state is State.TRUNCATED
    assert answered(at, reply("", stop="refusal"))[0].state is State.REFUSED
    assert answered(at, reply(" "))[0].state is State.EMPTY


@pytest.mark.parametrize(("refused", "again"), [
    (error(529, "busy", "overloaded_error"), True),
    (error(500, "oops", "api_error"), True),
    (Response({"content": 3}), True),
    (error(400, "something odd"), False),
    (error(413, "too large", "request_too_large"), False),
])  # fmt: skip
def test_what_may_pass_is_worth_another_try_and_nothing_else(refused: Response, again: bool, at: Opener) -> None:
    got, may_better = answered(at, refused)
    assert (got.state, may_better) == (State.FAILED, again)


def test_what_a_model_does_not_take_is_left_out_of_the_next_batch_and_nothing_else_is(at: Opener) -> None:
    refused = error(400, "thinking.type: disabled is not supported by this model")
    with AnthropicBatchServer(lambda body: refused) as server:
        model = at(server)
        assert [again for _, again in done(model, taken).values()] == [True, True]
        assert model.written(ASKED)["thinking"] == {"type": "between_tools"}  # although both requests said so


def test_a_model_that_thought_until_its_tokens_were_used_up_gets_more_room_in_the_next_batch(at: Opener) -> None:
    with AnthropicBatchServer(lambda body: reply("", stop="max_tokens", tokens=0, thoughts=16)) as server:
        model = at(server)
        got, again = done(model, taken)["a"]
        assert (got.state, again, model.allowance) == (State.TRUNCATED, True, THINKING)
        assert done(model, taken)["a"][1] is False


@pytest.mark.parametrize(("kind", "reason"), [
    ("expired", "the batch expired before it was answered"),
    ("canceled", "the batch was cancelled before it was answered"),
    ("other", "the batch holds no reply to it"),
])  # fmt: skip
def test_what_a_batch_did_not_answer_says_why(kind: str, reason: str, at: Opener) -> None:
    got, again = answered(at, "", unanswered=kind)
    assert (got.state, got.detail, again) == (State.FAILED, reason, False)


def held(number: int, made: float, names: tuple[str, ...] = NAMES, status: str = "ended") -> tuple[str, Batch]:
    requests = [{"custom_id": name, "params": {}} for name in names]
    return f"b{number}", Batch(f"b{number}", requests, made, status=status)


def found(at: Opener, *batches: tuple[str, Batch]) -> str | None:
    """Which of these is found for one that was sent now."""
    with AnthropicBatchServer() as server:
        server.batches = dict(batches)

        async def whole(own: AnthropicBatches) -> str | None:
            return await own.find("m", NOW, NAMES)

        return done(at(server), whole)


def test_a_batch_whose_id_was_lost_is_told_by_its_time_its_size_and_its_requests(at: Opener) -> None:
    others = [held(number, NOW - 2 * number, ("x", "y")) for number in range(2, 150)]
    assert found(at, *others, held(150, NOW - 200), held(151, NOW - 9000)) == "b150"
    assert found(at, *others) is None
    assert found(at, held(1, NOW - 9000), held(2, NOW, ("a",))) is None
    assert found(at, held(1, NOW + 2, status="in_progress"), held(2, NOW + 60, ("x", "y"), "in_progress")) == "b1"


def test_a_batch_that_is_not_there_any_more_has_ended_without_results(at: Opener) -> None:
    with AnthropicBatchServer() as server:

        async def whole(batches: AnthropicBatches) -> tuple[Standing, Replies]:
            return await batches.standing("b9"), await read(batches, "b9", batches.sent)

        assert done(at(server), whole) == (Standing(True, reason="the batch is not there any more"), {})


def test_what_is_no_result_is_passed_over(at: Opener) -> None:
    junk = [b"{", b"[]", b'{"custom_id": 3}', b'{"custom_id": "c", "result": 7}',
            b'{"custom_id": "d", "result": {"type": "errored", "error": {"error": {"type": ["x"]}}}}']  # fmt: skip
    with AnthropicBatchServer(lines=lambda lines: [*junk, *reversed(lines)]) as server:
        replies = done(at(server), taken)
    assert {name: got.state for name, (got, _) in replies.items()} == {
        "a": State.OK, "b": State.OK, "c": State.FAILED, "d": State.FAILED,
    }  # fmt: skip


def test_the_key_is_in_no_reply_and_in_no_command(at: Opener) -> None:
    assert KEY not in answered(at, f"your key is {KEY}")[0].text
    assert KEY not in answered(at, error(400, f"bad key {KEY}"))[0].detail
    with AnthropicBatchServer() as server:
        model = at(server)
        assert model.batches
        command = model.batches.cancelling("b1")
    assert command == (
        'curl -X POST -H "x-api-key: $ANTHROPIC_API_KEY" -H "anthropic-version: 2023-06-01" '
        f"{server.url}/v1/messages/batches/b1/cancel"
    )


@pytest.mark.parametrize(("refusal", "kind"), [
    (error(400, "no batches of this model"), FatalError),
    (error(401, "invalid x-api-key", "authentication_error"), FatalError),
    (error(429, "slow", "rate_limit_error"), TransientError),
    (Response({"id": "../b"}), TransientError),
])  # fmt: skip
def test_a_provider_that_takes_no_batch_says_so_by_kind(refusal: Response, kind: type[Exception], at: Opener) -> None:
    with AnthropicBatchServer(refuse=lambda requests: refusal) as server, pytest.raises(kind):
        done(at(server), submitted)


def test_a_prompt_that_json_cannot_hold_is_not_sent() -> None:
    batches = AnthropicModel(NAME).batches
    assert batches
    with pytest.raises(ValueError, match="surrogate"):
        batches.written("a", Request(Prompt((Message("user", "half \ud800"),), "", ""), 16))
    assert json.loads(batches.written("a", ASKED))["custom_id"] == "a"
