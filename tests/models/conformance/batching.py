"""The batches of each provider, in the words of the suite."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tabcontam.evidence.base import Reply
from tabcontam.models.base import FatalError, TransientError
from tests import loopback, loopback_anthropic, loopback_gemini
from tests.loopback_anthropic_batches import AnthropicBatchServer
from tests.loopback_batches import Batching, BatchServer, Ending, Line
from tests.loopback_gemini_batches import GeminiBatchServer
from tests.loopback_http import Response
from tests.models.conformance.provider import ASKED, Body, within

NAMES = ("a", "b")
Found = TypeVar("Found")
Replies = dict[str, tuple[Reply, bool]]
Opener = Callable[[Any], Any]  # a model at a server that passes for its maker's


@dataclass(frozen=True, kw_only=True)
class Batched:
    """What a provider's batch API has of its own."""

    server: type[Batching]
    ways: Sequence[Mapping[str, Any]] = ({},)  # in which the server may answer
    body: Callable[[Line], Body]  # of a request in a batch
    mark: object  # what is on a batch that was sent under the mark "m"
    faults: Sequence[tuple[Response, bool]]  # what comes in place of a reply, and whether another may be better
    refused: Response
    left_out: Callable[[Mapping[str, Any]], bool]  # whether a request is written without what was refused
    endings: Sequence[tuple[Ending, str, bool]] = ()  # how a batch ends badly, what is said, and whether it is crowded
    junk: Sequence[Any]  # results that are none, and those named c and d that say nothing
    command: str  # what cancels the batch b1
    no_batch: Sequence[tuple[Response, type[Exception], str]]  # why none is taken


OPENAI = Batched(
    server=BatchServer,
    body=lambda line: line["body"],
    mark={"tabcontam": "m"},
    faults=(
        (loopback.error(429, "slow down"), True),
        (loopback.error(500, "oops"), True),
        (Response({"choices": []}), True),
        (loopback.error(400, "The maximum context length is 8", code="context_length_exceeded"), False),
    ),
    refused=loopback.error(400, "Unsupported parameter: 'temperature' is not supported", param="temperature"),
    left_out=lambda written: "temperature" not in written,
    endings=(
        (("expired", []), "the batch expired before it was answered", False),
        (("cancelled", []), "the batch was cancelled before it was answered", False),
        (("failed", [{"code": "invalid_json", "message": "line 3"}]), "the batch failed: invalid_json: line 3", False),
        (
            ("failed", [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]),
            "the batch failed: token_limit_exceeded: Enqueued token limit reached",
            True,
        ),
    ),
    junk=(b"{", b"[]", b'{"custom_id": 3}', b"\xff\xfe", b'{"custom_id": "c", "response": 7}', b'{"custom_id": "d"}'),
    command='curl -X POST {}/batches/b1/cancel -H "Authorization: Bearer $OPENAI_API_KEY"',
    no_batch=(
        (
            loopback.error(400, "no batches of this model"),
            FatalError,
            "OpenAI accepts no batch of model: HTTP 400: no batches of this model",
        ),
        (loopback.error(401, "Incorrect API key provided"), FatalError, "refused the key in OPENAI_API_KEY"),
        (loopback.error(429, "Enqueued token limit reached"), TransientError, "Enqueued token limit reached"),
        *(
            (Response({"id": name, "status": "validating"}), TransientError, "the reply names no batch")
            for name in ("b; rm -rf ~", "../files", "", None, 7, "x" * 201)
        ),
    ),
)

ANTHROPIC = Batched(
    server=AnthropicBatchServer,
    body=lambda line: line["params"],
    mark="",
    faults=(
        (loopback_anthropic.error(529, "busy", "overloaded_error"), True),
        (loopback_anthropic.error(500, "oops", "api_error"), True),
        (Response({"content": 3}), True),
        (loopback_anthropic.error(400, "something odd"), False),
        (loopback_anthropic.error(413, "too large", "request_too_large"), False),
    ),
    refused=loopback_anthropic.error(400, "thinking.type: disabled is not supported by this model"),
    left_out=lambda written: written["thinking"] == {"type": "between_tools"},  # although both requests said so
    junk=(
        b"{",
        b"[]",
        b'{"custom_id": 3}',
        b'{"custom_id": "c", "result": 7}',
        b'{"custom_id": "d", "result": {"type": "errored", "error": {"error": {"type": ["x"]}}}}',
    ),
    command='curl -X POST -H "x-api-key: $ANTHROPIC_API_KEY" -H "anthropic-version: 2023-06-01" '
    "{}/v1/messages/batches/b1/cancel",
    no_batch=(
        (loopback_anthropic.error(400, "no batches of this model"), FatalError, "no batches of this model"),
        (loopback_anthropic.error(401, "invalid x-api-key", "authentication_error"), FatalError, "refused the key"),
        (loopback_anthropic.error(429, "slow", "rate_limit_error"), TransientError, "slow"),
        (Response({"id": "../b"}), TransientError, "names no batch"),
    ),
)

GEMINI = Batched(
    server=GeminiBatchServer,
    ways=({}, {"as_result": True}),
    body=lambda line: line["request"],
    mark="tabcontam-m",
    faults=(
        (loopback_gemini.error(13, "internal"), True),
        (loopback_gemini.error(429, "slow down", "RESOURCE_EXHAUSTED"), True),
        (loopback_gemini.error(8, "Quota exceeded for requests per day", "RESOURCE_EXHAUSTED"), True),
        (Response({"candidates": []}), True),
        (loopback_gemini.error(3, "Request contains something odd"), False),
    ),
    refused=loopback_gemini.error(3, "Developer instruction is not enabled for models/gemma-3-27b-it"),
    left_out=lambda written: "systemInstruction" not in written,
    endings=(
        (("BATCH_STATE_EXPIRED", {}), "the batch expired before it was answered", False),
        (("BATCH_STATE_CANCELLED", {}), "the batch was cancelled before it was answered", False),
        (("BATCH_STATE_FAILED", {"code": 3, "message": "bad file"}), "the batch failed: bad file", False),
        (("BATCH_STATE_FAILED", {"code": 8, "message": "too many tokens"}), "the batch failed: too many tokens", True),
        (("JOB_STATE_SUCCEEDED", {}), "", False),
    ),
    junk=(
        7,
        {},
        {"metadata": "a"},
        {"metadata": {"key": 3}},
        {"metadata": {"key": "c"}},
        {"metadata": {"key": "d"}, "error": {"code": "x", "message": ["y"]}},
    ),
    command='curl -X POST -H "x-goog-api-key: $GEMINI_API_KEY" {}/v1beta/batches/b1:cancel',
    no_batch=(
        (loopback_gemini.error(400, "no batches of this model"), FatalError, "no batches of this model"),
        (loopback_gemini.error(404, "gone"), FatalError, "Google does not offer .*; name another model"),
        (loopback_gemini.error(429, "slow"), TransientError, "slow"),
        (Response({"name": "batches/a b"}), TransientError, "names no batch"),
    ),
)


def done(model: Any, work: Callable[[Any], Awaitable[Found]]) -> Found:
    """What comes of work with the batches of a model."""
    assert model.batches
    return within(model, lambda: work(model.batches))


async def submitted(batches: Any) -> str:
    """A batch that was sent."""
    found: str = await batches.submit([batches.written(name, ASKED) for name in NAMES], "m")
    return found


async def read(batches: Any, batch: str, sent: Any) -> Replies:
    """For each request its reply, and whether another may be better."""
    return {result.name: batches.read(result, ASKED, sent) async for result in batches.results(batch)}


async def finished(batches: Any, batch: str, sent: Any) -> Replies:
    """What comes of a batch once it has ended."""
    while not (await batches.standing(batch)).ended:
        pass
    return await read(batches, batch, sent)


async def taken(batches: Any) -> Replies:
    """What comes of a batch that is sent."""
    sent = batches.sent
    return await finished(batches, await submitted(batches), sent)


def answered(at: Opener, server: Callable[..., Batching], answer: str | Response, **named: Any) -> tuple[Reply, bool]:
    """What comes of a request whose batch answers it so."""
    with server(lambda body: answer, **named) as held:
        return done(at(held), taken)["a"]


BATCHES = {"openai": OPENAI, "anthropic": ANTHROPIC, "gemini": GEMINI}
