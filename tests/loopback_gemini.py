"""A server on loopback that speaks the Gemini protocol, well or badly.

    with GeminiServer(lambda body: "42") as server:
        ...  # server.url, server.requests

Everything that a server can do besides is in `tests.loopback`.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from tests.loopback import Answer, LoopbackServer, Received, Response

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


class GeminiServer(LoopbackServer):
    """`models` are entries of the list; `models_response` is sent in place of what is said of any model."""

    def __init__(
        self,
        answer: Answer = lambda body: "fine",
        models: Sequence[Mapping[str, Any]] | None = None,
        models_response: Response | None = None,
    ) -> None:
        super().__init__(answer, (model(),) if models is None else models, models_response)

    @property
    def url(self) -> str:
        """The address to give to a client."""
        return super().url.removesuffix("/v1")

    def _response(self, received: Received) -> Response:
        path = urlsplit(received.path).path.removeprefix("/v1beta/")
        if received.method == "GET":
            return self.models_response or self._model(path)
        if path.endswith(":generateContent"):
            answer = self.answer(received.body)
            return reply(answer) if isinstance(answer, str) else answer
        return error(404, "no such method", "NOT_FOUND")

    def _model(self, path: str) -> Response:
        entries = [entry for entry in self.models or () if isinstance(entry, Mapping)]
        if path == "models":
            return Response({"models": [dict(entry) for entry in entries]})
        found = next((entry for entry in entries if path in (entry["name"], entry.get("alias"))), None)
        return error(404, f"{path} is not found", "NOT_FOUND") if found is None else Response(dict(found))
