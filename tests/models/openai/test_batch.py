"""What OpenAI's batches alone do. What all batches do is in `tests.models.conformance`."""

import json

import pytest

from tabcontam.evidence.base import ReplyState
from tabcontam.models.base import PromptForm
from tabcontam.models.openai.batch import OpenAIBatches
from tabcontam.models.openai.provider import OpenAIModel
from tests.loopback import error
from tests.loopback_batches import MADE, Batch, BatchServer
from tests.models.conformance.batching import Opener, answered, done, taken
from tests.models.conformance.openai import OpenAI
from tests.models.conformance.provider import SECRET
from tests.needed import needed

sdk = needed("openai")


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Opener:
    """A model at a server that passes for OpenAI's own."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    return lambda server: OpenAI().passes(server, monkeypatch)


def test_a_service_of_its_protocol_has_none() -> None:
    assert OpenAIModel("model", "https://openrouter.ai/api/v1").batches is None


def test_the_servers_batches_are_those_that_the_official_client_takes() -> None:
    with BatchServer(lambda body: "fine", looks=2) as server:
        client = sdk.OpenAI(api_key=SECRET, base_url=server.url, max_retries=0)
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


def test_a_model_without_a_chat_form_is_asked_in_its_own(at: Opener) -> None:
    with BatchServer(lambda body: "3\n4") as server:
        model = at(server)
        model.settle(PromptForm.COMPLETION)
        assert done(model, taken)["a"][0].text == "3"  # up to the stop string
    assert server.submitted[0].endpoint == "/v1/completions"
    assert server.submitted[0].requests[0]["body"]["prompt"] == "1, 2,"


def test_what_is_refused_by_a_filter_is_refused_and_what_is_too_long_is_not_asked_for_again(at: Opener) -> None:
    flagged = answered(at, BatchServer, error(400, "The response was filtered", code="content_filter"))
    assert (flagged[0].state, flagged[1]) == (ReplyState.REFUSED, False)
    too_long = answered(at, BatchServer, error(400, "The maximum context length is 8", code="context_length_exceeded"))
    assert (too_long[0].state, too_long[1]) == (ReplyState.FAILED, False)
    assert too_long[0].detail.startswith("the prompt is too long")


def test_what_a_batch_had_no_time_for_says_so(at: Opener) -> None:
    got, again = answered(at, BatchServer, "", ending=lambda batch: ("expired", []))
    assert (got.state, again) == (ReplyState.FAILED, False)
    assert got.detail == "batch_expired: This request could not be executed in time."


def test_what_is_older_than_the_run_is_not_looked_through(at: Opener) -> None:
    with BatchServer() as server:
        for number in range(230):
            name = f"batch_{number}"
            server.batches[name] = Batch(name, [], MADE + number, {"tabcontam": f"m{number}"})

        async def of_today(batches: OpenAIBatches) -> str | None:
            return await batches.find("m3", MADE + 10_000, ())

        assert done(at(server), of_today) is None
    assert len(server.requests) == 1
