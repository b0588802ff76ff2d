"""`gemini:` Google's Gemini and Gemma, through the google-genai SDK.

What the server does wrong becomes the reply's state. What a model will not take (a seed, system text) is learned from
its first refusal, and the query is sent again without it. The key goes to Google's own address only, and nothing in
the environment can send it elsewhere: the SDK would follow GOOGLE_GEMINI_BASE_URL, GOOGLE_GENAI_USE_VERTEXAI and
others.
"""

import asyncio
import json
import logging
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from tabcontam.errors import UsageError, unknown
from tabcontam.models.base import Form, Model, Request
from tabcontam.models.gemini_replies import Answer, read_answer
from tabcontam.models.keys import KeyHolder
from tabcontam.models.openai import is_loopback
from tabcontam.models.openai_replies import message
from tabcontam.suite.base import Capability, Prompt, Query, Reply, State

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError
    from httpx2 import AsyncClient

    from tabcontam.datasets import Table

Outcome = TypeVar("Outcome")

GOOGLE = "https://generativelanguage.googleapis.com"
API_VERSION = "v1beta"  # the SDK's default, which GOOGLE_GENAI_API_VERSION would change
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
OTHER_KEY = "TABCONTAM_API_KEY"
PLACEHOLDER = "no-key"  # without one the SDK would look for Google's
THINKING_ALLOWANCE = 4096  # Gemini's limit counts the thinking too, ours the answer alone
TRIES = 4
WAIT = 1.0  # seconds before the second try, twice as long before each further one
LONGEST_WAIT = 60.0  # a server that wants more is not waited for
SECONDS = 300.0  # how long one request may take
CONNECT_SECONDS = 60.0  # how long the question for the model may take, with its repetitions
NAME = re.compile(r"(?:models/|(tunedModels/))?([\w.-]+)", re.ASCII)  # no sign that could turn into another path
ROLES = {"assistant": "model"}
# What a model may not take, and how its server says so. Gemma knows no system text.
REFUSALS = {
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "system_instruction": re.compile(r"\b(developer|system)[ _]?instruction", re.IGNORECASE),
}
WRONG_KEY = re.compile(r"API_KEY_INVALID|API key", re.IGNORECASE)
# The SDK's warnings ("Both GOOGLE_API_KEY and GEMINI_API_KEY are set") are printed where nothing handles them.
SILENT = logging.NullHandler()
SPENT = re.compile(r"PerDay", re.IGNORECASE)  # a quota of the day: no wait of ours brings it back


def open_gemini(name: str, *, max_connections: int = 8, spec: str = "", address: str = GOOGLE) -> Model:
    """The LLM `name` at Google. `spec` is how the user named it; `address` is for the tests."""
    parts = NAME.fullmatch(name)
    if not parts or ".." in name:
        raise UsageError(f"bad model name {name[:100]!r}; type for example gemini:gemini-2.5-flash")
    path = f"{parts[1] or 'models/'}{parts[2]}"
    return GeminiModel(spec or f"gemini:{name}", path, address.rstrip("/"), max_connections)


@dataclass(frozen=True)
class Habits:
    """What a model was found to want, from what its server said. Habits only ever grow."""

    refused: frozenset[str] = frozenset()
    thinks: bool = False

    def joined(self, other: "Habits") -> "Habits":
        """What either has found."""
        return Habits(self.refused | other.refused, self.thinks or other.thinks)

    def arguments(self, prompt: Prompt, max_tokens: int) -> dict[str, Any]:
        """The chat as Gemini takes it, decoded greedily, where the model lets itself be told so."""
        system = "\n\n".join(message.content for message in prompt.chat if message.role == "system")
        turns = [(ROLES.get(message.role, message.role), message.content) for message in prompt.chat]
        contents = [{"role": role, "parts": [{"text": text}]} for role, text in turns if role != "system"]
        if "system_instruction" in self.refused and system:
            contents = _with_system(system, contents)
        limit = max_tokens + (THINKING_ALLOWANCE if self.thinks else 0)
        config = {"temperature": 0, "seed": 0, "max_output_tokens": limit, "system_instruction": system or None}
        return {
            "contents": contents,
            "config": {name: value for name, value in config.items() if name not in self.refused},
        }


def _with_system(system: str, contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The system text at the head of what the user says first."""
    if not contents or contents[0]["role"] != "user":
        return [{"role": "user", "parts": [{"text": system}]}, *contents]
    first, *rest = contents
    return [{"role": "user", "parts": [{"text": f"{system}\n\n{first['parts'][0]['text']}"}]}, *rest]


class GeminiModel(KeyHolder, Model):
    """One LLM behind the Gemini API."""

    control = False
    capabilities = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})
    form = Form.CHAT

    def __init__(self, spec: str, model: str, address: str, max_connections: int) -> None:
        self.spec = spec
        self.model = model
        self.address = address
        self.local = is_loopback(address)
        self.version = ""
        self._own = address == GOOGLE  # Google's own address, which alone may see its key
        self._max_connections = max_connections
        self._habits = Habits()
        self._client: Client | None = None
        self._http: AsyncClient | None = None
        self._variable = ""

    def __repr__(self) -> str:
        return f"<GeminiModel {self.spec}>"

    async def connect(self) -> None:
        """Ask once for the model. Raises `UsageError` if nobody answers, the key or the model is not taken."""
        client = self._connection()
        from google.genai.errors import APIError
        from httpx2 import RequestError

        try:
            asked = _patiently(partial(client.aio.models.get, model=self.model))
            found = await asyncio.wait_for(asked, CONNECT_SECONDS)
        except APIError as error:
            if error.code == 404:
                raise await self._unknown(client) from None
            raise self._mistake(self._turned_away(error)) from None
        except (RequestError, TimeoutError) as error:
            why = f"no answer in {CONNECT_SECONDS:.0f} s" if isinstance(error, TimeoutError) else _reason(error)
            raise self._mistake(f"{why}: cannot reach {self.address}; check the network and the proxy") from None
        except Exception:  # as in `generate`
            raise self._mistake(self._other_kind()) from None
        self._recognize(found)

    def prepare(self, table: "Table", queries: Sequence[Query]) -> Model:
        """Itself: it is the same LLM for every table."""
        return self

    async def generate(self, request: Request) -> Reply:
        """Ask once, and again only in words that the model takes, or where waiting helps."""
        try:
            return await self._ask(request)
        except Exception as error:  # a server can make the SDK raise almost anything
            return Reply("", State.FAILED, self._line(_reason(error)))

    async def close(self) -> None:
        """Close the connections."""
        client, http, self._client, self._http = self._client, self._http, None, None
        if client is not None:
            client.close()
        if http is not None:
            await http.aclose()

    async def _ask(self, request: Request) -> Reply:
        """What is learned here is kept only once the server has taken a request that was made by it."""
        self._connection()  # first, as it says so where the SDK is missing
        from google.genai.errors import ClientError

        habits = self._habits
        while True:
            arguments = habits.arguments(request.prompt, request.max_tokens)
            try:
                answer = await _patiently(partial(self._post, arguments))
            except ClientError as error:
                name = _unsupported(error, arguments["config"])
                if name is None:
                    raise
                habits = replace(habits, refused=habits.refused | {name})
                continue
            self._habits = self._habits.joined(habits)
            if answer.cut and answer.thought and not habits.thinks:
                habits = replace(habits, thinks=True)
                continue
            return answer.reply()

    async def _post(self, arguments: Mapping[str, Any]) -> Answer:
        client = self._connection()
        from google.genai import types

        config = types.GenerateContentConfig(
            **arguments["config"],
            should_return_http_response=True,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        response = await client.aio.models.generate_content(
            model=self.model, contents=arguments["contents"], config=config
        )
        raw = response.sdk_http_response
        return read_answer(json.loads((raw and raw.body) or ""))

    def _connection(self) -> "Client":
        if self._client is None:
            self._client = self._opened()
        return self._client

    def _opened(self) -> "Client":
        try:
            from google.genai import Client
            from google.genai.client import DebugConfig
            from google.genai.types import HttpOptions
        except ImportError:
            raise UsageError('gemini: needs google-genai; pip install "tabcontam[gemini]"') from None
        logging.getLogger("google_genai").addHandler(SILENT)
        key = self._key()
        try:
            self._http = self._transport()
            return Client(
                api_key=key,
                vertexai=False,
                # Left out, each of these would be read from the environment; a mode may record prompts in files.
                debug_config=DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
                http_options=HttpOptions(base_url=self.address, api_version=API_VERSION, httpx_async_client=self._http),
            )
        except Exception as error:  # a proxy, a certificate file or a setting of the SDK in the environment
            raise self._mistake(f"google-genai does not start: {error}") from None

    def _transport(self) -> "AsyncClient":
        from httpx2 import AsyncClient, Limits, Timeout

        # Waiting for a free connection is no failure, however long the queue.
        timeout = Timeout(SECONDS, connect=10.0, pool=None)

        async def in_time(request: Any) -> None:
            request.extensions["timeout"] = timeout.as_dict()  # the SDK sends with none

        return AsyncClient(
            limits=Limits(max_connections=self._max_connections, max_keepalive_connections=self._max_connections),
            follow_redirects=False,  # a redirect would carry the key elsewhere
            trust_env=not self.local,  # no proxy stands between this machine and itself
            event_hooks={"request": [in_time]},
        )

    def _key(self) -> str:
        """The key for this address, and no other. Raises `UsageError` where there has to be one."""
        names = KEYS if self._own else (OTHER_KEY,)
        self._variable, key = self._read_key(names, needed_by="Gemini" if self._own else None)
        return key or PLACEHOLDER

    def _recognize(self, found: Any) -> None:
        """Take down what the server states of the model."""
        if not found.name:  # the SDK makes a model of an empty reply
            raise self._mistake(self._other_kind())
        methods = found.supported_actions
        if methods and "generateContent" not in methods:
            raise self._mistake(f"{self.spec} answers no prompts; its server offers {', '.join(methods)}")
        self._habits = self._habits.joined(Habits(thinks=getattr(found, "thinking", None) is True))
        # An alias such as gemini-flash-latest may come back under the name of what it stands for today.
        other = found.name if found.name != self.model else None
        stated = {"version": found.version, "name": other}
        self.version = self._line(" ".join(f"{name}={fact}" for name, fact in stated.items() if fact))

    async def _unknown(self, client: "Client") -> UsageError:
        """The error for a model that is not there, with the nearest ones that are and answer prompts."""
        asked = self.model.rpartition("/")[2]
        names = []
        try:
            async for entry in await client.aio.models.list(config={"page_size": 1000}):
                if entry.name and "generateContent" in (entry.supported_actions or ["generateContent"]):
                    names.append(entry.name.removeprefix("models/"))
        except Exception:  # the list is only for the advice
            names = []
        if not names:
            return self._mistake(f"unknown model {asked!r}; see https://ai.google.dev/gemini-api/docs/models")
        return self._mistake(str(unknown("model", asked, map(self._line, names))))

    def _other_kind(self) -> str:
        return f"{self.address} does not speak the Gemini protocol"

    def _turned_away(self, error: "APIError") -> str:
        """The line for a server that is there and does not let us in."""
        who = "Google" if self._own else f"the server at {self.address}"
        key = error.code in (401, 403) or (error.code == 400 and WRONG_KEY.search(str(error.details)))
        if not key:
            return f"{who} does not offer the model; it answered {_reason(error)}"
        return f"{who} refused the key in {self._variable}; it answered {_reason(error)}"


async def _patiently(call: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """The one place where a request is repeated as it is: the SDK is left at its default, which is one try."""
    turn = 1
    while True:
        try:
            return await call()
        except Exception as error:
            wait = _patience(error, turn)
            if turn == TRIES or wait is None:
                raise
        await asyncio.sleep(wait)
        turn += 1


def _unsupported(error: "APIError", config: Mapping[str, Any]) -> str | None:
    """The parameter that a server says this model does not take."""
    if error.code != 400:
        return None
    said = str(error.details)
    return next((name for name, words in REFUSALS.items() if config.get(name) is not None and words.search(said)), None)


def _patience(error: Exception, turn: int) -> float | None:
    """Seconds to wait before another try; None where no other try would help."""
    from google.genai.errors import APIError
    from httpx2 import RequestError

    backoff = WAIT * 2 ** (turn - 1) * random.uniform(0.75, 1.25)
    if isinstance(error, APIError):
        if error.code not in (408, 429) and error.code < 500:
            return None
        if error.code == 429 and SPENT.search(str(error.details)):
            return None
        wait = _wanted(error)
        return backoff if wait is None else wait if wait <= LONGEST_WAIT else None
    return backoff if isinstance(error, RequestError | json.JSONDecodeError | UnicodeDecodeError) else None


def _wanted(error: "APIError") -> float | None:
    """The wait that a server asks for: in a header, or in the details of a 429, as Google does ("28s")."""
    headers = getattr(error.response, "headers", None) or {}
    delay = re.search(r"'retryDelay': '([\d.]+)s'", str(error.details))
    for stated in (headers.get("retry-after"), delay and delay[1]):
        if stated and re.fullmatch(r"\d+(\.\d*)?", stated):
            return float(stated)
    return None


def _reason(error: Exception) -> str:
    """Why there was no answer, in few words."""
    if isinstance(error, UsageError):  # the SDK itself may be missing
        return str(error)
    from google.genai.errors import APIError
    from httpx2 import RequestError, TimeoutException

    if isinstance(error, APIError):
        told = message(error.details)
        return f"HTTP {error.code}{told and ': '}{told}"
    if isinstance(error, TimeoutException):
        return f"timed out after {SECONDS:.0f} s"
    if isinstance(error, RequestError):
        return f"connection failed{str(error) and f' ({error})'}"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "the reply is no JSON"
    return str(error) or type(error).__name__
