"""`vertex:` Google's Gemini on Vertex AI, with the login of Google's auth library."""

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.models.base import PromptForm, TransientError
from tabcontam.models.gemini.provider import GeminiModel
from tabcontam.models.keys import NO_KEY
from tabcontam.models.openai.connection import ClientPool
from tabcontam.models.openai.event_streams import StreamWatch
from tabcontam.models.provider_record import ModelSettings, Provider

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
PROJECT, LOCATION = "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"
LOGIN = "type: gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS"
# The project and the location become parts of an address, so no other signs are allowed in them.
PROJECTS = re.compile(r"([a-z][a-z0-9.-]{0,60}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]|\d{6,20}", re.ASCII)
REGIONS = re.compile(r"global|us|eu|[a-z]{2,20}-[a-z]{4,20}\d{1,2}", re.ASCII)
SHARED = {
    "global": "https://aiplatform.googleapis.com",
    "us": "https://aiplatform.us.rep.googleapis.com",
    "eu": "https://aiplatform.eu.rep.googleapis.com",
}


class VertexModel(GeminiModel):
    """The Gemini model `name` in a project and a location of Google Cloud. `address`: another server, for tests."""

    provider = "vertex"
    version_of_api = "v1beta1"

    def __init__(
        self, name: str, project: str, location: str, *, max_connections: int = 8, spec: str = "", address: str = ""
    ) -> None:
        if not PROJECTS.fullmatch(project):
            raise UsageError(f"{PROJECT} is {project[:40]!r}; set it to the id of a project of Google Cloud")
        if not REGIONS.fullmatch(location):
            raise UsageError(f"{LOCATION} is {location[:40]!r}; set it to a location of Vertex AI, such as us-central1")
        where = address or SHARED.get(location, f"https://{location}-aiplatform.googleapis.com")
        super().__init__(name, max_connections=max_connections, spec=spec, address=where, variable=NO_KEY)
        self._project, self._location = project, location
        self._credentials: Any = None

    @property
    def identity(self) -> Mapping[str, str]:
        """Provider, address and the model's bare name, under which replies are stored and prices are found."""
        return {**super().identity, "model": self.model.rpartition("/")[2]}

    async def connect(self) -> None:
        """Log in, and ask for the model. Raises `UsageError` if the login fails, or as `GeminiModel.connect` does."""
        clients = self.clients()
        try:
            await self._log_in(clients)
        except TransientError as error:
            raise self._mistake(f"Google Cloud rejects the login ({error.text}); {LOGIN}") from None
        await super().connect()

    @property
    def _who(self) -> str:
        return "Vertex AI"

    @property
    def _lets_in(self) -> str:
        return f"the Google login of this machine, in project {self._project}"

    def _named(self, kind: str, name: str) -> str:
        if kind != "models/":
            raise UsageError(f"vertex: asks Google's own models only, not {kind[:-1]}; type for example vertex:{name}")
        return f"publishers/google/models/{name}"

    def _path(self, form: PromptForm) -> str:
        return f"/projects/{self._project}/locations/{self._location}{super()._path(form)}"

    def _clients_at(self, address: str) -> ClientPool:
        try:
            from google import auth
            from google.auth.exceptions import GoogleAuthError
        except ImportError:
            raise UsageError('vertex: needs google-auth; type: pip install "tabcontam[vertex]"') from None
        try:
            self._credentials, _ = auth.default(scopes=[SCOPE])
        except (GoogleAuthError, OSError, ValueError) as error:
            raise self._mistake(f"no login for Google Cloud ({one_line(error)}); {LOGIN}") from None
        clients = super()._clients_at(address)
        clients.headers = {}
        return clients

    async def _sent(self, form: PromptForm, arguments: Mapping[str, Any], watch: StreamWatch | None = None) -> object:
        try:
            await self._log_in(self.clients())
        except TransientError as error:
            raise replace(error, text=f"the Google login cannot be renewed: {error.text}") from None
        return await super()._sent(form, arguments, watch)

    async def _log_in(self, clients: ClientPool) -> None:
        """Put a valid token into the headers of requests. Raises `TransientError`."""
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request

        try:
            if not self._credentials.valid:
                await asyncio.to_thread(self._credentials.refresh, Request())
        except (GoogleAuthError, ValueError) as error:
            raise TransientError(one_line(error), "login") from None
        clients.headers = {}
        self._credentials.apply(clients.headers)


def _open(name: str, settings: ModelSettings) -> VertexModel:
    project = os.environ.get(PROJECT, "").strip()
    if not project:
        raise UsageError(f"vertex: needs a project of Google Cloud; set {PROJECT} to its id, and {LOCATION}")
    location = os.environ.get(LOCATION, "").strip() or "global"
    return VertexModel(name, project, location, max_connections=settings.connections, spec=settings.spec)


PROVIDER = Provider(
    "vertex",
    {"vertex:NAME": f"Google's Gemini on Vertex AI, in {PROJECT} and {LOCATION}, with Google Cloud's login"},
    _open,
    words=("vertexai", "google-cloud"),
    log_probabilities="no",
    seed="yes",
)
