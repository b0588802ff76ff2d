"""OpenAI, and whoever speaks its protocol, in the words of the suite."""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

from tabcontam.evidence.base import Capability, Reply, ReplyState, Usage
from tabcontam.models.keys import OPENAI
from tabcontam.models.openai import provider
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.models.openai.replies import chat_answer, completion_answer
from tabcontam.models.thresholds import MOST_THINKING_TOKENS
from tests.loopback import LoopbackServer, error, reply
from tests.loopback_http import Response
from tests.models.conformance.provider import OTHER, SECRET, Body, Passing, Provider, Thinker, Told

LACKS_MAX_TOKENS = error(
    400,
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    param="max_tokens",
    code="unsupported_parameter",
)
LACKS_TEMPERATURE = error(
    400,
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
    param="temperature",
    code="unsupported_value",
)
FORBIDDEN = {"type": "extra_forbidden", "loc": ["body", "temperature"], "msg": "Extra inputs not permitted"}
BARE = {"choices": [{"message": {"content": "42"}}]}
TOTAL = {
    "prompt_tokens": 40,
    "completion_tokens": 2,
    "total_tokens": 542,
    "completion_tokens_details": {"reasoning_tokens": 500},
}
NO_CHOICES: Sequence[object] = (None, [], {}, ["x"])


def said(text: str, state: ReplyState = ReplyState.OK, detail: str = "") -> Reply:
    """A reply that costs what is usual on loopback."""
    return Reply(text, state, detail, 3)


def costing(answer: Response, **usage: int) -> Response:
    """A reply that states more of what it cost."""
    body: Any = answer.body
    return Response({**body, "usage": {**body["usage"], **usage}})


def reasoning(body: Body) -> Response:
    """A model that reasons, as OpenAI's do."""
    if "max_tokens" in body:
        return LACKS_MAX_TOKENS
    if "temperature" in body:
        return LACKS_TEMPERATURE
    return reply("42", reasoning=100)


class OpenAI(Provider):
    """OpenAI's protocol, in its chat form."""

    name = "openai"
    server = LoopbackServer
    llm = "model"
    module: ClassVar[ModuleType] = provider

    maker = "OpenAI"
    home = "OPENAI"
    base_url = OPENAI
    identity: ClassVar[Mapping[str, str]] = {
        "provider": "openai",
        "address": "https://api.openai.com/v1",
        "model": "model",
    }
    capabilities = frozenset(
        {Capability.GENERATE, Capability.CHAT, Capability.COMPLETION, Capability.SAMPLE, Capability.INSTRUCTIONS}
    )
    keys = ("OPENAI_API_KEY",)
    secrets = ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET")
    no_key = "no key for OpenAI; set the environment variable OPENAI_API_KEY"
    environment = (
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_WEBHOOK_SECRET",
        "OPENAI_BASE_URL",
        "OPENAI_CUSTOM_HEADERS",
    )

    path = "/v1/chat/completions"
    sent: ClassVar[Body] = {
        "model": "model",
        "messages": [
            {"role": "system", "content": "Short."},
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": "Next?"},
        ],
        "temperature": 0,
        "max_tokens": 16,
    }

    replies = (
        (reply("3", tokens=2), Reply("3", ReplyState.OK, "", 2)),
        (reply("half", "length"), said("half", ReplyState.TRUNCATED, "token limit")),
        (reply("", "length"), said("", ReplyState.TRUNCATED, "all tokens went into reasoning")),
        (reply("<think>Hm", "length"), said("", ReplyState.TRUNCATED, "all tokens went into reasoning")),
        (reply("", "content_filter"), said("", ReplyState.REFUSED, "content filter")),
        (reply(None, refusal="I can't\nhelp."), said("", ReplyState.REFUSED, "I can't help.")),
        (reply([{"type": "refusal", "refusal": "No."}]), said("", ReplyState.REFUSED, "No.")),
        (reply(None), said("", ReplyState.EMPTY, "no text")),
        (reply(" \n"), said("", ReplyState.EMPTY, "no text")),
        (reply([{"type": "text", "text": "4"}, {"text": "2"}, 7]), said("42")),
        (reply([{"type": "thinking", "thinking": []}, {"type": "text", "text": "4"}]), said("4")),
        (reply("42\n", finish=7), said("42\n")),  # type: ignore[arg-type]
        (reply("half \ud800 pair"), said("half ? pair")),
        (error(400, "filtered", code="content_filter"), Reply("", ReplyState.REFUSED, "HTTP 400: filtered")),
        # Thinking is left out.
        (reply("<think>Hm.\nWell.</think>\n\n42"), said("42")),
        (reply("\n<think></think><thinking>a</thinking> 42"), said("42")),
        (reply("so it is 42</think>\n42"), said("42")),
        (reply("the tag <think> is mine"), said("the tag <think> is mine")),
        (reply("<think>Hm."), said("", ReplyState.EMPTY, "no text")),
        (reply("42", tokens=2, reasoning=500), Reply("42", ReplyState.OK, "", 2)),
        # A bare reply is one.
        (Response(BARE), Reply("42", ReplyState.OK)),
        (Response({**BARE, "usage": 3}), Reply("42", ReplyState.OK)),
        # An error behind status 200 may be of this request alone.
        (Response({"error": {"message": "odd", "code": 400}}), Reply("", ReplyState.FAILED, "HTTP 400: odd")),
        (
            Response({"error": {"message": "no", "code": "content_filter"}}),
            Reply("", ReplyState.REFUSED, "HTTP 400: no"),
        ),
    )
    usages = (
        (costing(reply("3", tokens=2), prompt_tokens=40), Usage(40, 2)),
        (reply("3"), None),
        (costing(reply("42", tokens=2, reasoning=500), prompt_tokens=40), Usage(40, 502)),
        (Response({**BARE, "usage": TOTAL}), Usage(40, 502)),  # only the total holds the thinking
    )
    failed = (
        (error(400, "two\n lines\x1b[0m"), "HTTP 400: two lines [0m"),
        (Response({"error": "plain"}, 400), "HTTP 400: plain"),
        (Response({"detail": [{"loc": ["body"]}]}, 422), "HTTP 422: [{'loc': ['body']}]"),
        (error(413, "too big"), "HTTP 413: too big"),
        (
            error(429, "Request too large for m: Limit 9, Requested 10"),
            "HTTP 429: Request too large for m: Limit 9, Requested 10",
        ),
    )
    passing = (
        *(
            (error(status, "oops"), Passing(str(status), status in (429, 503, 529), False, f"HTTP {status}: oops"))
            for status in (408, 409, 425, 429, 500, 502, 503, 504, 529)
        ),
        *(
            (Response(raw=raw), Passing("broken JSON"))
            for raw in (b"", b'{"choices": [', b"\xff\xfe", b"[" * 200_000, b"9" * 9000)
        ),
        (Response({"a": 1}, cut=True), Passing("cut connection")),
        (Response(raw=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), Passing("broken JSON")),
        (
            Response(raw=b"<html>Bad", status=400, headers={"Content-Type": "text/html; charset=base64"}),
            Passing("broken reply"),
        ),
        (reply("an er", "error"), Passing("broken reply")),
        (Response({"error": {"message": "overloaded"}}), Passing("503", True, False)),
        (Response({"error": {"message": "slow", "code": 429}}), Passing("429", True, False)),
        (Response({"error": {"message": "slow", "code": "rate_limit_exceeded"}}), Passing("429", True, False)),
        (Response({"error": {"message": "Overloaded", "type": "overloaded_error"}}), Passing("503", True, False)),
        (Response({"error": {"message": "bad gateway", "code": "502"}}), Passing("502", False, False)),
    )
    no_reply = (
        *(({"choices": choices}, "the reply holds no choice") for choices in NO_CHOICES),
        ({"choices": [{}]}, "the reply holds no message"),
        ({"choices": [{"message": "x"}]}, "the reply holds no message"),
        ({"choices": [{"message": {"content": 7}}]}, "the reply's content is no text"),
        ({"choices": [{"message": {"content": {"a": 1}}}]}, "the reply's content is no text"),
    )
    waits = ((error(429, "slow", {"Retry-After": "0.02"}), 0.02), (error(429, "slow"), None))
    needs_no_key = True
    fatal_line = r"http://127\.0\.0\.1:\d+/v1 .*\(HTTP 4\d\d: .*\)$"
    fatal = (
        (error(401, "who are you?"), "wants a key; set the environment variable TABCONTAM_API_KEY"),
        (error(402, "Insufficient Balance"), "quota"),
        (error(429, "You exceeded your current quota.", code="insufficient_quota"), "quota"),
        (error(429, "You exceeded your current quota, please check your plan."), "quota"),
        (error(400, "Billing hard limit has been reached", code="billing_hard_limit_reached"), "quota"),
        (error(403, "Country, region, or territory not supported"), "region"),
        (error(403, "Your project lacks access to the model"), "key"),
        (error(400, "Incorrect API key provided: sk-1***9"), "key"),
        (error(404, "The model `x` does not exist"), "does not offer 'model'"),
        (error(400, "no such thing", code="model_not_found"), "does not offer 'model'"),
        (Response({"error": {"message": "no credits left", "code": 402}}), "quota"),
    )
    timed_out = "timed out after 0.3 s"
    wrong_key = error(401, "Incorrect API key provided")
    refused_key = "OpenAI refused the key in OPENAI_API_KEY; check its permissions"
    moved = "correct the address"

    told = (
        Told(
            [{"id": "model", "created": 1715367049, "root": "org/weights"}, "other"],
            "model",
            version="created=1715367049 root=org/weights",
        ),
        # The ways in which servers list a name.
        *(Told([listed], "llama3") for listed in ("llama3", "llama3:latest", "models/llama3")),
        Told(
            ["llama3.1-8b", "qwen"], "llama3.1-8B-it", said="unknown model 'llama3.1-8B-it'; did you mean llama3.1-8b"
        ),
    )
    turned_away = (
        *(
            (error(status, f"Incorrect API key provided: {OTHER}"), key, words)
            for status in (401, 403)
            for key, words in (
                ("", "wants a key; set the environment variable TABCONTAM_API_KEY"),
                (OTHER, "refused the key in TABCONTAM_API_KEY"),
            )
        ),
        (error(403, "Country, region, or territory not supported"), OTHER, "territory not supported"),
    )
    other_kind = ([b"<html>", b"\xff", b"[" * 200_000], "does not speak OpenAI's protocol")
    absent = "no server answers at {}; start it"
    busy = (error(503, "loading"), "it answered HTTP 503: loading", 1)

    refusals = (
        ("temperature", error(400, "unknown token near temperature")),
        ("temperature", Response({"detail": [FORBIDDEN]}, 422)),
        ("max_tokens", LACKS_MAX_TOKENS),
    )
    no_schema = (
        error(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
        error(400, "This response_format type is unavailable now"),
        error(422, "Extra inputs are not permitted: response_format"),
    )
    refuses_all = "unsupported: temperature, stop, max_tokens, max_completion_tokens"
    thinkers = (
        Thinker(lambda: reasoning, 3, {"max_completion_tokens": 16 + MOST_THINKING_TOKENS}, MOST_THINKING_TOKENS),
    )

    odd = (reply("42"), ["model"], "always")
    old = "model"
    fields = ("choices", "message", "content", "text", "type", "refusal", "finish_reason", "usage", "completion_tokens")
    readers = (chat_answer, completion_answer)

    def at(self, url: str, name: str = "", connections: int = 8) -> OpenAIModel:
        return OpenAIModel(name or "model", url, max_connections=connections)

    def own(self, url: str = "") -> OpenAIModel:
        return OpenAIModel("model", None)

    def named(self, name: str, spec: str = "") -> OpenAIModel:
        return OpenAIModel(name, None, spec=spec)

    def key(self, headers: Mapping[str, str]) -> str:
        return headers["authorization"].removeprefix("Bearer ")

    def error(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
        return error(status, message, headers)

    def text(self, text: str, tokens: int = 3, prompt: int | None = None, thoughts: int = 0) -> Response:
        made = reply(text, tokens=tokens, reasoning=thoughts)
        return made if prompt is None else costing(made, prompt_tokens=prompt)

    def thought(self, tokens: int = 16, prompt: int | None = None) -> Response:
        made = reply("", "length", 0, tokens)
        return made if prompt is None else costing(made, prompt_tokens=prompt)

    def parameters(self, body: Body) -> Body:
        return {name: value for name, value in body.items() if name not in ("model", "messages")}

    def schema(self, body: Body) -> object:
        form = body.get("response_format", {"json_schema": {"schema": None}})
        return form["json_schema"]["schema"]

    def room(self, body: Body) -> int:
        return int(body.get("max_tokens") or body["max_completion_tokens"])

    def thinks(self, body: Body) -> object:
        return {name: body[name] for name in ("max_tokens", "max_completion_tokens") if name in body}

    def listed(self, name: str) -> str:
        return "/v1/models"

    def leading(self, url: str) -> Mapping[str, str]:
        return {
            "OPENAI_BASE_URL": url,
            "OPENAI_CUSTOM_HEADERS": f"X-Key: {SECRET}\nAuthorization: Bearer {SECRET}",
            **dict.fromkeys(self.environment[:4], SECRET),
        }

    async def client_address(self, model: Any) -> str:
        with model.clients().borrowed() as client:
            return str(client.base_url).rstrip("/")
