"""Who offers the models of others over their protocols: what comes of an answer is the same there."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from tabcontam.models.bedrock import provider as bedrock
from tabcontam.models.gemini.provider import VertexModel
from tabcontam.models.provider_registry import ModelSettings, resolve
from tests import loopback_gemini
from tests.loopback_clouds import PROJECT, TOKEN, CloudServer, VertexServer
from tests.models.conformance.anthropic import Anthropic
from tests.models.conformance.gemini import Gemini
from tests.models.conformance.openai import OpenAI
from tests.models.conformance.provider import SECRET, Body

GPT, CLAUDE = "openai.gpt-oss-20b-1:0", "anthropic.claude-haiku-4-5"


def found(spec: str, connections: int, **environment: str) -> Any:
    """The model that is named so, in this environment."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment.items():
            patched.setenv(name, value)
        return resolve(spec).open(ModelSettings(connections=connections))


class Azure(OpenAI):
    """A deployment of an Azure OpenAI resource."""

    name = "azure"
    server = CloudServer
    keys = ("AZURE_OPENAI_API_KEY",)
    path = "/openai/v1/chat/completions"
    sent: ClassVar[Body] = {**OpenAI.sent, "model": "my-gpt"}

    def at(self, url: str, name: str = "", connections: int = 8) -> Any:
        return found("azure:my-gpt", connections, AZURE_OPENAI_ENDPOINT=url)

    def bare(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().bare(monkeypatch)
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", SECRET)


class Bedrock(OpenAI):
    """A model of Amazon Bedrock over OpenAI's protocol."""

    name = "bedrock"
    server = CloudServer
    keys = ("AWS_BEARER_TOKEN_BEDROCK",)
    path = "/openai/v1/chat/completions"
    sent: ClassVar[Body] = {**OpenAI.sent, "model": GPT}

    def at(self, url: str, name: str = "", connections: int = 8) -> Any:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(bedrock, "OPENAI", url)
            return found(f"bedrock:{GPT}", connections, AWS_REGION="us-east-1")

    def bare(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().bare(monkeypatch)
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", SECRET)


class BedrockClaude(Anthropic):
    """A Claude model of Amazon Bedrock, over Anthropic's protocol."""

    name = "bedrock_claude"
    keys = ("AWS_BEARER_TOKEN_BEDROCK",)
    sent: ClassVar[Body] = {**Anthropic.sent, "model": CLAUDE}

    def at(self, url: str, name: str = "", connections: int = 8) -> Any:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(bedrock, "ANTHROPIC", url)
            return found(f"bedrock:{CLAUDE}", connections, AWS_REGION="us-east-1")

    def bare(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().bare(monkeypatch)
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", SECRET)


class Ollama(OpenAI):
    """An Ollama of this machine, which is sent no key."""

    name = "ollama"

    def at(self, url: str, name: str = "", connections: int = 8) -> Any:
        return found(f"ollama:{name or 'model'}", connections, OLLAMA_HOST=url.removesuffix("/v1"))


class Vertex(Gemini):
    """Gemini on Vertex AI, with a login of Google's."""

    name = "vertex"
    server = VertexServer
    path = f"/v1beta1/projects/{PROJECT}/locations/us-central1/publishers/google/models/{loopback_gemini.NAME}"
    path += ":generateContent"

    def at(self, url: str, name: str = "", connections: int = 8) -> Any:
        return VertexModel(
            name or self.llm, PROJECT, "us-central1", max_connections=connections, spec="vertex:x", address=url
        )

    def key(self, headers: Mapping[str, str]) -> str:
        return headers["authorization"].removeprefix("Bearer ")

    def bare(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().bare(monkeypatch)
        from google import auth
        from google.oauth2.credentials import Credentials

        login = Credentials(TOKEN), PROJECT  # type: ignore[no-untyped-call]
        monkeypatch.setattr(auth, "default", lambda **_: login)
