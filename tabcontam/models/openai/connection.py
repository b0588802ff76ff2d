"""The client of OpenAI's SDK, for every server of LLMs. Its errors become `NoAnswer` or `TransientError`.

Requests go through `client.post`, which sends a body unchanged to any path. The SDK's `create` would check every part
of it. The clients of other makers would do the same, and take addresses and headers from the environment.
"""

import json
import re
import ssl
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tabcontam.errors import UsageError
from tabcontam.models.base import PAGE, TransientError
from tabcontam.models.bounds import UnboundedError, bounded, httpx_of, set_answer_bounds
from tabcontam.models.openai.errors import Problem
from tabcontam.models.openai.event_streams import StreamWatch, is_stream, joined
from tabcontam.models.openai.replies import is_page, parsed

if TYPE_CHECKING:
    from openai import AsyncOpenAI

import sys
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from tabcontam.models.keys import host_of
from tabcontam.models.openai.replies import json_at
from tabcontam.models.services import service_at

SECONDS = 300.0  # seconds that one request may take
CONNECT_SECONDS = 10.0
OF_A_BATCH = 1 << 30, 3600.0  # the most bytes and seconds of a file of results
EACH = 16  # connections of a client
RAW: Any = {"headers": {"X-Stainless-Raw-Response": "true"}}  # asks for the body unchanged, as `with_raw_response` does
LISTING: Any = {**RAW, "timeout": 30.0}

# The headers that a request to another server than OpenAI's needs, and that the SDK reads back from it. The SDK would
# add the values of OPENAI_ORG_ID and OPENAI_PROJECT_ID.
NEEDED_HEADERS = re.compile(
    r"accept|accept-encoding|anthropic-version|connection|content-length|content-type|host|idempotency-key|user-agent|"
    r"x-stainless-.*",
    re.IGNORECASE,
)
UNSENT = ("ConnectError", "ConnectTimeout", "ProxyError", "PoolTimeout", "UnsupportedProtocol")  # httpx's names
# The end of an address that was copied from a curl command.
ENDPOINT = re.compile(r"/(chat/completions|completions|responses|embeddings|models)$")
WANTS_KEY = (401, 403)


class NoAnswer(Exception):
    """The error for a request that the server answered with an error."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.line)
        self.problem = problem


@dataclass
class ClientPool:
    """A pool of the SDK's clients: for every request httpx searches all connections of a client, so each has few."""

    address: str
    key: str
    headers: dict[str, str] | None  # all but `NEEDED_HEADERS`; None: what the SDK adds for OpenAI
    local: bool  # the address is this machine's
    left: int | None  # how many connections may still be opened; None: any number
    seconds: float = field(default_factory=lambda: SECONDS)  # for one request
    _certificates: ssl.SSLContext | None = None  # of all clients: making it takes many milliseconds
    _busy: "dict[AsyncOpenAI, int]" = field(default_factory=dict)
    _room: "dict[AsyncOpenAI, int]" = field(default_factory=dict)

    @contextmanager
    def borrowed(self) -> Iterator["AsyncOpenAI"]:
        """Lend a client with a free connection, or else the one with the shortest queue, for one request."""
        client = min(self._busy, key=lambda client: self._busy[client] - self._room[client], default=None)
        if client is None or (self._busy[client] >= self._room[client] and self.left != 0):
            client = self._opened()
        self._busy[client] += 1
        try:
            yield client
        finally:
            self._busy[client] -= 1

    async def close(self) -> None:
        for client in self._busy:
            await client.close()

    def _opened(self) -> "AsyncOpenAI":
        """Return a new client. Raises `UsageError` for a proxy or a certificate file that it cannot use."""
        from openai import DEFAULT_CONNECTION_LIMITS, AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

        room = EACH if self.left is None else min(EACH, self.left)
        # Waiting for a free connection is no failure, even in a long queue.
        timeout = Timeout(self.seconds, connect=CONNECT_SECONDS, pool=None)
        try:
            self._certificates = self._certificates or httpx_of(DefaultAsyncHttpxClient).create_ssl_context()
            http = bounded(DefaultAsyncHttpxClient)(
                limits=type(DEFAULT_CONNECTION_LIMITS)(max_connections=room, max_keepalive_connections=room),
                timeout=timeout,
                verify=self._certificates,
                follow_redirects=False,  # a redirect would carry the key elsewhere
                trust_env=not self.local,  # no proxy stands between this machine and itself
                event_hooks={"request": [] if self.headers is None else [self._with_own_headers], "response": []},
            )
        except Exception as error:
            raise UsageError(f"no request can be sent from this machine: {error}") from error
        client = AsyncOpenAI(api_key=self.key, base_url=self.address, max_retries=0, timeout=timeout, http_client=http)
        if self.headers is not None:
            client._custom_headers = {}  # those of OPENAI_CUSTOM_HEADERS, even needed ones such as anthropic-version
        self._busy[client], self._room[client] = 0, room
        self.left = None if self.left is None else self.left - room
        return client

    async def _with_own_headers(self, request: Any) -> None:
        for name in list(request.headers):
            if not NEEDED_HEADERS.fullmatch(name):
                del request.headers[name]
        for name, value in (self.headers or {}).items():
            request.headers.setdefault(name, value)


async def post(
    clients: ClientPool,
    path: str,
    body: Mapping[str, Any] | bytes,
    watch: StreamWatch | None = None,
    headers: Mapping[str, str] | None = None,
) -> object:
    """Return the JSON of a reply, up to where `watch` ends it. Raises `NoAnswer` or `TransientError`, as all below."""
    options: Any = {"headers": {**RAW["headers"], **(headers or {})}}
    with clients.borrowed() as client, set_answer_bounds(enough=watch):
        if not isinstance(body, bytes):
            return await read(client.post(path, body=body, cast_to=object, options=options), watch)
        options["headers"]["content-type"] = "application/json"
        return await read(client.post(path, content=body, cast_to=object, options=options))


async def get(clients: ClientPool, path: str, query: Mapping[str, str] | None = None, retries: int = 0) -> object:
    """Return the JSON at this path, after at most `retries` retries if the server is busy."""
    options: Any = {**RAW, "params": dict(query or {}), "max_retries": retries}
    with clients.borrowed() as client:
        return await read(client.get(path, cast_to=object, options=options))


async def get_file(clients: ClientPool, path: str) -> bytes:
    """Return the file at this path."""
    options: Any = {"headers": {**RAW["headers"], "Accept": "*/*"}}
    with clients.borrowed() as client, set_answer_bounds(*OF_A_BATCH):
        return await _content_of(client.get(path, cast_to=object, options=options))


async def upload(clients: ClientPool, name: str, content: bytes) -> object:
    """Upload a batch's file of requests to OpenAI, and return the server's JSON."""
    with clients.borrowed() as client:
        return await read(client.files.with_raw_response.create(file=(name, content), purpose="batch"))


async def listing(clients: ClientPool) -> object:
    """Return the server's list of models. After a cut connection it is asked for once more."""
    with clients.borrowed() as client:
        try:
            return await read(client.get("/models", cast_to=object, options=LISTING))
        except TransientError as error:
            if error.kind != "cut connection":
                raise
        return await read(client.get("/models", cast_to=object, options=LISTING))


async def read(call: Awaitable[Any], watch: StreamWatch | None = None, *, longest_beginning: int = 200) -> object:
    """Return the JSON of a raw response, even if it is a stream of events."""
    content = await _content_of(call)
    if watch is not None and watch.enough:
        return watch.body
    try:
        return joined(content) if is_stream(content) else json.loads(content)
    except (ValueError, RecursionError) as error:
        if is_page(content[:longest_beginning].decode("utf-8", "replace")):
            raise TransientError("the server sent a web page in place of JSON", PAGE, sent=True) from None
        broken = f" ({error})" if is_stream(content) else ""
        raise TransientError(f"the reply is no JSON{broken}", "broken JSON", sent=True) from None


async def _content_of(call: Awaitable[Any]) -> bytes:
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    try:
        content: bytes = (await call).content
    except APIStatusError as error:
        raise NoAnswer(_problem(error)) from None
    except APIConnectionError as error:
        raise _broken(error, isinstance(error, APITimeoutError)) from None
    except UnboundedError as error:
        raise NoAnswer(Problem(200, str(error))) from error
    except UnicodeEncodeError:
        raise NoAnswer(Problem(400, "the prompt holds half of a surrogate pair, which JSON cannot hold")) from None
    except Exception as error:  # a server can make the SDK raise almost anything
        raise TransientError(f"unreadable reply: {error or type(error).__name__}", "broken reply", sent=True) from None
    return content


def _problem(error: Any) -> Problem:
    """Return the server's error with its whole body. The SDK keeps only the part under `error`."""
    found = parsed(error.response.text)
    body = found if isinstance(found, dict) else error.body
    return Problem(error.status_code, body, {name.lower(): text for name, text in error.response.headers.items()})


def _broken(error: Exception, late: bool) -> TransientError:
    """Return the error for a failed connection of httpx or its successor. Raises `NoAnswer` for an endless answer."""
    cause = error.__cause__
    if isinstance(cause, UnboundedError):
        raise NoAnswer(Problem(200, str(cause))) from None
    sent = type(cause).__name__ not in UNSENT
    if late:
        seconds = SECONDS if sent else CONNECT_SECONDS
        return TransientError(f"timed out after {seconds:g} s", "timeout", crowded=True, sent=sent)
    kind = "cut connection" if sent else "no connection"
    why = str(cause or "")
    return TransientError(f"connection failed{why and f' ({why})'}", kind, sent=sent)


def without_endpoint(address: str) -> str:
    """Return the address without the name of an endpoint at its end."""
    return ENDPOINT.sub("", address)


def other_places(address: str) -> tuple[str, ...]:
    """Return other addresses of this host where its API may be, the likeliest first."""
    base, parts = without_endpoint(address), urlsplit(address)
    service = service_at(address)
    places = (*((service.address,) if service else ()), base, f"{base}/v1", f"{parts.scheme}://{parts.netloc}/v1")
    return tuple(place for place in dict.fromkeys(places) if place != address and not place.endswith("/v1/v1"))


async def find_api_elsewhere(address: str, clients_at: Callable[[str], ClientPool]) -> tuple[ClientPool, object] | None:
    """Return the connections to another address with an API, and its list or its `NoAnswer` without a key, or None."""
    for place in other_places(address):
        if host_of(place) != host_of(address):
            continue  # a key goes only to its own host
        clients = clients_at(place)
        found: object = None
        try:
            with suppress(TransientError):
                found = await listing(clients)
        except NoAnswer as error:
            found = error if error.problem.status in WANTS_KEY else None
        if isinstance(found, NoAnswer) or isinstance(json_at(found, "data"), list):
            print(f"tabcontam: no API at {address}; asking {place}", file=sys.stderr)
            return clients, found
        await clients.close()
    return None


def nowhere(address: str, what: str) -> str:
    """Return the message that a host has no API. `what` names the fault at the address."""
    others = other_places(address)
    return f"{what}{f', and there is no API at {phrase(others)} either' if others else ''}; correct the address"


def phrase(places: tuple[str, ...]) -> str:
    """Return the addresses as a phrase, with "or" before the last."""
    return " or ".join(filter(None, (", ".join(places[:-1]), places[-1])))
