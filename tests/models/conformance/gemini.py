"""Google's Gemini, in the words of the suite."""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

from tabcontam.evidence.base import Capability, Reply, ReplyState, Usage
from tabcontam.models.gemini import provider
from tabcontam.models.gemini.provider import GOOGLE, GeminiModel
from tabcontam.models.gemini.replies import read_answer
from tabcontam.models.thresholds import MOST_THINKING_TOKENS
from tests.loopback_gemini import NAME, GeminiServer, error, model, reply
from tests.loopback_http import Answer, Response
from tests.models.conformance.provider import OTHER, Body, Passing, Provider, Thinker, Told

NO_SYSTEM = error(400, "Developer instruction is not enabled for models/gemma-3-27b-it")
KEY_INVALID = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
WRONG_KEY = error(400, "Please pass a valid one.", "INVALID_ARGUMENT", KEY_INVALID)
ANSWERED: dict[str, Any] = {"candidates": [{"content": {"parts": [{"text": "3"}]}}]}
REFUSALS = (
    "Thinking level MINIMAL is not supported for this model.",
    "Request contains an invalid argument.",
    "Budget 0 is invalid. This model only works in thinking mode.",
)
NO_CANDIDATES: Sequence[object] = (
    None,
    7,
    [],
    {},
    {"candidates": None},
    {"candidates": []},
    {"candidates": {}},
    {"candidates": ["x"]},
)


def over_quota(identifier: str, wait: str = "28s", message: str = "You exceeded your current quota.") -> Response:
    """Google's answer where a quota is spent."""
    quota = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": identifier}]}
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait}
    return error(429, message, "RESOURCE_EXHAUSTED", quota, retry)


MINUTE = over_quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")
DAY = over_quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
NO_FREE_TIER = over_quota("GenerateRequestsPerMinutePerModel", message="Quota exceeded, limit: 0, model: gemini-3-pro")
ELSEWHERE = error(400, "User location is not supported for the API use.", "FAILED_PRECONDITION")


def said(text: str, state: ReplyState, detail: str = "") -> Reply:
    """A reply that costs what is usual on loopback."""
    return Reply(text, state, detail, 3)


def thinker(taken: object, tried: int) -> Thinker:
    """A model that takes this way of being asked to think little."""

    def made() -> Answer:
        refusals = iter(REFUSALS)
        return lambda body: (
            "42" if body["generationConfig"].get("thinkingConfig") == taken else error(400, next(refusals))
        )

    return Thinker(made, tried, taken, MOST_THINKING_TOKENS, models=[model(thinking=True)])


class Gemini(Provider):
    """Gemini and Gemma at Google."""

    name = "gemini"
    server = GeminiServer
    llm = NAME
    module: ClassVar[ModuleType] = provider

    maker = "Google"
    home = "GOOGLE"
    base_url = GOOGLE
    identity: ClassVar[Mapping[str, str]] = {
        "provider": "gemini",
        "address": "https://generativelanguage.googleapis.com",
        "model": f"models/{NAME}",
    }
    capabilities = frozenset(
        {Capability.GENERATE, Capability.CHAT, Capability.SEED, Capability.SAMPLE, Capability.INSTRUCTIONS}
    )
    keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    secrets = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    no_key = "no key for Gemini; set the environment variable GEMINI_API_KEY or GOOGLE_API_KEY"
    environment = (
        "GOOGLE_API_USE_MTLS_ENDPOINT",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_API_VERSION",
        "GOOGLE_GENAI_CLIENT_MODE",
        "GOOGLE_GENAI_HTTP_CLIENT",
        "GOOGLE_GENAI_REPLAYS_DIRECTORY",
        "GOOGLE_GENAI_REPLAY_ID",
        "GOOGLE_GENAI_USE_ENTERPRISE",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_VERTEX_BASE_URL",
    )
    bad_names = ("", " ", "a b", "a/b", "../x", "a..b", "a?key=1", "a#b", "models/", "é", "a\n")

    path = f"/v1beta/models/{NAME}:generateContent"
    sent: ClassVar[Body] = {
        "contents": [
            {"role": "user", "parts": [{"text": "Hi."}]},
            {"role": "model", "parts": [{"text": "Yes?"}]},
            {"role": "user", "parts": [{"text": "Next?"}]},
        ],
        "systemInstruction": {"parts": [{"text": "Short."}], "role": "user"},
        "generationConfig": {"temperature": 0, "seed": 0, "maxOutputTokens": 16},
    }

    replies = (
        (reply("3", tokens=2), Reply("3", ReplyState.OK, "", 2)),
        (reply("half", finish="MAX_TOKENS"), said("half", ReplyState.TRUNCATED, "token limit")),
        (reply(finish="MAX_TOKENS"), said("", ReplyState.TRUNCATED, "token limit")),
        (reply("39, State-g", finish="RECITATION"), said("39, State-g", ReplyState.REFUSED, "recitation")),
        (reply(finish="SAFETY"), said("", ReplyState.REFUSED, "safety")),
        (reply(finish="PROHIBITED_CONTENT"), said("", ReplyState.REFUSED, "prohibited content")),
        (reply(finish="BLOCKLIST"), said("", ReplyState.REFUSED, "blocklist")),
        (reply(finish="SPII"), said("", ReplyState.REFUSED, "sensitive personal information")),
        (
            Response({"promptFeedback": {"blockReason": "SAFETY"}}),
            Reply("", ReplyState.REFUSED, "prompt blocked: safety"),
        ),
        (Response({"promptFeedback": {"blockReason": "NEW"}}), Reply("", ReplyState.REFUSED, "prompt blocked: new")),
        (reply(promptFeedback={"blockReason": "OTHER"}), said("", ReplyState.REFUSED, "prompt blocked: other")),
        (reply(), said("", ReplyState.EMPTY, "no text")),
        (reply(" \n"), said("", ReplyState.EMPTY, "no text")),
        (reply(finish="OTHER"), said("", ReplyState.EMPTY, "stopped: other")),
        (reply("3", finish="BRAND_NEW"), said("3", ReplyState.TRUNCATED, "stopped: brand new")),
        (reply("3", finish=None), said("3", ReplyState.OK)),
        (reply("4", "2"), said("42", ReplyState.OK)),
        (reply({"text": "Hm.", "thought": True}, "42"), said("42", ReplyState.OK)),
        (reply("42", {"functionCall": {"name": "f"}}, {"brandNew": 1}, 7), said("42", ReplyState.OK)),
        (reply("half \ud800 pair"), said("half ? pair", ReplyState.OK)),
    )
    usages = (
        (reply("3", tokens=2, prompt=40), Usage(40, 2)),
        (reply("3", tokens=2, prompt=40, thoughts=500), Usage(40, 502)),
        (reply(finish="SAFETY", tokens=0, prompt=40), Usage(40, 0)),
        (
            Response({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 40}}),
            Usage(40, 0),
        ),
        (reply("3"), None),
        (Response({**ANSWERED, "usageMetadata": {"promptTokenCount": "many"}}), None),
        (Response({**ANSWERED, "usageMetadata": [40]}), None),
    )
    failed = (
        (error(400, "two\n lines\x1b[0m"), "HTTP 400: two lines [0m"),
        (error(413, "too long"), "HTTP 413: too long"),
        (Response({"error": "plain"}, 400), "HTTP 400: plain"),
        (Response([{"error": {"message": "in a list"}}], 400), "HTTP 400: in a list"),
        (Response(raw=b"<html>Bad", status=400), "HTTP 400"),
        (Response(7, 400), "HTTP 400"),
    )
    passing = (
        (MINUTE, Passing("429", crowded=True, sent=False)),
        (error(503, "overloaded", "UNAVAILABLE"), Passing("503", crowded=True, sent=False)),
        (error(408, "late"), Passing("408", crowded=True)),
        (error(504, "late", "DEADLINE_EXCEEDED"), Passing("504", crowded=True)),
        (error(529, "busy"), Passing("529")),
        (error(500, "oops", "INTERNAL"), Passing("500")),
        (Response(raw=b"<html>Bad Gateway", status=502), Passing("502")),
        (Response({"a": 1}, cut=True), Passing("cut connection")),
        *(
            (Response(raw=raw), Passing("broken JSON"))
            for raw in (b"", b'{"candidates": [', b"\xff\xfe", b"[" * 200_000)
        ),
        (Response(raw=b"<html>"), Passing("web page")),
        (Response(raw=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), Passing("broken JSON")),
        # A small quota is not the end.
        *(
            (
                over_quota("GenerateRequestsPerMinute", message=f"Quota exceeded, {limit}"),
                Passing("429", crowded=True, sent=False),
            )
            for limit in ("limit: 0.5", "limit: 10", "limit: 20, please check your plan and billing")
        ),
    )
    no_reply = (
        *((body, "the reply holds no candidate") for body in NO_CANDIDATES),
        # An error sent as a reply is told.
        ({"error": {"code": 503, "message": "overloaded"}}, "the reply holds no candidate: overloaded"),
    )
    waits = (
        (MINUTE, 28.0),
        (over_quota("PerMinute", "1.5s"), 1.5),
        (over_quota("PerMinute", "soon"), None),
        (over_quota("PerMinute", "-3s"), None),
        (Response(MINUTE.body, 429, {"Retry-After": "7"}), 7.0),
        (Response({}, 503, {"Retry-After": "3600"}), 3600.0),
        (Response({}, 503, {"Retry-After": "later"}), None),
        (Response({}, 503), None),
    )
    fatal = (
        (WRONG_KEY, "refused the key in TABCONTAM_API_KEY; check it"),
        (error(400, "API key expired. Please renew the API key."), "refused the key in"),
        (error(401, "no", "UNAUTHENTICATED"), "refused the key in"),
        (error(403, "Your API key was reported as leaked.", "PERMISSION_DENIED"), "refused the key in"),
        (error(404, "gone", "NOT_FOUND"), f"does not offer {NAME}, or no longer does; name another model"),
        (DAY, "grants the key in TABCONTAM_API_KEY no more requests today; run the same command again tomorrow"),
        (NO_FREE_TIER, f"does not let the key in TABCONTAM_API_KEY use {NAME}; set up billing"),
        (error(429, "Your prepayment credits are depleted."), "add credits"),
        (error(429, "Your project has exceeded its monthly spending cap."), "only with valid billing"),
        (error(402, "Payment required.", "RESOURCE_EXHAUSTED"), "only with valid billing"),
        (error(403, "This API method requires billing to be enabled.", "PERMISSION_DENIED"), "only with valid billing"),
        (error(400, "Free tier is not available here.", "FAILED_PRECONDITION"), "only with valid billing"),
        (ELSEWHERE, "does not serve the region of this computer; ask from another region"),
    )
    fatal_line = r"^the server at http://127\.0\.0\.1:\d+ .*; it answered HTTP 4\d\d: "
    timed_out = "timed out after 0.3 s"
    wrong_key = WRONG_KEY
    refused_key = "Google refused the key in GEMINI_API_KEY; check it"
    moved = "does not speak the Gemini protocol"

    told = (
        Told([model(version="2.5-002")], NAME, version="version=2.5-002"),
        Told(
            [model(alias="models/gemini-flash-latest")],
            "gemini-flash-latest",
            version=f"version=001 name=models/{NAME}",
        ),
        Told(
            [model(), model("gemini-2.5-pro"), model("gemini-2.5-flash-embed", methods=["embedContent"])],
            "gemini-2.5-flush",
            said="unknown model 'gemini-2.5-flush'; did you mean gemini-2.5-flash or gemini-2.5-pro?",
        ),
        Told([], NAME, said=f"unknown model {NAME!r}; see https://"),
        Told([model(methods=["embedContent"])], NAME, said="answers no prompts"),
    )
    turned_away = (
        (WRONG_KEY, "", "refused the key in TABCONTAM_API_KEY"),
        (error(401, "no"), "", "refused the key in TABCONTAM_API_KEY"),
        (error(403, "leaked", "PERMISSION_DENIED"), OTHER, "refused the key in TABCONTAM_API_KEY"),
        (
            ELSEWHERE,
            "",
            "does not serve the region of this computer; ask from another region; it answered HTTP 400: "
            "User location is not supported for the API use.",
        ),
    )
    other_kind = (
        [b"<html>", b"", b"[" * 100_000, b"7", b'{"name": []}', b"\xff"],
        "does not speak the Gemini protocol",
    )
    silent = "no answer in 0.05 s"
    busy = (error(503, "overloaded", "UNAVAILABLE"), "overloaded", 2)

    refusals = (
        ("seed", error(400, "Unsupported field: seed")),
        ("temperature", error(400, "Unsupported field: temperature")),
        ("systemInstruction", NO_SYSTEM),
    )
    no_schema = (
        error(400, "JSON mode is not enabled for models/gemma-3-27b-it"),
        error(400, 'Invalid JSON payload received. Unknown name "responseJsonSchema"'),
    )
    refuses_all = "no seed, temperature, system instruction"
    thinkers = (
        thinker({"thinking_level": "MINIMAL"}, 1),  # Gemini 3.5 Flash
        thinker({"thinking_level": "LOW"}, 2),  # Gemini 3.8 Flash
        thinker({"thinking_budget": 0}, 3),  # Gemini 2.5 Flash
        thinker(None, 4),  # Gemini 2.5 Pro
    )

    odd = (
        reply("42", {"functionCall": {"name": "f"}}, finish="STOP", promptFeedback={"blockReason": "BRAND_NEW"}),
        [model()],
        "always::UserWarning",
    )
    old = NAME
    noise: ClassVar[Mapping[str, str]] = {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_GENAI_USE_ENTERPRISE": "false"}
    fields = ("candidates", "content", "parts", "text", "thought", "finishReason", "promptFeedback", "usageMetadata")
    readers = (read_answer,)

    def at(self, url: str, name: str = "", connections: int = 8) -> GeminiModel:
        return GeminiModel(name or NAME, address=url, max_connections=connections)

    def own(self, url: str = "") -> GeminiModel:
        return GeminiModel(NAME, address=url or GOOGLE)

    def named(self, name: str, spec: str = "") -> GeminiModel:
        return GeminiModel(name, spec=spec)

    def key(self, headers: Mapping[str, str]) -> str:
        return headers["x-goog-api-key"]

    def error(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
        names = {403: "PERMISSION_DENIED", 503: "UNAVAILABLE"}
        return Response(error(status, message, names.get(status, "INVALID_ARGUMENT")).body, status, headers or {})

    def text(self, text: str, tokens: int = 3, prompt: int | None = None, thoughts: int = 0) -> Response:
        return reply(text, tokens=tokens, prompt=prompt, thoughts=thoughts)

    def thought(self, tokens: int = 16, prompt: int | None = None) -> Response:
        return reply(finish="MAX_TOKENS", tokens=0, thoughts=tokens, prompt=prompt)

    def parameters(self, body: Body) -> Body:
        return {**{name: value for name, value in body.items() if name != "contents"}, **body["generationConfig"]}

    def schema(self, body: Body) -> object:
        return body["generationConfig"].get("responseJsonSchema")

    def room(self, body: Body) -> int:
        return int(body["generationConfig"]["maxOutputTokens"])

    def thinks(self, body: Body) -> object:
        return body["generationConfig"].get("thinkingConfig")

    def listed(self, name: str) -> str:
        return f"/v1beta/models/{name}"

    def leading(self, url: str) -> Mapping[str, str]:
        return {
            "GOOGLE_GEMINI_BASE_URL": url,
            "GOOGLE_VERTEX_BASE_URL": url,
            "GOOGLE_GENAI_USE_VERTEXAI": "true",
            "GOOGLE_GENAI_USE_ENTERPRISE": "true",
            "GOOGLE_CLOUD_PROJECT": "project",
            "GOOGLE_CLOUD_LOCATION": "global",
            "GOOGLE_GENAI_API_VERSION": "v9",
            "GOOGLE_GENAI_CLIENT_MODE": "record",
            "GOOGLE_GENAI_HTTP_CLIENT": "nonsense",
        }

    async def client_address(self, model: Any) -> str:
        with model.clients().borrowed() as client:
            return str(client.base_url).rstrip("/").removesuffix("/v1beta")
