"""What Anthropic alone does. What it does as every provider is in `tests.models.conformance`."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Message, Prompt
from tabcontam.models.anthropic.provider import AnthropicModel
from tabcontam.models.anthropic.replies import concern
from tabcontam.models.base import ModelRequest, TransientError
from tabcontam.models.openai.errors import Problem, wait
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.models.thresholds import MOST_THINKING_TOKENS
from tests.loopback_anthropic import NAME, AnthropicServer, error, model, reply
from tests.loopback_http import Response
from tests.models.conformance.anthropic import BUSY, THOUGHT, Anthropic, picky
from tests.models.conformance.provider import OTHER, SECRET, Body, ask_once, refusal_to_connect, within
from tests.models.conformance.test_sdk import nested
from tests.needed import needed

needed("anthropic")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting between retries, and nothing of the developer's own environment."""
    Anthropic().bare(monkeypatch)


def opened(server: AnthropicServer) -> AnthropicModel:
    return AnthropicModel(NAME, address=server.url)


class TestAddress:
    """Any server that speaks Anthropic's protocol, as a gateway does."""

    @pytest.mark.slow
    @pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
    def test_is_written_behind_the_name(self, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
        monkeypatch.setenv("MY_KEY", OTHER)
        with AnthropicServer(models=[model("vendor/claude")]) as server:
            llm = resolve(f"anthropic:vendor/claude@{server.url}{path}#MY_KEY").open(ModelSettings())
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
            resolve(f"anthropic:{spec}").open(ModelSettings())
        assert "\n" not in str(caught.value)
        assert "secret" not in str(caught.value)


def test_a_name_with_a_path_is_none_of_the_list_that_has_only_its_end() -> None:
    with AnthropicServer() as server:
        said = refusal_to_connect(AnthropicModel(f"vendor/{NAME}", address=server.url))
    assert said == f"unknown model 'vendor/{NAME}'; did you mean {NAME}?"


def test_takes_a_server_that_tells_of_no_models() -> None:
    with AnthropicServer(models_response=Response({"detail": "Not Found"}, 404)) as server:
        llm = opened(server)
        within(llm, llm.connect)
        assert (llm.version, ask_once(llm).text) == ("", "fine")


@pytest.mark.parametrize(
    ("chat", "system", "turns"),
    [
        ((Message("system", " \n"), Message("user", "a")), None, [("user", "a")]),  # blank text is refused
        ((Message("system", "x"), Message("system", "y"), Message("user", "a")), "x\n\ny", [("user", "a")]),
        ((Message("system", "x"),), None, [("user", "x")]),
    ],
)
def test_sends_no_blank_system_text_and_no_empty_chat(
    chat: tuple[Message, ...], system: str | None, turns: list[tuple[str, str]]
) -> None:
    with AnthropicServer() as server:
        ask_once(opened(server), ModelRequest(Prompt(chat, "", ""), 16))
    (sent,) = server.asked
    assert sent.get("system") == system
    assert [(turn["role"], turn["content"]) for turn in sent["messages"]] == turns


def test_tells_the_wait_from_the_limits_that_are_used_up() -> None:
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
    busy = Response(BUSY.body, 429, headers)
    with AnthropicServer(lambda body: busy) as server, pytest.raises(TransientError) as caught:
        ask_once(opened(server))
    assert caught.value.wait is not None
    assert 30 < caught.value.wait <= 41  # the clock of the server shows whole seconds


class TestHabits:
    """What a model does not take is learned once, and no query is lost."""

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

        with AnthropicServer(picky("disabled")) as server:
            ask_once(opened(server))
        versions = [request.headers["anthropic-version"] for request in server.requests]
        assert versions == ["2023-06-01", ANTHROPIC_API_VERSION]

    def test_goes_on_where_that_version_is_gone(self) -> None:
        gone = error(400, "anthropic-version: 2023-06-01 is not a valid version")
        with AnthropicServer(lambda body: gone if "temperature" in body else "42") as server:
            assert ask_once(opened(server)).text == "42"
        assert len(server.asked) == 2

    def test_writes_no_more_than_the_model_can(self) -> None:
        def answer(body: Body) -> str | Response:
            asked = body["max_tokens"]
            over = f"max_tokens: {asked} > 1024, which is the maximum allowed number of output tokens for {NAME}"
            return error(400, over) if asked > 1024 else reply(THOUGHT, stop="max_tokens", tokens=0, thoughts=asked)

        with AnthropicServer(answer) as server:
            ask_once(opened(server))
        assert [body["max_tokens"] for body in server.asked] == [16, 16 + MOST_THINKING_TOKENS, 1024]


@settings(max_examples=40)
@given(nested(Anthropic()), st.integers(300, 599), st.text(max_size=30), st.sampled_from(["requests", "tokens"]))
def test_whatever_an_error_holds_concerns_somebody(body: object, status: int, moment: str, limit: str) -> None:
    headers = {f"anthropic-ratelimit-{limit}-remaining": "0", f"anthropic-ratelimit-{limit}-reset": moment}
    problem = Problem(status, body, headers)
    waited = wait(problem)
    assert concern(problem).name
    assert waited is None or waited >= 0
