"""`openai:` an LLM behind OpenAI's protocol: OpenAI itself, or any server that speaks it.

What the server does wrong becomes the reply's state. What a model will not take (`max_tokens`, `temperature`,
`stop`, the chat form) is learned from its first refusal, and the query is sent again without it. A key goes to one
address only.
"""

import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tabcontam.errors import UsageError, unknown
from tabcontam.models.base import Form, Model, Request
from tabcontam.models.keys import KeyHolder
from tabcontam.models.openai_replies import Answer, chat_answer, completion_answer, message
from tabcontam.suite.base import Capability, Prompt, Query, Reply, State

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

    from tabcontam.datasets import Table

OPENAI = "https://api.openai.com/v1"
FORMS = {"auto": Form.CHAT, "chat": Form.CHAT, "completion": Form.COMPLETION}
REASONING_ALLOWANCE = 4096  # tokens for thinking, which the limit on answer tokens does not count
RETRIES = 4
SECONDS = 300.0  # how long one request may take
PLACEHOLDER = "no-key"  # the SDK does not start without one
MOST_STOPS = 4  # OpenAI takes no more
NOT_THERE = (404, 405, 501)
OPTIONAL = ("temperature", "stop", "max_tokens")

# All that a request to somebody else's server needs. The SDK would add what it finds in OPENAI_ORG_ID,
# OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS.
NEEDED_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "idempotency-key",
        "user-agent",
    }
)
UNSUPPORTED = re.compile(
    r"unsupported|not support|n't support|unrecognized|unknown|unexpected|deprecated|not (permitted|allowed)|extra",
    re.IGNORECASE,
)
NO_CHAT = re.compile(r"not a chat model|chat[ _]template|does(n't| not) support chat\b", re.IGNORECASE)
NO_MODEL = re.compile(r"model_not_found|does not exist|model\b.*\bnot found", re.IGNORECASE)
COMPLETION_MODEL = re.compile(r"(ft:)?(gpt-3\.5-turbo-instruct|davinci-002|babbage-002)")  # at OpenAI
# Strict, so that no two readers of a URL can disagree about its host.
URL = re.compile(r"https?://([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?(/[\w.~%:+/-]*)?", re.ASCII | re.IGNORECASE)
# A server's address without http:// would be taken for a model of OpenAI, and the prompts would go there.
NO_SCHEME = re.compile(r"@(localhost|[\w.-]+:\d+|\d+\.\d+\.\d+\.\d+|[^@]*/v\d+)", re.ASCII | re.IGNORECASE)
STAMPED_NOW = ("vllm", "sglang", "llamacpp")  # their `created` is the time of the listing


def parse_address(rest: str) -> tuple[str, str | None]:
    """The model's name and the server's address in what follows `openai:`; None means OpenAI's own.

    Names may hold "/", ":" and "@". No message repeats an address that could hold a password.
    """
    parts = re.fullmatch(r"(.*)@(https?://.*)", rest, re.DOTALL | re.IGNORECASE)
    name, url = (parts[1], parts[2]) if parts else (rest, None)
    if "://" in name:
        raise UsageError("bad address after openai:; type openai:NAME@http://host:port/v1")
    if url is None and NO_SCHEME.search(name):
        raise UsageError(f"bad address in openai:{name[:100]}; type openai:NAME@http://host:port/v1")
    if not name.strip():
        raise UsageError("openai: lacks the model's name; type openai:NAME or openai:NAME@http://host:port/v1")
    return name, None if url is None else _checked(url)


def _checked(url: str) -> str:
    """The address, if it is one. A differential in reading it could send a key to another host."""
    if "@" in url:
        raise UsageError("an address holds no user name or password; put the key into TABCONTAM_API_KEY")
    if "?" in url or "#" in url:
        raise UsageError("an address holds no ? or #; put a key into TABCONTAM_API_KEY")
    if not URL.fullmatch(url) or not _port_exists(url):
        raise UsageError(f"bad address {url[:100]!r}; type http://host:port/v1")
    return url


def _port_exists(url: str) -> bool:
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's by its spelling: localhost, 127.0.0.0/8 or ::1. No name is looked up."""
    host = urlsplit(url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback and (address.version == 4 or address == ip_address("::1"))


def open_openai(
    model: str, base_url: str | None, form: str = "auto", max_connections: int = 8, spec: str = ""
) -> Model:
    """The LLM `model` at `base_url`, or at OpenAI. `spec` is how the user named it, if not by provider and name."""
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    address = OPENAI if base_url is None else _checked(base_url).rstrip("/")
    at = "" if base_url is None else f"@{base_url}"
    return OpenAIModel(spec or f"openai:{model}{at}", model, address, form, max_connections)


@dataclass(frozen=True)
class Habits:
    """What a model was found to want, from what its server said. Habits only ever grow."""

    refused: frozenset[str] = frozenset()
    thinks: bool = False

    def joined(self, other: "Habits") -> "Habits":
        """What either has found."""
        return Habits(self.refused | other.refused, self.thinks or other.thinks)

    @property
    def allowance(self) -> int:
        """Tokens beyond the answer's. A model that wants `max_completion_tokens` is taken for one that reasons."""
        return REASONING_ALLOWANCE if self.thinks or "max_tokens" in self.refused else 0

    def arguments(self, form: Form, prompt: Prompt, max_tokens: int) -> dict[str, Any]:
        """What is sent besides the model's name: greedy decoding, where the model lets itself be told so."""
        arguments: dict[str, Any] = {"temperature": 0, "max_tokens": max_tokens + self.allowance}
        if form is Form.CHAT:
            messages = [{"role": message.role, "content": message.content} for message in prompt.chat]
            arguments |= {"messages": messages, "max_completion_tokens": max_tokens + self.allowance}
            # One of the two limits: older servers know the first alone, reasoning models the second alone.
            del arguments["max_tokens" if "max_tokens" in self.refused else "max_completion_tokens"]
        else:
            arguments |= {"prompt": prompt.completion, "stop": list(prompt.stop[:MOST_STOPS])}
        dropped = self.refused - {"max_tokens"}
        return {name: value for name, value in arguments.items() if name not in dropped and value != []}


class OpenAIModel(KeyHolder, Model):
    """One LLM behind OpenAI's protocol."""

    control = False
    capabilities = frozenset({Capability.GENERATE, Capability.INSTRUCTIONS})

    def __init__(self, spec: str, model: str, address: str, form: str, max_connections: int) -> None:
        self.spec = spec
        self.model = model
        self.address = address
        self.local = is_loopback(address)
        self.version = ""
        self._own = address == OPENAI  # OpenAI's own address, which alone may see OPENAI_API_KEY
        self._max_connections = max_connections
        self._habits = Habits()
        known = self._own and form == "auto" and COMPLETION_MODEL.match(model)
        self._form = Form.COMPLETION if known else FORMS[form]
        self._settled = bool(known) or form != "auto"
        self._client: AsyncOpenAI | None = None

    def __repr__(self) -> str:
        return f"<OpenAIModel {self.spec}>"

    @property
    def form(self) -> Form:
        """Chat, until the server says that this model has no chat form."""
        return self._form

    async def connect(self) -> None:
        """Ask once for the list of models. Raises `UsageError` if nobody answers, the key or the model is not taken."""
        from openai import APIConnectionError, APIStatusError

        client = self._connection()
        try:
            raw = await client.with_options(max_retries=1, timeout=30).models.with_raw_response.list()
            listing = json.loads(raw.content)
        except APIConnectionError as error:
            raise self._mistake(f"{_reason(error)}: {self._unreachable()}") from None
        except APIStatusError as error:
            if error.status_code in NOT_THERE:
                return
            raise self._mistake(self._turned_away(error)) from None
        except Exception:  # as in `generate`
            lacking = "" if self.address.endswith("/v1") else "; does it lack /v1?"
            raise self._mistake(f"{self.address} does not speak OpenAI's protocol{lacking}") from None
        self._recognize(listing)

    def prepare(self, table: "Table", queries: Sequence[Query]) -> Model:
        """Itself: it is the same LLM for every table."""
        return self

    async def generate(self, request: Request) -> Reply:
        """Ask once, and again only in words that the model takes."""
        try:
            return await self._ask(request)
        except Exception as error:  # a server can make the SDK raise almost anything
            state = State.REFUSED if _code(error) in ("content_filter", "content_policy_violation") else State.FAILED
            return Reply("", state, self._line(_reason(error)))

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _ask(self, request: Request) -> Reply:
        """In the model's form, or in the other one if the server knows no chat form of it."""
        from openai import APIStatusError

        form = self._form
        try:
            reply = await self._ask_as(form, request)
        except APIStatusError as error:
            # Another query may have settled the form while this one was under way in chat form.
            open_form = not self._settled or self._form is not form
            if form is not Form.CHAT or not open_form or not _may_lack_chat(error):
                raise
            return await self._ask_without_chat(request, error)
        self._settled = True
        return reply

    async def _ask_without_chat(self, request: Request, error: "APIStatusError") -> Reply:
        from openai import APIStatusError

        if NO_CHAT.search(_said(error)):
            self._form, self._settled = Form.COMPLETION, True
        try:
            reply = await self._ask_as(Form.COMPLETION, request)
        except APIStatusError as second:
            if second.status_code in NOT_THERE:
                raise error from None  # it has neither form: the first refusal says why
            raise
        self._form, self._settled = Form.COMPLETION, True
        return reply

    async def _ask_as(self, form: Form, request: Request) -> Reply:
        """What is learned here is kept only once the server has taken a request that was made by it."""
        from openai import BadRequestError, UnprocessableEntityError

        habits = self._habits
        while True:
            arguments = habits.arguments(form, request.prompt, request.max_tokens)
            try:
                answer = await self._post(form, arguments)
            except (BadRequestError, UnprocessableEntityError) as error:
                name = _unsupported(error, form, arguments)
                if name is None:
                    raise
                habits = replace(habits, refused=habits.refused | {name})
                continue
            self._habits = self._habits.joined(habits)
            if answer.cut and answer.thought and not habits.allowance:
                habits = replace(habits, thinks=True)
                continue
            return self._reply(answer, () if form is Form.CHAT else request.prompt.stop)

    async def _post(self, form: Form, arguments: Mapping[str, Any]) -> Answer:
        client = self._connection()
        create: Callable[..., Awaitable[Any]]
        if form is Form.CHAT:
            create, read = client.chat.completions.with_raw_response.create, chat_answer
        else:
            create, read = client.completions.with_raw_response.create, completion_answer
        raw = await create(model=self.model, **arguments)
        return read(json.loads(raw.content))

    def _reply(self, answer: Answer, stop: Iterable[str]) -> Reply:
        whole = answer.text.encode("utf-8", "replace").decode()  # no file can hold half a surrogate pair
        text = whole
        for mark in filter(None, stop):  # not every server stops there
            text = text.partition(mark)[0]
        reached_stop = text != whole
        if answer.refusal:
            return Reply(text, State.REFUSED, self._line(answer.refusal), answer.tokens)
        if answer.finish == "content_filter":
            return Reply(text, State.REFUSED, "content filter", answer.tokens)
        if answer.finish == "error":
            return Reply(text, State.FAILED, "the server broke off with an error", answer.tokens)
        if answer.cut and not reached_stop:
            nothing = not text.strip() and (answer.thought or not text)
            detail = "all tokens went into reasoning" if nothing else "token limit"
            return Reply(text, State.TRUNCATED, detail, answer.tokens)
        if not text.strip():
            return Reply("", State.EMPTY, "no text", answer.tokens)
        return Reply(text, State.OK, "", answer.tokens)

    def _connection(self) -> "AsyncOpenAI":
        if self._client is None:
            self._client = self._opened(self._key())
        return self._client

    def _key(self) -> str:
        """The key for this address, and no other. Raises `UsageError` where there has to be one."""
        _, key = self._read_key([self._variable], needed_by="OpenAI" if self._own else None)
        return key or PLACEHOLDER

    @property
    def _variable(self) -> str:
        return "OPENAI_API_KEY" if self._own else "TABCONTAM_API_KEY"

    def _opened(self, key: str) -> "AsyncOpenAI":
        from openai import DEFAULT_CONNECTION_LIMITS, AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

        limits = type(DEFAULT_CONNECTION_LIMITS)(
            max_connections=self._max_connections, max_keepalive_connections=self._max_connections
        )
        # Waiting for a free connection is no failure, however long the queue.
        timeout = Timeout(SECONDS, connect=10.0, pool=None)
        http = DefaultAsyncHttpxClient(
            limits=limits,
            timeout=timeout,
            follow_redirects=False,  # a redirect would carry the key elsewhere
            trust_env=not self.local,  # no proxy stands between this machine and itself
            event_hooks={"request": [] if self._own else [_only_needed(key)], "response": []},
        )
        return AsyncOpenAI(api_key=key, base_url=self.address, max_retries=RETRIES, timeout=timeout, http_client=http)

    def _recognize(self, listing: object) -> None:
        """Find the model among those that the server lists, and take down what the server states of it."""
        entries = listing.get("data") if isinstance(listing, dict) else None
        found = {
            entry["id"]: entry
            for entry in (entries if isinstance(entries, list) else [])
            if isinstance(entry, dict) and isinstance(entry.get("id"), str)
        }
        # Ollama lists llama3 as llama3:latest, Gemini's server lists its models as models/NAME.
        names = (self.model, f"{self.model}:latest", f"models/{self.model}")
        name = next((name for name in names if name in found), None)
        if name is not None:
            self.version = self._line(_stated(found[name]))
        elif found:
            raise self._mistake(str(unknown("model", self.model, map(self._line, found))))

    def _unreachable(self) -> str:
        if self._own:
            return f"cannot reach {OPENAI}; check the network and the proxy"
        return f"no server answers at {self.address}; start it, or correct the address behind the @"

    def _turned_away(self, error: "APIStatusError") -> str:
        """The line for a server that is there and does not let us in."""
        who = "OpenAI" if self._own else f"the server at {self.address}"
        if error.status_code not in (401, 403):
            return f"{who} does not list its models; it answered {_reason(error)}"
        if os.environ.get(self._variable, "").strip():
            return f"{who} refused the key in {self._variable}; it answered {_reason(error)}"
        return f"{who} wants a key; set the environment variable {self._variable}"


def _only_needed(key: str) -> Callable[[Any], Awaitable[None]]:
    """A hook on what leaves for somebody else's server: the headers it needs and the key meant for it."""

    async def hook(request: Any) -> None:
        for name in list(request.headers):
            # The SDK reads its own x-stainless headers back from the request.
            if name.lower() not in NEEDED_HEADERS and not name.lower().startswith("x-stainless-"):
                del request.headers[name]
        request.headers["Authorization"] = f"Bearer {key}"

    return hook


def _stated(entry: Mapping[str, Any]) -> str:
    """What identifies the weights behind a name: a digest, a version, the file, the time the model was made."""
    facts = {name: entry.get(name) for name in ("digest", "version", "created")}
    if entry.get("root") != entry["id"]:
        facts["root"] = entry.get("root")
    created = facts["created"]
    recent = isinstance(created, int | float) and abs(created - time.time()) < 600
    if recent or str(entry.get("owned_by", "")).casefold() in STAMPED_NOW:
        del facts["created"]  # the time of the listing: every run would be asked anew
    stated = {name: fact for name, fact in facts.items() if isinstance(fact, str | int | float) and fact}
    return " ".join(f"{name}={fact}" for name, fact in stated.items())


def _unsupported(error: "APIStatusError", form: Form, arguments: Mapping[str, Any]) -> str | None:
    """The parameter that a server says this model does not take."""
    said = _said(error)
    if not UNSUPPORTED.search(said):
        return None
    for name in OPTIONAL:
        if name not in arguments or (name == "max_tokens" and form is not Form.CHAT):
            continue
        if error.param == name if error.param else re.search(rf"\b{name}\b", said):
            return name
    return None


def _may_lack_chat(error: "APIStatusError") -> bool:
    said = _said(error)
    if error.status_code in NOT_THERE:
        return bool(NO_CHAT.search(said)) or not NO_MODEL.search(said)
    return error.status_code in (400, 422) and bool(NO_CHAT.search(said))


def _said(error: "APIStatusError") -> str:
    return str(error.body)


def _code(error: Exception) -> object:
    return getattr(error, "code", None)


def _reason(error: Exception) -> str:
    """Why there was no answer, in few words."""
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    if isinstance(error, APIStatusError):
        told = message(error.body)
        return f"HTTP {error.status_code}{told and ': '}{told}"
    if isinstance(error, APITimeoutError):
        return f"timed out after {SECONDS:.0f} s"
    if isinstance(error, APIConnectionError):
        cause = str(error.__cause__ or "")
        return f"connection failed{cause and f' ({cause})'}"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "the reply is no JSON"
    return str(error) or type(error).__name__
