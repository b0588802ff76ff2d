"""`anthropic:` Anthropic's Claude, or any server that speaks its protocol."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability
from tabcontam.models.anthropic.batch import GREEDY_VERSION, AnthropicBatches
from tabcontam.models.anthropic.habits import AnthropicHabits, stated_habits
from tabcontam.models.anthropic.replies import concern, listed_names, read_answer
from tabcontam.models.base import PromptForm
from tabcontam.models.keys import host_of, split_variable
from tabcontam.models.openai.address import parse_address, validate_address
from tabcontam.models.openai.connection import ClientPool
from tabcontam.models.openai.errors import Concern
from tabcontam.models.provider_record import ModelSettings, Offer, Provider
from tabcontam.models.served_llm import ServedLLM

ANTHROPIC = "https://api.anthropic.com"
NAME = re.compile(r"\w[\w.:@/-]{0,199}", re.ASCII)
TOO_LONG = re.compile(r"prompt is too long|exceed context limit|context (length|window)", re.IGNORECASE)
VERSION = "2026-10-21"  # of the protocol


class AnthropicModel(ServedLLM):
    """The LLM `name` at Anthropic, or at another `address` that speaks its protocol. `spec`: the user's name for it.

    `variable`: the environment variable that the user named for the key; "" for the usual one.
    """

    provider = "anthropic"
    maker = service = "Anthropic"
    protocol = "Anthropic's protocol"
    fields = frozenset({"content", "error"})
    models_page = "https://platform.claude.com/docs/en/about-claude/models/overview"
    keys = ("ANTHROPIC_API_KEY",)
    capabilities = frozenset({Capability.GENERATE, Capability.CHAT, Capability.SAMPLE, Capability.INSTRUCTIONS})
    concern = staticmethod(concern)
    too_long = staticmethod(lambda problem: TOO_LONG.search(problem.message))
    read = staticmethod(lambda form, body: read_answer(body))
    advice: Mapping[Concern, str] = {
        Concern.KEY: "{who} refused the key in {key}; check the key and what it may be used for",
        Concern.REGION: "{who} does not serve the region of this computer; ask from another region",
        Concern.QUOTA: "the credit or spend limit of {key} at {who} is used up; raise it, and run this again",
        Concern.MODEL: "{who} does not offer {model}, or no longer does; name another model",
        Concern.ADDRESS: f"{{address}} does not speak {protocol}",
    }

    def __init__(
        self, name: str, *, max_connections: int = 8, spec: str = "", address: str = "", variable: str = ""
    ) -> None:
        if not NAME.fullmatch(name):
            raise UsageError(f"bad model name {name[:100]!r}; type for example anthropic:claude-sonnet-5-5")
        where = validate_address(address).rstrip("/").removesuffix("/v1") if address else ANTHROPIC
        spec = spec or f"{self.provider}:{name}"
        super().__init__(spec, name, where, ANTHROPIC, variable, AnthropicHabits(), max_connections)

    @property
    def batches(self) -> AnthropicBatches | None:
        """Anthropic's own batch API; other servers that speak its protocol have none."""
        return AnthropicBatches(self) if self.host == host_of(ANTHROPIC) else None

    def _clients_at(self, address: str) -> ClientPool:
        clients = super()._clients_at(address)
        clients.headers = {**(clients.headers or {}), "anthropic-version": VERSION}
        return clients

    def _headers(self, arguments: Mapping[str, Any]) -> Mapping[str, str]:
        return {"anthropic-version": GREEDY_VERSION} if "temperature" in arguments else {}

    def _path(self, form: PromptForm) -> str:
        return "/v1/messages"

    def _paths(self) -> tuple[str, str]:
        return f"/v1/models/{quote(self.model, safe='')}", "/v1/models?limit=1000"

    def _recognize(self, found: Any) -> None:
        name = found.get("id") if isinstance(found, dict) else None
        if not isinstance(name, str) or not name:
            raise self._mistake(self._other_kind())
        if found.get("lifecycle") == "retired":
            raise self._mistake(f"{self._who} has retired {self.model}; name another model, see {self.models_page}")
        self.learn(stated_habits(found))
        # For an alias such as claude-haiku-4-5 the server states the name of the model behind it.
        facts = {"created": found.get("created_at"), "name": name if name != self.model else None}
        self.version = self._line(" ".join(f"{key}={fact}" for key, fact in facts.items() if isinstance(fact, str)))

    def _names(self, listing: object) -> list[str]:
        return listed_names(listing)


def _open(rest: str, settings: ModelSettings) -> AnthropicModel:
    named, variable = split_variable(rest)
    name, address = parse_address(named, "anthropic")
    return AnthropicModel(
        name, max_connections=settings.connections, spec=settings.spec, address=address or "", variable=variable
    )


PROVIDER = Provider(
    "anthropic",
    {
        "anthropic:NAME": "Anthropic's Claude models; the key is in ANTHROPIC_API_KEY",
        "anthropic:NAME@http://HOST:PORT": "any server that speaks Anthropic's protocol; name its key as for openai:",
    },
    _open,
    lambda entry: Offer(entry.anthropic or ""),
    address=ANTHROPIC,
    keys=AnthropicModel.keys,
    words=("claude",),
    log_probabilities="no",
    seed="no",
)
