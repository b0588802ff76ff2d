"""The `bedrock:` provider, against servers on loopback that take the part of Amazon Bedrock's two addresses."""

import asyncio

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Message, Prompt, Reply
from tabcontam.models.base import FatalError, ModelRequest
from tabcontam.models.bedrock import provider
from tabcontam.models.provider_registry import ModelSettings, resolve
from tabcontam.models.served_model import ServedModel
from tests.loopback import error
from tests.loopback_anthropic import AnthropicServer
from tests.loopback_anthropic import error as claude_error
from tests.loopback_clouds import CloudServer

KEY = "bedrock-secret-0123456789abcdef"  # no real key
OTHER = "sk-other-0123456789abcdef"
GPT, CLAUDE = "openai.gpt-oss-20b-1:0", "anthropic.claude-haiku-4-5"
ASKED = ModelRequest(Prompt((Message("user", "Next?"),), "1, 2,", "Next?"), 16)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TABCONTAM_API_KEY"):
        monkeypatch.setenv(name, OTHER)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    monkeypatch.setenv("AWS_REGION", "us-east-1")


def opened(name: str = GPT) -> ServedModel:
    model = resolve(f"bedrock:{name}").open(ModelSettings())
    assert isinstance(model, ServedModel)
    return model


def ask(model: ServedModel) -> Reply:
    async def run() -> Reply:
        try:
            await model.connect()
            return await model.generate(ASKED)
        finally:
            await model.close()

    return asyncio.run(run())


def test_asks_over_openai_s_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    with CloudServer(models=["another"]) as server:
        monkeypatch.setattr(provider, "OPENAI", f"{server.root}/openai/v1")
        assert ask(opened()).text == "fine"
    assert server.requests[-1].path == "/openai/v1/chat/completions"
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert OTHER not in str([request.headers for request in server.requests])
    assert server.asked[0]["model"] == GPT


@pytest.mark.slow
def test_asks_claude_over_anthropic_s_protocol_and_for_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    with AnthropicServer() as server:
        monkeypatch.setattr(provider, "ANTHROPIC", server.url)
        assert ask(opened(CLAUDE)).text == "fine"
    (request,) = server.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/messages", f"Bearer {KEY}")
    assert request.body["model"] == CLAUDE


@pytest.mark.parametrize(
    ("region", "name", "address"),
    [
        ("us-east-1", GPT, "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1"),
        ("us-gov-west-1", GPT, "https://bedrock-runtime.us-gov-west-1.amazonaws.com/openai/v1"),
        ("ap-southeast-2", CLAUDE, "https://bedrock-mantle.ap-southeast-2.api.aws/anthropic"),
    ],
)
def test_its_address_is_the_region_s(region: str, name: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", region)
    model = opened(name)
    assert model.identity == {"provider": "bedrock", "address": address, "model": name}
    assert model.spec == f"bedrock:{name}"


def test_takes_the_default_region_where_no_other_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert "eu-west-1" in opened().address


@pytest.mark.parametrize(
    "region",
    ["evil.example/", "us-east-1.evil.example", "us-east-1@evil.example", "us-east-1\n", "cn-north-1", "US", "-", "é"],
)
def test_takes_no_other_region(region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", f"x{region}" if region.endswith("\n") else region)
    with pytest.raises(UsageError, match="not a region under amazonaws") as caught:
        opened()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [" ", "a b", "gpt@https://evil.example/v1", "../x"])
def test_takes_no_odd_name(name: str) -> None:
    with pytest.raises(UsageError, match="bad name of a model"):
        opened(name)


@pytest.mark.parametrize("name", [GPT, CLAUDE])
def test_says_which_variable_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK")
    with pytest.raises(UsageError, match="set the environment variable AWS_BEARER_TOKEN_BEDROCK"):
        ask(opened(name))
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(UsageError, match="set AWS_REGION, for example to us-east-1"):
        opened(name)


def test_tells_of_a_model_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = claude_error(404, "model not found", "not_found_error")
    with AnthropicServer(lambda body: gone) as claude, CloudServer(lambda body: error(404, "not found")) as others:
        monkeypatch.setattr(provider, "ANTHROPIC", claude.url)
        monkeypatch.setattr(provider, "OPENAI", f"{others.root}/openai/v1")
        for name in (CLAUDE, GPT):
            with pytest.raises(FatalError, match="does not offer"):
                ask(opened(name))
