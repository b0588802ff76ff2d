"""A server on loopback that speaks Anthropic's protocol, well or badly.

    with AnthropicServer(lambda body: "42") as server:
        ...  # server.url, server.requests

Everything that a server can do besides is in `tests.loopback_http`.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from tests.loopback_http import Loopback, Response

NAME = "claude-sonnet-4-6"
CREATED = "2026-02-17T00:00:00Z"
ALL = {"disabled": True, "between_tools": True}


def model(
    name: str = NAME, thinking: Mapping[str, bool] | None = None, effort: bool = True, **fields: object
) -> dict[str, Any]:
    """An entry of the list of models. `thinking` is which ways to ask for none it takes; None: nothing is stated."""
    entry: dict[str, Any] = {"type": "model", "id": name, "display_name": "Claude", "created_at": CREATED}
    if thinking is not None:
        types = {way: {"supported": taken} for way, taken in (ALL | dict(thinking)).items()}
        entry["capabilities"] = {
            "thinking": {"supported": True, "types": types},
            "effort": {"supported": effort, "low": {"supported": effort}},
        }
    return {**entry, "lifecycle": "active", **fields}


def reply(
    *blocks: object, stop: str | None = "end_turn", tokens: int = 3, thoughts: int = 0, read: int = 12, **fields: object
) -> Response:
    """A message; a block that is a text becomes a text block. `read` tokens are charged for the prompt."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    usage: dict[str, Any] = {"input_tokens": read, "output_tokens": tokens + thoughts}
    if thoughts:
        usage["output_tokens_details"] = {"thinking_tokens": thoughts}
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": NAME, "content": content}
    return Response({**body, "stop_reason": stop, "stop_sequence": None, "usage": usage, **fields})


def error(
    status: int,
    message: str,
    kind: str = "invalid_request_error",
    headers: Mapping[str, str] | None = None,
    code: str | None = None,
) -> Response:
    """An error in Anthropic's shape."""
    about = {"type": kind, "message": message, **({} if code is None else {"details": {"error_code": code}})}
    return Response({"type": "error", "error": about, "request_id": "req_1"}, status, headers or {})


class AnthropicServer(Loopback):
    """Anthropic's protocol. An entry's field `alias` is another name that a model is found by."""

    usual = (model(),)

    def answers(self, path: str) -> bool:
        """Whether messages are sent to this path."""
        return path == "/v1/messages"

    def written(self, text: str, path: str) -> Response:
        """A message."""
        return reply(text)

    def told(self, path: str) -> Response:
        """A model, or all of them."""
        entries = [dict(entry) for entry in self.models or () if isinstance(entry, Mapping)]
        if path == "/v1/models":
            return Response({"data": entries, "has_more": False})
        name = unquote(path).removeprefix("/v1/models/")
        found = next((entry for entry in entries if name in (entry["id"], entry.pop("alias", None))), None)
        return error(404, f"model: {name}", "not_found_error") if found is None else Response(found)

    def nothing(self, path: str) -> Response:
        """Anthropic's own error."""
        return error(404, "Not found", "not_found_error")
