"""Servers on loopback that take the part of clouds: OpenAI's protocol below `/openai`, as Azure and Bedrock have it."""

from dataclasses import replace

from tests.loopback import LoopbackServer, Received, Response


class CloudServer(LoopbackServer):
    """Everything lies below `/openai/v1`, and nothing elsewhere."""

    @property
    def root(self) -> str:
        """The address without a path."""
        return super().url.removesuffix("/v1")

    def _response(self, received: Received) -> Response:
        if not received.path.startswith("/openai/v1/"):
            return Response({"error": {"code": "404", "message": "Resource not found"}}, 404)
        return super()._response(replace(received, path=received.path.removeprefix("/openai")))
