"""A server on loopback that speaks the Gemini protocol, well or badly.

    with GeminiServer(lambda body: "42") as server:
        ...  # server.url, server.requests

Everything that a server can do besides is in `tests.loopback_http`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.loopback_http import Loopback, Response

NAME = "gemini-2.5-flash"
METHODS = ("generateContent", "countTokens")


def model(name: str = NAME, version: str = "001", methods: Sequence[str] = METHODS, **fields: object) -> dict[str, Any]:
    """An entry of the list of models."""
    return {"name": f"models/{name}", "version": version, "supportedGenerationMethods": list(methods), **fields}


def reply(
    *parts: object,
    finish: str | None = "STOP",
    tokens: int = 3,
    thoughts: int = 0,
    prompt: int | None = None,
    **fields: object,
) -> Response:
    """A reply of one candidate; a part that is a text becomes a text part. Without `prompt` nothing is charged."""
    content = {"role": "model", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}
    counts = {"prompt": prompt, "candidates": tokens, "thoughts": thoughts or None}
    usage = {f"{name}TokenCount": count for name, count in counts.items() if count is not None}
    candidate = {"index": 0, "content": content, "finishReason": finish}
    return Response({"candidates": [candidate], "usageMetadata": usage, "modelVersion": NAME, **fields})


def error(status: int, message: str, name: str = "INVALID_ARGUMENT", *details: Mapping[str, Any]) -> Response:
    """An error in Google's shape."""
    return Response({"error": {"code": status, "message": message, "status": name, "details": list(details)}}, status)


class GeminiServer(Loopback):
    """The Gemini protocol. An entry's field `alias` is another name that a model is found by."""

    usual = (model(),)

    def answers(self, path: str) -> bool:
        """Whether a model is asked at this path."""
        return path.endswith(":generateContent")

    def written(self, text: str, path: str) -> Response:
        """A reply of one candidate."""
        return reply(text)

    def told(self, path: str) -> Response:
        """A model, or all of them."""
        entries = [entry for entry in self.models or () if isinstance(entry, Mapping)]
        name = path.removeprefix("/v1beta/")
        if name == "models":
            return Response({"models": [dict(entry) for entry in entries]})
        found = next((entry for entry in entries if name in (entry["name"], entry.get("alias"))), None)
        return error(404, f"{name} is not found", "NOT_FOUND") if found is None else Response(dict(found))

    def nothing(self, path: str) -> Response:
        """Google's own error."""
        return error(404, "no such method", "NOT_FOUND")
