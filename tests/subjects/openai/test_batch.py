"""OpenAI's batches over its real SDK, against a server on loopback that speaks their protocol."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from tabcontam.evidence.base import Message, Prompt, Reply, State, Usage
from tabcontam.subjects.base import THINKING, FatalError, Form, Request, TransientError
from tabcontam.subjects.batches import Sent, Standing
from tabcontam.subjects.openai import provider
from tabcontam.subjects.openai.batch import OpenAIBatches
from tabcontam.subjects.openai.provider import OpenAIModel
from tests.loopback import Response, error, reply
from tests.loopback_batches import MADE, Batch, BatchServer
from tests.needed import needed

sdk = needed("openai")

KEY = "sk-batch-0123456789abcdef"  # no real key
PROMPT = Prompt((Message("user", "Next?"),), "1, 2,", "Next?", ("\n",))
ASKED = Request(PROMPT, 16)
CHAT = Sent(Form.CHAT)
Found = TypeVar("Found")


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[BatchServer], OpenAIModel]:
    """A model at a server that passes for OpenAI's own."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def opened(server: BatchServer) -> OpenAIModel:
        monkeypatch.setattr(provider, "OPENAI", server.url)
        return OpenAIModel("model", None)

    return opened


def done(model: OpenAIModel, work: Callable[[OpenAIBatches], Awaitable[Found]]) -> Found:
    async def whole() -> Found:
        assert model.batches
        try:
            return await work(model.batches)
        finally:
            await model.close()

    return asyncio.run(whole())


async def submitted(batches: OpenAIBatches, names: tuple[str, ...] = ("a", "b"), mark: str = "m") -> str:
    return await batches.submit([batches.written(name, ASKED) for name in names], mark)


async def read(batches: OpenAIBatches, batch: str, sent: Sent = CHAT) -> dict[str, tuple[Reply, bool]]:
    return {result.name: batches.read(result, ASKED, sent) async for result in batches.results(batch)}


async def taken(batches: OpenAIBatches) -> dict[str, tuple[Reply, bool]]:
    """What comes of a batch: for each request its reply, and whether another may be better."""
    sent = batches.sent
    batch = await submitted(batches)
    while not (await batches.standing(batch)).ended:
        pass
    return await read(batches, batch, sent)


Opener = Callable[[BatchServer], OpenAIModel]


def test_only_openais_own_address_has_batches() -> None:
    assert OpenAIModel("model", None).batches
    assert OpenAIModel("model", "http://127.0.0.1:1/v1").batches is None
    assert OpenAIModel("model", "https://openrouter.ai/api/v1").batches is None  # a service's own address


def test_the_servers_batches_are_those_that_the_official_client_takes() -> None:
    with BatchServer(lambda body: "fine", looks=2) as server:
        client = sdk.OpenAI(api_key=KEY, base_url=server.url, max_retries=0)
        body = {"model": "model", "messages": [{"role": "user", "content": "?"}]}
        line = {"custom_id": "one", "method": "POST", "url": "/v1/chat/completions", "body": body}
        file = client.files.create(file=("in.jsonl", json.dumps(line).encode()), purpose="batch")
        batch = client.batches.create(
            input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"who": "we"}
        )
        assert [client.batches.retrieve(batch.id).status for _ in range(2)] == ["in_progress", "completed"]
        ended = client.batches.retrieve(batch.id)
        content = client.files.content(ended.output_file_id or "").text
        assert json.loads(content)["response"]["body"]["choices"][0]["message"]["content"] == "fine"
        assert [each.metadata for each in client.batches.list()] == [{"who": "we"}]
        assert client.batches.cancel(batch.id).status == "cancelled"
        client.close()


def test_a_batch_is_sent_looked_after_and_read(at: Opener) -> None:
    with BatchServer(lambda body: reply("42"), looks=2) as server:

        async def whole(batches: OpenAIBatches) -> tuple[list[Standing], dict[str, tuple[Reply, bool]]]:
            batch = await submitted(batches)
            return [await batches.standing(batch) for _ in range(2)], await read(batches, batch)

        standings, found = done(at(server), whole)
        (batch,) = server.submitted
    assert standings == [Standing(False, 0, 2), Standing(True, 2, 2)]
    assert {name: (got.text, got.state, again) for name, (got, again) in found.items()} == {
        "a": ("42", State.OK, False), "b": ("42", State.OK, False),
    }  # fmt: skip
    assert batch.metadata == {"tabcontam": "m"}
    assert batch.requests[0]["body"] == {
        "model": "model", "messages": [{"role": "user", "content": "Next?"}], "temperature": 0, "max_tokens": 16,
    }  # fmt: skip
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}


def test_a_model_without_a_chat_form_is_asked_in_its_own(at: Opener) -> None:
    with BatchServer(lambda body: "3\n4") as server:
        model = at(server)
        model.settle(Form.COMPLETION)
        assert done(model, taken)["a"][0].text == "3"  # up to the stop string
    assert server.submitted[0].endpoint == "/v1/completions"
    assert server.submitted[0].requests[0]["body"]["prompt"] == "1, 2,"


def answered(at: Opener, answer: str | Response, **given: Any) -> tuple[Reply, bool]:
    """What comes of a request whose batch answers it so."""
    with BatchServer(lambda body: answer, **given) as server:
        return done(at(server), taken)["a"]


def test_a_reply_has_the_states_that_it_has_elsewhere(at: Opener) -> None:
    body = {"usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}
    whole = reply("4", finish="length")
    got, again = answered(at, Response({**body_of(whole), **body}))
    assert (got.state, got.usage, again) == (State.TRUNCATED, Usage(7, 3), False)
    assert answered(at, reply(None, refusal="I will not."))[0].state is State.REFUSED
    assert answered(at, reply("", finish="content_filter"))[0].state is State.REFUSED
    assert answered(at, reply("  "))[0].state is State.EMPTY


def body_of(response: Response) -> dict[str, Any]:
    assert isinstance(response.body, dict)
    return response.body


def test_what_is_refused_by_a_filter_is_refused_and_what_is_too_long_is_not_asked_for_again(at: Opener) -> None:
    flagged = answered(at, error(400, "The response was filtered", code="content_filter"))
    assert (flagged[0].state, flagged[1]) == (State.REFUSED, False)
    too_long = answered(at, error(400, "The maximum context length is 8", code="context_length_exceeded"))
    assert (too_long[0].state, too_long[1]) == (State.FAILED, False)
    assert too_long[0].detail.startswith("the prompt is too long")


@pytest.mark.parametrize("passing", [error(429, "slow down"), error(500, "oops"), Response({"choices": []})])
def test_what_may_pass_is_worth_another_try(passing: Response, at: Opener) -> None:
    got, again = answered(at, passing)
    assert (got.state, again) == (State.FAILED, True)


def test_what_a_model_does_not_take_is_left_out_of_the_next_batch(at: Opener) -> None:
    refused = error(400, "Unsupported parameter: 'temperature' is not supported", param="temperature")
    with BatchServer(lambda body: refused) as server:
        model = at(server)
        assert done(model, taken)["a"][1]
        assert "temperature" not in model.written(ASKED)


def test_a_model_that_thought_until_its_tokens_were_used_up_gets_more_room_in_the_next_batch(at: Opener) -> None:
    with BatchServer(lambda body: reply("", finish="length", tokens=0, reasoning=16)) as server:
        model = at(server)
        got, again = done(model, taken)["a"]
        assert (got.state, got.detail, again) == (State.TRUNCATED, "all tokens went into reasoning", True)
        assert model.allowance == THINKING
        assert done(model, taken)["a"][1] is False  # there was room this time


def test_what_a_batch_had_no_time_for_says_so(at: Opener) -> None:
    got, again = answered(at, "", ending=lambda batch: ("expired", []))
    assert (got.state, again) == (State.FAILED, False)
    assert got.detail == "batch_expired: This request could not be executed in time."


@pytest.mark.parametrize(("ending", "reason", "crowded"), [
    (("expired", []), "the batch expired before it was answered", False),
    (("cancelled", []), "the batch was cancelled before it was answered", False),
    (("failed", [{"code": "invalid_json", "message": "line 3"}]), "the batch failed: invalid_json: line 3", False),
    (("failed", [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]),
     "the batch failed: token_limit_exceeded: Enqueued token limit reached", True),
])  # fmt: skip
def test_a_batch_that_ends_badly_says_how(ending: Any, reason: str, crowded: bool, at: Opener) -> None:
    with BatchServer(ending=lambda batch: ending) as server:

        async def whole(batches: OpenAIBatches) -> Standing:
            return await batches.standing(await submitted(batches))

        standing = done(at(server), whole)
    assert (standing.ended, standing.reason, standing.crowded) == (True, reason, crowded)


def test_a_batch_is_found_by_its_mark_among_many(at: Opener) -> None:
    with BatchServer() as server:
        for number in range(230):
            server.batches[f"batch_{number}"] = Batch(f"batch_{number}", [], {"tabcontam": f"m{number}"}, number)

        async def whole(batches: OpenAIBatches) -> list[str | None]:
            return [await batches.find(mark, MADE, ()) for mark in ("m3", "m228", "m230")]

        assert done(at(server), whole) == ["batch_3", "batch_228", None]
        server.requests.clear()

        async def of_today(batches: OpenAIBatches) -> str | None:
            return await batches.find("m3", MADE + 10_000, ())

        assert done(at(server), of_today) is None
        assert len(server.requests) == 1  # what is older than the run is not looked through


def test_a_batch_that_is_not_there_any_more_has_ended_without_results(at: Opener) -> None:
    with BatchServer() as server:

        async def whole(batches: OpenAIBatches) -> tuple[Standing, dict[str, tuple[Reply, bool]]]:
            return await batches.standing("batch_9"), await read(batches, "batch_9")

        assert done(at(server), whole) == (Standing(True, reason="the batch is not there any more"), {})


def test_what_is_no_result_is_passed_over(at: Opener) -> None:
    junk = [b"{", b"[]", b'{"custom_id": 3}', b"\xff\xfe", b'{"custom_id": "c", "response": 7}', b'{"custom_id": "d"}']
    with BatchServer(lines=lambda lines: [*junk, *reversed(lines)]) as server:
        found = done(at(server), taken)
    assert {name: got.state for name, (got, _) in found.items()} == {
        "a": State.OK, "b": State.OK, "c": State.FAILED, "d": State.FAILED,
    }  # fmt: skip


def test_the_key_is_in_no_reply_and_in_no_command(at: Opener) -> None:
    got, _ = answered(at, f"your key is {KEY}")
    assert KEY not in got.text
    assert KEY not in answered(at, error(400, f"bad key {KEY}"))[0].detail
    with BatchServer() as server:
        model = at(server)
        assert model.batches
        command = model.batches.cancelling("batch_1")
    assert command == f'curl -X POST {server.url}/batches/batch_1/cancel -H "Authorization: Bearer $OPENAI_API_KEY"'


@pytest.mark.parametrize("name", ["b; rm -rf ~", "../files", "", None, 7, "x" * 201])
def test_an_id_that_is_none_goes_into_no_address_and_no_command(name: object, at: Opener) -> None:
    odd = Response({"id": name, "status": "validating"})
    with (
        BatchServer(refuse=lambda requests: odd) as server,
        pytest.raises(TransientError, match="the reply names no batch"),
    ):
        done(at(server), submitted)


@pytest.mark.parametrize(("refusal", "line"), [
    (error(400, "no batches of this model"), "OpenAI takes no batch of model: HTTP 400: no batches of this model"),
    (error(401, "Incorrect API key provided"), "refused the key in OPENAI_API_KEY"),
])  # fmt: skip
def test_a_provider_that_takes_no_batch_says_why(refusal: Response, line: str, at: Opener) -> None:
    with BatchServer(refuse=lambda requests: refusal) as server, pytest.raises(FatalError, match=line):
        done(at(server), submitted)


def test_a_provider_that_takes_no_batch_for_now_says_so_by_kind(at: Opener) -> None:
    full = error(429, "Enqueued token limit reached")
    with BatchServer(refuse=lambda requests: full) as server, pytest.raises(TransientError) as caught:
        done(at(server), submitted)
    assert (caught.value.kind, caught.value.crowded) == ("429", True)


def test_a_prompt_that_json_cannot_hold_is_not_sent(at: Opener) -> None:
    with BatchServer() as server:
        model = at(server)
        assert model.batches
        odd = Request(Prompt((Message("user", "half \ud800"),), "", ""), 16)
        with pytest.raises(ValueError, match="surrogate"):
            model.batches.written("a", odd)
        line = model.batches.written("a", Request(Prompt((Message("user", "Zeile\n\u2028ä"),), "", ""), 16))
    assert b"\n" not in line
    assert json.loads(line)["body"]["messages"][0]["content"] == "Zeile\n\u2028ä"
