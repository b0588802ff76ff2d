"""`gemini:` Google's Gemini and Gemma. The key goes only to Google's own address, whatever the environment says."""

import re
from collections.abc import Mapping
from typing import Any

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability
from tabcontam.models.base import PromptForm
from tabcontam.models.gemini.batch import GeminiBatches
from tabcontam.models.gemini.habits import GeminiHabits
from tabcontam.models.gemini.replies import concern, hopeless, read_answer
from tabcontam.models.openai.connection import ClientPool
from tabcontam.models.openai.errors import Concern, Problem
from tabcontam.models.openai.replies import json_at
from tabcontam.models.provider_record import Offer, Provider
from tabcontam.models.served_llm import ServedLLM

GOOGLE = "https://generativelanguage.googleapis.com"
NAME = re.compile(r"(?:models/|(tunedModels/))?([\w.-]+)", re.ASCII)  # without signs that could lead to another path
ANSWERING = "generateContent"  # the method of models that answer prompts


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

    def __init__(
        self, name: str, *, max_connections: int = 8, spec: str = "", address: str = GOOGLE, variable: str = ""
    ) -> None:
        parts = NAME.fullmatch(name)
        if not parts or ".." in name:
            raise UsageError(f"bad model name {name[:100]!r}; type for example {self.provider}:gemini-2.5-flash")
        path, spec = self._named(parts[1] or "models/", parts[2]), spec or f"{self.provider}:{name}"
        super().__init__(spec, path, address.rstrip("/"), GOOGLE, variable, GeminiHabits(), max_connections)
        self._answered = True  # there is an API at Google's address

    @property
    def batches(self) -> GeminiBatches | None:
        """Google's own batch API; None at another address."""
        return GeminiBatches(self) if self._own else None

    @property
    def url(self) -> str:
        """The address with the version of the protocol."""
        return f"{self.address}/{self.version_of_api}"

    def _named(self, kind: str, name: str) -> str:
        """Return the server's name of the model: `models/` or `tunedModels/`, and the name."""
        return f"{kind}{name}"

    def _clients_at(self, address: str) -> ClientPool:
        clients = super()._clients_at(self.url)
        clients.headers = {"x-goog-api-key": clients.key}
        return clients

    def _path(self, form: PromptForm) -> str:
        return f"/{self.model}:{ANSWERING}"

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
        return f"{self._who} {what.format(key=self._lets_in, model=self.model.rpartition('/')[2])}"

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
    log_probabilities="no",
    seed="yes",
)
