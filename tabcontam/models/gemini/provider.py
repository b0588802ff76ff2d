"""`gemini:` Google's Gemini and Gemma, and `vertex:` Gemini on Vertex AI, with the login of Google's auth library."""

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tabcontam.errors import UsageError, one_line
from tabcontam.evidence.base import Capability
from tabcontam.models.base import PromptForm, TransientError
from tabcontam.models.gemini.batch import GeminiBatches
from tabcontam.models.gemini.replies import GeminiHabits, concern, hopeless, read_answer
from tabcontam.models.keys import NO_KEY
from tabcontam.models.openai.connection import ClientPool
from tabcontam.models.openai.errors import Concern, Problem
from tabcontam.models.openai.event_streams import StreamWatch
from tabcontam.models.openai.replies import json_at
from tabcontam.models.provider_record import ModelSettings, Offer, Provider
from tabcontam.models.served_llm import ServedLLM

GOOGLE = "https://generativelanguage.googleapis.com"
NAME = re.compile(r"(?:models/|(tunedModels/))?([\w.-]+)", re.ASCII)  # without signs that could lead to another path
ANSWERING = "generateContent"  # the method of models that answer prompts
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


class GeminiModel(ServedLLM):
    """The LLM `name` at Google. `spec`: the user's name for it; `address`: another server, for tests."""

    provider = "gemini"
    maker = "Google"
    service = "Gemini"
    protocol = "the Gemini protocol"
    models_page = "https://ai.google.dev/gemini-api/docs/models"
    keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    version_of_api = "v1beta"
    capabilities = frozenset(
        {Capability.GENERATE, Capability.CHAT, Capability.SEED, Capability.SAMPLE, Capability.INSTRUCTIONS}
    )
    concern = staticmethod(concern)
    too_long = staticmethod(lambda problem: False)
    read = staticmethod(lambda form, body: read_answer(body))
    crowded = (408, 429, 503, 504)
    uncharged = (429, 503)

    def __init__(
        self, name: str, *, max_connections: int = 8, spec: str = "", address: str = GOOGLE, variable: str = ""
    ) -> None:
        parts = NAME.fullmatch(name)
        if not parts or ".." in name:
            raise UsageError(f"bad model name {name[:100]!r}; type for example {self.provider}:gemini-2.5-flash")
        path, spec = self._named(parts[1] or "models/", parts[2]), spec or f"{self.provider}:{name}"
        super().__init__(spec, path, address.rstrip("/"), GOOGLE, variable, GeminiHabits(), max_connections)
        self.paths = {PromptForm.CHAT: f"/{path}:{ANSWERING}"}
        self._answered = True  # there is an API at Google's address

    @property
    def batches(self) -> GeminiBatches | None:
        return GeminiBatches(self) if self._own else None

    @property
    def short_name(self) -> str:
        return self.model.rpartition("/")[2]

    @property
    def url(self) -> str:
        return f"{self.address}/{self.version_of_api}"

    def _named(self, kind: str, name: str) -> str:
        """Return the server's name of the model: `models/` or `tunedModels/`, and the name."""
        return f"{kind}{name}"

    def _clients_at(self, address: str) -> ClientPool:
        clients = super()._clients_at(self.url)
        clients.headers = {"x-goog-api-key": clients.key}
        return clients

    def _paths(self) -> tuple[str, str]:
        return f"/{self.model}", f"/{self.model.rpartition('/')[0]}?pageSize=1000"

    def _body(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return dict(arguments)

    @property
    def _lets_in(self) -> str:
        """The name by which messages call the credentials."""
        return f"the key in {self.key_variable}"

    def _advice(self, whom: Concern, problem: Problem) -> str:
        _, what = hopeless(problem) or (whom, "")
        return f"{self._who} {what.format(key=self._lets_in, model=self.short_name)}"

    def _recognize(self, found: Any) -> None:
        name = json_at(found, "name")
        if not isinstance(name, str) or not name:
            raise self._mistake(self._other_kind())
        methods = found.get("supportedGenerationMethods")
        if isinstance(methods, list) and methods and ANSWERING not in methods:
            raise self._mistake(f"{self.spec} answers no prompts; its server offers {', '.join(map(str, methods))}")
        self.learn(GeminiHabits(thinks=found.get("thinking") is True))
        # For an alias such as gemini-flash-latest the server may state the name of the model behind it today.
        facts = {"version": found.get("version") or found.get("versionId"), "name": name if name != self.model else ""}
        self.version = self._line(" ".join(f"{name}={fact}" for name, fact in facts.items() if fact))

    def _names(self, listing: object) -> list[str]:
        entries = json_at(listing, "models") or json_at(listing, "publisherModels")
        found = [entry for entry in (entries if isinstance(entries, list) else []) if isinstance(entry, dict)]
        answering = [each for each in found if ANSWERING in (each.get("supportedGenerationMethods") or [ANSWERING])]
        return [each["name"].rpartition("/")[2] for each in answering if isinstance(each.get("name"), str)]


PROVIDER = Provider(
    "gemini",
    {"gemini:NAME": "Google's Gemini API; the key is in GEMINI_API_KEY"},
    lambda model, settings: GeminiModel(model, max_connections=settings.connections, spec=settings.spec),
    lambda entry: Offer(entry.gemini or ""),
    address=GOOGLE,
    keys=GeminiModel.keys,
    words=("google", "googleai"),
    seed="yes",
)


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
        self.paths = {form: f"/projects/{project}/locations/{location}{path}" for form, path in self.paths.items()}
        self._project = project
        self._credentials: Any = None

    @property
    def identity(self) -> Mapping[str, str]:
        return {**super().identity, "model": self.short_name}

    async def connect(self) -> None:
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
        self._login = asyncio.Lock()  # as these connections, for one event loop
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
            async with self._login:  # many requests find the token expired, but only the first renews it
                if not self._credentials.valid:
                    await asyncio.to_thread(self._credentials.refresh, Request())
        except (GoogleAuthError, ValueError) as error:
            raise TransientError(one_line(error), "login") from None
        clients.headers = {}
        self._credentials.apply(clients.headers)


def _open_vertex(name: str, settings: ModelSettings) -> VertexModel:
    project = os.environ.get(PROJECT, "").strip()
    if not project:
        raise UsageError(f"vertex: needs a project of Google Cloud; set {PROJECT} to its id, and {LOCATION}")
    location = os.environ.get(LOCATION, "").strip() or "global"
    return VertexModel(name, project, location, max_connections=settings.connections, spec=settings.spec)


VERTEX = Provider(
    "vertex",
    {"vertex:NAME": f"Google's Gemini on Vertex AI, in {PROJECT} and {LOCATION}, with Google Cloud's login"},
    _open_vertex,
    words=("vertexai", "google-cloud"),
    seed="yes",
)
