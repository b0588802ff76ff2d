"""Servers on loopback that take the part of clouds: OpenAI's protocol and Gemini's, each where a cloud has it."""

from dataclasses import replace

from tests.loopback import LoopbackServer
from tests.loopback_gemini import NAME, GeminiServer, error
from tests.loopback_http import Received, Response

PROJECT = "my-project-1"
TOKEN = "ya29.secret-0123456789abcdef"  # no real token
PUBLISHED = f"publishers/google/models/{NAME}"


class CloudServer(LoopbackServer):
    """Everything lies below `/openai/v1`, and nothing elsewhere, as at Azure and Bedrock."""

    below = "/openai/v1"

    def _response(self, received: Received) -> Response:
        if not received.path.startswith("/openai/v1/"):
            return Response({"error": {"code": "404", "message": "Resource not found"}}, 404)
        return super()._response(replace(received, path=received.path.removeprefix("/openai")))


class VertexServer(GeminiServer):
    """Google's models below a project's path, for a token, as Vertex AI has them."""

    def _response(self, received: Received) -> Response:
        if received.headers.get("authorization") != f"Bearer {TOKEN}":
            return error(401, "Request had invalid authentication credentials.", "UNAUTHENTICATED")
        return super()._response(received)

    def told(self, path: str) -> Response:
        """The model that is published, or all of them."""
        entry = {"name": PUBLISHED, "versionId": "001"}
        if path == "/v1beta1/publishers/google/models":
            return Response({"publisherModels": [entry]})
        return Response(entry) if path == f"/v1beta1/{PUBLISHED}" else error(404, "not found", "NOT_FOUND")


class TokenServer(LoopbackServer):
    """Gives tokens to a service account."""

    granted = True

    def _response(self, received: Received) -> Response:
        refused = Response({"error": "invalid_grant", "error_description": "account not found"}, 400)
        return Response({"access_token": TOKEN, "expires_in": 3600}) if self.granted else refused
