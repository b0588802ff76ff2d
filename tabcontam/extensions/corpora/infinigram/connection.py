"""Requests to a server of the infini-gram protocol. Each is a POST of JSON, sent once, and the reply is JSON.

For an error, the server sends `{"error": TEXT}`. The status is 400 for an unknown index or kind of query, 500 for a
failure of the server, and 200 for a rejected query (such as a text that is too long). A gateway in front of the public
server answers 403 or 429 to clients that send too many requests.
"""

import json
import re
from collections.abc import Mapping
from enum import Enum, auto
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any

from tabcontam.models.base import TransientError
from tabcontam.models.bounds import UnboundedError, bounded, httpx_of, set_answer_bounds
from tabcontam.models.openai.connection import NoAnswer
from tabcontam.models.openai.errors import PASSING, Problem

AS_JSON = {"Content-Type": "application/json"}
SECONDS = 60.0  # the longest time without a new byte
CONNECT_SECONDS = 10.0
TOO_QUICK = (403, 429, 503, 529)  # statuses at which fewer simultaneous requests help
NO_INDEX = re.compile(
    r"invalid index|(unknown|no such) index|\bindex\b.{0,120}\b(not found|does not exist)", re.IGNORECASE
)
NO_KIND = re.compile(r"invalid query_type", re.IGNORECASE)
LATER = re.compile(r"timed out|try again|overload|rate[ _-]?limit|too many requests", re.IGNORECASE)
NOT_SENT = ("ConnectError", "ConnectTimeout", "ProxyError")  # names of httpx's errors


class Connection:
    """The connections to one address. They send no key and follow no redirect."""

    def __init__(self, url: str, local: bool, connections: int) -> None:
        from openai import DefaultAsyncHttpxClient

        httpx = self._httpx = httpx_of(DefaultAsyncHttpxClient)
        self._url = url
        # Requests may wait for a free connection for any time.
        self._client = bounded(httpx.AsyncClient)(
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            timeout=httpx.Timeout(SECONDS, connect=CONNECT_SECONDS, pool=None),
            follow_redirects=False,
            trust_env=not local,  # no proxy for this machine's own address
            # Loading the certificates is slow, and only https needs them.
            verify=True if url.lower().startswith("https:") else SSLContext(PROTOCOL_TLS_CLIENT),
        )

    # most_bytes: bytes of a reply: half a million pointers are 7 MB
    async def post(self, body: Mapping[str, Any], *, most_bytes: int = 64 << 20) -> dict[str, Any]:
        """Return the reply to one request. Raises `NoAnswer` with the server's message, or `TransientError`."""
        content = json.dumps(body).encode()
        try:
            with set_answer_bounds(most_bytes):
                response = await self._client.post(self._url, content=content, headers=AS_JSON)
        except UnboundedError as error:
            raise NoAnswer(Problem(200, str(error))) from None
        except self._httpx.HTTPError as error:
            raise self._broken(error) from None
        headers = {name.lower(): text for name, text in response.headers.items()}
        return _answer(response.status_code, response.content, headers)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _broken(self, error: Exception) -> TransientError:
        """Return the error that describes a failed connection."""
        sent = type(error).__name__ not in NOT_SENT
        if isinstance(error, self._httpx.TimeoutException):
            seconds = SECONDS if sent else CONNECT_SECONDS
            return TransientError(f"timed out after {seconds:g} s", "timeout", crowded=True, sent=sent)
        text = f"connection failed{str(error) and f' ({error})'}"
        return TransientError(text, "cut connection" if sent else "no connection", sent=sent)


def _answer(status: int, content: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON object of a reply. Raises `NoAnswer` for an error in it or in its HTTP status."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        if status == 200:
            raise TransientError("the reply is no JSON", "broken JSON", sent=True) from None
        body = None
    if status != 200 or (isinstance(body, dict) and "error" in body):
        raise NoAnswer(Problem(status, body, headers))
    if not isinstance(body, dict):
        raise TransientError("the reply is no JSON object", "broken JSON", sent=True)
    return body


class ErrorScope(Enum):
    """The part of a setup that an error concerns, such as one request or the whole index."""

    PASSING = auto()  # the error may pass
    INDEX = auto()  # the server has no index of this name
    PROTOCOL = auto()  # the server speaks another protocol, or an older one
    DOOR = auto()  # the server needs a key
    REQUEST = auto()  # only this request fails


def error_scope(problem: Problem) -> ErrorScope:
    """Return what an error concerns: only its request, if no rule matches."""
    status, text = problem.status, problem.message
    if NO_INDEX.search(text):
        return ErrorScope.INDEX
    if NO_KIND.search(text):
        return ErrorScope.PROTOCOL
    if status in PASSING or status in TOO_QUICK or (status >= 500 and status != 501):
        return ErrorScope.PASSING
    if status in (401, 407):
        return ErrorScope.DOOR
    if 300 <= status < 400 or status in (404, 405, 410, 501):
        return ErrorScope.PROTOCOL
    return ErrorScope.PASSING if LATER.search(text) else ErrorScope.REQUEST
