"""What Anthropic's batches alone do. What all batches do is in `tests.models.conformance`."""

import time

import pytest

from tabcontam.evidence.base import ReplyState
from tabcontam.models.anthropic.provider import AnthropicBatches
from tests.loopback_anthropic import NAME
from tests.loopback_anthropic_batches import AnthropicBatchServer
from tests.loopback_batches import Batch
from tests.models.conformance.anthropic import Anthropic
from tests.models.conformance.batching import NAMES, Opener, answered, done
from tests.models.conformance.provider import SECRET
from tests.needed import needed

sdk = needed("anthropic")

NOW = time.time()


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Opener:
    """A model at a server that passes for Anthropic's own."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    return lambda server: Anthropic().passes(server, monkeypatch)


@pytest.mark.slow
def test_the_servers_batches_are_those_that_the_official_client_takes() -> None:
    with AnthropicBatchServer(lambda body: "fine", looks=2) as server:
        client = sdk.Anthropic(api_key=SECRET, base_url=server.url, max_retries=0)
        params = {"model": NAME, "max_tokens": 8, "messages": [{"role": "user", "content": "?"}]}
        made = client.messages.batches.create(requests=[{"custom_id": "one", "params": params}])
        looks = [client.messages.batches.retrieve(made.id).processing_status for _ in range(2)]
        assert looks == ["in_progress", "ended"]
        (held,) = client.messages.batches.results(made.id)
        assert (held.custom_id, held.result.message.content[0].text) == ("one", "fine")
        assert [batch.id for batch in client.messages.batches.list(limit=10)] == [made.id]
        client.messages.batches.cancel(made.id)
        client.close()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "reason"), [
    ("expired", "the batch expired before it was answered"),
    ("canceled", "the batch was cancelled before it was answered"),
    ("other", "the batch holds no reply to this request"),
])  # fmt: skip
def test_what_a_batch_did_not_answer_says_why(kind: str, reason: str, at: Opener) -> None:
    got, again = answered(at, AnthropicBatchServer, "", unanswered=kind)
    assert (got.state, got.detail, again) == (ReplyState.FAILED, reason, False)


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


@pytest.mark.slow
def test_a_batch_whose_id_was_lost_is_told_by_its_time_its_size_and_its_requests(at: Opener) -> None:
    others = [held(number, NOW - 2 * number, ("x", "y")) for number in range(2, 150)]
    assert found(at, *others, held(150, NOW - 200), held(151, NOW - 9000)) == "b150"
    assert found(at, *others) is None
    assert found(at, held(1, NOW - 9000), held(2, NOW, ("a",))) is None
    assert found(at, held(1, NOW + 2, status=""), held(2, NOW + 60, ("x", "y"), "")) == "b1"
