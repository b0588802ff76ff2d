"""Anthropic's SDK for one address and one key, without retries. Its errors become `NoAnswer` or `TransientError`.

By default the SDK takes the address from ANTHROPIC_BASE_URL and further headers from ANTHROPIC_CUSTOM_HEADERS, and
traces its requests if OpenTelemetry is set up. Requests go through the SDK's `post`, which sends a body unchanged. Its
`create` no longer accepts a temperature, and warns on the user's terminal about models that will be retired.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tabcontam.models.bounds import bounded, set_answer_bounds
from tabcontam.models.openai.connection import CONNECT_SECONDS, OF_A_BATCH, SECONDS, content_of, only_needed, read

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

SDK = "anthropic"
# The last version of the protocol that accepts a temperature, for models that accept one. The SDK uses a newer one.
GREEDY = {"anthropic-version": "2023-06-01"}
# The headers that a request needs, and that the SDK reads back from it.
NEEDED_HEADERS = re.compile(
    r"accept|accept-encoding|anthropic-version|connection|content-length|content-type|host|user-agent|x-stainless-.*",
    re.IGNORECASE,
)


def open_client(address: str, key: str, local: bool, connections: int) -> "AsyncAnthropic":
    """Return a client that sends `key` to `address`, and no key or header from the environment.

    `local`: the address is this machine's. Raises ImportError without the SDK, and the SDK's own errors for a proxy or
    a certificate file that it cannot use.
    """
    from anthropic import AsyncAnthropic
    from httpx2 import AsyncClient, Limits, Timeout

    # Waiting for a free connection is no failure, even in a long queue.
    timeout = Timeout(SECONDS, connect=CONNECT_SECONDS, pool=None)
    http = bounded(AsyncClient)(  # the SDK's own client would look for a proxy
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
    """Send one message, and return the JSON of the reply. Raises `NoAnswer` or `TransientError`."""
    from httpx2 import Response

    headers = GREEDY if "temperature" in body else {}
    return await read(client.post("/v1/messages", body=dict(body), cast_to=Response, options={"headers": headers}), SDK)


async def get(client: "AsyncAnthropic", path: str, retries: int = 0) -> object:
    """Return the JSON at a path, after at most `retries` retries if the server is busy. Raises as `post` does."""
    from httpx2 import Response

    return await read(client.get(path, cast_to=Response, options={"max_retries": retries}), SDK)


async def post_batch(client: "AsyncAnthropic", path: str, order: bytes, greedy: bool) -> object:
    """Send a batch, written as JSON in `order`. `greedy`: its requests state a temperature. Raises as `post` does."""
    from httpx2 import Response

    headers = {"content-type": "application/json", **(GREEDY if greedy else {})}
    return await read(client.post(path, content=order, cast_to=Response, options={"headers": headers}), SDK)


async def get_bytes(client: "AsyncAnthropic", path: str) -> bytes:
    """Return the file at a path. Raises as `post` does."""
    from httpx2 import Response

    with set_answer_bounds(*OF_A_BATCH):
        return await content_of(client.get(path, cast_to=Response), SDK)
