"""The `openai:` provider over the real SDK, against a server on loopback."""

import asyncio
import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability, Message, Passage, Prompt, Reply, Scores, State, Usage
from tabcontam.subjects.base import THINKING, FatalError, Form, LackError, Request, SpentError, TransientError
from tabcontam.subjects.openai import connection
from tabcontam.subjects.openai.address import OPENAI, is_loopback, parse_address
from tabcontam.subjects.openai.connection import NoAnswer
from tabcontam.subjects.openai.errors import Problem
from tabcontam.subjects.openai.provider import OpenAIModel
from tabcontam.subjects.openai.replies import chat_answer, completion_answer
from tests.loopback import LoopbackServer, Response, completion, error, reply

Outcome = TypeVar("Outcome")
SECRET = "sk-secret-0123456789abcdef"  # no real key
OTHER = "tk-other-0123456789abcdef"
ASKED = Request(Prompt((Message("system", "Short."), Message("user", "Next?")), "1, 2,", "Next?", ("\n",)), 16)
ENVIRONMENT = (
    "OPENAI_API_KEY",
    "OPENAI_ADMIN_KEY",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "OPENAI_WEBHOOK_SECRET",
    "OPENAI_BASE_URL",
    "OPENAI_CUSTOM_HEADERS",
    "TABCONTAM_API_KEY",
)
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
FIELDS = ("choices", "message", "content", "text", "type", "refusal", "finish_reason", "usage", "completion_tokens")
NOT_CHAT = error(404, "This is not a chat model and thus not supported in the v1/chat/completions endpoint.")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the developer's own keys."""
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)


def opened(server: LoopbackServer, form: str = "auto", model: str = "model") -> OpenAIModel:
    return OpenAIModel(model, server.url, form)


def within(model: OpenAIModel, work: Callable[[], Coroutine[Any, Any, Outcome]]) -> Outcome:
    """Run the work in a loop of its own and close the model in it."""

    async def run() -> Outcome:
        try:
            return await work()
        finally:
            await model.close()

    return asyncio.run(run())


def ask(model: OpenAIModel, times: int = 1) -> list[Reply]:
    """As many queries at once."""

    async def work() -> list[Reply]:
        return list(await asyncio.gather(*(model.generate(ASKED) for _ in range(times))))

    return within(model, work)


def ask_once(model: OpenAIModel) -> Reply:
    return ask(model)[0]


def answered(response: str | Response, form: str = "auto") -> Reply:
    """What a single response becomes."""
    with LoopbackServer(lambda body: response) as server:
        return ask_once(opened(server, form))


def transient(response: str | Response, form: str = "auto") -> TransientError:
    """What passes, after one request."""
    with LoopbackServer(lambda body: response) as server:
        with pytest.raises(TransientError) as caught:
            ask_once(opened(server, form))
        assert len(server.asked) == 1
    return caught.value


def fatal(response: Response, form: str = "auto") -> str:
    """The line of what does not."""
    with LoopbackServer(lambda body: response) as server:
        with pytest.raises(FatalError) as caught:
            ask_once(opened(server, form))
        line = str(caught.value)
        assert server.url in line
    assert "\n" not in line
    return line


def connect(model: OpenAIModel) -> None:
    within(model, model.connect)


def refusal_to_connect(model: OpenAIModel) -> str:
    with pytest.raises(UsageError) as caught:
        connect(model)
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestAddress:
    @pytest.mark.parametrize(
        ("rest", "expected"),
        [
            ("gpt-4o", ("gpt-4o", None)),
            ("meta/llama:8b@http://localhost:8000/v1", ("meta/llama:8b", "http://localhost:8000/v1")),
            ("a@b@https://host/x/v1/", ("a@b", "https://host/x/v1/")),
            ("a@b", ("a@b", None)),
            ("m@http://[::1]:80", ("m", "http://[::1]:80")),
        ],
    )
    def test_is_split_at_the_last_scheme(self, rest: str, expected: tuple[str, str | None]) -> None:
        assert parse_address(rest) == expected

    @pytest.mark.parametrize(
        "rest",
        [
            "",
            "@http://host/v1",
            "m@http://",
            "m@http:///v1",
            "m@http://host:99999/v1",
            "m@http://host:0/v1",
            "m@http://ho st/v1",
            "m@http://host\\@evil/v1",
            "m@ftp://host/v1",
            "m@http://host/v1\n",
        ],
    )
    def test_that_is_none_is_a_mistake_of_the_user(self, rest: str) -> None:
        with pytest.raises(UsageError):
            parse_address(rest)

    @pytest.mark.parametrize(
        "rest",
        [
            f"m@http://user:{SECRET}@host/v1",
            f"m@https://{SECRET}@host/v1",
            f"m@http://host/v1?key={SECRET}",
            f"m@http://host/v1#{SECRET}",
            f"m@http://user:{SECRET}@https://host/v1",
        ],
    )
    def test_holds_no_key_and_none_is_repeated(self, rest: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse_address(rest)
        assert SECRET not in str(caught.value)

    @given(st.text(st.characters(exclude_characters="@", exclude_categories=["Cs"]), min_size=1))
    def test_keeps_every_name(self, name: str) -> None:
        if not name.strip() or "://" in name:
            return
        assert parse_address(f"{name}@http://h/v1") == (name, "http://h/v1")

    @pytest.mark.parametrize(
        ("url", "local"),
        [
            ("http://localhost:1/v1", True),
            ("http://LOCALHOST/v1", True),
            ("http://127.0.0.1/v1", True),
            ("http://127.9.9.9/v1", True),
            ("http://[::1]:8000/v1", True),
            ("http://localhost.example.com/v1", False),
            ("http://127.0.0.1.example.com/v1", False),
            ("http://10.0.0.1/v1", False),
            ("http://0.0.0.0/v1", False),
            (OPENAI, False),
        ],
    )
    def test_is_local_by_its_spelling_alone(self, url: str, local: bool) -> None:
        assert is_loopback(url) is local
        assert OpenAIModel("m", url).local is local

    def test_is_openais_own_by_default_whatever_the_environment_says(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        model = OpenAIModel("gpt-4o", None)
        assert model.address == OPENAI
        with model.clients().borrowed() as client:
            assert str(client.base_url).rstrip("/") == OPENAI
        asyncio.run(model.close())


class TestModel:
    def test_is_what_the_protocol_asks_for(self) -> None:
        model = OpenAIModel("a/b", "http://127.0.0.1:1/v1")
        assert model.spec == "openai:a/b@http://127.0.0.1:1/v1"
        assert OpenAIModel("gpt-4o", None).spec == "openai:gpt-4o"
        assert OpenAIModel("gpt-4o", None, spec="gpt-4o").spec == "gpt-4o"
        assert not model.control
        assert model.version == ""
        either = {
            Capability.GENERATE,
            Capability.CHAT,
            Capability.COMPLETION,
            Capability.SAMPLE,
            Capability.INSTRUCTIONS,
        }
        assert model.capabilities == either
        forced = OpenAIModel("a/b", "http://127.0.0.1:1/v1", form="completion")
        assert forced.capabilities == either - {Capability.CHAT}
        assert model.identity == {"provider": "openai", "address": "http://127.0.0.1:1/v1", "model": "a/b"}
        assert model.allowance == 0

    def test_knows_the_forms(self) -> None:
        assert OpenAIModel("gpt-4o", None).form is Form.CHAT
        assert OpenAIModel("davinci-002", None).form is Form.COMPLETION
        assert OpenAIModel("davinci-002", "http://127.0.0.1:1/v1").form is Form.CHAT
        assert OpenAIModel("m", None, "completion").form is Form.COMPLETION
        with pytest.raises(UsageError, match="did you mean chat"):
            OpenAIModel("m", None, "chatt")

    def test_is_imported_without_the_sdk(self) -> None:
        code = "import sys, tabcontam.subjects.openai.provider; sys.exit('openai' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestConnect:
    def test_finds_the_model_and_what_the_server_states(self) -> None:
        entries: list[str | dict[str, Any]] = [{"id": "model", "created": 1715367049, "root": "org/weights"}, "other"]
        with LoopbackServer(models=entries) as server:
            model = opened(server)
            connect(model)
        assert model.version == "created=1715367049 root=org/weights"
        assert server.requests[0].path == "/v1/models"
        assert not server.asked

    @pytest.mark.parametrize("owner", ["vllm", "someone"])
    def test_does_not_take_the_time_of_the_listing_for_a_version(self, owner: str) -> None:
        created = int(time.time()) - (7200 if owner == "vllm" else 0)
        with LoopbackServer(models=[{"id": "model", "created": created, "owned_by": owner, "root": "model"}]) as server:
            model = opened(server)
            connect(model)
        assert model.version == ""

    @pytest.mark.parametrize("listed", ["llama3", "llama3:latest", "models/llama3"])
    def test_knows_the_ways_servers_list_a_name(self, listed: str) -> None:
        with LoopbackServer(models=[listed]) as server:
            connect(opened(server, model="llama3"))

    def test_names_the_nearest_models(self) -> None:
        with LoopbackServer(models=["llama3.1-8b", "qwen"]) as server:
            message = refusal_to_connect(opened(server, model="llama3.1-8B-it"))
        assert message.startswith("unknown model 'llama3.1-8B-it'; did you mean llama3.1-8b")

    @pytest.mark.parametrize("status", [404, 405])
    def test_accepts_servers_without_a_list(self, status: int) -> None:
        with LoopbackServer(models_response=Response({"detail": "no"}, status)) as server:
            connect(opened(server))

    @pytest.mark.parametrize("body", [{"data": []}, {"data": None}, {"data": [3, {"id": 4}]}, [], {}, "x", None])
    def test_accepts_an_odd_list(self, body: object) -> None:
        with LoopbackServer(models_response=Response(body)) as server:
            connect(opened(server))

    @pytest.mark.parametrize("raw", [b"<html>", b"\xff", b"[" * 200_000])
    def test_tells_that_something_else_answers_there(self, raw: bytes) -> None:
        with LoopbackServer(models_response=Response(raw=raw)) as server:
            model = OpenAIModel("model", server.url.removesuffix("/v1") + "/v1/")
            assert "does not speak OpenAI's protocol" in refusal_to_connect(model)

    def test_tells_that_no_server_is_there(self) -> None:
        with LoopbackServer() as server:
            url = server.url
        model = OpenAIModel("model", url)
        message = refusal_to_connect(model)
        assert url in message
        assert "start it" in message

    @pytest.mark.parametrize("status", [401, 403])
    def test_names_the_variable_for_the_key(self, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        said = f"Incorrect API key provided: {OTHER}"
        with LoopbackServer(models_response=error(status, said)) as server:
            assert "wants a key; set the environment variable TABCONTAM_API_KEY" in refusal_to_connect(opened(server))
            monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
            message = refusal_to_connect(opened(server))
        assert "refused the key in TABCONTAM_API_KEY" in message
        assert OTHER not in message

    def test_lists_no_terminal_codes(self) -> None:
        with LoopbackServer(models=["modem\x1b[31m\nred"]) as server:
            assert "\x1b" not in refusal_to_connect(opened(server))

    @pytest.mark.parametrize(
        ("status", "said"),
        [
            (401, "You have insufficient permissions for this operation. Missing scopes: api.model.read."),
            (403, "You have insufficient permissions for this operation."),
            (403, ""),
        ],
    )
    def test_accepts_a_key_that_may_only_chat(self, status: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        with LoopbackServer(models_response=error(status, said)) as server:
            model = opened(server)
            connect(model)
        assert model.version == ""

    def test_tells_of_a_region_that_is_shut_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        with LoopbackServer(models_response=error(403, "Country, region, or territory not supported")) as server:
            assert "territory not supported" in refusal_to_connect(opened(server))

    def test_tries_a_cut_connection_once_more_and_nothing_else(self) -> None:
        with LoopbackServer(models_response=Response({"data": []}, cut=True)) as server:
            assert "connection failed" in refusal_to_connect(opened(server))
            assert len(server.requests) == 2
            server.models_response = error(503, "loading")
            refusal_to_connect(opened(server))
            assert len(server.requests) == 3

    def test_reports_other_answers(self) -> None:
        with LoopbackServer(models_response=error(503, "loading")) as server:
            assert "it answered HTTP 503: loading" in refusal_to_connect(opened(server))

    def test_needs_openais_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        model = OpenAIModel("gpt-4o", None)
        assert refusal_to_connect(model) == "no key for OpenAI; set the environment variable OPENAI_API_KEY"

    @pytest.mark.parametrize("key", [f"{SECRET}\nX: y", f"“{SECRET}”", "two words"])
    def test_takes_no_broken_key(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
        model = OpenAIModel("gpt-4o", None)
        message = refusal_to_connect(model)
        assert "OPENAI_API_KEY" in message
        assert key not in message


class TestKeys:
    def test_of_openai_go_nowhere_else(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ENVIRONMENT[:5]:
            monkeypatch.setenv(name, SECRET)
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Key: {SECRET}\nAuthorization: Bearer {SECRET}")
        with LoopbackServer() as server:
            model = opened(server)
            connect(model)
            assert ask_once(model).state is State.OK
        assert [request.method for request in server.requests] == ["GET", "POST"]
        for request in server.requests:
            assert SECRET not in str(request)
            assert request.headers["authorization"] == "Bearer no-key"

    def test_for_another_address_go_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("TABCONTAM_API_KEY", f"{OTHER}\n")
        with LoopbackServer() as server:
            ask_once(opened(server))
        assert server.requests[0].headers["authorization"] == f"Bearer {OTHER}"

    def test_do_not_follow_a_redirect(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        with LoopbackServer() as elsewhere:
            moved = Response({}, 307, {"Location": f"{elsewhere.url}/chat/completions"})
            with LoopbackServer(lambda body: moved) as server, pytest.raises(FatalError, match="correct the address"):
                ask_once(opened(server))
        assert elsewhere.requests == []

    def test_stand_in_no_reply_log_or_name(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        caplog.set_level(logging.DEBUG)
        with LoopbackServer(lambda body: error(400, f"{'x' * 270} you sent {OTHER}, sorry")) as server:
            model = opened(server)
            got = ask_once(model)
        assert got.state is State.FAILED
        assert OTHER[:8] not in got.detail
        assert OTHER not in caplog.text
        assert OTHER not in repr(model)

    def test_and_queries_pass_no_proxy_on_this_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        assert answered("fine").text == "fine"


class TestChat:
    def test_sends_the_messages_greedily(self) -> None:
        with LoopbackServer(lambda body: reply("3", tokens=2)) as server:
            assert ask_once(opened(server)) == Reply("3", State.OK, "", 2)
        messages = [{"role": "system", "content": "Short."}, {"role": "user", "content": "Next?"}]
        assert server.asked == [{"model": "model", "messages": messages, "temperature": 0, "max_tokens": 16}]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("response", "expected"),
        [
            (reply("half", "length"), Reply("half", State.TRUNCATED, "token limit", 3)),
            (reply("", "length"), Reply("", State.TRUNCATED, "all tokens went into reasoning", 3)),
            (reply("", "content_filter"), Reply("", State.REFUSED, "content filter", 3)),
            (reply(None, refusal="I can't\nhelp."), Reply("", State.REFUSED, "I can't help.", 3)),
            (reply([{"type": "refusal", "refusal": "No."}]), Reply("", State.REFUSED, "No.", 3)),
            (reply(None), Reply("", State.EMPTY, "no text", 3)),
            (reply(" \n"), Reply("", State.EMPTY, "no text", 3)),
            (reply([{"type": "text", "text": "4"}, {"text": "2"}, 7]), Reply("42", State.OK, "", 3)),
            (reply([{"type": "thinking", "thinking": []}, {"type": "text", "text": "4"}]), Reply("4", State.OK, "", 3)),
            (reply("42\n", finish=7), Reply("42\n", State.OK, "", 3)),  # type: ignore[arg-type]
            (reply("half \ud800 pair"), Reply("half ? pair", State.OK, "", 3)),
            (error(400, "filtered", code="content_filter"), Reply("", State.REFUSED, "HTTP 400: filtered")),
        ],
    )
    def test_reads_the_state(self, response: Response, expected: Reply) -> None:
        assert answered(response) == expected

    @pytest.mark.parametrize(
        ("text", "answer"),
        [
            ("<think>Hm.\nWell.</think>\n\n42", "42"),
            ("\n<think></think><thinking>a</thinking> 42", "42"),
            ("so it is 42</think>\n42", "42"),
            ("the tag <think> is mine", "the tag <think> is mine"),
        ],
    )
    def test_leaves_thinking_out(self, text: str, answer: str) -> None:
        assert answered(text) == Reply(answer, State.OK, "", 3)

    def test_that_only_thought_is_empty(self) -> None:
        assert answered("<think>Hm.").state is State.EMPTY

    def test_counts_answer_tokens_alone(self) -> None:
        assert answered(reply("42", tokens=2, reasoning=500)).tokens == 2


def costing(answer: Response, prompt: int, total: int | None = None) -> Response:
    """A reply that states what it cost."""
    body = json.loads(answer.content())
    body["usage"] |= {"prompt_tokens": prompt} | ({} if total is None else {"total_tokens": total})
    return Response(body)


class TestUsage:
    def test_is_what_the_server_states(self) -> None:
        assert answered(costing(reply("3", tokens=2), 40)).usage == Usage(40, 2)
        assert answered(costing(completion("3", tokens=2), 40), "completion").usage == Usage(40, 2)
        assert answered(reply("3")).usage is None

    def test_counts_the_thinking(self) -> None:
        got = answered(costing(reply("42", tokens=2, reasoning=500), 40))
        assert (got.tokens, got.usage) == (2, Usage(40, 502))

    def test_counts_the_thinking_that_only_the_total_holds(self) -> None:
        body = reply("42").body
        assert isinstance(body, dict)
        body["usage"] = {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 542}
        body["usage"]["completion_tokens_details"] = {"reasoning_tokens": 500}
        got = answered(Response(body))
        assert (got.tokens, got.usage) == (2, Usage(40, 502))

    def test_is_summed_over_all_requests(self) -> None:
        cut = costing(reply("", "length", 0, 16), 40)
        with LoopbackServer(lambda body: costing(reply("42"), 41) if body["max_tokens"] > 16 else cut) as server:
            assert ask_once(opened(server)).usage == Usage(81, 19)

    def test_stands_beside_a_later_refusal(self) -> None:
        cut = costing(reply("", "length", 0, 16), 40)
        with LoopbackServer(lambda body: error(400, "no") if body["max_tokens"] > 16 else cut) as server:
            got = ask_once(opened(server))
        assert (got.state, got.usage) == (State.FAILED, Usage(40, 16))


class TestAgain:
    @staticmethod
    def counted(server: LoopbackServer, times: int = 1) -> tuple[OpenAIModel, list[int]]:
        """A model that was asked so often, and the requests before each call of `again`."""
        calls: list[int] = []
        model = opened(server)

        async def work() -> None:
            for _ in range(times):
                await model.generate(Request(ASKED.prompt, 16, again=lambda: calls.append(len(server.asked))))

        within(model, work)
        return model, calls

    def test_is_called_before_each_further_request(self) -> None:
        with LoopbackServer(TestHabits.reasoning) as server:
            assert self.counted(server)[1] == [1, 2]
        with LoopbackServer(paths=["/completions"]) as server:
            assert self.counted(server)[1] == [1]

    def test_is_not_called_before_the_first(self) -> None:
        with LoopbackServer() as server:
            assert self.counted(server, times=3)[1] == []

    def test_stops_at_the_limit_of_the_user(self) -> None:
        def spent() -> None:
            raise SpentError("enough")

        with LoopbackServer(TestHabits.reasoning) as server:
            model = opened(server)
            with pytest.raises(SpentError, match="enough"):
                within(model, lambda: model.generate(Request(ASKED.prompt, 16, again=spent)))
            assert len(server.asked) == 1


class TestFailure:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "body",
        [
            {"choices": None},
            {"choices": []},
            {"choices": {}},
            {"choices": ["x"]},
            {"choices": [{}]},
            {"choices": [{"message": "x"}]},
            {"choices": [{"message": {"content": 7}}]},
            {"choices": [{"message": {"content": {"a": 1}}}]},
            {"error": {"message": "overloaded"}},
        ],
    )
    def test_passes_where_a_reply_is_of_wrong_types(self, body: object) -> None:
        error = transient(Response(body))
        assert error.kind in ("no reply", "503")
        assert str(error)

    @pytest.mark.parametrize(
        "body",
        [{"choices": [{"message": {"content": "42"}}]}, {"choices": [{"message": {"content": "42"}}], "usage": 3}],
    )
    def test_is_not_what_a_bare_reply_becomes(self, body: object) -> None:
        assert answered(Response(body)) == Reply("42", State.OK)

    @pytest.mark.parametrize("raw", [b"", b'{"choices": [', b"\xff\xfe", b"[" * 200_000, b"9" * 9000])
    def test_passes_where_json_is_broken(self, raw: bytes) -> None:
        error = transient(Response(raw=raw))
        assert (error.kind, error.sent, error.crowded) == ("broken JSON", True, False)

    @pytest.mark.parametrize(
        ("response", "detail"),
        [
            (error(400, "two\n lines\x1b[0m"), "HTTP 400: two lines [0m"),
            (Response({"error": "plain"}, 400), "HTTP 400: plain"),
            (Response({"detail": [{"loc": ["body"]}]}, 422), "HTTP 422: [{'loc': ['body']}]"),
            (error(413, "too big"), "HTTP 413: too big"),
            (error(429, "Request too large for m: Limit 9, Requested 10"), None),
        ],
    )
    def test_of_this_request_alone_is_a_reply(self, response: Response, detail: str | None) -> None:
        got = answered(response)
        assert (got.state, got.text) == (State.FAILED, "")
        assert got.detail
        assert detail is None or got.detail == detail

    @pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
    def test_that_may_pass_is_told_after_one_request(self, status: int) -> None:
        got = transient(error(status, "oops"))
        assert (str(got), got.kind, got.sent) == (f"HTTP {status}: oops", str(status), False)
        assert got.crowded == (status in (429, 503, 529))

    @pytest.mark.parametrize(
        ("response", "kind"),
        [
            (Response({"a": 1}, cut=True), "cut connection"),
            (Response(raw=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), None),
            (Response(raw=b"<html>Bad", status=400, headers={"Content-Type": "text/html; charset=base64"}), None),
            (reply("an er", "error"), "broken reply"),
        ],
    )
    def test_in_the_middle_may_have_to_be_paid_for(self, response: Response, kind: str | None) -> None:
        got = transient(response)
        assert got.sent
        assert kind in (None, got.kind)

    def test_says_how_long_to_wait(self) -> None:
        assert transient(error(429, "slow", {"Retry-After": "0.02"})).wait == 0.02
        assert transient(error(429, "slow")).wait is None

    def test_of_silence_is_a_timeout(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "SECONDS", 0.05)
        got = transient(Response(hang=True))
        assert (got.kind, got.sent, got.crowded) == ("timeout", True, True)
        assert str(got).startswith("timed out")

    def test_of_an_absent_server_is_never_paid_for(self) -> None:
        with LoopbackServer() as server:
            model = opened(server)
        with pytest.raises(TransientError, match="connection failed") as caught:
            ask_once(model)
        assert (caught.value.kind, caught.value.sent) == ("no connection", False)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("response", "line"),
        [
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
        ],
    )
    def test_that_no_request_survives_is_fatal(self, response: Response, line: str) -> None:
        assert line in fatal(response)

    def test_that_is_fatal_names_the_key_and_does_not_show_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", OTHER)
        line = fatal(error(401, f"Incorrect API key provided: {OTHER}, or {OTHER[:16]}***, or tk-o****cdef"))
        assert "refused the key in TABCONTAM_API_KEY" in line
        assert OTHER[:12] not in line
        assert "cdef" not in line

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            ({"error": {"message": "slow", "code": 429}}, "429"),
            ({"error": {"message": "slow", "code": "rate_limit_exceeded"}}, "429"),
            ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, "503"),
            ({"error": {"message": "bad gateway", "code": "502"}}, "502"),
        ],
    )
    def test_behind_status_200_is_read_like_any_other(self, body: object, kind: str) -> None:
        assert transient(Response(body)).kind == kind

    def test_behind_status_200_may_be_of_this_request_alone(self) -> None:
        assert answered(Response({"error": {"message": "odd", "code": 400}})).state is State.FAILED
        assert answered(Response({"error": {"message": "no", "code": "content_filter"}})).state is State.REFUSED


class TestHabits:
    """What a model does not take is learned once, and no query is lost."""

    @staticmethod
    def reasoning(body: dict[str, Any]) -> Response:
        if "max_tokens" in body:
            return LACKS_MAX_TOKENS
        if "temperature" in body:
            return LACKS_TEMPERATURE
        return reply("42", reasoning=100)

    def test_adapts_to_a_reasoning_model(self) -> None:
        with LoopbackServer(self.reasoning) as server:
            model = opened(server)

            async def work() -> list[Reply]:
                return [await model.generate(ASKED) for _ in range(3)]

            assert [got.text for got in within(model, work)] == ["42"] * 3
        assert len(server.asked) == 2 + 3
        assert server.asked[-1]["max_completion_tokens"] == 16 + THINKING

    def test_adapts_with_many_queries_under_way(self) -> None:
        with LoopbackServer(self.reasoning) as server:
            assert [got.state for got in ask(opened(server), times=20)] == [State.OK] * 20

    def test_reads_the_parameter_from_the_message(self) -> None:
        def answer(body: dict[str, Any]) -> str | Response:
            detail = [{"type": "extra_forbidden", "loc": ["body", "temperature"], "msg": "Extra inputs not permitted"}]
            return Response({"detail": detail}, 422) if "temperature" in body else "42"

        with LoopbackServer(answer) as server:
            assert ask_once(opened(server)).text == "42"

    def test_keeps_nothing_that_did_not_help(self) -> None:
        responses: list[str | Response] = [error(400, "unknown token near temperature"), error(400, "still no"), "42"]
        with LoopbackServer(lambda body: responses.pop(0)) as server:
            model = opened(server)

            async def work() -> list[Reply]:
                return [await model.generate(ASKED) for _ in range(2)]

            assert [got.state for got in within(model, work)] == [State.FAILED, State.OK]
        assert ["temperature" in body for body in server.asked] == [True, False, True]

    @pytest.mark.parametrize(
        "cut", [reply("<think>Hm", "length"), reply(None, "length", reasoning_content="Hm"), reply("", "length", 0, 16)]
    )
    def test_gives_thinking_its_own_allowance(self, cut: Response) -> None:
        with LoopbackServer(lambda body: reply("42") if body["max_tokens"] > 16 else cut) as server:
            assert ask_once(opened(server)).text == "42"
        assert server.asked[-1]["max_tokens"] == 16 + THINKING

    def test_tells_of_its_allowance(self) -> None:
        with LoopbackServer(self.reasoning) as server:
            model = opened(server)
            ask_once(model)
        assert model.allowance == THINKING

    @staticmethod
    def small(context: int, prompt: int, words: str) -> Callable[[dict[str, Any]], str | Response]:
        """A server of a model that thinks, in a small context, and that says so in these words."""

        def answer(body: dict[str, Any]) -> str | Response:
            limit = body["max_tokens"]
            if prompt + limit > context:
                return error(400, words.format(context=context, prompt=prompt, limit=limit, sum=prompt + limit))
            return reply("42") if limit > 100 else reply("<think>Hm", "length")

        return answer

    @pytest.mark.parametrize(
        "words",
        [
            "This model's maximum context length is {context} tokens. However, you requested {sum} tokens "
            "({prompt} in the messages, {limit} in the completion). Please reduce the length of the messages.",
            "'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum context length is "
            "{context} tokens and your request has {prompt} input tokens ({limit} > {context} - {prompt}).",
            "max_tokens={limit} cannot be greater than max_model_len=max_total_tokens={context}. Please request fewer "
            "output tokens.",
            "This model's maximum context length is {context} tokens. However, you requested {limit} output tokens and "
            "your prompt contains at least 1 input tokens, for a total of at least {sum} tokens.",
        ],
    )
    def test_asks_for_as_much_thinking_as_fits(self, words: str) -> None:
        with LoopbackServer(self.small(1000, 30, words)) as server:
            model = opened(server)

            async def work() -> list[Reply]:
                return [await model.generate(ASKED) for _ in range(3)]

            assert [got.text for got in within(model, work)] == ["42"] * 3
        limits = [body["max_tokens"] for body in server.asked]
        assert limits[:2] == [16, 16 + THINKING]
        assert len(limits) == 3 + 2
        assert 900 < limits[-1] <= 970
        assert len(set(limits[2:])) == 1
        assert model.allowance == 1000

    def test_asks_for_less_where_the_prompt_is_longer_than_it_looks(self) -> None:
        words = "max_model_len={context}: context length exceeded by {sum}"
        with LoopbackServer(self.small(1000, 600, words)) as server:
            assert ask_once(opened(server)).text == "42"
        assert 100 < server.asked[-1]["max_tokens"] <= 400

    def test_keeps_to_the_most_that_a_model_writes(self) -> None:
        said = "max_tokens is too large: {}. This model supports at most 2048 completion tokens"

        def answer(body: dict[str, Any]) -> Response:
            limit = body["max_tokens"]
            if limit > 2048:
                return error(400, said.format(limit))
            return reply("42") if limit > 16 else reply("<think>Hm", "length")

        with LoopbackServer(answer) as server:
            assert ask_once(opened(server)).text == "42"
        assert [body["max_tokens"] for body in server.asked] == [16, 16 + THINKING, 2048]

    def test_fails_where_the_prompt_alone_is_too_long(self) -> None:
        said = "This model's maximum context length is 8 tokens. However, your messages resulted in 9 tokens."
        with LoopbackServer(lambda body: error(400, said, code="context_length_exceeded")) as server:
            got = ask_once(opened(server))
        assert got.state is State.FAILED
        assert got.detail.startswith("the prompt is too long: HTTP 400: This model's maximum")
        assert len(server.asked) == 1

    def test_an_allowance_has_an_end(self) -> None:
        got = answered(reply("<think>Hm", "length"))
        assert got == Reply("", State.TRUNCATED, "all tokens went into reasoning", 3)

    def test_a_model_that_refuses_everything_fails(self) -> None:
        got = answered(error(400, "unsupported: temperature, stop, max_tokens, max_completion_tokens"))
        assert got.state is State.FAILED


class TestCompletion:
    def test_sends_the_text_and_its_stop(self) -> None:
        with LoopbackServer(lambda body: completion(" 3", tokens=2)) as server:
            assert ask_once(opened(server, "completion")) == Reply(" 3", State.OK, "", 2)
        sent = {"model": "model", "prompt": "1, 2,", "temperature": 0, "max_tokens": 16, "stop": ["\n"]}
        assert server.asked == [sent]
        assert server.requests[0].path == "/v1/completions"

    def test_stops_itself_where_the_server_does_not(self) -> None:
        def answer(body: dict[str, Any]) -> Response:
            return error(400, "Unsupported parameter: 'stop'") if "stop" in body else completion(" 3\n4\n5", "length")

        with LoopbackServer(answer) as server:
            assert ask_once(opened(server, "completion")) == Reply(" 3", State.OK, "", 3)

    @pytest.mark.parametrize("text", [7, ["a"], {}])
    def test_takes_no_other_thing_for_a_text(self, text: object) -> None:
        assert transient(completion(text), "completion").kind == "no reply"

    @pytest.mark.parametrize(
        ("response", "state"),
        [
            (completion(None), State.EMPTY),
            (completion(" 3", "length"), State.TRUNCATED),
            (completion("", "content_filter"), State.REFUSED),
        ],
    )
    def test_reads_the_state(self, response: Response, state: State) -> None:
        assert answered(response, "completion").state is state


class TestForm:
    @pytest.mark.parametrize(
        "no_chat",
        [
            NOT_CHAT,
            error(400, "As of transformers v4.44, default chat template is no longer allowed"),
            Response({"detail": "Not Found"}, 404),
        ],
    )
    def test_turns_to_completion_and_remembers(self, no_chat: Response) -> None:
        with LoopbackServer(lambda body: no_chat if "messages" in body else "3") as server:
            model = opened(server)
            assert [got.text for got in ask(model, times=10)] == ["3"] * 10
            assert model.form is Form.COMPLETION
            server.requests.clear()
            ask_once(model)
        assert [request.path for request in server.requests] == ["/v1/completions"]

    def test_is_told_by_the_paths_that_exist(self) -> None:
        with LoopbackServer(paths=["/completions"]) as server:
            model = opened(server)
            assert ask_once(model).text == "fine"
        assert model.form is Form.COMPLETION

    def test_stays_where_neither_exists(self) -> None:
        with LoopbackServer(paths=[]) as server:
            model = opened(server)
            with pytest.raises(FatalError, match="HTTP 404: Not Found"):
                ask_once(model)
        assert model.form is Form.CHAT

    def test_stays_once_chat_has_worked(self) -> None:
        chat: list[str | Response] = ["fine", Response({}, 404)]
        with LoopbackServer(lambda body: chat.pop(0) if "messages" in body else "other") as server:
            model = opened(server)

            async def work() -> None:
                assert (await model.generate(ASKED)).state is State.OK
                with pytest.raises(FatalError):
                    await model.generate(ASKED)

            within(model, work)
        assert model.form is Form.CHAT

    def test_stays_where_the_user_chose_it(self) -> None:
        assert "--form" in fatal(NOT_CHAT, "chat")

    def test_stays_when_the_model_is_unknown(self) -> None:
        unknown = error(404, "The model `m` does not exist", code="model_not_found")
        with LoopbackServer(lambda body: unknown) as server, pytest.raises(FatalError):
            ask_once(opened(server))
        assert len(server.asked) == 1

    def test_is_not_asked_for_again_once_it_is_settled(self) -> None:
        with LoopbackServer(paths=["/completions"]) as server:
            model = opened(server)
            assert not model.settled
            model.settle(Form.COMPLETION)
            assert model.settled
            ask_once(model)
            model.settle(Form.CHAT)
        assert model.form is Form.COMPLETION
        assert [request.path for request in server.requests] == ["/v1/completions"]

    def test_of_the_user_is_never_settled_anew(self) -> None:
        model = OpenAIModel("m", "http://127.0.0.1:1/v1", "chat")
        assert model.settled
        model.settle(Form.COMPLETION)
        assert model.form is Form.CHAT


class TestConnections:
    def test_are_no_more_than_allowed_and_waiting_is_no_failure(self) -> None:
        with LoopbackServer(lambda body: Response(reply("fine").body, latency=0.02)) as server:
            model = OpenAIModel("model", server.url, max_connections=3)
            assert {got.state for got in ask(model, times=30)} == {State.OK}
        assert server.most_concurrent <= 3

    @pytest.mark.slow
    def test_are_shared_among_clients(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "EACH", 2)
        with LoopbackServer(lambda body: Response(reply("fine").body, latency=0.3)) as server:
            model = OpenAIModel("model", server.url, max_connections=5)
            assert {got.state for got in ask(model, times=20)} == {State.OK}
            assert server.most_concurrent == 5
            unlimited = OpenAIModel("model", server.url, max_connections=None)
            assert {got.state for got in ask(unlimited, times=9)} == {State.OK}
        assert server.most_concurrent == 9

    def test_end_with_the_query_that_is_called_off(self) -> None:
        async def work() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(model.generate(ASKED), 0.05)

        with LoopbackServer(lambda body: Response(hang=True)) as server:
            model = opened(server)
            within(model, work)


class TestScore:
    """Servers as they are: each answers the query for a text's log-probabilities in its own way."""

    @staticmethod
    def scoring(server: LoopbackServer) -> OpenAIModel:
        return OpenAIModel("model", server.url, needs=frozenset({Capability.SCORE}))

    @staticmethod
    def echo(body: dict[str, Any]) -> Response:
        """A token a character, and one that was generated."""
        if not body.get("echo"):
            return completion("?")
        tokens = [*body["prompt"], "?"]
        scores = [None, *(-float(number) for number in range(1, len(tokens)))]
        choice = {"text": body["prompt"] + "?", "logprobs": {"tokens": tokens, "token_logprobs": scores}}
        return Response({"choices": [choice]})

    @staticmethod
    def prompt_logprobs(body: dict[str, Any]) -> Response:
        """vLLM with a special token before the text, and without echo."""
        if "prompt_logprobs" not in body:
            return error(400, "echo is not supported")
        entries = [{str(ord(sign)): {"logprob": -0.5, "rank": 1, "decoded_token": sign}} for sign in body["prompt"]]
        return Response({"choices": [{"text": "?", "prompt_logprobs": [None, *entries]}]})

    @staticmethod
    def scored(model: OpenAIModel, *texts: str) -> list[Scores]:
        """What the model makes of texts, all asked at once."""

        async def work() -> list[Scores]:
            await model.connect()
            return list(await asyncio.gather(*(model.score(Request(Passage(text))) for text in texts)))

        return within(model, work)

    def scores(self, answer: Callable[[dict[str, Any]], Response], text: str) -> list[tuple[str, float]]:
        with LoopbackServer(answer) as server:
            model = self.scoring(server)
            (scored,) = self.scored(model, text)
            assert scored.text == text
            assert not text or Capability.SCORE in model.capabilities
            return [(token.text, token.log_probability) for token in scored.tokens]

    def test_reads_an_echo(self) -> None:
        assert self.scores(self.echo, "ab\n") == [("a", 0.0), ("b", -1.0), ("\n", -2.0)]

    def test_reads_the_log_probabilities_of_the_prompt(self) -> None:
        assert self.scores(self.prompt_logprobs, "ab") == [("a", -0.5), ("b", -0.5)]

    def test_of_nothing_is_nothing(self) -> None:
        assert self.scores(self.echo, "") == []

    @staticmethod
    def generated_alone(body: dict[str, Any]) -> Response:
        logprobs = {"tokens": ["6"], "token_logprobs": [-0.1], "content": [{"token": "6", "logprob": -0.1}]}
        return Response({"choices": [{"text": "6", "logprobs": logprobs, "prompt_logprobs": [None]}]})

    @staticmethod
    def unscored_echo(body: dict[str, Any]) -> Response:
        tokens = list(body["prompt"])
        logprobs = {"tokens": tokens, "token_logprobs": [None] * len(tokens)}
        return Response({"choices": [{"text": body["prompt"], "logprobs": logprobs}]})

    @pytest.mark.parametrize(
        "answer",
        [
            generated_alone,
            unscored_echo,
            lambda body: completion("6"),
            lambda body: error(400, "Only no echo is supported"),
            lambda body: error(401, "Incorrect API key provided"),
        ],
    )
    def test_is_not_offered_by_every_server(self, answer: Callable[[dict[str, Any]], Response]) -> None:
        """Two requests of the first passage find it out, whatever else is asked at the same time."""
        with LoopbackServer(answer) as server:
            model = self.scoring(server)
            assert model.may_have == {Capability.SCORE}
            counted: list[int] = []

            async def work() -> list[Scores | BaseException]:
                await model.connect()
                asked = (
                    model.score(Request(Passage(text), 1, again=lambda: counted.append(1))) for text in ("ab", "cd")
                )
                return list(await asyncio.gather(*asked, return_exceptions=True))

            found = within(model, work)
        assert [type(one) for one in found] == [LackError, LackError]
        assert Capability.SCORE not in model.capabilities
        assert model.may_have == frozenset()
        assert len(server.asked) == 1 + len(counted) == 2

    @pytest.mark.parametrize("response", [error(500, "engine broke"), Response(raw=b"[")])
    def test_a_server_that_breaks_at_it_three_times_is_asked_no_more(self, response: Response) -> None:
        with LoopbackServer(lambda body: response) as server:
            model = self.scoring(server)
            for _ in range(2):
                with pytest.raises(TransientError):
                    self.scored(model, "ab")
            with pytest.raises(LackError):
                self.scored(model, "ab")
        assert model.may_have == frozenset()

    def test_a_slow_or_busy_server_is_not_taken_to_lack_it(self) -> None:
        responses = [error(429, "slow", {"Retry-After": "0.01"})] * 5
        with LoopbackServer(lambda body: responses.pop() if responses else self.echo(body)) as server:
            model = self.scoring(server)
            for _ in range(5):
                with pytest.raises(TransientError):
                    self.scored(model, "ab")
            assert self.scored(model, "ab")[0].state is State.OK
        assert Capability.SCORE in model.capabilities

    def test_a_text_that_is_too_long_says_nothing_of_others(self) -> None:
        def answer(body: dict[str, Any]) -> Response:
            too_long = "This model's maximum context length is 8 tokens"
            return error(400, too_long) if len(body["prompt"]) > 8 else self.echo(body)

        with LoopbackServer(answer) as server:
            model = self.scoring(server)
            first, second = self.scored(model, "a text of many tokens", "ab")
        assert (first.state, first.tokens) == (State.FAILED, ())
        assert "too long" in first.detail
        assert second.state is State.OK

    def test_is_not_asked_of_a_model_that_chats_at_openai(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        asked = []

        async def post(clients: object, path: str, body: dict[str, Any]) -> object:
            asked.append(body["model"])
            raise NoAnswer(Problem(400))

        async def listing(clients: object) -> object:
            return {"data": [{"id": "gpt-4o"}, {"id": "davinci-002"}]}

        monkeypatch.setattr("tabcontam.subjects.openai.provider.post", post)
        monkeypatch.setattr("tabcontam.subjects.openai.provider.listing", listing)
        wanted = frozenset({Capability.SCORE})
        assert OpenAIModel("gpt-4o", None, needs=wanted).may_have == frozenset()
        with pytest.raises(LackError):
            self.scored(OpenAIModel("gpt-4o", None, needs=wanted), "ab")
        with pytest.raises(LackError):
            self.scored(OpenAIModel("davinci-002", None, needs=wanted), "ab")
        assert asked == ["davinci-002", "davinci-002"]

    def test_says_what_the_server_charged_and_never_the_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TABCONTAM_API_KEY", "sk-secret-of-mine")
        usage = {"prompt_tokens": 2, "completion_tokens": 1}

        def answer(body: dict[str, Any]) -> Response:
            if body["prompt"] == "no":
                return error(400, "sk-secret-of-mine may not do this")
            echoed = self.echo(body).body
            assert isinstance(echoed, dict)
            return Response({**echoed, "usage": usage})

        with LoopbackServer(answer) as server:
            model = self.scoring(server)

            scored, refused = self.scored(model, "ab", "no")
        assert scored.usage == Usage(2, 1)
        assert refused.state is State.FAILED
        assert "sk-secret" not in refused.detail

    def test_is_found_out_only_if_it_is_needed(self) -> None:
        with LoopbackServer(self.echo) as server:
            assert opened(server).may_have == frozenset()
            model = self.scoring(server)
            connect(model)
            assert server.asked == []
            self.scored(model, "ab", "cd", "ef")
            assert len(server.asked) == 3


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@given(NESTED)
def test_whatever_a_server_sends_is_read_or_a_value_error(body: object) -> None:
    for read in (chat_answer, completion_answer):
        try:
            answer = read(json.loads(json.dumps(body)))
        except ValueError:
            continue
        assert isinstance(answer.text, str)
        assert isinstance(answer.finish, str)
        assert isinstance(answer.refusal, str)


@pytest.mark.parametrize("rest", ["m@127.0.0.1:8801", "m@localhost", "m@host:80", "m@example.org/v1"])
def test_an_address_without_http_is_not_taken_for_a_model_of_openai(rest: str) -> None:
    with pytest.raises(UsageError, match="type openai:NAME@http://host:port/v1"):
        parse_address(rest)


@pytest.mark.parametrize("rest", ["claude@20240229", "org/model:7b", "model@main"])
def test_a_name_may_hold_an_at(rest: str) -> None:
    assert parse_address(rest) == (rest, None)
