"""The `gemini:` provider over the real SDK, against a server on loopback that speaks the Gemini protocol."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.models import gemini as provider
from tabcontam.models.base import Form, Request
from tabcontam.models.gemini import GOOGLE, THINKING_ALLOWANCE, GeminiModel, open_gemini
from tabcontam.models.gemini_replies import read_answer
from tabcontam.suite.base import Capability, Message, Prompt, Reply, State
from tests.loopback import Response
from tests.loopback_gemini import NAME, GeminiServer, error, model, reply

pytest.importorskip("google.genai", reason="google-genai is not installed")

Outcome = TypeVar("Outcome")
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
WRONG_KEY = error(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT")
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}
DAILY = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDay-FreeTier"}]}


@pytest.fixture(autouse=True)
def quick_and_bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting between retries, and nothing of the developer's own environment."""
    monkeypatch.setattr(provider, "WAIT", 0.001)
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def opened(server: GeminiServer, name: str = NAME) -> GeminiModel:
    made = open_gemini(name, address=server.url)
    assert isinstance(made, GeminiModel)
    return made


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


def refusal_to_connect(llm: GeminiModel) -> str:
    with pytest.raises(UsageError) as caught:
        within(llm, llm.connect)
    said = str(caught.value)
    assert "\n" not in said
    return said


class TestOpening:
    def test_needs_no_key_and_no_sdk(self) -> None:
        llm = open_gemini(NAME, max_connections=3, spec="gemini-2.5")
        assert (llm.spec, llm.form, llm.local, llm.control) == ("gemini-2.5", Form.CHAT, False, False)
        assert llm.capabilities == {Capability.GENERATE, Capability.INSTRUCTIONS}
        assert open_gemini(NAME).spec == f"gemini:{NAME}"

    @pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "../x", "a..b", "a?key=1", "a#b", "models/", "é", "a\n"])
    def test_takes_no_name_that_could_be_another_path(self, name: str) -> None:
        with pytest.raises(UsageError, match="bad model name"):
            open_gemini(name)

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
        llm = open_gemini(NAME)
        assert isinstance(llm, GeminiModel)
        assert refusal_to_connect(llm) == (
            "no key for Gemini; set the environment variable GEMINI_API_KEY or GOOGLE_API_KEY"
        )
        assert ask_once(llm).state is State.FAILED

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

    @pytest.mark.parametrize(
        ("environment", "key"), [({}, provider.PLACEHOLDER), ({"TABCONTAM_API_KEY": OTHER}, OTHER)]
    )
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
        llm = open_gemini(NAME)
        assert isinstance(llm, GeminiModel)

        async def work() -> str:
            return str(llm._connection()._api_client._http_options.base_url)

        assert within(llm, work) == GOOGLE
        assert GOOGLE == "https://generativelanguage.googleapis.com"

    def test_follows_no_redirect(self) -> None:
        with GeminiServer() as trap:
            moved = Response({}, 302, {"Location": f"{trap.url}/v1beta/models/{NAME}:generateContent"})
            assert answered(moved).state is State.FAILED
        assert trap.requests == []

    def test_stands_in_no_message(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        refused = error(403, f"the key {OTHER} is bad", "PERMISSION_DENIED")
        with GeminiServer(lambda body: refused, models_response=refused) as server:
            llm = opened(server)
            said = refusal_to_connect(llm)
            got = ask_once(llm)
        assert OTHER not in said
        assert "refused the key in TABCONTAM_API_KEY" in said
        assert got == Reply("", State.FAILED, "HTTP 403: the key *** is bad")
        assert OTHER not in repr(llm)

    @pytest.mark.parametrize("key", ["two words", "schlüssel"])
    def test_of_odd_characters_is_a_mistake(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GEMINI_API_KEY", key)
        llm = open_gemini(NAME)
        assert isinstance(llm, GeminiModel)
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
        assert len(server.requests) == provider.TRIES

    def test_names_the_extra_that_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("google.genai", "google.genai.client", "google.genai.errors", "google.genai.types", "httpx2"):
            monkeypatch.setitem(sys.modules, name, None)
        llm = open_gemini(NAME)
        assert isinstance(llm, GeminiModel)
        assert refusal_to_connect(llm) == 'gemini: needs google-genai; pip install "tabcontam[gemini]"'
        assert ask_once(llm) == Reply("", State.FAILED, 'gemini: needs google-genai; pip install "tabcontam[gemini]"')

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
            made = open_gemini(NAME, max_connections=3, address=server.url)
            assert isinstance(made, GeminiModel)
            for _ in range(2):
                assert {got.state for got in ask(made, times=15)} == {State.OK}
        assert server.most_concurrent <= 3


class TestFailure:
    @pytest.mark.parametrize(
        "body",
        [None, 7, [], {}, {"candidates": None}, {"candidates": []}, {"candidates": {}}, {"candidates": ["x"]}],
    )
    def test_is_what_a_reply_without_candidate_becomes(self, body: object) -> None:
        assert answered(Response(body)) == Reply("", State.FAILED, "the reply holds no candidate")

    @pytest.mark.parametrize("raw", [b"", b'{"candidates": [', b"<html>", b"\xff\xfe", b"[" * 200_000, b"9" * 9000])
    def test_is_what_broken_json_becomes(self, raw: bytes) -> None:
        assert answered(Response(raw=raw)).state is State.FAILED

    @pytest.mark.parametrize(
        ("response", "detail"),
        [
            (error(401, "bad key"), "HTTP 401: bad key"),
            (error(400, "two\n lines\x1b[0m"), "HTTP 400: two lines [0m"),
            (Response({"error": "plain"}, 400), "HTTP 400: plain"),
            (Response([{"error": {"message": "in a list"}}], 400), "HTTP 400: in a list"),
            (Response(raw=b"<html>Bad", status=400), "HTTP 400"),
            (Response(raw=b"\xff", status=400), None),
            (Response(7, 400), None),
            (Response(raw=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), None),
        ],
    )
    def test_tells_what_the_server_said(self, response: Response, detail: str | None) -> None:
        got = answered(response)
        assert (got.state, got.text) == (State.FAILED, "")
        assert got.detail
        assert detail is None or got.detail == detail

    @pytest.mark.parametrize(
        "response",
        [error(500, "oops"), error(429, "slow down"), Response({"a": 1}, cut=True), Response(raw=b'{"candidates": [')],
    )
    def test_comes_after_the_tries(self, response: Response) -> None:
        with GeminiServer(lambda body: response) as server:
            got = ask_once(opened(server))
        assert got.state is State.FAILED
        assert len(server.asked) == provider.TRIES

    @pytest.mark.parametrize(
        "response",
        [error(400, "bad"), error(404, "gone"), error(429, "spent", "RESOURCE_EXHAUSTED", DAILY, RETRY_INFO)],
    )
    def test_comes_at_once_where_no_wait_helps(self, response: Response) -> None:
        with GeminiServer(lambda body: response) as server:
            assert ask_once(opened(server)).state is State.FAILED
        assert len(server.asked) == 1

    def test_is_averted_by_a_retry(self) -> None:
        responses = [error(503, "busy"), Response({}, cut=True), Response(raw=b"{"), reply("3")]
        with GeminiServer(lambda body: responses.pop(0)) as server:
            assert ask_once(opened(server)).text == "3"

    @pytest.mark.parametrize(
        "limited",
        [
            Response(error(429, "slow").body, 429, {"Retry-After": "0.02"}),
            error(429, "slow", "RESOURCE_EXHAUSTED", RETRY_INFO),
        ],
    )
    def test_waits_as_long_as_the_server_asks(self, limited: Response, monkeypatch: pytest.MonkeyPatch) -> None:
        waits = []
        sleep = asyncio.sleep

        async def taken_down(seconds: float) -> None:
            waits.append(seconds)
            await sleep(0)

        monkeypatch.setattr("tabcontam.models.gemini.asyncio.sleep", taken_down)
        responses = [limited, reply("3")]
        with GeminiServer(lambda body: responses.pop(0)) as server:
            assert ask_once(opened(server)).text == "3"
        assert 0.02 in waits

    def test_waits_for_no_server_that_asks_for_too_much(self) -> None:
        limited = Response(error(429, "slow").body, 429, {"Retry-After": "3600"})
        with GeminiServer(lambda body: limited) as server:
            assert ask_once(opened(server)).detail == "HTTP 429: slow"
        assert len(server.asked) == 1

    def test_is_what_silence_becomes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(provider, "SECONDS", 0.05)
        with GeminiServer(lambda body: Response(hang=True)) as server:
            assert ask_once(opened(server)).detail.startswith("timed out")

    def test_is_what_an_absent_server_becomes(self) -> None:
        with GeminiServer() as server:
            llm = opened(server)
        assert ask_once(llm).detail.startswith("connection failed")


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
        assert limits == [16] + [16 + THINKING_ALLOWANCE] * 3

    def test_gives_it_from_the_start_where_the_server_states_it(self) -> None:
        with GeminiServer(self.thinking, models=[model(thinking=True)]) as server:
            llm = opened(server)
            within(llm, llm.connect)
            assert ask_once(llm).text == "42"
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
from tabcontam.models.base import Request
from tabcontam.models.gemini import open_gemini
from tabcontam.suite.base import Message, Prompt
assert not any(name.startswith("google.genai") for name in sys.modules)
async def work():
    llm = open_gemini("gemini-2.5-flash", address=sys.argv[1])
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
