"""The `anthropic:` provider over the real SDK, against a server on loopback that speaks Anthropic's protocol."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Message, Prompt, Reply, State, Usage
from tabcontam.subjects.anthropic import connection, provider
from tabcontam.subjects.anthropic.errors import concern, wait
from tabcontam.subjects.anthropic.provider import ANTHROPIC, AnthropicModel
from tabcontam.subjects.anthropic.replies import read_answer
from tabcontam.subjects.base import THINKING, FatalError, Form, Request, SpentError, TransientError
from tabcontam.subjects.openai import connection as openai_connection
from tabcontam.subjects.openai.errors import Problem
from tabcontam.subjects.registry import Settings, resolve
from tabcontam.subjects.served import PLACEHOLDER
from tests.loopback import Response
from tests.loopback_anthropic import CREATED, NAME, AnthropicServer, error, model, reply
from tests.needed import needed

needed("anthropic")

Outcome = TypeVar("Outcome")
Trouble = TypeVar("Trouble", TransientError, FatalError)
SECRET = "sk-ant-secret-0123456789abcdef"  # no real key
OTHER = "tk-other-0123456789abcdef"
CHAT = (Message("system", "Short."), Message("user", "Hi."), Message("assistant", "Yes?"), Message("user", "Next?"))
ASKED = Request(Prompt(CHAT, "1, 2,", "Next?", ("\n",)), 16)
TURNS = [
    {"role": "user", "content": "Hi."},
    {"role": "assistant", "content": "Yes?"},
    {"role": "user", "content": "Next?"},
]
ENVIRONMENT = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CONFIG_DIR",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_PROFILE",
    "TABCONTAM_API_KEY",
)
BUSY = error(429, "Number of requests has exceeded your rate limit.", "rate_limit_error")
OVERLOADED = error(529, "Overloaded", "overloaded_error")
WRONG_KEY = error(401, "invalid x-api-key", "authentication_error")
NO_TEMPERATURE = error(400, "`temperature` is deprecated for this model.")
POOR = error(400, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.")
SPENT = error(429, "You have reached the limit of your tier.", "rate_limit_error", code="enforced_spend_limit_reached")
LIMITED = error(400, "You have reached your specified API usage limits. You will regain access on 2026-12-01.")
FILTERED = error(400, "Output blocked by content filtering policy")
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "x"}


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting between retries, and nothing of the developer's own environment."""
    monkeypatch.setattr(provider, "CONNECT_RETRIES", 0)
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def opened(server: AnthropicServer, name: str = NAME) -> AnthropicModel:
    return AnthropicModel(name, address=server.url)


def within(llm: AnthropicModel, work: Callable[[], Coroutine[Any, Any, Outcome]]) -> Outcome:
    """Run the work in a loop of its own and close the model in it."""

    async def run() -> Outcome:
        try:
            return await work()
        finally:
            await llm.close()

    return asyncio.run(run())


def ask(llm: AnthropicModel, times: int = 1) -> list[Reply]:
    """As many queries at once."""

    async def work() -> list[Reply]:
        return list(await asyncio.gather(*(llm.generate(ASKED) for _ in range(times))))

    return within(llm, work)


def ask_once(llm: AnthropicModel) -> Reply:
    return ask(llm)[0]


def answered(response: str | Response) -> Reply:
    """What a single response becomes."""
    with AnthropicServer(lambda body: response) as server:
        return ask_once(opened(server))


def trouble(llm: AnthropicModel, kind: type[Trouble]) -> Trouble:
    """What asking once raises."""
    with pytest.raises(kind) as caught:
        ask_once(llm)
    assert "\n" not in str(caught.value)
    return caught.value


def trouble_with(response: Response, kind: type[Trouble]) -> Trouble:
    """What a single response raises, at once."""
    with AnthropicServer(lambda body: response) as server:
        raised = trouble(opened(server), kind)
    assert len(server.asked) == 1
    return raised


def refusal_to_connect(llm: AnthropicModel) -> str:
    with pytest.raises(UsageError) as caught:
        within(llm, llm.connect)
    said = str(caught.value)
    assert "\n" not in said
    return said


class TestOpening:
    def test_needs_no_key_and_no_sdk(self) -> None:
        llm = AnthropicModel(NAME, max_connections=3, spec="sonnet")
        assert (llm.spec, llm.form, llm.local, llm.control) == ("sonnet", Form.CHAT, False, False)
        wanted = {Capability.GENERATE, Capability.CHAT, Capability.SAMPLE, Capability.INSTRUCTIONS}
        assert llm.capabilities == wanted
        assert AnthropicModel(NAME).spec == f"anthropic:{NAME}"
        assert llm.identity == {"provider": "anthropic", "address": ANTHROPIC, "model": NAME}

    @pytest.mark.parametrize("name", ["", " ", "a b", "../x", ".", "a?key=1", "a#b", "é", "a\n", "a" * 300])
    def test_takes_no_name_that_could_be_another_path(self, name: str) -> None:
        with pytest.raises(UsageError, match="bad model name"):
            AnthropicModel(name)


class TestKey:
    def test_is_wanted_in_one_line(self) -> None:
        llm = AnthropicModel(NAME)
        assert refusal_to_connect(llm) == "no key for Anthropic; set the environment variable ANTHROPIC_API_KEY"
        assert str(trouble(llm, FatalError)).startswith("no key for Anthropic; set")

    @pytest.mark.parametrize(("environment", "key"), [({}, PLACEHOLDER), ({"TABCONTAM_API_KEY": OTHER}, OTHER)])
    def test_of_anthropic_goes_to_anthropic_alone(
        self, environment: dict[str, str], key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in {"ANTHROPIC_API_KEY": SECRET, "ANTHROPIC_AUTH_TOKEN": SECRET, **environment}.items():
            monkeypatch.setenv(name, value)
        with AnthropicServer() as server:
            llm = opened(server)
            within(llm, llm.connect)
            ask_once(llm)
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {key}"}
        assert SECRET not in json.dumps([[request.path, dict(request.headers)] for request in server.requests])

    def test_is_taken_where_the_address_is_anthropic_s(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", OTHER)
        with AnthropicServer() as server:
            monkeypatch.setattr(provider, "ANTHROPIC", server.url)  # the server takes the part of Anthropic
            ask_once(opened(server))
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"

    def test_goes_where_no_variable_leads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        with AnthropicServer() as trap, AnthropicServer() as server:
            for name, value in {
                "ANTHROPIC_BASE_URL": trap.url,
                "ANTHROPIC_CUSTOM_HEADERS": f"X-Gateway: {SECRET}\nAuthorization: Bearer {SECRET}",
                "ANTHROPIC_PROFILE": "nobody",
                "HTTP_PROXY": trap.url,
                "ALL_PROXY": trap.url,
            }.items():
                monkeypatch.setenv(name, value)
            assert ask_once(opened(server)).text == "fine"
        assert trap.requests == []
        headers = server.requests[0].headers
        assert headers["authorization"] == f"Bearer {OTHER}"
        assert SECRET not in json.dumps(dict(headers))

    def test_goes_to_anthropic_s_address_by_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        llm = AnthropicModel(NAME)

        async def work() -> str:
            return str(llm.connection().base_url)

        assert within(llm, work).rstrip("/") == ANTHROPIC
        assert ANTHROPIC == "https://api.anthropic.com"

    def test_follows_no_redirect(self) -> None:
        with AnthropicServer() as trap:
            moved = Response({}, 302, {"Location": f"{trap.url}/v1/messages"})
            assert "does not speak Anthropic's protocol" in str(trouble_with(moved, FatalError))
        assert trap.requests == []

    def test_stands_in_no_message(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        refused = error(403, f"the key {OTHER} is bad", "permission_error")
        with AnthropicServer(lambda body: refused, models_response=refused) as server:
            llm = opened(server)
            said = [refusal_to_connect(llm), str(trouble(llm, FatalError)), repr(llm)]
        assert "refused the key in TABCONTAM_API_KEY" in said[0]
        assert "HTTP 403: the key *** is bad" in said[1]
        said.append(str(trouble_with(error(503, f"{OTHER} is busy", "api_error"), TransientError)))
        said.append(str(trouble_with(Response({"error": OTHER}), TransientError)))
        said.append(answered(error(400, f"{OTHER} cannot say that")).detail)
        said.append(answered(f"my key is {OTHER}").text)
        assert [text.count("***") for text in said] == [1, 1, 0, 1, 1, 1, 1]
        assert OTHER not in " ".join(said)


class TestAddress:
    """Any server that speaks Anthropic's protocol, as a gateway does."""

    @pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
    def test_is_written_behind_the_name(self, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
        monkeypatch.setenv("MY_KEY", OTHER)
        with AnthropicServer(models=[model("vendor/claude")]) as server:
            llm = resolve(f"anthropic:vendor/claude@{server.url}{path}#MY_KEY").open(Settings())
            assert isinstance(llm, AnthropicModel)
            within(llm, llm.connect)
            assert ask_once(llm).text == "fine"
        assert [request.path for request in server.requests] == ["/v1/models/vendor%2Fclaude", "/v1/messages"]
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {OTHER}"}
        assert llm.identity == {"provider": "anthropic", "address": server.url, "model": "vendor/claude"}

    @pytest.mark.parametrize(
        "spec",
        ["x@http://user:secret@host", "x@http://host/?key=secret", "x@localhost:8000", "@http://host", "x@http://"],
    )
    def test_that_is_none_is_one_line(self, spec: str) -> None:
        with pytest.raises(UsageError) as caught:
            resolve(f"anthropic:{spec}").open(Settings())
        assert "\n" not in str(caught.value)
        assert "secret" not in str(caught.value)


class TestConnect:
    def test_takes_down_the_version(self) -> None:
        with AnthropicServer() as server:
            llm = opened(server)
            within(llm, llm.connect)
        assert llm.version == f"created={CREATED}"
        assert llm.local
        assert [(request.method, request.path) for request in server.requests] == [("GET", f"/v1/models/{NAME}")]

    def test_takes_down_what_an_alias_stands_for(self) -> None:
        with AnthropicServer(models=[model("claude-haiku-4-5-20251001", alias="claude-haiku-4-5")]) as server:
            llm = opened(server, "claude-haiku-4-5")
            within(llm, llm.connect)
        assert llm.version == f"created={CREATED} name=claude-haiku-4-5-20251001"

    def test_suggests_the_nearest_names(self) -> None:
        with AnthropicServer(models=[model("claude-haiku-4-5"), model("claude-sonnet-5-5")]) as server:
            said = refusal_to_connect(opened(server, "claude-sonett-5-5"))
        assert said == "unknown model 'claude-sonett-5-5'; did you mean claude-sonnet-5-5?"

    def test_names_the_list_where_the_server_has_none(self) -> None:
        with AnthropicServer(models=[]) as server:
            assert refusal_to_connect(opened(server)).startswith(f"unknown model {NAME!r}; see https://")

    def test_names_a_model_that_was_retired(self) -> None:
        with AnthropicServer(models=[model(lifecycle="retired")]) as server:
            assert f"has retired {NAME}; name another model" in refusal_to_connect(opened(server))

    def test_takes_a_server_that_tells_of_no_models(self) -> None:
        with AnthropicServer(models_response=Response({"detail": "Not Found"}, 404)) as server:
            llm = opened(server)
            within(llm, llm.connect)
            assert (llm.version, ask_once(llm).text) == ("", "fine")

    @pytest.mark.parametrize("response", [WRONG_KEY, error(403, "no use of this", "permission_error")])
    def test_tells_of_a_wrong_key(self, response: Response, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        with AnthropicServer(models_response=response) as server:
            assert "refused the key in TABCONTAM_API_KEY" in refusal_to_connect(opened(server))

    def test_tells_of_a_key_that_is_wanted(self) -> None:
        with AnthropicServer(models_response=WRONG_KEY) as server:
            said = refusal_to_connect(opened(server))
        assert "wants a key; set the environment variable TABCONTAM_API_KEY" in said

    @pytest.mark.parametrize("raw", [b"<html>", b"", b"[" * 100_000, b"7", b'{"id": []}', b"\xff"])
    def test_tells_of_a_server_of_another_kind(self, raw: bytes) -> None:
        with AnthropicServer(models_response=Response(raw=raw)) as server:
            assert "does not speak Anthropic's protocol" in refusal_to_connect(opened(server))

    def test_tells_of_a_server_that_is_not_there(self) -> None:
        with AnthropicServer() as server:
            llm = opened(server)
        said = refusal_to_connect(llm)
        assert said.startswith("connection failed")
        assert f"cannot reach {llm.address}" in said

    def test_waits_for_no_silent_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(provider, "CONNECT_SECONDS", 0.05)
        with AnthropicServer(models_response=Response(hang=True)) as server:
            assert "no answer in 0.05 s: cannot reach" in refusal_to_connect(opened(server))

    def test_asks_a_busy_server_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(provider, "CONNECT_RETRIES", 1)
        quickly = error(529, "Overloaded", "overloaded_error", {"retry-after-ms": "1"})
        with AnthropicServer(models_response=quickly) as server:
            assert "does not tell of the model; it answered HTTP 529: Overloaded" in refusal_to_connect(opened(server))
        assert len(server.requests) == 2

    def test_names_the_extra_that_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "anthropic", None)
        monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
        llm = AnthropicModel(NAME)
        assert refusal_to_connect(llm) == 'anthropic: needs Anthropic\'s SDK; pip install "tabcontam[anthropic]"'
        assert "needs Anthropic's SDK" in str(trouble(llm, FatalError))

    def test_tells_what_in_the_environment_stops_the_sdk(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/cert.pem")
        with AnthropicServer() as server:
            assert refusal_to_connect(AnthropicModel(NAME, address=server.url.replace("http:", "https:")))


class TestChat:
    def test_sends_system_text_roles_and_greedy_decoding_without_thinking(self) -> None:
        with AnthropicServer(lambda body: reply("3", tokens=2)) as server:
            assert ask_once(opened(server)) == Reply("3", State.OK, "", 2, Usage(12, 2))
        (sent,) = server.asked
        assert sent == {
            "model": NAME,
            "max_tokens": 16,
            "system": "Short.",
            "messages": TURNS,
            "temperature": 0,
            "thinking": {"type": "disabled"},
        }

    @pytest.mark.parametrize(
        ("chat", "system", "turns"),
        [
            ((Message("system", " \n"), Message("user", "a")), None, [("user", "a")]),  # blank text is refused
            ((Message("system", "x"), Message("system", "y"), Message("user", "a")), "x\n\ny", [("user", "a")]),
            ((Message("system", "x"),), None, [("user", "x")]),
        ],
    )
    def test_sends_no_blank_system_text_and_no_empty_chat(
        self, chat: tuple[Message, ...], system: str | None, turns: list[tuple[str, str]]
    ) -> None:
        with AnthropicServer() as server:
            llm = opened(server)
            within(llm, lambda: llm.generate(Request(Prompt(chat, "", ""), 16)))
        (sent,) = server.asked
        assert sent.get("system") == system
        assert [(turn["role"], turn["content"]) for turn in sent["messages"]] == turns

    @pytest.mark.parametrize(
        ("response", "expected"),
        [
            (reply("half", stop="max_tokens"), ("half", State.TRUNCATED, "token limit")),
            (reply("half", stop="model_context_window_exceeded"), ("half", State.TRUNCATED, "token limit")),
            (reply(stop="max_tokens"), ("", State.TRUNCATED, "token limit")),
            (reply(stop="refusal"), ("", State.REFUSED, "refusal")),
            (reply("39, State-g", stop="refusal"), ("39, State-g", State.REFUSED, "refusal")),
            (
                reply(stop="refusal", stop_details={"type": "refusal", "category": "general_harms"}),
                ("", State.REFUSED, "refusal: general harms"),
            ),
            (reply(stop="refusal", stop_details={"category": 7}), ("", State.REFUSED, "refusal")),
            (FILTERED, ("", State.REFUSED, "HTTP 400: Output blocked by content filtering policy")),
            (reply(), ("", State.EMPTY, "no text")),
            (reply(" \n"), ("", State.EMPTY, "no text")),
            (reply(stop="pause_turn"), ("", State.EMPTY, "stopped: pause turn")),
            (reply("3", stop="brand_new"), ("3", State.TRUNCATED, "stopped: brand new")),
            (reply("3", stop="stop_sequence"), ("3", State.OK, "")),
            (reply("3", stop=None), ("3", State.OK, "")),
            (reply("4", "2"), ("42", State.OK, "")),
            (reply(THOUGHT, "42"), ("42", State.OK, "")),
            (reply("42", {"type": "tool_use"}, {"brandNew": 1}, 7), ("42", State.OK, "")),
            (reply({"type": "text", "text": 7}, {"type": "text", "text": "42"}), ("42", State.OK, "")),
            (reply("half \ud800 pair"), ("half ? pair", State.OK, "")),
        ],
    )
    def test_reads_the_state(self, response: Response, expected: tuple[str, State, str]) -> None:
        got = answered(response)
        assert (got.text, got.state, got.detail) == expected

    def test_goes_through_many_loops_and_connections(self) -> None:
        with AnthropicServer(lambda body: Response(reply("fine").body, latency=0.01)) as server:
            made = AnthropicModel(NAME, max_connections=3, address=server.url)
            for _ in range(2):
                assert {got.state for got in ask(made, times=15)} == {State.OK}
        assert server.most_concurrent <= 3

    @pytest.mark.parametrize(
        ("response", "usage"),
        [
            (reply("3", tokens=2, read=40), Usage(40, 2)),
            (reply("3", tokens=2, read=40, thoughts=500), Usage(40, 502)),
            (
                reply("3", usage={"input_tokens": 4, "cache_read_input_tokens": 30, "output_tokens": 2}),
                Usage(34, 2),
            ),
            (reply("3", usage={"input_tokens": "many", "output_tokens": 2}), None),
            (reply("3", usage=[40]), None),
        ],
    )
    def test_usage_is_what_the_server_states(self, response: Response, usage: Usage | None) -> None:
        assert answered(response).usage == usage


class TestTransient:
    """What may pass is told by kind, after a single request."""

    @pytest.mark.parametrize(
        ("response", "kind", "crowded", "sent"),
        [
            (BUSY, "429", True, False),
            (OVERLOADED, "529", True, False),
            (error(408, "late", "timeout_error"), "408", False, True),
            (error(504, "late", "timeout_error"), "504", False, True),
            (error(500, "oops", "api_error"), "500", False, True),
            (Response(raw=b"<html>Bad Gateway", status=502), "502", False, True),
            (Response({"a": 1}, cut=True), "cut connection", False, True),
            (Response(raw=b"["), "broken JSON", False, True),
            (Response(raw=b"\xff\xfe"), "broken JSON", False, True),
            (Response(raw=b"[" * 200_000), "broken JSON", False, True),
            (Response(raw=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "broken JSON", False, True),
        ],
    )
    def test_says_whether_it_is_crowded_and_whether_it_was_sent(
        self, response: Response, kind: str, crowded: bool, sent: bool
    ) -> None:
        raised = trouble_with(response, TransientError)
        assert (raised.kind, raised.crowded, raised.sent) == (kind, crowded, sent)

    @pytest.mark.parametrize("body", [{"content": None}, {"content": "x"}, {"content": {}}])
    def test_a_reply_without_content_is_none(self, body: object) -> None:
        raised = trouble_with(Response(body), TransientError)
        assert (str(raised), raised.kind, raised.sent) == ("the reply holds no content", "no reply", True)

    def test_an_error_sent_as_a_reply_is_told(self) -> None:
        raised = trouble_with(Response(OVERLOADED.body), TransientError)
        assert str(raised) == "the reply holds no content: Overloaded"

    def test_silence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in (connection, openai_connection):  # the client's limit, and what is said of it
            monkeypatch.setattr(module, "SECONDS", 0.5)  # enough for the request to arrive on a busy machine
        raised = trouble_with(Response(hang=True), TransientError)
        assert str(raised) == "timed out after 0.5 s"
        assert (raised.kind, raised.crowded, raised.sent) == ("timeout", True, True)

    def test_an_absent_server(self) -> None:
        with AnthropicServer() as server:
            llm = opened(server)
        raised = trouble(llm, TransientError)
        assert str(raised).startswith("connection failed")
        assert (raised.kind, raised.crowded, raised.sent) == ("no connection", False, False)

    @pytest.mark.parametrize(
        ("status", "headers", "wait"),
        [
            (429, {"Retry-After": "7"}, 7.0),
            (529, {"Retry-After": "7"}, 7.0),
            (429, {"Retry-After": "soon"}, None),
            (429, {}, None),
            (429, {"anthropic-ratelimit-requests-remaining": "3", "anthropic-ratelimit-requests-reset": "x"}, None),
            (429, {"anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": "x"}, None),
        ],
    )
    def test_tells_how_long_the_server_wants_to_wait(
        self, status: int, headers: dict[str, str], wait: float | None
    ) -> None:
        assert trouble_with(error(status, "slow down", "api_error", headers), TransientError).wait == wait

    def test_tells_it_from_the_limits_that_are_used_up(self) -> None:
        def until(seconds: float) -> str:
            return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")

        headers = {
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": until(20),
            "anthropic-ratelimit-input-tokens-remaining": "0",
            "anthropic-ratelimit-input-tokens-reset": until(40),
            "anthropic-ratelimit-output-tokens-remaining": "100",
            "anthropic-ratelimit-output-tokens-reset": until(900),
        }
        wait = trouble_with(Response(BUSY.body, 429, headers), TransientError).wait
        assert wait is not None
        assert 30 < wait <= 41  # the clock of the server shows whole seconds

    def test_what_was_answered_before_may_have_to_be_paid_for(self) -> None:
        responses = [reply(THOUGHT, stop="max_tokens", tokens=0, thoughts=16), BUSY]
        with AnthropicServer(lambda body: responses.pop(0)) as server:
            assert trouble(opened(server), TransientError).sent


class TestFatal:
    """What no other request would change is told at the first reply: who, what, and what to do."""

    @pytest.mark.parametrize(
        ("response", "said"),
        [
            (WRONG_KEY, "refused the key in TABCONTAM_API_KEY; check the key"),
            (error(403, "Your API key does not have permission.", "permission_error"), "refused the key in"),
            (error(403, "Request not allowed", "forbidden"), "does not serve the place that this computer asks from"),
            (
                error(404, f"model: {NAME}", "not_found_error"),
                f"does not offer {NAME}, or no longer does; name another",
            ),
            (error(402, "Check your payment details.", "billing_error"), "grants no more on the credit or spend limit"),
            (POOR, "raise it, and run this again"),
            (LIMITED, "grants no more"),
            (SPENT, "grants no more"),
            (Response({"detail": "Method Not Allowed"}, 405), "does not speak Anthropic's protocol"),
        ],
    )
    def test_is_told_in_a_line(self, response: Response, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        raised = str(trouble_with(response, FatalError))
        assert said in raised
        assert "; it answered HTTP 4" in raised

    def test_names_anthropic(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
        with AnthropicServer(lambda body: WRONG_KEY) as server:
            monkeypatch.setattr(provider, "ANTHROPIC", server.url)
            raised = str(trouble(opened(server), FatalError))
        assert raised.startswith("Anthropic refused the key in ANTHROPIC_API_KEY; check the key")

    def test_a_limit_that_ends_soon_is_not_the_end(self) -> None:
        headers = {"retry-after": "9"}
        ramp = error(429, "This would exceed a ramp limit.", "rate_limit_error", headers, code="ramp_limit_exceeded")
        assert trouble_with(ramp, TransientError).wait == 9.0


class TestFailure:
    """What concerns one request alone."""

    @pytest.mark.parametrize(
        ("response", "detail"),
        [
            (error(400, "two\n lines\x1b[0m"), "HTTP 400: two lines [0m"),
            (
                error(400, "prompt is too long: 208310 tokens > 200000 maximum"),
                "the prompt is too long: HTTP 400: prompt is too long: 208310 tokens > 200000 maximum",
            ),
            (error(413, "Request exceeds the maximum size", "request_too_large"), "HTTP 413: Request exceeds the"),
            (Response({"error": "plain"}, 400), "HTTP 400: plain"),
            (Response(raw=b"<html>Bad", status=400), "HTTP 400"),
            (Response(7, 400), "HTTP 400"),
        ],
    )
    def test_tells_what_the_server_said(self, response: Response, detail: str) -> None:
        got = answered(response)
        assert (got.text, got.state) == ("", State.FAILED)
        assert got.detail.startswith(detail)

    def test_half_a_surrogate_pair_cannot_be_sent(self) -> None:
        with AnthropicServer() as server:
            llm = opened(server)
            half = Request(Prompt((Message("user", "\ud800"),), "", ""), 16)
            got = within(llm, lambda: llm.generate(half))
        assert got.state is State.FAILED
        assert server.asked == []


class TestHabits:
    """What a model does not take is learned once, and no query is lost."""

    @staticmethod
    def picky(taken: str | None, effort: bool = True) -> Callable[[dict[str, Any]], str | Response]:
        """A model that takes no temperature, and only this way to be told not to think."""

        def answer(body: dict[str, Any]) -> str | Response:
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

    @pytest.mark.parametrize(
        ("taken", "effort", "tried", "last"),
        [
            ("disabled", True, 2, {"thinking": {"type": "disabled"}}),  # Claude Opus 4.7, Sonnet 5
            ("between_tools", True, 3, {"thinking": {"type": "between_tools"}}),  # Claude Sonnet 5.5
            (None, True, 4, {"output_config": {"effort": "low"}}),  # Claude Opus 5.5, Fable 5
            (None, False, 5, {}),
        ],
    )
    def test_asks_for_as_little_thinking_as_the_model_takes(
        self, taken: str | None, effort: bool, tried: int, last: dict[str, Any]
    ) -> None:
        with AnthropicServer(self.picky(taken, effort)) as server:
            llm = opened(server)
            assert ask_once(llm).text == "42"
            assert len(server.asked) == tried
            assert ask_once(llm).text == "42"
        assert len(server.asked) == tried + 1
        room = 0 if taken else THINKING
        sent = {name: server.asked[-1][name] for name in ("thinking", "output_config") if name in server.asked[-1]}
        assert (sent, server.asked[-1]["max_tokens"], llm.allowance) == (last, 16 + room, room)

    def test_knows_from_the_start_what_the_server_states(self) -> None:
        stated = model(thinking={"disabled": False, "between_tools": False}, effort=False, max_tokens=3000)
        with AnthropicServer(models=[stated]) as server:
            llm = opened(server)
            assert llm.allowance == 0
            within(llm, llm.connect)
            assert llm.allowance == 3000
            ask_once(llm)
        (sent,) = server.asked
        assert (sent["max_tokens"], "thinking" in sent, "output_config" in sent) == (3000, False, False)

    def test_speaks_the_version_that_takes_a_temperature_until_it_is_refused(self) -> None:
        from anthropic._constants import ANTHROPIC_API_VERSION

        with AnthropicServer(self.picky("disabled")) as server:
            ask_once(opened(server))
        versions = [request.headers["anthropic-version"] for request in server.requests]
        assert versions == ["2023-06-01", ANTHROPIC_API_VERSION]

    def test_goes_on_where_that_version_is_gone(self) -> None:
        gone = error(400, "anthropic-version: 2023-06-01 is not a valid version")
        with AnthropicServer(lambda body: gone if "temperature" in body else "42") as server:
            assert ask_once(opened(server)).text == "42"
        assert len(server.asked) == 2

    def test_gives_thinking_its_own_allowance_and_remembers(self) -> None:
        def thinking(body: dict[str, Any]) -> Response:
            enough = body["max_tokens"] > 16
            return reply(THOUGHT, "42") if enough else reply(THOUGHT, stop="max_tokens", tokens=0, thoughts=16)

        with AnthropicServer(thinking) as server:
            llm = opened(server)

            async def work() -> list[Reply]:
                return [await llm.generate(ASKED) for _ in range(2)]

            first, second = within(llm, work)
        assert (first.text, first.usage, second.usage) == ("42", Usage(24, 19), Usage(12, 3))
        assert [body["max_tokens"] for body in server.asked] == [16] + [16 + THINKING] * 2

    def test_an_allowance_has_an_end(self) -> None:
        got = answered(reply(THOUGHT, stop="max_tokens", tokens=0, thoughts=9999))
        assert (got.text, got.state, got.detail) == ("", State.TRUNCATED, "all tokens went into reasoning")

    def test_writes_no_more_than_the_model_can(self) -> None:
        def answer(body: dict[str, Any]) -> str | Response:
            asked = body["max_tokens"]
            over = f"max_tokens: {asked} > 1024, which is the maximum allowed number of output tokens for {NAME}"
            return error(400, over) if asked > 1024 else reply(THOUGHT, stop="max_tokens", tokens=0, thoughts=asked)

        with AnthropicServer(answer) as server:
            ask_once(opened(server))
        assert [body["max_tokens"] for body in server.asked] == [16, 16 + THINKING, 1024]

    def test_sends_no_further_request_beyond_the_limit(self) -> None:
        def spent() -> None:
            raise SpentError("--max-requests 1 is reached")

        with AnthropicServer(self.picky("disabled")) as server:
            llm = opened(server)
            with pytest.raises(SpentError, match="--max-requests"):
                within(llm, lambda: llm.generate(replace(ASKED, again=spent)))
        assert len(server.asked) == 1

    def test_keeps_nothing_that_did_not_help(self) -> None:
        responses: list[str | Response] = [NO_TEMPERATURE, error(400, "still no"), "42"]
        with AnthropicServer(lambda body: responses.pop(0)) as server:
            llm = opened(server)

            async def work() -> list[Reply]:
                return [await llm.generate(ASKED) for _ in range(2)]

            assert [got.state for got in within(llm, work)] == [State.FAILED, State.OK]
        assert ["temperature" in body for body in server.asked] == [True, False, True]

    def test_a_model_that_refuses_everything_fails(self) -> None:
        assert answered(error(400, "no temperature, no thinking, no effort")).state is State.FAILED


SCRIPT = """
import asyncio, sys
from tabcontam.subjects.base import Request
from tabcontam.subjects.anthropic.provider import AnthropicModel
from tabcontam.evidence.base import Message, Prompt
assert "anthropic" not in sys.modules
async def work():
    llm = AnthropicModel("claude-opus-4-5", address=sys.argv[1])
    await llm.connect()
    print((await llm.generate(Request(Prompt((Message("user", "?"),), "", ""), 16))).text)
    await llm.close()
asyncio.run(work())
"""


@pytest.mark.slow
def test_the_sdk_prints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, SECRET)
    with AnthropicServer(models=[model("claude-opus-4-5")]) as server:
        command = [sys.executable, "-W", "always", "-c", SCRIPT, server.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


FIELDS = ("content", "type", "text", "usage", "stop_reason", "stop_details", "category", "error", "details", "message")
NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=40)
@given(NESTED)
def test_whatever_a_server_sends_is_read_or_a_value_error(body: object) -> None:
    try:
        got = read_answer(body).reply()
    except ValueError:
        return
    assert isinstance(got.text, str)
    assert isinstance(got.state, State)


@settings(max_examples=40)
@given(NESTED, st.integers(300, 599), st.text(max_size=30), st.sampled_from(["requests", "tokens"]))
def test_whatever_an_error_holds_concerns_somebody(body: object, status: int, moment: str, limit: str) -> None:
    headers = {f"anthropic-ratelimit-{limit}-remaining": "0", f"anthropic-ratelimit-{limit}-reset": moment}
    problem = Problem(status, body, headers)
    waited = wait(problem)
    assert concern(problem).name
    assert waited is None or waited >= 0
