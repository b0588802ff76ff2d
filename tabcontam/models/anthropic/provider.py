"""`anthropic:` Anthropic's Claude, or any server that speaks its protocol."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from tabcontam.errors import UsageError
from tabcontam.evidence.base import Capability
from tabcontam.evidence.questions import Reply
from tabcontam.models.anthropic.replies import AnthropicHabits, concern, listed_names, read_answer, stated_habits
from tabcontam.models.base import ModelRequest, PromptForm, failed
from tabcontam.models.batch_api import ENDED, Batches, BatchProgress, BatchResult, RequestStyle, as_line, check_batch_id
from tabcontam.models.keys import host_of, parse_address, split_variable, validate_address
from tabcontam.models.openai.connection import post
from tabcontam.models.openai.errors import Concern, Problem
from tabcontam.models.openai.event_streams import StreamWatch
from tabcontam.models.openai.replies import json_at, tokens_at
from tabcontam.models.provider_record import ModelSettings, Offer, Provider
from tabcontam.models.served_llm import ServedLLM

ANTHROPIC = "https://api.anthropic.com"
NAME = re.compile(r"\w[\w.:@/-]{0,199}", re.ASCII)
TOO_LONG = re.compile(r"prompt is too long|exceed context limit|context (length|window)", re.IGNORECASE)
VERSION = "2026-10-21"  # of the protocol
PATH = "/v1/messages/batches"
COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")
# The HTTP status that an error of each type has outside a batch.
STATUSES = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip
GREEDY_VERSION = "2023-06-01"  # the last version of the protocol that accepts a temperature
BEFORE, AFTER = 300.0, 3600.0  # seconds around a submission in which its batch may have been made, as clocks differ


class AnthropicModel(ServedLLM):
    """The LLM `name` at Anthropic, or at another `address`. `variable`: the environment variable named for the key."""

    provider = "anthropic"
    maker = service = "Anthropic"
    protocol = "Anthropic's protocol"
    paths: Mapping[PromptForm, str] = {PromptForm.CHAT: "/v1/messages"}
    own_headers: Mapping[str, str] = {"anthropic-version": VERSION}
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
    def batches(self) -> "AnthropicBatches | None":
        return AnthropicBatches(self) if self.host == host_of(ANTHROPIC) else None

    async def _sent(self, form: PromptForm, arguments: Mapping[str, Any], watch: StreamWatch | None = None) -> object:
        version = {"anthropic-version": GREEDY_VERSION} if "temperature" in arguments else {}
        return await post(self.clients(), self.paths[form], self._body(arguments), watch, version)

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


class AnthropicBatches(Batches):
    """The batches of one model at Anthropic's own address.

    As of 23 November 2026 (https://platform.claude.com/docs/en/build-with-claude/batch-processing): requests cost half
    the price; a batch has at most 100,000 requests and 256 MB. Requests that are not answered within 24 hours expire,
    and are not charged. A batch carries no name of ours: if its id is lost, it is recognised by its time and requests.
    """

    service = "Anthropic"
    path = PATH
    most_requests = 100_000
    most_bytes = 100_000_000  # bytes of the 256 MB that a batch may have: the requests are in memory

    def written(self, name: str, request: ModelRequest) -> bytes:
        return as_line({"custom_id": name, "params": self._model.written(request)})

    async def submit(self, requests: Sequence[bytes], mark: str) -> str:
        order = b'{"requests":[' + b",".join(requests) + b"]}"
        headers = {} if "temperature" in self._model.habits.refused else {"anthropic-version": GREEDY_VERSION}
        made = await self._asked(post(self._model.clients(), PATH, order, headers=headers))
        return check_batch_id(json_at(made, "id"))

    async def find(self, mark: str, since: float, names: Sequence[str]) -> str | None:
        """Return the id of the batch with requests of these `names` that was made closest to `since`; None if none."""
        known, fitting = set(names), list[tuple[float, str]]()
        async for batches in self._pages("limit", "data", "after_id"):
            made = 0.0
            for batch in batches:
                made = _moment(batch.get("created_at"))
                if since - BEFORE <= made <= since + AFTER and _counted(batch) == len(names):
                    fitting.append((abs(made - since), check_batch_id(batch.get("id"))))
                    if batch.get("processing_status") == "ended" and not await self._holds(fitting[-1][1], known):
                        fitting.pop()
            if made < since - BEFORE:
                break
        return min(fitting)[1] if fitting else None

    def _progress(self, found: object) -> BatchProgress:
        total, waiting = _counted(found), tokens_at(found, "request_counts", "processing") or 0
        return BatchProgress(json_at(found, "processing_status") == "ended", total - waiting, total)

    async def results(self, batch: str) -> AsyncIterator[BatchResult]:
        self._before = self._model.habits
        # The address of the file is not taken from the server, which could name another host.
        async for result in self._lines(f"{PATH}/{batch}/results"):
            yield result

    def read(self, result: BatchResult, request: ModelRequest, sent: RequestStyle) -> tuple[Reply, bool]:
        found = result.content.get("result")
        kind, body = json_at(found, "type"), json_at(found, "message")
        if kind == "succeeded" and isinstance(body, dict):
            return self._reply(body, request, sent)
        error = json_at(found, "error")
        if kind == "errored" and isinstance(error, dict):
            name = json_at(error, "error", "type")
            problem = Problem(STATUSES.get(name, 500) if isinstance(name, str) else 500, error)
            return self._turned_down(problem, request, sent)
        why = ENDED.get(kind) if isinstance(kind, str) else None
        return failed(why or "the batch holds no reply to this request"), False

    def cancelling(self, batch: str) -> str:
        model = self._model
        headers = f'-H "x-api-key: ${model.key_variable}" -H "anthropic-version: 2023-06-01"'
        return f"curl -X POST {headers} {model.address}{PATH}/{batch}/cancel"

    async def _holds(self, batch: str, names: set[str]) -> bool:
        return any([result.name in names async for result in self.results(batch)])


def _counted(batch: object) -> int:
    return sum(tokens_at(batch, "request_counts", name) or 0 for name in COUNTS)


def _moment(text: object) -> float:
    """Return the seconds since 1970 of a time that the server states; 0 if it cannot be read."""
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else 0.0
    except (ValueError, OverflowError):
        return 0.0


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
)
