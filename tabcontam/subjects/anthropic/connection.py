"""Anthropic's SDK, held to one address, one key and one try, and its errors as `NoAnswer` or `TransientError`.

Left alone, the SDK takes the address from ANTHROPIC_BASE_URL and more headers from ANTHROPIC_CUSTOM_HEADERS, and traces
its requests where OpenTelemetry is set up. Requests go through its `post`, which takes a body as it is: `create` has
no place for a temperature any more, and warns on the user's terminal about models that will be retired.
"""

import json
import re
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from tabcontam.subjects.base import TransientError
from tabcontam.subjects.openai.connection import UNSENT, NoAnswer, only_needed
from tabcontam.subjects.openai.errors import Problem

if TYPE_CHECKING:
    from anthropic import APIConnectionError, AsyncAnthropic

SECONDS = 300.0  # how long one request may take
CONNECT_SECONDS = 10.0
# The last version of the protocol that takes a temperature, from the models that take one. The SDK's own is newer.
GREEDY = {"anthropic-version": "2023-06-01"}
# All that a request needs, and what the SDK reads back from it.
NEEDED_HEADERS = re.compile(
    r"accept|accept-encoding|anthropic-version|connection|content-length|content-type|host|user-agent|x-stainless-.*",
    re.IGNORECASE,
)


def open_client(address: str, key: str, local: bool, connections: int) -> "AsyncAnthropic":
    """A client that sends `key` to `address` and nothing else that it finds in the environment.

    `local` says that the address is this machine's. Raises ImportError without the SDK, and what the SDK raises for a
    proxy or a certificate file that it cannot use.
    """
    from anthropic import AsyncAnthropic
    from httpx2 import AsyncClient, Limits, Timeout

    # Waiting for a free connection is no failure, however long the queue.
    timeout = Timeout(SECONDS, connect=CONNECT_SECONDS, pool=None)
    http = AsyncClient(  # the SDK's own would look for a proxy by itself
        limits=Limits(max_connections=connections, max_keepalive_connections=connections),
        timeout=timeout,
        follow_redirects=False,  # a redirect would carry the key elsewhere
        trust_env=not local,  # no proxy stands between this machine and itself
        event_hooks={"request": [only_needed(NEEDED_HEADERS, key)], "response": []},
    )
    return AsyncAnthropic(
        api_key=key, base_url=address, max_retries=0, timeout=timeout, http_client=http, open_telemetry=False
    )


async def post(client: "AsyncAnthropic", body: Mapping[str, Any]) -> object:
    """Send a message once, and read the JSON that comes back. Raises `NoAnswer` or `TransientError`."""
    from httpx2 import Response

    headers = GREEDY if "temperature" in body else {}
    return await _read(client.post("/v1/messages", body=dict(body), cast_to=Response, options={"headers": headers}))


async def get(client: "AsyncAnthropic", path: str, retries: int = 0) -> object:
    """What stands at a path, asked for again where the server is busy. Raises as `post` does."""
    from httpx2 import Response

    return await _read(client.get(path, cast_to=Response, options={"max_retries": retries}))


async def post_batch(client: "AsyncAnthropic", path: str, order: bytes, greedy: bool) -> object:
    """Send an order of several messages; `greedy` says that they hold a temperature. Raises as `post` does."""
    from httpx2 import Response

    headers = {"content-type": "application/json", **(GREEDY if greedy else {})}
    return await _read(client.post(path, content=order, cast_to=Response, options={"headers": headers}))


async def get_bytes(client: "AsyncAnthropic", path: str) -> bytes:
    """The file that stands at a path. Raises as `post` does."""
    from httpx2 import Response

    return await _content(client.get(path, cast_to=Response))


async def _read(call: Awaitable[Any]) -> object:
    content = await _content(call)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise TransientError("the reply is no JSON", "broken JSON", sent=True) from None


async def _content(call: Awaitable[Any]) -> bytes:
    from anthropic import APIConnectionError, APIStatusError

    try:
        content: bytes = (await call).content
    except APIStatusError as error:
        headers = {name.lower(): value for name, value in error.response.headers.items()}
        raise NoAnswer(Problem(error.status_code, error.body, headers)) from None
    except APIConnectionError as error:
        raise _broken(error) from None
    except UnicodeEncodeError:
        raise NoAnswer(Problem(400, "the prompt holds half of a surrogate pair, which JSON cannot")) from None
    except Exception as error:  # a server can make the SDK raise almost anything
        raise TransientError(f"unreadable reply: {error or type(error).__name__}", "broken reply", sent=True) from None
    return content


def _broken(error: "APIConnectionError") -> TransientError:
    from anthropic import APITimeoutError

    cause = error.__cause__
    sent = type(cause).__name__ not in UNSENT
    if isinstance(error, APITimeoutError):
        seconds = SECONDS if sent else CONNECT_SECONDS
        return TransientError(f"timed out after {seconds:g} s", "timeout", crowded=True, sent=sent)
    why = str(cause or "")
    return TransientError(
        f"connection failed{why and f' ({why})'}", "cut connection" if sent else "no connection", sent=sent
    )
