"""Anthropic, in the words of the suite."""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

from tabcontam.evidence.base import Capability, Reply, ReplyState, Usage
from tabcontam.models.anthropic import provider
from tabcontam.models.anthropic.provider import ANTHROPIC, AnthropicModel
from tabcontam.models.anthropic.replies import read_answer
from tabcontam.models.thresholds import MOST_THINKING_TOKENS
from tests.loopback_anthropic import CREATED, NAME, AnthropicServer, error, model, reply
from tests.loopback_http import Answer, Response
from tests.models.conformance.provider import OTHER, SECRET, Body, Passing, Provider, Thinker, Told

THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
WRONG_KEY = error(401, "invalid x-api-key", "authentication_error")
NO_TEMPERATURE = error(400, "`temperature` is deprecated for this model.")
OVERLOADED = error(529, "Overloaded", "overloaded_error")
BUSY = error(429, "Number of requests has exceeded your rate limit.", "rate_limit_error")
NO_CONTENT: Sequence[object] = (None, "x", {})


def said(text: str, state: ReplyState, detail: str = "", tokens: int = 3) -> Reply:
    """A reply that costs what is usual on loopback."""
    return Reply(text, state, detail, tokens, Usage(12, tokens))


def picky(taken: str | None, effort: bool = True) -> Answer:
    """A model that takes no temperature, and only this way to be told not to think."""

    def answer(body: Body) -> str | Response:
        if "temperature" in body:
            return NO_TEMPERATURE
        way = body.get("thinking", {}).get("type")
        if way is not None and way != taken:
            return error(400, f'"thinking.type.{way}" is not supported for this model.')
        if "output_config" in body and not effort:
            return error(400, "This model does not support the effort parameter.")
        if way is None:
            enough = body["max_tokens"] > 16
            return reply(THOUGHT, "42", thoughts=500) if enough else reply(THOUGHT, stop="max_tokens", thoughts=16)
        return "42"

    return answer


def pickily(taken: str | None, effort: bool = True) -> Callable[[], Answer]:
    """Such a model, made anew."""
    return lambda: picky(taken, effort)


class Anthropic(Provider):
    """Claude at Anthropic."""

    name = "anthropic"
    server = AnthropicServer
    llm = NAME
    module: ClassVar[ModuleType] = provider

    maker = "Anthropic"
    home = "ANTHROPIC"
    base_url = ANTHROPIC
    identity: ClassVar[Mapping[str, str]] = {
        "provider": "anthropic",
        "address": "https://api.anthropic.com",
        "model": NAME,
    }
    capabilities = frozenset({Capability.GENERATE, Capability.CHAT, Capability.SAMPLE, Capability.INSTRUCTIONS})
    keys = ("ANTHROPIC_API_KEY",)
    secrets = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    no_key = "no key for Anthropic; set the environment variable ANTHROPIC_API_KEY"
    environment = (
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CONFIG_DIR",
        "ANTHROPIC_CUSTOM_HEADERS",
        "ANTHROPIC_PROFILE",
    )
    bad_names = ("", " ", "a b", "../x", ".", "a?key=1", "a#b", "é", "a\n", "a" * 300)

    path = "/v1/messages"
    sent: ClassVar[Body] = {
        "model": NAME,
        "max_tokens": 16,
        "system": "Short.",
        "messages": [
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": "Next?"},
        ],
        "temperature": 0,
        "thinking": {"type": "disabled"},
    }

    replies = (
        (reply("3", tokens=2), said("3", ReplyState.OK, tokens=2)),
        (reply("half", stop="max_tokens"), said("half", ReplyState.TRUNCATED, "token limit")),
        (reply("half", stop="model_context_window_exceeded"), said("half", ReplyState.TRUNCATED, "token limit")),
        (reply(stop="max_tokens"), said("", ReplyState.TRUNCATED, "token limit")),
        (reply(stop="refusal"), said("", ReplyState.REFUSED, "refusal")),
        (reply("39, State-g", stop="refusal"), said("39, State-g", ReplyState.REFUSED, "refusal")),
        (
            reply(stop="refusal", stop_details={"type": "refusal", "category": "general_harms"}),
            said("", ReplyState.REFUSED, "refusal: general harms"),
        ),
        (reply(stop="refusal", stop_details={"category": 7}), said("", ReplyState.REFUSED, "refusal")),
        (
            error(400, "Output blocked by content filtering policy"),
            Reply("", ReplyState.REFUSED, "HTTP 400: Output blocked by content filtering policy"),
        ),
        (reply(), said("", ReplyState.EMPTY, "no text")),
        (reply(" \n"), said("", ReplyState.EMPTY, "no text")),
        (reply(stop="pause_turn"), said("", ReplyState.EMPTY, "stopped: pause turn")),
        (reply("3", stop="brand_new"), said("3", ReplyState.TRUNCATED, "stopped: brand new")),
        (reply("3", stop="stop_sequence"), said("3", ReplyState.OK)),
        (reply("3", stop=None), said("3", ReplyState.OK)),
        (reply("4", "2"), said("42", ReplyState.OK)),
        (reply(THOUGHT, "42"), said("42", ReplyState.OK)),
        (reply("42", {"type": "tool_use"}, {"brandNew": 1}, 7), said("42", ReplyState.OK)),
        (reply({"type": "text", "text": 7}, {"type": "text", "text": "42"}), said("42", ReplyState.OK)),
        (reply("half \ud800 pair"), said("half ? pair", ReplyState.OK)),
    )
    usages = (
        (reply("3", tokens=2, read=40), Usage(40, 2)),
        (reply("3", tokens=2, read=40, thoughts=500), Usage(40, 502)),
        (reply("3", usage={"input_tokens": 4, "cache_read_input_tokens": 30, "output_tokens": 2}), Usage(34, 2)),
        (reply("3", usage={"input_tokens": "many", "output_tokens": 2}), None),
        (reply("3", usage=[40]), None),
    )
    failed = (
        (error(400, "two\n lines\x1b[0m"), "HTTP 400: two lines [0m"),
        (
            error(400, "prompt is too long: 208310 tokens > 200000 maximum"),
            "the prompt is too long: HTTP 400: prompt is too long: 208310 tokens > 200000 maximum",
        ),
        (
            error(413, "Request exceeds the maximum size", "request_too_large"),
            "HTTP 413: Request exceeds the maximum size",
        ),
        (Response({"error": "plain"}, 400), "HTTP 400: plain"),
        (Response(raw=b"<html>Bad", status=400), "HTTP 400"),
        (Response(7, 400), "HTTP 400"),
    )
    passing = (
        (BUSY, Passing("429", crowded=True, sent=False)),
        (OVERLOADED, Passing("529", crowded=True, sent=False)),
        (error(408, "late", "timeout_error"), Passing("408")),
        (error(504, "late", "timeout_error"), Passing("504")),
        (error(500, "oops", "api_error"), Passing("500")),
        (Response(raw=b"<html>Bad Gateway", status=502), Passing("502")),
        (Response({"a": 1}, cut=True), Passing("cut connection")),
        (Response(raw=b"["), Passing("broken JSON")),
        (Response(raw=b"\xff\xfe"), Passing("broken JSON")),
        (Response(raw=b"[" * 200_000), Passing("broken JSON")),
        (Response(raw=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), Passing("broken JSON")),
    )
    no_reply = (
        *(({"content": content}, "the reply holds no content") for content in NO_CONTENT),
        # An error sent as a reply is told.
        (OVERLOADED.body, "the reply holds no content: Overloaded"),
    )
    waits = (
        (error(429, "slow down", "api_error", {"Retry-After": "7"}), 7.0),
        (error(529, "slow down", "api_error", {"Retry-After": "7"}), 7.0),
        (error(429, "slow down", "api_error", {"Retry-After": "soon"}), None),
        (error(429, "slow down", "api_error"), None),
        # A limit that ends soon is not the end.
        (
            error(
                429,
                "This would exceed a ramp limit.",
                "rate_limit_error",
                {"retry-after": "9"},
                code="ramp_limit_exceeded",
            ),
            9.0,
        ),
        *(
            (
                error(
                    429,
                    "slow down",
                    "api_error",
                    {"anthropic-ratelimit-requests-remaining": left, "anthropic-ratelimit-requests-reset": "x"},
                ),
                None,
            )
            for left in ("3", "0")
        ),
    )
    fatal = (
        (WRONG_KEY, "refused the key in TABCONTAM_API_KEY; check the key"),
        (error(403, "Your API key does not have permission.", "permission_error"), "refused the key in"),
        (error(403, "Request not allowed", "forbidden"), "does not serve the region of this computer"),
        (error(404, f"model: {NAME}", "not_found_error"), f"does not offer {NAME}, or no longer does; name another"),
        (error(402, "Check your payment details.", "billing_error"), "the credit or spend limit"),
        (
            error(400, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."),
            "raise it, and run this again",
        ),
        (
            error(400, "You have reached your specified API usage limits. You will regain access on 2026-12-01."),
            "the credit or spend limit",
        ),
        (
            error(
                429, "You have reached the limit of your tier.", "rate_limit_error", code="enforced_spend_limit_reached"
            ),
            "the credit or spend limit",
        ),
        (Response({"detail": "Method Not Allowed"}, 405), "does not speak Anthropic's protocol"),
    )
    fatal_line = r"http://127\.0\.0\.1:\d+ .*; it answered HTTP 4\d\d: "
    timed_out = "timed out after 0.3 s"
    wrong_key = WRONG_KEY
    refused_key = "Anthropic refused the key in ANTHROPIC_API_KEY; check the key"
    moved = "does not speak Anthropic's protocol"

    told = (
        Told([model()], NAME, version=f"created={CREATED}"),
        Told(
            [model("claude-haiku-4-5-20251001", alias="claude-haiku-4-5")],
            "claude-haiku-4-5",
            version=f"created={CREATED} name=claude-haiku-4-5-20251001",
        ),
        Told(
            [model("claude-haiku-4-5"), model("claude-sonnet-5-5")],
            "claude-sonett-5-5",
            said="unknown model 'claude-sonett-5-5'; did you mean claude-sonnet-5-5?",
        ),
        Told([], NAME, said=f"unknown model {NAME!r}; see https://"),
        Told([model(lifecycle="retired")], NAME, said=f"has retired {NAME}; name another model"),
    )
    turned_away = (
        (WRONG_KEY, OTHER, "refused the key in TABCONTAM_API_KEY"),
        (error(403, "no use of this", "permission_error"), OTHER, "refused the key in TABCONTAM_API_KEY"),
        (WRONG_KEY, "", "wants a key; set the environment variable TABCONTAM_API_KEY"),
        (error(410, "retired", "not_found_error"), "", f"does not offer {NAME}, or no longer does; name another model"),
    )
    other_kind = ([b"<html>", b"", b"[" * 100_000, b"7", b'{"id": []}', b"\xff"], "does not speak Anthropic's protocol")
    silent = "no answer in 0.05 s"
    busy = (
        error(529, "Overloaded", "overloaded_error", {"retry-after-ms": "1"}),
        "does not describe the model; it answered HTTP 529: Overloaded",
        2,
    )

    refusals = (("temperature", NO_TEMPERATURE), ("system", error(400, "System role not supported")))
    no_schema = (
        error(400, "output_config.format: Extra inputs are not permitted"),
        error(400, "'claude-3-haiku-20240307' does not support output format."),
        error(400, "Structured outputs are not available for this model."),
    )
    refuses_all = "no temperature, no thinking, no effort"
    thinkers = (
        Thinker(pickily("disabled"), 2, {"thinking": {"type": "disabled"}}, 0),  # Claude Opus 4.7, Sonnet 5
        Thinker(pickily("between_tools"), 3, {"thinking": {"type": "between_tools"}}, 0),  # Claude Sonnet 5.5
        Thinker(
            pickily(None), 4, {"output_config": {"effort": "low"}}, MOST_THINKING_TOKENS
        ),  # Claude Opus 5.5, Fable 5
        Thinker(pickily(None, effort=False), 5, {}, MOST_THINKING_TOKENS),
    )

    odd = (reply("42"), [model("claude-opus-4-5")], "always")
    old = "claude-opus-4-5"
    fields = (
        "content",
        "type",
        "text",
        "usage",
        "stop_reason",
        "stop_details",
        "category",
        "error",
        "details",
        "message",
    )
    readers = (read_answer,)

    def at(self, url: str, name: str = "", connections: int = 8) -> AnthropicModel:
        return AnthropicModel(name or NAME, address=url, max_connections=connections)

    def own(self, url: str = "") -> AnthropicModel:
        return AnthropicModel(NAME)

    def named(self, name: str, spec: str = "") -> AnthropicModel:
        return AnthropicModel(name, spec=spec)

    def key(self, headers: Mapping[str, str]) -> str:
        return headers["authorization"].removeprefix("Bearer ")

    def error(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
        return error(status, message, "api_error", headers)

    def text(self, text: str, tokens: int = 3, prompt: int | None = None, thoughts: int = 0) -> Response:
        return reply(text, tokens=tokens, thoughts=thoughts, read=12 if prompt is None else prompt)

    def thought(self, tokens: int = 16, prompt: int | None = None) -> Response:
        return reply(THOUGHT, stop="max_tokens", tokens=0, thoughts=tokens, read=12 if prompt is None else prompt)

    def parameters(self, body: Body) -> Body:
        return {name: value for name, value in body.items() if name not in ("model", "messages", "max_tokens")}

    def schema(self, body: Body) -> object:
        return body.get("output_config", {}).get("format", {}).get("schema")

    def room(self, body: Body) -> int:
        return int(body["max_tokens"])

    def thinks(self, body: Body) -> object:
        return {name: body[name] for name in ("thinking", "output_config") if name in body}

    def listed(self, name: str) -> str:
        return f"/v1/models/{name}"

    def leading(self, url: str) -> Mapping[str, str]:
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_CUSTOM_HEADERS": f"X-Gateway: {SECRET}\nAuthorization: Bearer {SECRET}",
            "ANTHROPIC_PROFILE": "nobody",
        }

    async def client_address(self, model: Any) -> str:
        with model.clients().borrowed() as client:
            return str(client.base_url).rstrip("/")
