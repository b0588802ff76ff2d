"""The `gemini:` provider over the real SDK, against a server on loopback that speaks the Gemini protocol."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Message, Prompt, Reply, State, Usage
from tabcontam.subjects.base import THINKING, FatalError, Form, Request, SpentError, TransientError
from tabcontam.subjects.gemini import provider
from tabcontam.subjects.gemini.provider import GOOGLE, GeminiModel
from tabcontam.subjects.gemini.replies import read_answer
from tabcontam.subjects.openai.errors import retry_after
from tabcontam.subjects.served import PLACEHOLDER
from tests.loopback import Response
from tests.loopback_gemini import NAME, GeminiServer, error, model, reply
from tests.needed import needed

needed("google.genai")

Outcome = TypeVar("Outcome")
Trouble = TypeVar("Trouble", TransientError, FatalError)
SECRET = "AIza-secret-0123456789abcdef"  # no real key
OTHER = "tk-other-0123456789abcdef"
CHAT = (Message("system", "Short."), Message("user", "Hi."), Message("assistant", "Yes?"), Message("user", "Next?"))
ASKED = Request(Prompt(CHAT, "1, 2,", "Next?", ("\n",)), 16)
USER = [
    {"role": "user", "parts": [{"text": "Hi."}]},
    {"role": "model", "parts": [{"text": "Yes?"}]},
    {"role": "user", "parts": [{"text": "Next?"}]},
]
ENVIRONMENT = (
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "TABCONTAM_API_KEY",
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
NO_SYSTEM = error(400, "Developer instruction is not enabled for models/gemma-3-27b-it")
KEY_INVALID = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
WRONG_KEY = error(400, "Please pass a valid one.", "INVALID_ARGUMENT", KEY_INVALID)


def over_quota(identifier: str, wait: str = "28s", message: str = "You exceeded your current quota.") -> Response:
    """Google's answer where a quota is spent."""
    quota = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": identifier}]}
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait}
    return error(429, message, "RESOURCE_EXHAUSTED", quota, retry)


MINUTE = over_quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")
DAY = over_quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
ANSWERED: dict[str, Any] = {"candidates": [{"content": {"parts": [{"text": "3"}]}}]}
NO_FREE_TIER = over_quota("GenerateRequestsPerMinutePerModel", message="Quota exceeded, limit: 0, model: gemini-3-pro")


@pytest.fixture(autouse=True)
def quick_and_bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting between retries, and nothing of the developer's own environment."""
    monkeypatch.setattr(provider, "CONNECT_WAIT", 0.001)
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def opened(server: GeminiServer, name: str = NAME) -> GeminiModel:
    return GeminiModel(name, address=server.url)


def within(llm: GeminiModel, work: Callable[[], Coroutine[Any, Any, Outcome]]) -> Outcome:
    """Run the work in a loop of its own and close the model in it."""

    async def run() -> Outcome:
        try:
            return await work()
        finally:
            await llm.close()

    return asyncio.run(run())


def ask(llm: GeminiModel, times: int = 1) -> list[Reply]:
    """As many queries at once."""

    async def work() -> list[Reply]:
        return list(await asyncio.gather(*(llm.generate(ASKED) for _ in range(times))))

    return within(llm, work)


def ask_once(llm: GeminiModel) -> Reply:
    return ask(llm)[0]


def answered(response: str | Response) -> Reply:
    """What a single response becomes."""
    with GeminiServer(lambda body: response) as server:
        return ask_once(opened(server))


def trouble(llm: GeminiModel, kind: type[Trouble]) -> Trouble:
    """What asking once raises."""
    with pytest.raises(kind) as caught:
        ask_once(llm)
    assert "\n" not in str(caught.value)
    return caught.value


def trouble_with(response: Response, kind: type[Trouble]) -> Trouble:
    """What a single response raises, at once."""
    with GeminiServer(lambda body: response) as server:
        raised = trouble(opened(server), kind)
    assert len(server.asked) == 1
    return raised


def refusal_to_connect(llm: GeminiModel) -> str:
    with pytest.raises(UsageError) as caught:
        within(llm, llm.connect)
    said = str(caught.value)
    assert "\n" not in said
    return said


class TestOpening:
    def test_needs_no_key_and_no_sdk(self) -> None:
        llm = GeminiModel(NAME, max_connections=3, spec="gemini-2.5")
        assert (llm.spec, llm.form, llm.local, llm.control) == ("gemini-2.5", Form.CHAT, False, False)
        assert llm.capabilities == {
            Capability.GENERATE,
            Capability.CHAT,
            Capability.SEED,
            Capability.SAMPLE,
            Capability.INSTRUCTIONS,
        }
        assert GeminiModel(NAME).spec == f"gemini:{NAME}"
        assert llm.identity == {"provider": "gemini", "address": GOOGLE, "model": f"models/{NAME}"}

    @pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "../x", "a..b", "a?key=1", "a#b", "models/", "é", "a\n"])
    def test_takes_no_name_that_could_be_another_path(self, name: str) -> None:
        with pytest.raises(UsageError, match="bad model name"):
            GeminiModel(name)

    @pytest.mark.parametrize(
        ("name", "path"),
        [(NAME, f"models/{NAME}"), (f"models/{NAME}", f"models/{NAME}"), ("tunedModels/my-x", "tunedModels/my-x")],
    )
    def test_takes_google_s_own_spelling(self, name: str, path: str) -> None:
        with GeminiServer() as server:
            ask_once(opened(server, name))
        assert server.requests[0].path == f"/v1beta/{path}:generateContent"


class TestKey:
    def test_is_wanted_in_one_line(self) -> None:
        llm = GeminiModel(NAME)
        assert refusal_to_connect(llm) == (
            "no key for Gemini; set the environment variable GEMINI_API_KEY or GOOGLE_API_KEY"
        )
        assert str(trouble(llm, FatalError)).startswith("no key for Gemini; set")

    @pytest.mark.parametrize(
        ("environment", "key"),
        [
            ({"GEMINI_API_KEY": SECRET, "GOOGLE_API_KEY": OTHER}, SECRET),
            ({"GOOGLE_API_KEY": SECRET}, SECRET),
            ({"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": SECRET}, SECRET),
        ],
    )
    def test_is_gemini_s_before_google_s(
        self, environment: dict[str, str], key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with GeminiServer() as server:
            monkeypatch.setattr(provider, "GOOGLE", server.url)  # the server takes the part of Google
            ask_once(opened(server))
        assert server.requests[0].headers["x-goog-api-key"] == key

    @pytest.mark.parametrize(("environment", "key"), [({}, PLACEHOLDER), ({"TABCONTAM_API_KEY": OTHER}, OTHER)])
    def test_of_google_goes_to_google_alone(
        self, environment: dict[str, str], key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in {"GEMINI_API_KEY": SECRET, "GOOGLE_API_KEY": SECRET, **environment}.items():
            monkeypatch.setenv(name, value)
        with GeminiServer() as server:
            llm = opened(server)
            within(llm, llm.connect)
            ask_once(llm)
        assert {request.headers["x-goog-api-key"] for request in server.requests} == {key}
        assert SECRET not in json.dumps([[request.path, dict(request.headers)] for request in server.requests])

    def test_goes_where_no_variable_leads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GEMINI_API_KEY", SECRET)
        with GeminiServer() as trap, GeminiServer() as server:
            for name in ("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"):
                monkeypatch.setenv(name, trap.url)
            for name in ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"):
                monkeypatch.setenv(name, "true")
            for name, value in {
                "GOOGLE_CLOUD_PROJECT": "project",
                "GOOGLE_CLOUD_LOCATION": "global",
                "GOOGLE_GENAI_API_VERSION": "v9",
                "GOOGLE_GENAI_CLIENT_MODE": "record",
                "GOOGLE_GENAI_HTTP_CLIENT": "nonsense",
                "HTTP_PROXY": trap.url,
                "ALL_PROXY": trap.url,
            }.items():
                monkeypatch.setenv(name, value)
            assert ask_once(opened(server)).text == "fine"
        assert trap.requests == []
        assert server.requests[0].path == f"/v1beta/models/{NAME}:generateContent"

    def test_goes_to_google_s_address_by_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GEMINI_API_KEY", SECRET)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
        llm = GeminiModel(NAME)

        async def work() -> str:
            return str(llm.connection()._api_client._http_options.base_url)

        assert within(llm, work) == GOOGLE
        assert GOOGLE == "https://generativelanguage.googleapis.com"

    def test_follows_no_redirect(self) -> None:
        with GeminiServer() as trap:
            moved = Response({}, 302, {"Location": f"{trap.url}/v1beta/models/{NAME}:generateContent"})
            assert "does not speak the Gemini protocol" in str(trouble_with(moved, FatalError))
        assert trap.requests == []

    def test_stands_in_no_message(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        refused = error(403, f"the key {OTHER} is bad", "PERMISSION_DENIED")
        with GeminiServer(lambda body: refused, models_response=refused) as server:
            llm = opened(server)
            said = [refusal_to_connect(llm), str(trouble(llm, FatalError)), repr(llm)]
        assert "refused the key in TABCONTAM_API_KEY" in said[0]
        assert "HTTP 403: the key *** is bad" in said[1]
        said.append(str(trouble_with(error(503, f"{OTHER} is busy"), TransientError)))
        said.append(str(trouble_with(Response({"error": OTHER}), TransientError)))
        said.append(answered(error(400, f"{OTHER} cannot say that")).detail)
        assert [text.count("***") for text in said] == [1, 1, 0, 1, 1, 1]
        assert OTHER not in " ".join(said)

    @pytest.mark.parametrize("key", ["two words", "schlüssel"])
    def test_of_odd_characters_is_a_mistake(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GEMINI_API_KEY", key)
        llm = GeminiModel(NAME)
        assert key not in refusal_to_connect(llm)


class TestConnect:
    def test_takes_down_the_version(self) -> None:
        with GeminiServer(models=[model(version="2.5-002")]) as server:
            llm = opened(server)
            within(llm, llm.connect)
        assert llm.version == "version=2.5-002"
        assert llm.local
        assert [(request.method, request.path) for request in server.requests] == [("GET", f"/v1beta/models/{NAME}")]

    def test_takes_down_what_an_alias_stands_for(self) -> None:
        with GeminiServer(models=[model(alias="models/gemini-flash-latest")]) as server:
            llm = opened(server, "gemini-flash-latest")
            within(llm, llm.connect)
        assert llm.version == f"version=001 name=models/{NAME}"

    def test_suggests_the_nearest_names_that_answer(self) -> None:
        models = [model(), model("gemini-2.5-pro"), model("gemini-2.5-flash-embed", methods=["embedContent"])]
        with GeminiServer(models=models) as server:
            said = refusal_to_connect(opened(server, "gemini-2.5-flush"))
        assert said == "unknown model 'gemini-2.5-flush'; did you mean gemini-2.5-flash or gemini-2.5-pro?"

    def test_names_the_list_where_the_server_has_none(self) -> None:
        with GeminiServer(models=[]) as server:
            assert refusal_to_connect(opened(server)).startswith(f"unknown model {NAME!r}; see https://")

    def test_refuses_a_model_that_answers_no_prompts(self) -> None:
        with GeminiServer(models=[model(methods=["embedContent"])]) as server:
            assert "answers no prompts" in refusal_to_connect(opened(server))

    @pytest.mark.parametrize("response", [WRONG_KEY, error(401, "no"), error(403, "leaked", "PERMISSION_DENIED")])
    def test_tells_of_a_wrong_key(self, response: Response) -> None:
        with GeminiServer(models_response=response) as server:
            assert "refused the key in TABCONTAM_API_KEY" in refusal_to_connect(opened(server))

    def test_tells_what_else_is_wrong(self) -> None:
        refused = error(400, "User location is not supported for the API use.", "FAILED_PRECONDITION")
        with GeminiServer(models_response=refused) as server:
            said = refusal_to_connect(opened(server))
        assert "does not serve the place that this computer asks from" in said
        assert said.endswith("it answered HTTP 400: User location is not supported for the API use.")

    @pytest.mark.parametrize("raw", [b"<html>", b"", b"[" * 100_000, b"7", b'{"name": []}', b"\xff"])
    def test_tells_of_a_server_of_another_kind(self, raw: bytes) -> None:
        with GeminiServer(models_response=Response(raw=raw)) as server:
            assert "does not speak the Gemini protocol" in refusal_to_connect(opened(server))

    def test_tells_of_a_server_that_is_not_there(self) -> None:
        with GeminiServer() as server:
            llm = opened(server)
        said = refusal_to_connect(llm)
        assert said.startswith("connection failed")
        assert f"cannot reach {llm.address}" in said

    def test_waits_for_no_silent_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(provider, "CONNECT_SECONDS", 0.05)
        with GeminiServer(models_response=Response(hang=True)) as server:
            assert "cannot reach" in refusal_to_connect(opened(server))

    def test_outlasts_a_busy_server(self) -> None:
        with GeminiServer(models_response=error(503, "overloaded", "UNAVAILABLE")) as server:
            assert "overloaded" in refusal_to_connect(opened(server))
        assert len(server.requests) == provider.CONNECT_TRIES

    def test_names_the_extra_that_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("google.genai", "google.genai.client", "google.genai.errors", "google.genai.types", "httpx2"):
            monkeypatch.setitem(sys.modules, name, None)
        llm = GeminiModel(NAME)
        assert refusal_to_connect(llm) == 'gemini: needs google-genai; pip install "tabcontam[gemini]"'
        assert "needs google-genai" in str(trouble(llm, FatalError))

    def test_tells_what_in_the_environment_stops_the_sdk(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/cert.pem")
        with GeminiServer() as server:
            assert refusal_to_connect(opened(server)).startswith("google-genai does not start: ")


class TestChat:
    def test_sends_system_text_roles_and_greedy_decoding(self) -> None:
        with GeminiServer(lambda body: reply("3", tokens=2)) as server:
            assert ask_once(opened(server)) == Reply("3", State.OK, "", 2)
        (sent,) = server.asked
        assert sent["contents"] == USER
        assert sent["systemInstruction"]["parts"] == [{"text": "Short."}]
        assert sent["generationConfig"] == {"temperature": 0, "seed": 0, "maxOutputTokens": 16}
        assert set(sent) == {"contents", "systemInstruction", "generationConfig"}

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("response", "expected"),
        [
            (reply("half", finish="MAX_TOKENS"), Reply("half", State.TRUNCATED, "token limit", 3)),
            (reply(finish="MAX_TOKENS"), Reply("", State.TRUNCATED, "token limit", 3)),
            (reply("39, State-g", finish="RECITATION"), Reply("39, State-g", State.REFUSED, "recitation", 3)),
            (reply(finish="SAFETY"), Reply("", State.REFUSED, "safety", 3)),
            (reply(finish="PROHIBITED_CONTENT"), Reply("", State.REFUSED, "prohibited content", 3)),
            (reply(finish="BLOCKLIST"), Reply("", State.REFUSED, "blocklist", 3)),
            (reply(finish="SPII"), Reply("", State.REFUSED, "sensitive personal information", 3)),
            (
                Response({"promptFeedback": {"blockReason": "SAFETY"}}),
                Reply("", State.REFUSED, "prompt blocked: safety"),
            ),
            (Response({"promptFeedback": {"blockReason": "NEW"}}), Reply("", State.REFUSED, "prompt blocked: new")),
            (reply(promptFeedback={"blockReason": "OTHER"}), Reply("", State.REFUSED, "prompt blocked: other", 3)),
            (reply(), Reply("", State.EMPTY, "no text", 3)),
            (reply(" \n"), Reply("", State.EMPTY, "no text", 3)),
            (reply(finish="OTHER"), Reply("", State.EMPTY, "stopped: other", 3)),
            (reply("3", finish="BRAND_NEW"), Reply("3", State.TRUNCATED, "stopped: brand new", 3)),
            (reply("3", finish=None), Reply("3", State.OK, "", 3)),
            (reply("4", "2"), Reply("42", State.OK, "", 3)),
            (reply({"text": "Hm.", "thought": True}, "42"), Reply("42", State.OK, "", 3)),
            (reply("42", {"functionCall": {"name": "f"}}, {"brandNew": 1}, 7), Reply("42", State.OK, "", 3)),
            (reply("half \ud800 pair"), Reply("half ? pair", State.OK, "", 3)),
        ],
    )
    def test_reads_the_state(self, response: Response, expected: Reply) -> None:
        assert answered(response) == expected

    def test_goes_through_many_loops_and_connections(self) -> None:
        with GeminiServer(lambda body: Response(reply("fine").body, latency=0.01)) as server:
            made = GeminiModel(NAME, max_connections=3, address=server.url)
            for _ in range(2):
                assert {got.state for got in ask(made, times=15)} == {State.OK}
        assert server.most_concurrent <= 3


class TestTransient:
    """What may pass is told by kind, after a single request."""

    @pytest.mark.parametrize(
        ("response", "kind", "crowded", "sent"),
        [
            (MINUTE, "429", True, False),
            (error(503, "overloaded", "UNAVAILABLE"), "503", True, False),
            (error(408, "late"), "408", True, True),
            (error(504, "late", "DEADLINE_EXCEEDED"), "504", True, True),
            (error(500, "oops", "INTERNAL"), "500", False, True),
            (Response(raw=b"<html>Bad Gateway", status=502), "502", False, True),
            (Response({"a": 1}, cut=True), "cut connection", False, True),
        ],
    )
    def test_says_whether_it_is_crowded_and_whether_it_was_sent(
        self, response: Response, kind: str, crowded: bool, sent: bool
    ) -> None:
        raised = trouble_with(response, TransientError)
        assert (raised.kind, raised.crowded, raised.sent) == (kind, crowded, sent)

    @pytest.mark.parametrize(
        "body",
        [None, 7, [], {}, {"candidates": None}, {"candidates": []}, {"candidates": {}}, {"candidates": ["x"]}],
    )
    def test_a_reply_without_candidate_is_none(self, body: object) -> None:
        raised = trouble_with(Response(body), TransientError)
        assert (str(raised), raised.kind, raised.sent) == ("the reply holds no candidate", "no reply", True)

    def test_an_error_sent_as_a_reply_is_told(self) -> None:
        raised = trouble_with(Response({"error": {"code": 503, "message": "overloaded"}}), TransientError)
        assert str(raised) == "the reply holds no candidate: overloaded"

    @pytest.mark.parametrize("raw", [b"", b'{"candidates": [', b"<html>", b"\xff\xfe", b"[" * 200_000])
    def test_broken_json(self, raw: bytes) -> None:
        raised = trouble_with(Response(raw=raw), TransientError)
        assert (raised.kind, raised.crowded, raised.sent) == ("broken JSON", False, True)

    def test_broken_compression(self) -> None:
        response = Response(raw=b"\x1f\x8b", headers={"Content-Encoding": "gzip"})
        assert trouble_with(response, TransientError).kind == "broken JSON"

    def test_silence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(provider, "SECONDS", 0.5)  # enough for the request to arrive on a busy machine
        raised = trouble_with(Response(hang=True), TransientError)
        assert str(raised).startswith("timed out")
        assert (raised.kind, raised.crowded, raised.sent) == ("timeout", True, True)

    def test_an_absent_server(self) -> None:
        with GeminiServer() as server:
            llm = opened(server)
        raised = trouble(llm, TransientError)
        assert str(raised).startswith("connection failed")
        assert (raised.kind, raised.crowded, raised.sent) == ("no connection", False, False)

    @pytest.mark.parametrize(
        ("response", "wait"),
        [
            (MINUTE, 28.0),
            (over_quota("PerMinute", "1.5s"), 1.5),
            (over_quota("PerMinute", "soon"), None),
            (over_quota("PerMinute", "-3s"), None),
            (Response(MINUTE.body, 429, {"Retry-After": "7"}), 7.0),
            (Response({}, 503, {"Retry-After": "3600"}), 3600.0),
            (Response({}, 503, {"Retry-After": "later"}), None),
            (Response({}, 503), None),
        ],
    )
    def test_tells_how_long_the_server_wants_to_wait(self, response: Response, wait: float | None) -> None:
        assert trouble_with(response, TransientError).wait == wait

    def test_tells_it_from_a_date(self) -> None:
        in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
        wait = trouble_with(Response({}, 503, {"Retry-After": in_a_minute}), TransientError).wait
        assert wait is not None
        assert 50 < wait <= 60

    def test_what_was_answered_before_may_have_to_be_paid_for(self) -> None:
        responses = [reply(finish="MAX_TOKENS", tokens=0, thoughts=16), MINUTE]
        with GeminiServer(lambda body: responses.pop(0)) as server:
            assert trouble(opened(server), TransientError).sent


class TestFatal:
    """What no other request would change is told at the first reply: who, what, and what to do."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("response", "said"),
        [
            (WRONG_KEY, "refused the key in TABCONTAM_API_KEY; check it"),
            (error(400, "API key expired. Please renew the API key."), "refused the key in"),
            (error(401, "no", "UNAUTHENTICATED"), "refused the key in"),
            (error(403, "Your API key was reported as leaked.", "PERMISSION_DENIED"), "refused the key in"),
            (error(404, "gone", "NOT_FOUND"), f"does not offer {NAME}, or no longer does; name another model"),
            (DAY, "has spent today's quota of the key in TABCONTAM_API_KEY; run the same command again tomorrow"),
            (NO_FREE_TIER, f"grants the key in TABCONTAM_API_KEY no use of {NAME}; set up billing"),
            (error(429, "Your prepayment credits are depleted."), "add credits"),
            (error(429, "Your project has exceeded its monthly spending cap."), "wants the billing"),
            (error(402, "Payment required.", "RESOURCE_EXHAUSTED"), "wants the billing"),
            (error(403, "This API method requires billing to be enabled.", "PERMISSION_DENIED"), "wants the billing"),
            (error(400, "Free tier is not available here.", "FAILED_PRECONDITION"), "wants the billing"),
            (
                error(400, "User location is not supported for the API use.", "FAILED_PRECONDITION"),
                "does not serve the place that this computer asks from; ask from another",
            ),
        ],
    )
    def test_is_told_in_a_line(self, response: Response, said: str) -> None:
        raised = str(trouble_with(response, FatalError))
        assert raised.startswith("the server at http://127.0.0.1:")
        assert said in raised
        assert "; it answered HTTP 4" in raised

    def test_names_google(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GEMINI_API_KEY", SECRET)
        with GeminiServer(lambda body: WRONG_KEY) as server:
            monkeypatch.setattr(provider, "GOOGLE", server.url)
            raised = str(trouble(opened(server), FatalError))
        assert raised.startswith("Google refused the key in GEMINI_API_KEY; check it")

    @pytest.mark.parametrize("limit", ["limit: 0.5", "limit: 10", "limit: 20, please check your plan and billing"])
    def test_a_small_quota_is_not_the_end(self, limit: str) -> None:
        response = over_quota("GenerateRequestsPerMinute", message=f"Quota exceeded, {limit}")
        assert trouble_with(response, TransientError).kind == "429"


class TestFailure:
    """What concerns one request alone."""

    @pytest.mark.parametrize(
        ("response", "detail"),
        [
            (error(400, "two\n lines\x1b[0m"), "HTTP 400: two lines [0m"),
            (error(413, "too long"), "HTTP 413: too long"),
            (Response({"error": "plain"}, 400), "HTTP 400: plain"),
            (Response([{"error": {"message": "in a list"}}], 400), "HTTP 400: in a list"),
            (Response(raw=b"<html>Bad", status=400), "HTTP 400"),
            (Response(7, 400), "HTTP 400"),
        ],
    )
    def test_tells_what_the_server_said(self, response: Response, detail: str) -> None:
        assert answered(response) == Reply("", State.FAILED, detail)


class TestUsage:
    @pytest.mark.parametrize(
        ("response", "usage"),
        [
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
        ],
    )
    def test_is_what_the_server_states(self, response: Response, usage: Usage | None) -> None:
        assert answered(response).usage == usage

    def test_is_the_sum_of_all_that_was_answered(self) -> None:
        responses = [reply(finish="MAX_TOKENS", tokens=0, thoughts=16, prompt=40), error(400, "no thinking level")]
        responses += [reply("42", tokens=2, thoughts=300, prompt=40)]
        with GeminiServer(lambda body: responses.pop(0)) as server:
            assert ask_once(opened(server)).usage == Usage(80, 318)

    def test_is_told_where_the_second_request_fails(self) -> None:
        responses = [reply(finish="MAX_TOKENS", tokens=0, thoughts=16, prompt=40), error(400, "bad")]
        with GeminiServer(lambda body: responses.pop(0)) as server:
            assert ask_once(opened(server)) == Reply("", State.FAILED, "HTTP 400: bad", usage=Usage(40, 16))


class TestHabits:
    """What a model does not take is learned once, and no query is lost."""

    @staticmethod
    def thinking(body: dict[str, Any]) -> Response:
        enough = body["generationConfig"]["maxOutputTokens"] > 16
        return reply("42", thoughts=500) if enough else reply(finish="MAX_TOKENS", tokens=0, thoughts=16)

    def test_gives_thinking_its_own_allowance_and_remembers(self) -> None:
        with GeminiServer(self.thinking) as server:
            llm = opened(server)

            async def work() -> list[Reply]:
                return [await llm.generate(ASKED) for _ in range(3)]

            assert within(llm, work) == [Reply("42", State.OK, "", 3)] * 3
        limits = [body["generationConfig"]["maxOutputTokens"] for body in server.asked]
        assert limits == [16] + [16 + THINKING] * 3
        assert llm.allowance == THINKING

    def test_gives_it_from_the_start_where_the_server_states_it(self) -> None:
        with GeminiServer(self.thinking, models=[model(thinking=True)]) as server:
            llm = opened(server)
            assert llm.allowance == 0
            within(llm, llm.connect)
            assert llm.allowance == THINKING
            assert ask_once(llm).text == "42"
        assert len(server.asked) == 1

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("taken", "tried"),
        [
            ({"thinking_level": "MINIMAL"}, 1),  # Gemini 3.5 Flash
            ({"thinking_level": "LOW"}, 2),  # Gemini 3.8 Flash
            ({"thinking_budget": 0}, 3),  # Gemini 2.5 Flash
            (None, 4),  # Gemini 2.5 Pro
        ],
    )
    def test_asks_for_as_little_thinking_as_the_model_takes(self, taken: object, tried: int) -> None:
        refusals = iter(
            [
                "Thinking level MINIMAL is not supported for this model.",
                "Request contains an invalid argument.",
                "Budget 0 is invalid. This model only works in thinking mode.",
            ]
        )

        def answer(body: dict[str, Any]) -> str | Response:
            return "42" if body["generationConfig"].get("thinkingConfig") == taken else error(400, next(refusals))

        with GeminiServer(answer, models=[model(thinking=True)]) as server:
            llm = opened(server)
            within(llm, llm.connect)
            assert ask_once(llm).text == "42"
            assert len(server.asked) == tried
            assert ask_once(llm).text == "42"
        assert len(server.asked) == tried + 1

    def test_asks_before_every_further_request(self) -> None:
        def answer(body: dict[str, Any]) -> str | Response:
            return error(400, "no seed") if "seed" in body["generationConfig"] else self.thinking(body)

        asked: list[int] = []
        with GeminiServer(answer) as server:
            llm = opened(server)
            request = replace(ASKED, again=lambda: asked.append(len(server.asked)))
            assert within(llm, lambda: llm.generate(request)).text == "42"
        assert asked == [1, 2]
        assert len(server.asked) == 3

    def test_sends_no_further_request_beyond_the_limit(self) -> None:
        def spent() -> None:
            raise SpentError("--max-requests 1 is reached")

        with GeminiServer(self.thinking) as server:
            llm = opened(server)
            with pytest.raises(SpentError, match="--max-requests"):
                within(llm, lambda: llm.generate(replace(ASKED, again=spent)))
        assert len(server.asked) == 1

    def test_an_allowance_has_an_end(self) -> None:
        got = answered(reply(finish="MAX_TOKENS", tokens=0, thoughts=9999))
        assert got == Reply("", State.TRUNCATED, "all tokens went into reasoning", 0)

    @pytest.mark.parametrize("name", ["seed", "temperature"])
    def test_leaves_out_what_is_not_taken(self, name: str) -> None:
        def answer(body: dict[str, Any]) -> str | Response:
            return error(400, f"Unsupported field: {name}") if name in body["generationConfig"] else "42"

        with GeminiServer(answer) as server:
            llm = opened(server)
            assert ask_once(llm).text == "42"
            assert [got.text for got in ask(llm, times=3)] == ["42"] * 3
        assert len(server.asked) == 2 + 3

    def test_system_text_reaches_a_model_that_has_no_place_for_it(self) -> None:
        with GeminiServer(lambda body: NO_SYSTEM if "systemInstruction" in body else "42") as server:
            assert ask_once(opened(server)).text == "42"
        assert server.asked[-1]["contents"] == [{"role": "user", "parts": [{"text": "Short.\n\nHi."}]}, *USER[1:]]

    def test_keeps_nothing_that_did_not_help(self) -> None:
        responses: list[str | Response] = [error(400, "seed is bad"), error(400, "still no"), "42"]
        with GeminiServer(lambda body: responses.pop(0)) as server:
            llm = opened(server)

            async def work() -> list[Reply]:
                return [await llm.generate(ASKED) for _ in range(2)]

            assert [got.state for got in within(llm, work)] == [State.FAILED, State.OK]
        assert ["seed" in body["generationConfig"] for body in server.asked] == [True, False, True]

    def test_a_model_that_refuses_everything_fails(self) -> None:
        assert answered(error(400, "no seed, temperature, system instruction")).state is State.FAILED


SCRIPT = """
import asyncio, sys
from tabcontam.subjects.base import Request
from tabcontam.subjects.gemini.provider import GeminiModel
from tabcontam.evidence.base import Message, Prompt
assert not any(name.startswith("google.genai") for name in sys.modules)
async def work():
    llm = GeminiModel("gemini-2.5-flash", address=sys.argv[1])
    await llm.connect()
    print((await llm.generate(Request(Prompt((Message("user", "?"),), "", ""), 16))).text)
    await llm.close()
asyncio.run(work())
"""


def test_the_sdk_prints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GENAI_USE_ENTERPRISE", "false")
    odd = reply("42", {"functionCall": {"name": "f"}}, finish="STOP", promptFeedback={"blockReason": "BRAND_NEW"})
    with GeminiServer(lambda body: odd) as server:
        command = [sys.executable, "-W", "always::UserWarning", "-c", SCRIPT, server.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


FIELDS = ("candidates", "content", "parts", "text", "thought", "finishReason", "promptFeedback", "usageMetadata")
NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@given(NESTED)
def test_whatever_a_server_sends_is_read_or_a_value_error(body: object) -> None:
    try:
        got = read_answer(body).reply()
    except ValueError:
        return
    assert isinstance(got.text, str)
    assert isinstance(got.state, State)


@given(st.text(max_size=40) | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d.{0,7}"))
def test_whatever_a_header_holds_is_a_wait_or_none(header: str) -> None:
    wait = retry_after({"retry-after": header})
    assert wait is None or wait >= 0
