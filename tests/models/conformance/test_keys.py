"""A key goes to the host that it is for, and stands in nothing that is printed or stored."""

import json
import logging

import pytest

from tabcontam.evidence.base import ReplyState
from tabcontam.models.anthropic.provider import VERSION
from tabcontam.models.base import FatalError, TransientError
from tabcontam.models.served_model import PLACEHOLDER
from tests.loopback_http import Response
from tests.models.conformance.provider import (
    OTHER,
    OTHER_KEY,
    SECRET,
    Provider,
    ask_once,
    outcome,
    refusal_to_connect,
    trouble,
    within,
)


def test_that_is_missing_is_one_line(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OTHER_KEY, OTHER)
    assert refusal_to_connect(provider.own()) == provider.no_key
    assert trouble(provider.own(), FatalError).startswith(provider.no_key)


@pytest.mark.parametrize("odd", [f"{SECRET}\nX: y", f"“{SECRET}”", "two words", "schlüssel"])
def test_of_odd_characters_is_a_mistake(provider: Provider, odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(provider.keys[0], odd)
    said = refusal_to_connect(provider.own())
    assert provider.keys[0] in said
    assert odd not in said


@pytest.mark.parametrize("others", [{}, {OTHER_KEY: f"{OTHER}\n"}], ids=["none", "others"])
def test_of_the_maker_goes_to_the_maker_alone(
    provider: Provider, others: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**dict.fromkeys(provider.secrets, SECRET), **others}.items():
        monkeypatch.setenv(name, value)
    with provider.server() as server:
        model = provider.at(server.url)
        within(model, model.connect)
        assert ask_once(model).state is ReplyState.OK
    assert [request.method for request in server.requests] == ["GET", "POST"]
    assert {provider.key(request.headers) for request in server.requests} == {OTHER if others else PLACEHOLDER}
    assert SECRET not in str(server.requests)


def test_is_taken_where_the_address_is_the_makers(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(provider.keys[0], SECRET)
    monkeypatch.setenv(OTHER_KEY, OTHER)
    with provider.server() as server:
        ask_once(provider.passes(server, monkeypatch))
    assert provider.key(server.requests[0].headers) == SECRET


def test_goes_where_no_variable_leads(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OTHER_KEY, OTHER)
    monkeypatch.setenv(provider.keys[0], SECRET)
    with provider.server() as trap, provider.server() as server:
        proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), trap.root)
        for name, value in {**provider.leading(trap.url), **proxies}.items():
            monkeypatch.setenv(name, value)
        assert ask_once(provider.at(server.url)).text == "fine"
    assert trap.requests == []
    (request,) = server.requests
    assert (request.path, provider.key(request.headers)) == (provider.path, OTHER)
    assert SECRET not in json.dumps(dict(request.headers))


def test_no_header_of_the_environment_is_sent_even_one_that_a_request_may_have(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Anthropic-Version: 1999-01-01\nUser-Agent: other")
    with provider.server() as server:
        model = provider.at(server.url)
        within(model, model.connect)
        ask_once(model)
    assert "other" not in {request.headers["user-agent"] for request in server.requests}
    sent = {request.headers.get("anthropic-version") for request in server.requests}
    assert sent == ({"2023-06-01", VERSION} if provider.name == "anthropic" else {None})


def test_goes_to_the_makers_address_by_default(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(provider.keys[0], SECRET)
    for name in provider.environment:
        if name.endswith("_BASE_URL"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
    model = provider.own()
    assert within(model, lambda: provider.client_address(model)) == provider.base_url == model.identity["address"]


@pytest.mark.parametrize("status", [302, 307])
def test_follows_no_redirect(provider: Provider, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OTHER_KEY, OTHER)
    with provider.server() as trap:
        moved = Response({}, status, {"Location": f"{trap.root}{provider.path}"})
        raised = outcome(provider, moved)
    assert isinstance(raised, FatalError)
    assert provider.moved in str(raised)
    assert trap.requests == []


def test_stands_in_nothing(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(OTHER_KEY, OTHER)
    caplog.set_level(logging.DEBUG)
    refused = provider.error(403, f"Incorrect API key provided: {OTHER}")
    with provider.server(lambda body: refused, models_response=refused) as server:
        model = provider.at(server.url)
        said = [refusal_to_connect(model), trouble(model, FatalError), repr(model)]
    assert "refused the key in TABCONTAM_API_KEY" in said[0]
    assert "HTTP 403: Incorrect API key provided: ***" in said[1]
    for response, kind in (
        (provider.error(503, f"{OTHER} is busy"), TransientError),
        (Response({"error": OTHER}), None),
        (provider.error(400, f"{OTHER} cannot say that"), None),
        (provider.error(400, f"{'x' * 270} you sent {OTHER}, sorry"), None),  # which is cut within the key
        (provider.text(f"my key is {OTHER}"), None),
    ):
        found = outcome(provider, response)
        assert kind is None or isinstance(found, kind)
        said.append(str(found) if isinstance(found, Exception) else f"{found.text}{found.detail}")
    assert [text.count("***") for text in said] == [1, 1, 0, 1, 1, 1, 1, 1]
    assert OTHER[:8] not in " ".join([*said, caplog.text])
