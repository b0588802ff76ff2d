"""What Gemini alone does. What it does as every provider is in `tests.models.conformance`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabcontam.evidence.base import Usage
from tabcontam.models.gemini import provider
from tabcontam.models.gemini.provider import GeminiModel
from tabcontam.models.openai.errors import retry_after
from tabcontam.models.thresholds import MOST_THINKING_TOKENS
from tests.loopback_gemini import NAME, GeminiServer, error, model, reply
from tests.models.conformance.gemini import NO_SYSTEM, Gemini
from tests.models.conformance.provider import OTHER, SECRET, ask_once, within
from tests.needed import needed

needed("google.genai")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting between retries, and nothing of the developer's own environment."""
    Gemini().bare(monkeypatch)


def opened(server: GeminiServer, name: str = NAME) -> GeminiModel:
    return GeminiModel(name, address=server.url)


@pytest.mark.parametrize(
    ("name", "path"),
    [(NAME, f"models/{NAME}"), (f"models/{NAME}", f"models/{NAME}"), ("tunedModels/my-x", "tunedModels/my-x")],
)
def test_takes_google_s_own_spelling(name: str, path: str) -> None:
    with GeminiServer() as server:
        ask_once(opened(server, name))
    assert server.requests[0].path == f"/v1beta/{path}:generateContent"


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({"GEMINI_API_KEY": SECRET, "GOOGLE_API_KEY": OTHER}, SECRET),
        ({"GOOGLE_API_KEY": SECRET}, SECRET),
        ({"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": SECRET}, SECRET),
    ],
)
def test_the_key_is_gemini_s_before_google_s(
    environment: dict[str, str], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with GeminiServer() as server:
        monkeypatch.setattr(provider, "GOOGLE", server.url)  # the server takes the part of Google
        ask_once(opened(server))
    assert server.requests[0].headers["x-goog-api-key"] == key


def test_the_usage_is_the_sum_of_all_that_was_answered() -> None:
    responses = [reply(finish="MAX_TOKENS", tokens=0, thoughts=16, prompt=40), error(400, "no thinking level")]
    responses += [reply("42", tokens=2, thoughts=300, prompt=40)]
    with GeminiServer(lambda body: responses.pop(0)) as server:
        assert ask_once(opened(server)).usage == Usage(80, 318)


def test_gives_thinking_its_allowance_from_the_start_where_the_server_states_it() -> None:
    with GeminiServer(Gemini().thinking, models=[model(thinking=True)]) as server:
        llm = opened(server)
        assert llm.allowance == 0
        within(llm, llm.connect)
        assert llm.allowance == MOST_THINKING_TOKENS
        assert ask_once(llm).text == "42"
    assert len(server.asked) == 1


def test_system_text_reaches_a_model_that_has_no_place_for_it() -> None:
    with GeminiServer(lambda body: NO_SYSTEM if "systemInstruction" in body else "42") as server:
        assert ask_once(opened(server)).text == "42"
    first, *others = Gemini.sent["contents"]
    assert first == {"role": "user", "parts": [{"text": "Hi."}]}
    assert server.asked[-1]["contents"] == [{"role": "user", "parts": [{"text": "Short.\n\nHi."}]}, *others]


@pytest.mark.slow
@given(st.text(max_size=40) | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d.{0,7}"))
def test_whatever_a_header_holds_is_a_wait_or_none(header: str) -> None:
    wait = retry_after({"retry-after": header})
    assert wait is None or wait >= 0
