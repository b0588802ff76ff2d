"""`gemini:` Google's Gemini and Gemma, through the google-genai SDK.

Each kind of failure has an error, and nothing is sent again unchanged. A model may refuse a part of a request, such as
a seed, system text or little thinking. Its first refusal shows that, and the query is sent again without the part. The
key goes only to Google's own address. The environment cannot change the address: the SDK alone would follow
GOOGLE_GEMINI_BASE_URL, GOOGLE_GENAI_USE_VERTEXAI and others.
"""

import asyncio
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tabcontam.errors import UsageError, unknown
from tabcontam.evidence.base import Capability, Reply, Usage
from tabcontam.models.base import FatalError, ModelRequest, PromptForm, TransientError, failed
from tabcontam.models.batch_api import RequestStyle
from tabcontam.models.bounds import UnboundedError, bounded
from tabcontam.models.gemini.batch import GeminiBatches
from tabcontam.models.gemini.habits import GeminiHabits
from tabcontam.models.gemini.replies import GeminiAnswer, read_answer, retry_delay
from tabcontam.models.openai.errors import retry_after
from tabcontam.models.openai.replies import message
from tabcontam.models.provider_record import Offer, Provider
from tabcontam.models.served_model import ServedModel, sum_known_charges

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError
    from httpx2 import AsyncClient


GOOGLE = "https://generativelanguage.googleapis.com"
API_VERSION = "v1beta"  # the SDK's default, which GOOGLE_GENAI_API_VERSION would change
MODELS = "https://ai.google.dev/gemini-api/docs/models"
CONNECT_TRIES = 3
CONNECT_WAIT = 1.0  # seconds before the second try, twice as long before the third
SECONDS = 300.0  # seconds that one request may take
CONNECT_SECONDS = 60.0  # seconds in which the model must be described, retries included
NAME = re.compile(r"(?:models/|(tunedModels/))?([\w.-]+)", re.ASCII)  # without signs that could lead to another path
# Errors that any other request would get too: patterns of status and message, and the advice. The first match counts.
HOPELESS = {
    r"40[03] .*location is not supported": "does not serve the region of this computer; ask from another region",
    r"402 |40[03] .*billing|400 .*FAILED_PRECONDITION|429 .*(prepay|spend(ing)? cap)": (
        "accepts {key} only with valid billing; set it up, or add credits"
    ),
    r"429 .*(\blimit: 0\b(?!\.)|'quotaValue': '0')": (
        "does not let {key} use {model}; set up billing for it, or name another model"
    ),
    r"429 .*per[ _]?day": "grants {key} no more requests today; run the same command again tomorrow",
    r"40[13] |400 .*API[_ ]key": "refused {key}; check it, and what it may be used for",
    r"404 ": "does not offer {model}, or no longer does; name another model",
    r"3\d\d |405 ": "does not speak the Gemini protocol",
}
PASSING = (408, 429)  # besides 500 and above
CROWDED = (408, 429, 503, 504)
NOT_WORKED_ON = (429, 503)
# The SDK prints warnings ("Both GOOGLE_API_KEY and GEMINI_API_KEY are set") unless a handler receives them.
SILENT = logging.NullHandler()


class GeminiModel(ServedModel):
    """The LLM `name` at Google. `spec`: the user's name for it; `address`: another server, for tests."""

    provider = "gemini"
    maker = "Google"
    service = "Gemini"
    keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    api_version = API_VERSION
    capabilities = frozenset(
        {Capability.GENERATE, Capability.CHAT, Capability.SEED, Capability.SAMPLE, Capability.INSTRUCTIONS}
    )
    form = PromptForm.CHAT

    def __init__(
        self, name: str, *, max_connections: int = 8, spec: str = "", address: str = GOOGLE, variable: str = ""
    ) -> None:
        parts = NAME.fullmatch(name)
        if not parts or ".." in name:
            raise UsageError(f"bad model name {name[:100]!r}; type for example {self.provider}:gemini-2.5-flash")
        path = self._path(parts[1] or "models/", parts[2])
        super().__init__(spec or f"{self.provider}:{name}", path, address.rstrip("/"), GOOGLE, variable)
        self._max_connections = max_connections
        self.habits = GeminiHabits()  # those that are known so far
        self._client: Client | None = None
        self._http: AsyncClient | None = None

    async def connect(self) -> None:
        """Ask the server for the model. Raises `UsageError` if none answers, or it refuses the key or the model."""
        client = self.connection()
        from google.genai.errors import APIError
        from google.genai.types import GetModelConfig, HttpOptions, HttpRetryOptions
        from httpx2 import RequestError

        retry = HttpRetryOptions(attempts=CONNECT_TRIES, initial_delay=CONNECT_WAIT, jitter=CONNECT_WAIT)
        config = GetModelConfig(http_options=HttpOptions(retry_options=retry))
        try:
            found = await asyncio.wait_for(client.aio.models.get(model=self.model, config=config), CONNECT_SECONDS)
        except APIError as error:
            if error.code == 404:
                raise await self._unknown(client) from None
            why = self._hopeless(error) or f"{self._who} does not describe the model; it answered {_fault(error).text}"
            raise self._mistake(why) from None
        except (RequestError, TimeoutError) as error:
            why = f"no answer in {CONNECT_SECONDS:.0f} s" if isinstance(error, TimeoutError) else _fault(error).text
            raise self._mistake(f"{why}: cannot reach {self.address}; check the network and the proxy") from None
        except Exception:  # as in `generate`
            raise self._mistake(self._other_kind()) from None
        self._recognize(found)

    async def generate(self, request: ModelRequest) -> Reply:
        """Return the reply to a prompt. Send the request again only without a refused part, or with more tokens for
        thinking. What a refusal shows is stored only once the server has accepted a request that follows it.
        """
        habits, usages = self.habits, list[Usage | None]()
        while True:
            arguments = habits.arguments(request)
            try:
                answer = await self._post(arguments)
            except Exception as error:  # a server can make the SDK raise almost anything
                fewer = habits.without(error, arguments["config"])
                if fewer is None:
                    return self.failed(error, usages)
                habits = self.habits.joined(fewer)  # other queries may have learned habits meanwhile
            else:
                usages.append(answer.usage)
                cramped = answer.cut and answer.thought and not habits.thinks
                habits = replace(habits, thinks=habits.thinks or cramped)
                self._learn(habits)
                if not cramped:
                    reply = answer.reply()
                    return replace(reply, text=self._without_key(reply.text), usage=sum_known_charges(usages))
            request.again()

    @property
    def batches(self) -> GeminiBatches | None:
        """Google's own batch API; None at another address."""
        return GeminiBatches(self) if self._own else None

    def written(self, request: ModelRequest) -> dict[str, Any]:
        """Return a request without the parts that the model is known to refuse."""
        return self.habits.arguments(request)

    def reply_in_batch(self, body: object, sent: RequestStyle) -> tuple[Reply, bool]:
        """Return the reply in a body from a batch, and whether asking again may get a better one."""
        try:
            answer = read_answer(body)
        except ValueError as error:
            return failed(self._line(str(error))), True
        thought_to_the_end = answer.cut and answer.thought
        self._learn(GeminiHabits(thinks=thought_to_the_end))
        reply = answer.reply()
        reply = replace(reply, text=self._without_key(reply.text), usage=answer.usage)
        return reply, thought_to_the_end and not sent.allowance

    def learned_from(self, error: Exception, request: ModelRequest, before: GeminiHabits) -> bool:
        """Return whether an error names a part that this model refuses. From now on requests lack that part.

        `before`: the habits (known demands) before the batch was read. Its replies may each show the same demand.
        """
        fewer = before.without(error, before.arguments(request)["config"])
        self._learn(fewer or before)
        return fewer is not None

    def words(self, error: object) -> str:
        """Return the message of an error in a batch."""
        return self._line(message(error)) if isinstance(error, dict) else ""

    def url_of(self, path: str) -> str:
        """Return the address of a path."""
        return f"{self.address}/{API_VERSION}/{path}"

    async def got(self, path: str, query: Mapping[str, str]) -> object:
        """Return the JSON at a path. Raises the SDK's errors."""
        self.connection()
        from google.genai.errors import APIError

        assert self._http is not None  # noqa: S101 - it is opened with the SDK's client
        response = await self._http.get(self.url_of(path), params=query, headers={"x-goog-api-key": self._key()})
        await APIError.raise_for_async_response(response)
        return response.json()

    async def close(self) -> None:
        """Close the connections."""
        client, http, self._client, self._http = self._client, self._http, None, None
        if client is not None:
            client.close()
        if http is not None:
            await http.aclose()

    async def _post(self, arguments: Mapping[str, Any]) -> GeminiAnswer:
        client = self.connection()
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

    def _learn(self, habits: GeminiHabits) -> None:
        self.habits = self.habits.joined(habits)
        self.allowance = self.habits.allowance

    def connection(self) -> "Client":
        """Return the SDK's client; open it at the first call."""
        if self._client is None:
            self._client = self._opened()
        return self._client

    def _opened(self) -> "Client":
        try:
            from google.genai import Client
            from google.genai.client import DebugConfig
            from google.genai.types import HttpOptions
        except ImportError:
            raise UsageError(f'{self.provider}: needs google-genai; type: pip install "tabcontam[gemini]"') from None
        logging.getLogger("google_genai").addHandler(SILENT)
        access = self._access()
        try:
            self._http = self._transport()
            return Client(
                **access,
                # If left out, these would be read from the environment, and a mode may record prompts in files.
                debug_config=DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
                http_options=HttpOptions(
                    base_url=self.address, api_version=self.api_version, httpx_async_client=self._http
                ),
            )
        except Exception as error:  # for a proxy, a certificate file or a setting of the SDK in the environment
            raise self._mistake(f"google-genai does not start: {error}") from None

    def _path(self, kind: str, name: str) -> str:
        """Return the server's name of the model: `models/` or `tunedModels/`, and the name."""
        return f"{kind}{name}"

    def _access(self) -> dict[str, Any]:
        """Return the credentials for the SDK. Raises `UsageError` if there are none."""
        return {"api_key": self._key(), "vertexai": False}

    @property
    def _lets_in(self) -> str:
        """The name by which messages call the credentials."""
        return f"the key in {self.key_variable}"

    def _transport(self) -> "AsyncClient":
        from httpx2 import AsyncClient, Limits, Timeout

        # Waiting for a free connection is no failure, even in a long queue.
        timeout = Timeout(SECONDS, connect=10.0, pool=None)

        async def in_time(request: Any) -> None:
            request.extensions["timeout"] = timeout.as_dict()  # the SDK sets none

        client: AsyncClient = bounded(AsyncClient)(
            limits=Limits(max_connections=self._max_connections, max_keepalive_connections=self._max_connections),
            follow_redirects=False,  # a redirect would carry the key elsewhere
            trust_env=not self.local,  # no proxy stands between this machine and itself
            event_hooks={"request": [in_time]},
        )
        return client

    def _recognize(self, found: Any) -> None:
        """Store the model's version and habits, as the server describes them."""
        if not found.name:  # the SDK builds a model even from an empty reply
            raise self._mistake(self._other_kind())
        methods = found.supported_actions
        if methods and "generateContent" not in methods:
            raise self._mistake(f"{self.spec} answers no prompts; its server offers {', '.join(methods)}")
        self._learn(GeminiHabits(thinks=getattr(found, "thinking", None) is True))
        # For an alias such as gemini-flash-latest the server may state the name of the model behind it today.
        other = found.name if found.name != self.model else None
        stated = {"version": found.version, "name": other}
        self.version = self._line(" ".join(f"{name}={fact}" for name, fact in stated.items() if fact))

    async def _unknown(self, client: "Client") -> UsageError:
        """Return the error for an unknown model, with the most similar names of models that answer prompts."""
        asked = self.model.rpartition("/")[2]
        names = []
        try:
            async for entry in await client.aio.models.list(config={"page_size": 1000}):
                if entry.name and "generateContent" in (entry.supported_actions or ["generateContent"]):
                    names.append(entry.name.rpartition("/")[2])
        except Exception:  # without a list the error names no models
            names = []
        if not names:
            return self._mistake(f"unknown model {asked!r}; see {MODELS}")
        return self._mistake(str(unknown("model", asked, map(self._line, names))))

    def _other_kind(self) -> str:
        return f"{self.address} does not speak the Gemini protocol"

    def _hopeless(self, error: "APIError") -> str | None:
        """Return the message about a server that answers no request; None if the error is of another kind."""
        answered = f"{error.code} {error.details}"
        what = next((what for words, what in HOPELESS.items() if re.match(words, answered, re.I | re.S)), None)
        if what is None:
            return None
        what = what.format(key=self._lets_in, model=self.model.rpartition("/")[2])
        return self._line(f"{self._who} {what}; it answered {_fault(error).text}")

    def failed(self, error: Exception, usages: Sequence[Usage | None] = ()) -> Reply:
        """Return the failed reply to a request. Raises `TransientError` or `FatalError` for other kinds of failure."""
        if isinstance(error, UsageError):  # without a key or the SDK
            raise FatalError(str(error)) from None
        from google.genai.errors import APIError

        hopeless = self._hopeless(error) if isinstance(error, APIError) else None
        if hopeless:
            raise FatalError(hopeless) from None
        fault = _fault(error)
        fault = replace(fault, text=self._line(fault.text), sent=fault.sent or bool(usages))
        if fault.kind:
            raise fault from None
        return failed(fault.text, sum_known_charges(usages))


def _fault(error: Exception) -> TransientError:
    """Return the reason why there was no answer. Its `kind` is "" if sending the request again would not help."""
    from google.auth.exceptions import GoogleAuthError
    from google.genai.errors import APIError
    from httpx2 import ConnectError, ConnectTimeout, DecodingError, ProxyError, RequestError, TimeoutException

    match error:
        case APIError(code=code):
            detail = message(error.details)
            text, kind = f"HTTP {code}{detail and ': '}{detail}", str(code) if code in PASSING or code >= 500 else ""
            crowded, sent = code in CROWDED, code not in NOT_WORKED_ON
            return TransientError(text, kind, _wanted(error), crowded=crowded, sent=sent)
        case UnboundedError():
            return TransientError(str(error), "", sent=True)
        case GoogleAuthError():
            return TransientError(f"the Google login cannot be renewed: {error}", "login")
        case DecodingError() | json.JSONDecodeError() | UnicodeDecodeError() | RecursionError():
            return TransientError("the reply is no JSON", "broken JSON", sent=True)
        case TimeoutException() if not isinstance(error, ConnectTimeout):
            return TransientError(f"timed out after {SECONDS:.0f} s", "timeout", crowded=True, sent=True)
        case RequestError():
            text = f"connection failed{str(error) and f' ({error})'}"
            if isinstance(error, ConnectTimeout):
                return TransientError(text, "timeout", crowded=True)
            sent = not isinstance(error, ConnectError | ProxyError)
            return TransientError(text, "cut connection" if sent else "no connection", sent=sent)
    kind = "no reply" if isinstance(error, ValueError) else ""
    return TransientError(str(error) or type(error).__name__, kind, sent=True)


def _wanted(error: "APIError") -> float | None:
    """Return the seconds that a server asks to wait, in a header or in the details of a 429; None without them."""
    headers = getattr(error.response, "headers", None) or {}
    wait = retry_after({name.lower(): value for name, value in headers.items()})
    return retry_delay(error.details) if wait is None else wait


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
