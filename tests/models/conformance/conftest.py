"""Each test of the suite holds of every provider, or of the makers, or of those that it names."""

import pytest

from tests.models.conformance.anthropic import Anthropic
from tests.models.conformance.clouds import Azure, Bedrock, BedrockClaude, Ollama, Vertex
from tests.models.conformance.gemini import Gemini
from tests.models.conformance.openai import OpenAI
from tests.models.conformance.provider import Provider

MAKERS = {one.name: one for one in (OpenAI(), Anthropic(), Gemini())}
PROVIDERS = MAKERS | {one.name: one for one in (Azure(), Bedrock(), BedrockClaude(), Ollama(), Vertex())}


@pytest.fixture(params=MAKERS)
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """One who makes models. There are no keys, and no waiting."""
    return ready(request.param, monkeypatch)


@pytest.fixture(params=PROVIDERS)
def anybody(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """One who makes models, or offers those of others, with the key that this needs."""
    return ready(request.param, monkeypatch)


def ready(name: str, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The provider of this name."""
    one = PROVIDERS[name]
    one.bare(monkeypatch)
    return one
