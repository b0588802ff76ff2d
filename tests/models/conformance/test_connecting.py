"""What is said of a model before it is asked: what its server states of it, or why it is not taken."""

import sys

import pytest

from tabcontam.errors import UsageError
from tabcontam.models import served_llm
from tabcontam.models.base import FatalError, PromptForm
from tests.loopback_http import Response
from tests.models.conformance.provider import (
    OTHER,
    OTHER_KEY,
    SECRET,
    Provider,
    of,
    refusal_to_connect,
    trouble,
    within,
)


def test_is_opened_without_a_key_or_the_sdk(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    model = provider.named(provider.llm)
    assert (model.spec, model.form, model.local, model.control, model.version, model.allowance) == (
        f"{provider.name}:{provider.llm}", PromptForm.CHAT, False, False, "", 0,
    )  # fmt: skip
    assert provider.named(provider.llm, spec="mine").spec == "mine"
    assert model.capabilities == provider.capabilities
    assert model.identity == provider.identity


def test_takes_no_name_that_could_be_another_path(provider: Provider) -> None:
    for name in provider.bad_names:
        with pytest.raises(UsageError, match="bad model name"):
            provider.named(name)


def test_takes_down_what_the_server_tells(provider: Provider) -> None:
    for told in provider.told:
        with provider.server(models=told.models) as server:
            model = provider.at(server.url, told.name)
            if told.said:
                assert told.said in refusal_to_connect(model)
                continue
            within(model, model.connect)
        assert (model.version, model.local) == (told.version, True)
        (request,) = server.requests
        assert (request.method, request.path) == ("GET", provider.listed(told.name))


def test_is_turned_away_in_a_line(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(provider.keys[0], SECRET)
    for response, key, said in provider.turned_away:
        monkeypatch.setenv(OTHER_KEY, key)
        with provider.server(models_response=response) as server:
            line = refusal_to_connect(provider.at(server.url))
        assert said in line
        assert not key or OTHER not in line


def test_tells_of_a_server_of_another_kind(provider: Provider) -> None:
    pages, said = provider.other_kind
    with provider.server() as server:
        for raw in pages:
            server.models_response = Response(raw=raw)
            assert said in refusal_to_connect(provider.at(f"{server.url}/")), raw[:9]


def test_tells_of_a_server_that_is_not_there(provider: Provider) -> None:
    with provider.server() as server:
        model = provider.at(server.url)
    said = refusal_to_connect(model)
    assert said.startswith("connection failed")
    assert provider.absent.format(model.address) in said


@of("anthropic", "gemini")  # OpenAI's list is waited for as long as an answer
def test_waits_for_no_silent_server(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    provider.impatient(monkeypatch, 0.05)
    with provider.server(models_response=Response(hang=True)) as server:
        said = refusal_to_connect(provider.at(server.url))
    assert said.startswith(provider.silent)
    assert provider.absent.format(server.url) in said


def test_asks_a_busy_server_so_often(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_llm, "CONNECT_RETRIES", 1)
    response, said, times = provider.busy
    with provider.server(models_response=response) as server:
        assert said in refusal_to_connect(provider.at(server.url))
    assert len(server.requests) == times


def test_tells_what_in_the_environment_stops_all_requests(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/cert.pem")
    model = provider.at("https://h.invalid")
    assert refusal_to_connect(model).startswith("no request can be sent from this machine: ")
    assert trouble(model, FatalError).startswith("no request can be sent from this machine: ")
