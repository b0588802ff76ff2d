"""The `azure:` provider, against a server on loopback that takes the part of an Azure OpenAI resource."""

import asyncio

import pytest

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Message, Prompt, Reply, ReplyState
from tabcontam.models.base import FatalError, ModelRequest
from tabcontam.models.openai.provider import OpenAIModel
from tabcontam.models.provider_registry import ModelSettings, resolve
from tests.loopback import Response, error
from tests.loopback_clouds import CloudServer

KEY = "azure-secret-0123456789abcdef"  # no real key
OTHER = "sk-other-0123456789abcdef"
RESOURCE = "https://my-resource.openai.azure.com"
ASKED = ModelRequest(Prompt((Message("user", "Next?"),), "1, 2,", "Next?"), 16)
GONE = error(404, "The API deployment for this resource does not exist.", code="DeploymentNotFound")
FILTERED = error(400, "The response was filtered.", code="content_filter")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "TABCONTAM_API_KEY"):
        monkeypatch.setenv(name, OTHER)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", RESOURCE)


def opened(spec: str = "azure:my-gpt") -> OpenAIModel:
    model = resolve(spec).open(ModelSettings())
    assert isinstance(model, OpenAIModel)
    return model


def ask(model: OpenAIModel) -> Reply:
    async def run() -> Reply:
        try:
            await model.connect()
            return await model.generate(ASKED)
        finally:
            await model.close()

    return asyncio.run(run())


@pytest.mark.parametrize("path", ["", "/", "/openai", "/openai/v1", "/openai/v1/"])
def test_asks_a_deployment_at_the_v1_address_with_the_resource_s_key(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CloudServer(models=["gpt-4o", "gpt-4.1"]) as server:  # what could be deployed
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{server.root}{path}")
        assert ask(opened()).text == "fine"
    assert [request.path for request in server.requests] == ["/openai/v1/models", "/openai/v1/chat/completions"]
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert OTHER not in str([request.headers for request in server.requests])
    assert server.asked[0]["model"] == "my-gpt"


def test_its_replies_are_kept_under_provider_address_and_deployment() -> None:
    model = opened()
    assert model.identity == {"provider": "azure", "address": f"{RESOURCE}/openai/v1", "model": "my-gpt"}
    assert (model.spec, model.local) == ("azure:my-gpt", False)


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://my-resource.openai.azure.com",
        "https://my-resource.openai.azure.com.evil.example",
        "https://evil.example/my-resource.openai.azure.com",
        "https://evil.example#.openai.azure.com",
        "https://user:password@my-resource.openai.azure.com",
        "https://my-resource.openai.azure.com:8443",
        "https://my-resource.openai.azure.com/other",
        "https://a.b.openai.azure.com",
        "https://.openai.azure.com",
        "my-resource.openai.azure.com",
        "my-resource",
    ],
)
def test_takes_no_other_endpoint(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", endpoint)
    with pytest.raises(UsageError) as caught:
        opened()
    assert "\n" not in str(caught.value)
    assert "password@" not in str(caught.value)


def test_says_which_variable_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    with pytest.raises(UsageError, match=r"no key for .*azure\.com.*set the environment variable AZURE_OPENAI_API_KEY"):
        ask(opened())
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT")
    with pytest.raises(UsageError, match="set AZURE_OPENAI_ENDPOINT to its https://RESOURCE"):
        opened()


@pytest.mark.parametrize("spec", ["azure: ", "azure:a b", "azure:gpt@https://evil.example/v1", "azure:gpt/../x"])
def test_takes_no_odd_deployment(spec: str) -> None:
    with pytest.raises(UsageError, match="type azure:DEPLOYMENT"):
        opened(spec)


def test_a_second_resource_has_a_variable_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECOND_KEY", "second-0123456789abcdef")
    with CloudServer() as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.root)
        ask(opened("azure:my-gpt#SECOND_KEY"))
    assert server.requests[0].headers["authorization"] == "Bearer second-0123456789abcdef"


@pytest.mark.parametrize(
    ("response", "said"), [(GONE, "does not offer 'my-gpt'"), (error(401, "no"), "refused the key")]
)
def test_tells_of_a_deployment_that_is_not_there(
    response: Response, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CloudServer(lambda body: response) as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.root)
        with pytest.raises(FatalError, match=said):
            ask(opened())


def test_what_its_filter_stops_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with CloudServer(lambda body: FILTERED) as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.root)
        assert ask(opened()).state is ReplyState.REFUSED
